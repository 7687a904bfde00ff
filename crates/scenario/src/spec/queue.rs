//! The settings of a queue policy, as written beside `kind` and `limit`.

use super::Limit;
use serde::Serialize;
use units::{Bytes, Fraction, Span};

/// The settings of all queue policies; what is absent has the policy's default. Which policy has which is said by
/// `link`'s registry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct QueueSettings {
    /// Queueing delay aimed at.
    pub target: Option<Span>,
    /// CoDel: how long the target may be exceeded. PIE and adaptive RED: time between updates.
    pub interval: Option<Span>,
    /// PIE: how long after a time without congestion nothing is dropped.
    pub burst: Option<Span>,
    /// PIE: whether drops are kept from clustering.
    pub derandomize: Option<bool>,
    /// RED: average queue from which packets are dropped.
    pub min_threshold: Option<Threshold>,
    /// RED: average queue at which the probability is `max_probability`.
    pub max_threshold: Option<Threshold>,
    /// RED: probability at `max_threshold`. Adaptive RED: where it starts.
    pub max_probability: Option<Fraction>,
    /// RED: weight of one arrival in the average.
    pub weight: Option<Fraction>,
    /// RED: whether the probability climbs beyond `max_threshold` rather than jumps to 1.
    pub gentle: Option<bool>,
    /// RED: whether drops keep a distance.
    pub wait: Option<bool>,
    /// RED: whether queue and probability go by bytes.
    pub by_bytes: Option<bool>,
    /// FQ-CoDel: bytes a flow sends in a turn.
    pub quantum: Option<Bytes>,
    /// FQ-CoDel: number of queues.
    pub flows: Option<u64>,
    /// Whether packets that can be marked are marked rather than dropped.
    pub ecn: Option<bool>,
    /// Drop-tail and drop-head: backlog from which packets that can be marked are.
    pub mark_above: Option<Threshold>,
}

impl QueueSettings {
    /// Whether nothing is turned.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// A length of the average queue.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Threshold {
    /// A bare number: mean packets, not only whole ones.
    MeanPackets(f64),
    /// A text, read as a queue's limit is.
    Room(Limit),
    /// A share such as "40%", of the limit.
    OfLimit(Fraction),
}

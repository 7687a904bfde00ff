//! The acknowledgements that reached the senders, one by one.

use serde::{Deserialize, Serialize};

/// Acknowledgements in columns, in the order in which they arrived.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct AckSeries {
    /// The names of the flows.
    pub names: Vec<String>,
    /// The words for the senders' states.
    pub states: Vec<String>,
    /// The rows.
    pub rows: Vec<AckRow>,
}

impl AckSeries {
    /// Returns true without rows.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.names.is_empty()
    }
}

/// One acknowledgement, and the sender's state once it has taken it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AckRow {
    /// The time at which it arrived, seconds from the start of the run.
    pub t_s: f64,
    /// The place of the flow's name.
    pub flow: u32,
    /// The place of the word for the sender's state.
    pub state: u32,
    /// Payload that has been sent at least once.
    pub sent_bytes: u64,
    /// Payload that is acknowledged cumulatively.
    pub acked_bytes: u64,
    /// Payload that is acknowledged cumulatively or selectively.
    pub delivered_bytes: u64,
    /// Congestion window.
    pub cwnd_bytes: u64,
    /// Slow-start threshold, if the controller has set one.
    pub ssthresh_bytes: Option<u64>,
    /// Payload in the network, as the sender counts it.
    pub in_flight_bytes: u64,
    /// Rate at which segments leave, bits of payload per second; NaN without pacing.
    pub pacing_bps: f64,
    /// The round-trip sample, seconds; NaN if it gave none.
    pub rtt_s: f64,
    /// The smoothed round-trip time, seconds; NaN before there is one.
    pub srtt_s: f64,
}

//! Plain data about a link that changes: its capacity, delay, outages and losses over time. All times count from the
//! start of the run.

mod opportunities;
mod steps;

pub use opportunities::{Opportunities, OpportunitiesError};
pub(crate) use steps::Walk;
pub use steps::{Steps, StepsError};

use serde::{Serialize, Serializer};
use std::sync::Arc;
use units::{Bytes, Fraction, Rate, Span};

/// The changes of a link over time. The default has none.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Changes {
    /// The capacity over time; `None`: the link's rate holds throughout.
    pub capacity: Option<Capacity>,
    /// The delay over time; `None`: the link's delay holds throughout.
    pub delay: Option<ExtraDelay>,
    /// The outages; `None`: there are no outages.
    pub outage: Option<Outage>,
    /// The losses that are not independent; `None`: each packet is lost with the link's own probability.
    pub loss: Option<LossModel>,
}

impl Changes {
    /// Returns true if packets leave at a rate that changes.
    #[must_use]
    pub const fn changes_rate(&self) -> bool {
        self.capacity.is_some() || self.outage.is_some()
    }
}

/// The capacity of a link over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum Capacity {
    /// Opportunities to deliver packets, as in the traces of mahimahi.
    #[serde(serialize_with = "shared")]
    Opportunities(Arc<Opportunities>),
    /// A rate that holds until the next one. A rate of zero is allowed.
    #[serde(serialize_with = "shared")]
    Rates(Arc<Steps<Rate>>),
}

impl Capacity {
    /// Returns the mean rate, without outages.
    #[must_use]
    pub fn mean(&self) -> Rate {
        match self {
            Self::Opportunities(opportunities) => opportunities.mean_rate(),
            Self::Rates(rates) => Rate::from_bps_f64(rates.mean(|rate| rate.as_bps_f64())),
        }
    }
}

/// The delay of a link over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ExtraDelay {
    /// The part of the delay beyond the link's constant one, from each time on. The time at which a packet leaves the
    /// link decides.
    #[serde(serialize_with = "shared")]
    pub steps: Arc<Steps<Span>>,
    /// True if a packet may overtake those before it when the delay falls. If false, it arrives no earlier than they do.
    pub reorder: bool,
}

/// Times at which nothing leaves the link. Packets wait meanwhile; opportunities pass unused.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Outage {
    /// The start of the first one.
    pub first: Span,
    /// The time from the start of one to the start of the next.
    pub every: Span,
    /// The bounds of the length, which is drawn uniformly for each; both are below `every`.
    pub length: (Span, Span),
}

impl Outage {
    /// Returns the mean share of time without an outage.
    #[must_use]
    pub fn available(&self) -> f64 {
        let mean = (self.length.0.as_secs_f64() + self.length.1.as_secs_f64()) / 2.0;
        1.0 - mean / self.every.as_secs_f64()
    }
}

/// The losses of a link that are not independent of each other.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub enum LossModel {
    /// A state that is good or bad and can change with every packet (Gilbert 1960, Elliott 1963).
    GilbertElliott(GilbertElliott),
    /// A probability that holds until the next one.
    #[serde(serialize_with = "shared")]
    Shares(Arc<Steps<Fraction>>),
    /// The packets with these numbers, in rising order. The first packet that arrives has number 1.
    #[serde(serialize_with = "shared_list")]
    Packets(Arc<[u64]>),
}

/// The probabilities of the Gilbert-Elliott model. The state changes before each packet, and the new state decides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GilbertElliott {
    /// The probability that a good state turns bad.
    pub to_bad: Fraction,
    /// The probability that a bad state turns good.
    pub to_good: Fraction,
    /// The probability that a packet is lost in the good state.
    pub good_loss: Fraction,
    /// The probability that a packet is lost in the bad state.
    pub bad_loss: Fraction,
}

impl GilbertElliott {
    /// Returns the share of packets that are lost in the long run. The state begins as good.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let (to_bad, to_good) = (self.to_bad.get(), self.to_good.get());
        let bad = if to_bad > 0.0 { to_bad / (to_bad + to_good) } else { 0.0 };
        (1.0 - bad) * self.good_loss.get() + bad * self.bad_loss.get()
    }
}

/// The bytes of memory that a shared table of changes takes.
pub(crate) fn size_of_slice<T>(items: &[T]) -> Bytes {
    Bytes::new(size_of_val(items) as u64)
}

fn shared<T: Serialize, S: Serializer>(data: &Arc<T>, serializer: S) -> Result<S::Ok, S::Error> {
    data.as_ref().serialize(serializer)
}

fn shared_list<S: Serializer>(numbers: &Arc<[u64]>, serializer: S) -> Result<S::Ok, S::Error> {
    numbers.as_ref().serialize(serializer)
}

//! The values of keys of a link that changes: a quantity over time, losses that are not independent, outages.

use crate::values::Spread;
use serde::Serialize;
use units::{Fraction, Rate, Span};

/// `rate = …`, `delay = …` or `loss = …` of a link: one value, or values over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum OverTime<T> {
    /// The same value throughout.
    Constant(T),
    /// `{ steps = [["0s", …], …], every = … }`: each value holds until the next one.
    Steps {
        /// The values and their times, which begin at zero and rise.
        steps: Vec<(Span, T)>,
        /// The time after which they repeat; absent: the last one holds for ever.
        #[serde(skip_serializing_if = "Option::is_none")]
        every: Option<Span>,
        /// True if packets may overtake others; only a delay has it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
    /// `{ trace = … }`: a file with the values.
    Trace {
        /// The path of the file, relative to the scenario's folder.
        trace: String,
        /// True if a trace of opportunities begins anew at its end; absent: the default, which is true.
        #[serde(skip_serializing_if = "Option::is_none")]
        repeat: Option<bool>,
        /// The time after which a trace of values repeats; absent: the last one holds for ever.
        #[serde(skip_serializing_if = "Option::is_none")]
        every: Option<Span>,
        /// True if packets may overtake others; only a delay has it.
        #[serde(skip_serializing_if = "std::ops::Not::not")]
        reorder: bool,
    },
}

impl<T> From<T> for OverTime<T> {
    fn from(value: T) -> Self {
        Self::Constant(value)
    }
}

impl<T: Copy> OverTime<T> {
    /// Returns the value, if it does not change.
    pub fn constant(&self) -> Option<T> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Steps { .. } | Self::Trace { .. } => None,
        }
    }
}

impl OverTime<Span> {
    /// Returns the least value; `None` if only a file has it.
    #[must_use]
    pub fn least(&self) -> Option<Span> {
        match self {
            Self::Constant(value) => Some(*value),
            Self::Steps { steps, .. } => steps.iter().map(|(_, value)| *value).min(),
            Self::Trace { .. } => None,
        }
    }
}

impl Default for OverTime<Rate> {
    fn default() -> Self {
        Self::Constant(Rate::ZERO)
    }
}

/// `loss = …` of a link.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Loss {
    /// Independent losses with one probability, or with one that changes.
    Independent(OverTime<Fraction>),
    /// `{ gilbert_elliott = { … } }`: a state that is good or bad.
    Bursts {
        /// Its probabilities.
        gilbert_elliott: GilbertElliott,
    },
    /// `{ packets = … }`: these packets, and no others.
    Packets {
        /// The numbers of the packets.
        packets: PacketNumbers,
    },
}

impl Loss {
    /// No losses.
    pub const NONE: Self = Self::Independent(OverTime::Constant(Fraction::ZERO));
}

impl From<Fraction> for Loss {
    fn from(share: Fraction) -> Self {
        Self::Independent(OverTime::Constant(share))
    }
}

/// `gilbert_elliott = { … }`: the state changes before each packet, and the new state decides.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct GilbertElliott {
    /// The probability that a good state turns bad.
    pub to_bad: Fraction,
    /// The probability that a bad state turns good.
    pub to_good: Fraction,
    /// The probability that a packet is lost in the bad state.
    pub bad_loss: Fraction,
    /// The probability that a packet is lost in the good state.
    pub good_loss: Fraction,
}

/// The numbers of packets. The first packet that arrives at the link has number 1.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum PacketNumbers {
    /// The numbers, which rise.
    Listed(Vec<u64>),
    /// A file with one number in each line.
    Trace {
        /// The path of the file, relative to the scenario's folder.
        trace: String,
    },
}

/// `outage = { … }`: times at which nothing leaves the link.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Outage {
    /// The time from the start of one to the start of the next.
    pub every: Span,
    /// The length of each: one value, or uniform between two. It is below `every`.
    pub length: Spread<Span>,
    /// The start of the first.
    pub first: Span,
}

impl Outage {
    /// Returns the shortest and the longest length.
    #[must_use]
    pub fn bounds(&self) -> (Span, Span) {
        match &self.length {
            Spread::Uniform(low, high) => (*low, *high),
            Spread::All(length) | Spread::Exponential(length) => (*length, *length),
            // The reader accepts neither of the others.
            _ => (Span::ZERO, Span::ZERO),
        }
    }
}

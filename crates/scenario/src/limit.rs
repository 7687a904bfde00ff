//! The text forms of a queue's [`Limit`]: "250 packets", "512kB", "40ms", "0.25 bdp".

use crate::values::Limit;
use std::fmt;
use std::str::FromStr;
use units::{Bytes, Span, TextError, split_quantity};

/// The accepted texts of a limit at a link that has a rate.
pub(crate) const ACCEPTED: &str =
    "the room for waiting packets, such as \"250 packets\", \"512kB\", \"40ms\" or \"0.25 bdp\"";

impl FromStr for Limit {
    type Err = TextError;

    /// Reads a limit. Every spelling of an empty queue becomes zero packets.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let quantity = split_quantity(text, ACCEPTED)?;
        let value = quantity.value();
        let limit = match quantity.unit {
            // Counts are exact up to 2^53.
            "packets" | "packet" if value.fract() == 0.0 && value < 9e15 => Self::Packets(value as u64),
            "packets" | "packet" => return Err(quantity.out_of_range("a whole number of packets")),
            "bdp" => Self::Bdp(value),
            _ => text
                .parse()
                .map(Self::Bytes)
                .or_else(|_| text.parse().map(Self::Time))
                .map_err(|_| quantity.unknown_unit(ACCEPTED))?,
        };
        let empty = match limit {
            Self::Packets(packets) => packets == 0,
            Self::Bytes(bytes) => bytes == Bytes::ZERO,
            Self::Time(span) => span == Span::ZERO,
            Self::Bdp(share) => share == 0.0,
        };
        Ok(if empty { Self::Packets(0) } else { limit })
    }
}

impl fmt::Display for Limit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => bytes.fmt(f),
            Self::Time(span) => span.fmt(f),
            Self::Bdp(share) => write!(f, "{share} bdp"),
        }
    }
}

//! The text forms of a [`Volume`]: "200 packets", "100kB".

use crate::values::Volume;
use std::str::FromStr;
use units::{TextError, split_quantity};

const ACCEPTED: &str = "an amount of data such as \"200 packets\" or \"100kB\"";

impl FromStr for Volume {
    type Err = TextError;

    /// Reads an amount. Every spelling of zero becomes zero packets.
    fn from_str(text: &str) -> Result<Self, TextError> {
        let quantity = split_quantity(text, ACCEPTED)?;
        let value = quantity.value();
        let volume = match quantity.unit {
            // Counts are exact up to 2^53.
            "packets" | "packet" if value.fract() == 0.0 && value < 9e15 => Self::Packets(value as u64),
            "packets" | "packet" => return Err(quantity.out_of_range("a whole number of packets")),
            _ => text.parse().map(Self::Bytes).map_err(|_| quantity.unknown_unit(ACCEPTED))?,
        };
        Ok(if volume.count() == 0 { Self::Packets(0) } else { volume })
    }
}

//! What a frame adds to its payload, and how long an exchange of data frame and acknowledgement takes.

use crate::phy::Phy;
use serde::Serialize;
use units::{Bytes, Rate, Span};

/// Sizes around the payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Sizes {
    /// MAC header and FCS of a data frame.
    pub header: Bytes,
    /// The LLC and SNAP header.
    pub llc: Bytes,
    /// An acknowledgement.
    pub acknowledgement: Bytes,
}

impl Default for Sizes {
    /// A QoS data frame with three addresses: 26 bytes and the FCS of 4 (9.3.2.1); LLC and SNAP 8; acknowledgement 14.
    fn default() -> Self {
        Self { header: Bytes::new(30), llc: Bytes::new(8), acknowledgement: Bytes::new(14) }
    }
}

/// The airtime of a data frame and its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeTime {
    /// The data frame.
    pub data: Span,
    /// The acknowledgement.
    pub acknowledgement: Span,
    /// Both, with SIFS between them.
    pub whole: Span,
}

impl ExchangeTime {
    /// Of `payload` at `rate`, acknowledged at `control` as [`Phy::acknowledgement_rate`] has it.
    #[must_use]
    pub fn new(phy: &Phy, sizes: &Sizes, payload: Bytes, rate: Rate, control: Rate) -> Self {
        let data = phy.frame_time(payload + sizes.llc + sizes.header, rate);
        let acknowledgement = phy.frame_time(sizes.acknowledgement, phy.acknowledgement_rate(rate, control));
        Self { data, acknowledgement, whole: data + phy.sifs + acknowledgement }
    }
}

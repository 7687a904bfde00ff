//! The sizes that a frame adds to its payload, and the duration of an exchange of data frame and acknowledgement.

use crate::phy::Phy;
use serde::Serialize;
use units::{Bytes, Rate, Span};

/// The sizes around the payload.
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
    /// Returns the sizes of a QoS data frame with three addresses: 26 bytes and the FCS of 4 (9.3.2.1); LLC and SNAP 8;
    /// acknowledgement 14.
    fn default() -> Self {
        Self { header: Bytes::new(30), llc: Bytes::new(8), acknowledgement: Bytes::new(14) }
    }
}

/// The airtime of a data frame and its acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExchangeTime {
    /// The time of the data frame.
    pub data: Span,
    /// The time of the acknowledgement.
    pub acknowledgement: Span,
    /// The time of both, with SIFS between them.
    pub whole: Span,
}

impl ExchangeTime {
    /// Computes the airtime of `payload` at `rate`, acknowledged at `control` by [`Phy::acknowledgement_rate`].
    #[must_use]
    pub fn new(phy: &Phy, sizes: &Sizes, payload: Bytes, rate: Rate, control: Rate) -> Self {
        let data = phy.frame_time(payload + sizes.llc + sizes.header, rate);
        let acknowledgement = phy.frame_time(sizes.acknowledgement, phy.acknowledgement_rate(rate, control));
        Self { data, acknowledgement, whole: data + phy.sifs + acknowledgement }
    }
}

//! 802.11g: OFDM at 2.4 GHz (clause 18), in a cell without stations of 802.11b. The DSSS rates that it also has are
//! those of `b.rs`, with its slot. They are mandatory (18.1.2), so that EIFS contains an acknowledgement at 1 Mbit/s.

use super::a::IEEE_80211A;
use super::b::IEEE_80211B;
use super::{Framing, Phy};
use units::Span;

/// The PHY of 802.11g with the short slot: table 18-5. Each frame ends with a signal extension of 6 us, so that SIFS is
/// in effect that of 802.11a.
pub const IEEE_80211G: Phy = Phy {
    name: "802.11g",
    sifs: Span::from_micros(10),
    framing: Framing::Ofdm {
        preamble: Span::from_micros(20),
        symbol: Span::from_micros(4),
        extension: Span::from_micros(6),
    },
    lowest: Some((IEEE_80211B.framing, IEEE_80211B.mandatory[0])),
    ..IEEE_80211A
};

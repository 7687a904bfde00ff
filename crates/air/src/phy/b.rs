//! 802.11b: DSSS and CCK (clause 16).

use super::{Framing, Phy};
use units::{Rate, Span};

const RATES: &[Rate] = &[
    Rate::from_bps(1_000_000),
    Rate::from_bps(2_000_000),
    Rate::from_bps(5_500_000),
    Rate::from_bps(11_000_000),
];

/// The PHY of 802.11b with the long preamble: table 16-4, table 9-155 (TXOP limits). Its preamble takes 144 us and its
/// header 48 us, or 72 and 24.
pub const IEEE_80211B: Phy = Phy {
    name: "802.11b",
    slot: Span::from_micros(20),
    sifs: Span::from_micros(10),
    cw_min: 31,
    cw_max: 1023,
    rx_start_delay: Span::from_micros(192),
    txop_video: Span::from_micros(6_016),
    txop_voice: Span::from_micros(3_264),
    framing: Framing::Dsss { long: Span::from_micros(192), short: Span::from_micros(96), use_short: false },
    rates: RATES,
    mandatory: RATES,
    lowest: None,
};

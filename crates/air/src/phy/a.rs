//! 802.11a: OFDM in channels of 20 MHz (clause 17).

use super::{Framing, Phy};
use units::{Rate, Span};

/// The rates of OFDM in 20 MHz.
pub(super) const OFDM_RATES: &[Rate] = &[
    Rate::from_bps(6_000_000),
    Rate::from_bps(9_000_000),
    Rate::from_bps(12_000_000),
    Rate::from_bps(18_000_000),
    Rate::from_bps(24_000_000),
    Rate::from_bps(36_000_000),
    Rate::from_bps(48_000_000),
    Rate::from_bps(54_000_000),
];
/// The rates that every station has.
pub(super) const OFDM_MANDATORY: &[Rate] =
    &[Rate::from_bps(6_000_000), Rate::from_bps(12_000_000), Rate::from_bps(24_000_000)];

/// 802.11a in 20 MHz: table 17-21, table 9-155 (TXOP limits).
pub const IEEE_80211A: Phy = Phy {
    name: "802.11a",
    slot: Span::from_micros(9),
    sifs: Span::from_micros(16),
    cw_min: 15,
    cw_max: 1023,
    rx_start_delay: Span::from_micros(20),
    txop_video: Span::from_micros(3_008),
    txop_voice: Span::from_micros(1_504),
    framing: Framing::Ofdm {
        preamble: Span::from_micros(20),
        symbol: Span::from_micros(4),
        extension: Span::ZERO,
    },
    rates: OFDM_RATES,
    mandatory: OFDM_MANDATORY,
    lowest: None,
};

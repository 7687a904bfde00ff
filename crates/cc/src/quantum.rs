//! How much a paced sender may send together.
//!
//! Hosts do not time every segment: what is due within about a millisecond leaves at once. Both BBR drafts have that as
//! `BBR.send_quantum`, a segment below 1.2 Mbit/s, two up to 24 Mbit/s, and beyond that what a millisecond of the pacing
//! rate is, at most 64 KB [draft-cardwell-iccrg-bbr-congestion-control-00:4.2.2; draft-ietf-ccwg-bbr: at least two
//! segments]; Linux sizes the bursts of every paced flow so (`tcp_tso_autosize`: `sk_pacing_shift` 10, `tcp_min_tso_segs` 2,
//! and BBR's own `bbr_min_tso_segs`). RFC 9002, section 7.7, asks the same of QUIC: a leaky bucket with a bound on bursts.

use units::{Bytes, Rate, Span};

/// Below this rate segments leave one by one.
const SINGLE: Rate = Rate::from_bps(1_200_000);
/// What is due within this may leave together.
const QUANTUM: Span = Span::from_millis(1);
/// But no more than this: the largest aggregate that hosts hand to their interfaces.
const MOST: Bytes = Bytes::new(65_536);

/// Segments of `segment` bytes that may leave together at the pace `rate`: at least one.
#[must_use]
#[inline]
pub fn send_quantum(rate: Rate, segment: Bytes) -> u64 {
    if rate < SINGLE {
        return 1;
    }
    (rate.volume(QUANTUM).min(MOST) / segment.max(Bytes::new(1))).max(2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quantum_is_that_of_the_drafts() {
        let segment = Bytes::new(1448);
        let quanta = [1, 2, 20, 24, 100, 1_000, 100_000].map(|mbps| {
            let rate = Rate::from_bps(mbps * 1_000_000);
            send_quantum(rate, segment)
        });
        assert_eq!(quanta, [1, 2, 2, 2, 8, 45, 45]);
        assert_eq!(send_quantum(Rate::from_bps(1_199_999), segment), 1);
        assert_eq!(send_quantum(Rate::from_bps(u64::MAX), Bytes::ZERO), 65_536);
    }
}

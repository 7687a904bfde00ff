//! The amount that a paced sender may send together.
//!
//! Hosts do not time every segment: all that is due within about a millisecond leaves at once. Both BBR drafts call
//! that amount `BBR.send_quantum` [draft-cardwell-iccrg-bbr-congestion-control-00:4.2.2; draft-ietf-ccwg-bbr]. It is
//! one segment below 1.2 Mbit/s. From there on it is the data of a millisecond at the pacing rate, but at least two
//! segments. Linux sizes the bursts of every paced flow in this way (`tcp_tso_autosize`: `tcp_min_tso_segs` 2,
//! `sk_pacing_shift` 10; BBR's own `bbr_min_tso_segs`). RFC 9002, section 7.7, gives QUIC's senders a leaky bucket with
//! a bound on bursts. "A BBR implementation SHOULD attempt to use the smallest feasible quanta". A simulated host has
//! no network interface to relieve, so the quantum is the drafts' least, and never more than two. On a host with
//! segmentation offload the quantum is Linux's super-packet.

use units::{Bytes, Rate, Span};

/// The rate below which segments leave one by one.
const SINGLE: Rate = Rate::from_bps(1_200_000);

/// Returns the number of segments that may leave together at the pace `rate`: one or two.
#[must_use]
#[inline]
pub fn send_quantum(rate: Rate) -> u64 {
    if rate < SINGLE { 1 } else { 2 }
}

/// The largest packet that a host hands to its network card to be cut into segments (`GSO_LEGACY_MAX_SIZE`).
pub const SUPER_PACKET: Bytes = Bytes::new(65_536);
/// The part of a second whose data make a super-packet, as a divisor (`sk_pacing_shift`).
const PART_OF_SECOND: u64 = 1024;
/// The step of the least RTT that halves the extra data of near receivers, which begins at 64 kB (`tcp_tso_rtt_log`:
/// 2^9 microseconds).
const RTT_HALVES: Span = Span::from_micros(512);
/// The least RTT from which a receiver counts as far away: 64 kB have been halved to nothing.
pub const FAR_RTT: Span = Span::from_micros(17 * 512);
/// The gap between segments from which a super-packet to a receiver that is [`FAR_RTT`] away has at most two segments: a third
/// does not leave within 1/1024 s.
pub const PAIR_GAP: Span = Span::from_nanos(1_000_000_000 / (3 * PART_OF_SECOND) + 1);

/// Returns the number of segments with `payload` bytes in a super-packet at the pacing rate `rate`, by Linux's
/// `tcp_tso_autosize`. It is the data of about a millisecond, and more the nearer the receiver is; at least `least`, at
/// most [`SUPER_PACKET`]. Without a least RTT the receiver counts as far away. `least` is [`send_quantum`] for BBR, two
/// for every other control (`tcp_min_tso_segs`).
#[must_use]
pub fn super_packet(rate: Rate, least_rtt: Option<Span>, payload: Bytes, least: u64) -> u64 {
    let near = least_rtt.map_or(64, |least| least.as_nanos() / RTT_HALVES.as_nanos());
    let more = SUPER_PACKET.get().checked_shr(u32::try_from(near).unwrap_or(u32::MAX)).unwrap_or(0);
    let bytes = Bytes::new(rate.as_bps() / 8 / PART_OF_SECOND + more).min(SUPER_PACKET);
    (bytes / payload).max(least)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_super_packet_is_a_millisecond_of_the_rate_and_more_for_a_near_receiver() {
        let of = |mbps: u64, rtt_ms: Option<u64>| {
            super_packet(Rate::from_bps(mbps * 1_000_000), rtt_ms.map(Span::from_millis), Bytes::new(1448), 2)
        };
        // 120 Mbit/s make 14 648 bytes.
        assert_eq!((of(1, None), of(10, None), of(120, Some(50)), of(600, Some(50))), (2, 2, 10, 45));
        // 65 536 bytes are halved once for each 512 us: nine times in 5 ms, to 128 bytes; once in 1 ms, to 32 768.
        assert_eq!((of(120, Some(5)), of(120, Some(1))), (10, 32));
    }

    #[test]
    fn at_a_gap_of_pairs_and_more_no_third_segment_leaves_with_a_pair() {
        for payload in [1, 1448, 21_844, 65_535].map(Bytes::new) {
            let of =
                |gap: u64| super_packet(Rate::of(payload, Span::from_nanos(gap)), Some(FAR_RTT), payload, 2);
            for gap in [0, 1, 2, 1000, 1 << 30].map(|more| PAIR_GAP.as_nanos() + more) {
                assert_eq!(of(gap), 2, "{payload} each {gap} ns");
            }
            let most = (SUPER_PACKET / payload).max(2);
            assert_eq!(of(PAIR_GAP.as_nanos() - 1), most.min(3), "{payload}");
        }
    }
}

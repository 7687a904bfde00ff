//! How much a paced sender may send together.
//!
//! Hosts do not time every segment: what is due within about a millisecond leaves at once. Both BBR drafts have that as
//! `BBR.send_quantum`: a segment below 1.2 Mbit/s, at least two beyond, and more where a millisecond of the pacing rate is
//! more [draft-cardwell-iccrg-bbr-congestion-control-00:4.2.2; draft-ietf-ccwg-bbr]. Linux sizes the bursts of every paced flow so
//! (`tcp_tso_autosize`: `tcp_min_tso_segs` 2, `sk_pacing_shift` 10; BBR's own `bbr_min_tso_segs`), and RFC 9002, section 7.7,
//! has QUIC's senders go by a leaky bucket with a bound on bursts. "A BBR implementation SHOULD attempt to use the smallest
//! feasible quanta": a simulated host has no interface to spare, so the quantum is the drafts' least, and never more than two.

use units::Rate;

/// Below this rate segments leave one by one.
const SINGLE: Rate = Rate::from_bps(1_200_000);

/// Segments that may leave together at the pace `rate`: one or two.
#[must_use]
#[inline]
pub fn send_quantum(rate: Rate) -> u64 {
    if rate < SINGLE { 1 } else { 2 }
}

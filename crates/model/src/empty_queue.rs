//! The buffer with which the queue of a shared link never empties: bounds for greedy Reno flows of different round-trip
//! times, `[nonhomogeneous]`.
//!
//! The source assumes one bottleneck of rate `mu` with a drop-tail buffer `B`, and greedy flows in congestion
//! avoidance. Each flow loses at most one packet when the buffer overflows and halves its window. There are no
//! timeouts. The round-trip times `tau_i` exclude queueing at this link. The number of flows does not matter: in the
//! worst case the flow with the longest round-trip time holds the whole window. An empty list of flows counts as
//! `tau = 0`.

use units::{Bytes, Rate, Span};

/// Returns the least backlog that the queue can fall to, `[nonhomogeneous:eq1]`.
///
/// ```text
/// Qmin = max(0, (B - mu max tau_i) / 2)
/// ```
/// `mu` = `rate`, `B` = `buffer`, `tau_i` = `base_rtts`. The bound is tight: some pattern of losses reaches it.
#[must_use]
pub fn minimum_backlog(rate: Rate, buffer: Bytes, base_rtts: &[Span]) -> Bytes {
    buffer.saturating_sub(guaranteed_buffer(rate, base_rtts)) / 2
}

/// Returns the buffer that must be exceeded for the queue never to empty: the right side of `[nonhomogeneous:eq2]`.
///
/// ```text
/// B > mu max tau_i
/// ```
#[must_use]
pub fn guaranteed_buffer(rate: Rate, base_rtts: &[Span]) -> Bytes {
    rate.volume(base_rtts.iter().copied().max().unwrap_or(Span::ZERO))
}

/// Returns true if the queue never empties, whichever flows lose packets, `[nonhomogeneous:eq2]`: a necessary and
/// sufficient condition.
#[must_use]
pub fn never_empties(rate: Rate, buffer: Bytes, base_rtts: &[Span]) -> bool {
    buffer > guaranteed_buffer(rate, base_rtts)
}

/// Returns the buffer that usually suffices because few flows lose packets at once: the right side of
/// `[nonhomogeneous:eq3]`. With equal round-trip times it is [`guaranteed_buffer`].
///
/// ```text
/// B > mu mean tau_i
/// ```
#[must_use]
pub fn usual_buffer(rate: Rate, base_rtts: &[Span]) -> Bytes {
    rate.volume(mean(base_rtts))
}

/// Returns true if the queue is expected to empty rarely, `[nonhomogeneous:eq3]`: an expectation that the source
/// confirms by simulation, not a bound.
#[must_use]
pub fn rarely_empties(rate: Rate, buffer: Bytes, base_rtts: &[Span]) -> bool {
    buffer > usual_buffer(rate, base_rtts)
}

/// Returns the mean, rounded down to a nanosecond; the sum is wide enough for any list.
fn mean(spans: &[Span]) -> Span {
    let total: u128 = spans.iter().map(|span| u128::from(span.as_nanos())).sum();
    let mean = total.checked_div(spans.len() as u128).unwrap_or(0);
    Span::from_nanos(u64::try_from(mean).unwrap_or(u64::MAX))
}

//! The size of the buffer in front of the bottleneck, from round trips under load and the times of losses.

use crate::diagnosis::BufferEstimate;
use units::{Rate, Span, Time};

/// The time, in addition to a round trip, after which a sender's count shows a loss.
const SHOWN: Span = Span::from_millis(150);
/// The share of the largest growth that shows a full buffer, and the share of alike growths before losses.
const FULL: f64 = 0.8;
/// The share of the growths that are not larger than the largest one: a machine that stands still makes a few larger.
const LARGEST: f64 = 0.99;
/// The least growth that shows a queue.
const QUEUE: Span = Span::from_millis(2);

/// Estimates the buffer in front of a bottleneck with the rate `rate`. `round_trips` are those of probes under load, in
/// order of time, and `losses` the times at which the sender noticed losses. The buffer overflowed if most losses
/// followed queues of nearly the same length, and no other queue was longer. Of three probes in a row only the middle
/// round trip counts, because a host may have delayed one. `None` with fewer than three probes.
#[must_use]
pub fn buffer_in_front(
    round_trips: &[(Time, Span)],
    losses: &[Time],
    base: Span,
    rate: Rate,
) -> Option<BufferEstimate> {
    let growths: Vec<(Time, Span)> = round_trips
        .windows(3)
        .map(|three| {
            let mut spans = [three[0].1, three[1].1, three[2].1];
            spans.sort_unstable();
            (three[1].0, spans[1].saturating_sub(base))
        })
        .collect();
    let mut all: Vec<Span> = growths.iter().map(|&(_, growth)| growth).collect();
    all.sort_unstable();
    let largest = *all.get((all.len() as f64 * LARGEST) as usize)?;
    let lag = base + largest + SHOWN;
    let mut peaks: Vec<Span> = losses
        .iter()
        .filter_map(|&at| {
            let before = growths.iter().filter(|(probed, _)| (at - lag..=at).contains(probed));
            before.map(|&(_, growth)| growth).max()
        })
        .collect();
    peaks.sort_unstable();
    let estimate = |growth: Span, at_least| Some(BufferEstimate { size: rate.volume(growth), at_least });
    let Some(&middle) = peaks.get(peaks.len() / 2) else { return estimate(largest, true) };
    let alike =
        peaks.iter().filter(|&&peak| peak >= middle.scale(FULL) && peak.scale(FULL) <= middle).count();
    let overflowed = middle >= largest.scale(FULL).max(QUEUE) && 2 * alike > peaks.len();
    if overflowed { estimate(middle, false) } else { estimate(largest, true) }
}

#[cfg(test)]
#[path = "../tests/within/path_buffer.rs"]
mod tests;

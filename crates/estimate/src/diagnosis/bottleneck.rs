//! [`bottleneck`]: the bottleneck's rate and buffer, from intervals in which a queue stood.

use super::evidence::{BufferEstimate, Evidence, Interval};
use units::{Bytes, Rate, Span};

/// The growth of the round trip over its least value that shows a queue: at least this, and this share of the least
/// value. A receiver's estimate of the round trip has steps of a millisecond.
const QUEUE: Span = Span::from_millis(3);
const QUEUE_SHARE: f64 = 0.1;
/// The length of a measurement: at least this, and this number of round trips.
const MEASURED: Span = Span::from_millis(100);
const MEASURED_ROUND_TRIPS: u64 = 2;
/// The share of an interval in which something else may have been the limit.
const HELD: f64 = 0.1;
/// The part of the intervals with the largest growth that is left out: a reader that pauses delays acknowledgements.
const STALLED: usize = 50;
/// The share of the largest growth from which the queue at most losses was a full buffer. Losses at random find any
/// queue.
const OVERFLOWED: f64 = 0.4;

/// Estimates the bottleneck of a connection. The rate is the one that the connection has while a queue stands, with
/// headers. It is the bottleneck's own rate if no other flow shares the queue. The buffer is the usual growth
/// of the round trip at a loss, or the largest of all, times that rate. Returns `None` for what the evidence does not show: a queue that never stood long enough.
#[must_use]
pub fn bottleneck(evidence: &Evidence) -> (Option<Rate>, Option<BufferEstimate>) {
    let Some(base) = evidence.base_round_trip else { return (None, None) };
    let queue = QUEUE.max(base.scale(QUEUE_SHARE));
    let queueing =
        |interval: &Interval| interval.round_trip.map(|round_trip| round_trip.saturating_sub(base));
    let mut rates = Vec::new();
    let (mut moved, mut time) = (Bytes::ZERO, Span::ZERO);
    for interval in &evidence.intervals {
        let stands = queueing(interval).is_some_and(|growth| growth >= queue);
        // A queue at the bottleneck delivers without a pause. Where a window or a program is the limit, the round trip
        // grows for other reasons.
        if !stands || interval.delivered == Bytes::ZERO || is_held(interval) {
            (moved, time) = (Bytes::ZERO, Span::ZERO);
            continue;
        }
        moved += interval.delivered;
        time += interval.length;
        let round_trip = interval.round_trip.unwrap_or(base);
        if time >= MEASURED.max(round_trip * MEASURED_ROUND_TRIPS) {
            rates.push(Rate::of(moved, time));
            (moved, time) = (Bytes::ZERO, Span::ZERO);
        }
    }
    if rates.is_empty() {
        return (None, None);
    }
    rates.sort_unstable();
    let segment = evidence.segment.get().max(1) as f64;
    let headers = evidence.direction.headers().get();
    let capacity = rates[rates.len() / 2].scale(1.0 + headers as f64 / segment);
    let mut growths: Vec<Span> = evidence.intervals.iter().filter_map(queueing).collect();
    growths.sort_unstable();
    let largest = growths[growths.len() - 1 - growths.len() / STALLED];
    let mut queues: Vec<Span> = evidence.episodes.iter().filter_map(|episode| episode.queueing).collect();
    queues.sort_unstable();
    let full = queues.get(queues.len() / 2).filter(|&&queue| queue >= largest.scale(OVERFLOWED));
    let size = capacity.volume(full.copied().unwrap_or(largest));
    let buffer = BufferEstimate { size, at_least: full.is_none() };
    (Some(capacity), Some(buffer))
}

/// Returns true if a window, a buffer or the sending program limited the connection for a part of an interval.
fn is_held(interval: &Interval) -> bool {
    let held = interval.kernel.map_or(Span::ZERO, |kernel| kernel.window_limited + kernel.buffer_limited);
    interval.ran_dry || interval.idle + held > interval.length.scale(HELD)
}

#[cfg(test)]
mod tests {
    use super::super::evidence::{Direction, KernelClocks, Vantage};
    use super::*;

    fn evidence(round_trips: &[u64]) -> Evidence {
        let at = |text: &str| text.parse().expect("an address");
        let ends = Direction { source: at("192.0.2.1:80"), destination: at("192.0.2.2:4000") };
        let interval = |&round_trip: &u64| Interval {
            length: Span::from_millis(20),
            delivered: Bytes::new(144_800),
            round_trip: Some(Span::from_millis(round_trip)),
            ..Interval::default()
        };
        let mut evidence = Evidence::new(ends, Vantage::SenderSocket);
        evidence.base_round_trip = Some(Span::from_millis(40));
        evidence.intervals = round_trips.iter().map(interval).collect();
        evidence
    }

    #[test]
    fn a_standing_queue_shows_the_rate_with_headers_and_the_buffer() {
        let (capacity, buffer) = bottleneck(&evidence(&[40, 50, 60, 65, 70, 80, 90, 60]));
        // 144,800 B in 20 ms are 57.92 Mbit/s of payload, 60 Mbit/s with headers.
        assert_eq!(capacity.map(Rate::as_bps), Some(60_000_000));
        assert_eq!(buffer, Some(BufferEstimate { size: Bytes::new(375_000), at_least: true }));
    }

    #[test]
    fn without_a_queue_neither_is_known() {
        assert_eq!(bottleneck(&evidence(&[40, 41, 42, 43, 42, 41, 40, 41, 42])), (None, None));
        assert_eq!(bottleneck(&evidence(&[40, 60, 40, 60, 40, 60, 40, 60])), (None, None), "too short");
        let mut held = evidence(&[60; 20]);
        for interval in &mut held.intervals {
            let window_limited = interval.length;
            interval.kernel = Some(KernelClocks { window_limited, ..KernelClocks::default() });
        }
        assert_eq!(bottleneck(&held), (None, None), "a slow reader delays acknowledgements as well");
    }
}

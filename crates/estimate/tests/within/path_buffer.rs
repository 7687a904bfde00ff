//! Tests of the estimate of a buffer from round trips and losses.

use super::*;
use units::Bytes;

fn at(millis: u64) -> Time {
    Time::from_nanos(millis * 1_000_000)
}

/// Makes a saw of two seconds between `least` and `most` milliseconds of queue, on 40 ms of base RTT, for ten seconds.
fn saw(most: impl Fn(u64) -> u64) -> Vec<(Time, Span)> {
    (0..1000)
        .map(|step| (at(step * 10), Span::from_millis(40 + most(step / 200) * (step % 200) / 199)))
        .collect()
}

#[test]
fn a_queue_that_overflows_each_time_is_the_buffer() {
    let losses: Vec<Time> = (1..=4).map(|tooth| at(tooth * 2000 + 60)).collect();
    let mut round_trips = saw(|_| 80);
    // A host that stood still for a moment delays one probe.
    round_trips[300].1 = Span::from_secs(1);
    let rate = Rate::from_bps(20_000_000);
    let found = buffer_in_front(&round_trips, &losses, Span::from_millis(40), rate).unwrap();
    assert!((found.size.get() as f64 / 200_000.0 - 1.0).abs() < 0.02, "{found:?}");
    assert!(!found.at_least);
}

#[test]
fn a_buffer_that_never_overflowed_may_be_larger() {
    let rate = Rate::from_bps(20_000_000);
    let base = Span::from_millis(40);
    assert!(buffer_in_front(&saw(|_| 80), &[], base, rate).unwrap().at_least);
    // Losses at any time are the path's, and not those of a full queue.
    let random: Vec<Time> = [300, 2300, 4400, 6500, 8700].map(at).to_vec();
    let round_trips = saw(|tooth| if tooth == 1 { 80 } else { 20 });
    assert!(buffer_in_front(&round_trips, &random, base, rate).unwrap().at_least);
    assert_eq!(buffer_in_front(&round_trips[..2], &[], base, rate), None);
    assert_eq!(buffer_in_front(&[(at(1), base); 3], &[], base, rate).unwrap().size, Bytes::ZERO);
}

//! Tests of the pace of a program that writes.

use super::*;

fn us(micros: u64) -> Time {
    Time::ZERO + Span::from_micros(micros)
}

const BEGIN: u64 = 1_000_000;

/// Returns the bytes written in `end` microseconds by a program that wakes up `late` microseconds after each due
/// time.
fn written(pace: &mut Pace, end: u64, late: u64) -> usize {
    let (mut sum, mut at) = (0, us(BEGIN));
    while at < us(BEGIN + end) {
        let room = pace.room(at);
        assert!(room > 0);
        pace.wrote(at, room, false);
        sum += room;
        at = pace.due() + Span::from_micros(late);
    }
    sum
}

#[test]
fn what_is_written_keeps_to_the_rate_however_late_wake_ups_are() {
    for (mbps, late) in
        [(1, 100), (10, 130), (100, 0), (100, 240), (100, 700), (100, 1900), (1000, 130), (1000, 500)]
    {
        let mut pace = Pace::default();
        pace.set(us(BEGIN), Some(Rate::from_bps(mbps * 1_000_000)));
        let (sum, all) = (written(&mut pace, 1_000_000, late) as f64, mbps as f64 * 125_000.0);
        assert!((0.96..=1.03).contains(&(sum / all)), "{mbps} Mbit/s, {late} us late: {sum} of {all}");
    }
}

#[test]
fn lost_time_is_made_up_for_by_quanta_at_twice_the_pace_and_not_by_a_burst() {
    let mut pace = Pace::default();
    pace.set(us(BEGIN), Some(Rate::from_bps(80_000_000)));
    assert_eq!(pace.room(us(BEGIN)), 5_000);
    pace.wrote(us(BEGIN), 5_000, false);
    assert_eq!((pace.room(us(BEGIN + 499)), pace.due()), (0, us(BEGIN + 500)));
    let mut left = Vec::new();
    let mut at = us(BEGIN + 500_000);
    for _ in 0..4 {
        left.push((at.since(us(BEGIN + 500_000)), pace.room(at)));
        pace.wrote(at, pace.room(at), false);
        at = pace.due();
    }
    let after = Span::from_micros;
    assert_eq!(left, [(after(0), 5_000), (after(250), 5_000), (after(500), 5_000), (after(1_000), 5_000)]);
}

#[test]
fn without_a_rate_there_is_room() {
    let mut pace = Pace::default();
    assert_eq!((pace.room(us(0)), pace.due(), pace.unsent()), (usize::MAX, Time::NEVER, Bytes::ZERO));
    pace.set(us(5_000), Some(Rate::from_bps(80_000_000)));
    assert_eq!((pace.room(us(5_000)), pace.unsent()), (5_000, Bytes::new(15_000)));
    pace.wrote(us(5_000), 5_000, false);
    assert_eq!((pace.room(us(5_499)), pace.due()), (0, us(5_500)));
    // Another rate gives no more room.
    pace.set(us(5_200), Some(Rate::from_bps(40_000_000)));
    assert_eq!((pace.room(us(5_200)), pace.due().since(us(5_579)) < Span::from_micros(1)), (0, true));
    pace.set(us(5_300), None);
    assert_eq!((pace.room(us(5_300)), pace.due()), (usize::MAX, Time::NEVER));
}

#[test]
fn a_full_socket_is_asked_again_soon() {
    let mut pace = Pace::default();
    pace.set(us(9_000), Some(Rate::from_bps(8_000_000_000)));
    pace.wrote(us(9_000), 0, true);
    assert_eq!(pace.due(), us(9_200));
}

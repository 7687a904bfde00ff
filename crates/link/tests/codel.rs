//! CoDel against RFC 8289: when it starts, how its drops follow each other, when it must not drop, and what a
//! new episode takes over from the last.

mod common;

use common::{Fate, Probe, TestLink, at, capable, millis, plain};
use tightlink_link::queue::{Codel, CodelParameters};
use tightlink_link::{DropReason, Ecn, Limit};
use units::{Bytes, Span, Time};

const SERVICE: Span = Span::from_millis(1);

fn bench() -> TestLink<Codel<Probe>> {
    TestLink::new(Codel::new(CodelParameters::default(), Limit::Packets(100_000)), SERVICE)
}

/// Offers `packet` once every `gap` from `from` until `until`.
fn offer(bench: &mut TestLink<Codel<Probe>>, from: Time, until: Time, gap: Span, packet: fn(u64) -> Probe) {
    let mut now = from;
    while now < until {
        let id = bench.arrivals();
        bench.arrive(now, packet(id));
        now += gap;
    }
}

/// The times the control law gives from `first` on: the n-th next `interval/sqrt(n)` later, as seen by a
/// serializer that asks once a `SERVICE`.
fn schedule(first: Time, count: u64, until: Time) -> Vec<f64> {
    let mut due = vec![first.as_secs_f64()];
    for n in count.. {
        let next = due[due.len() - 1] + 0.1 / (n as f64).sqrt();
        if next > until.as_secs_f64() {
            break;
        }
        due.push(next);
    }
    due
}

#[test]
fn drops_follow_the_control_law_at_constant_overload() {
    let mut bench = bench();
    // Twice what fits: the queue grows throughout.
    offer(&mut bench, at(0), millis(5000), SERVICE.scale(0.5), plain);
    let drops = bench.drops(DropReason::Aqm);
    // The first packet that has waited 5 ms leaves at 10 ms; an interval later the episode begins.
    assert_eq!(drops[0], millis(110));
    let expected = schedule(drops[0], 1, millis(5000));
    assert!(expected.len() > 600, "{}", expected.len());
    assert!(drops.len().abs_diff(expected.len()) <= 1, "{} {}", drops.len(), expected.len());
    for (n, (drop, due)) in drops.iter().zip(&expected).enumerate() {
        // Never early, and at the next departure: at most a service time late.
        let late = drop.as_secs_f64() - due;
        assert!((-1e-6..=0.001_001).contains(&late), "drop {n}: {late} s late");
    }
}

#[test]
fn nothing_is_dropped_while_some_packet_in_each_interval_waits_less_than_the_target() {
    let mut bench = bench();
    // Bursts of 90 packets every 100 ms at 90 % load: waits of up to 89 ms, but the queue empties each time.
    for burst in 0..50 {
        for _ in 0..90 {
            let id = bench.arrivals();
            bench.arrive(millis(burst * 100), plain(id));
        }
    }
    bench.advance(millis(6000));
    assert!(bench.waits(at(0)).iter().max() == Some(&Span::from_millis(89)));
    assert_eq!(bench.drops(DropReason::Aqm), []);

    // A standing queue just below the target: four packets of a millisecond for ever.
    let mut bench = self::bench();
    (0..5).for_each(|id| bench.arrive(at(0), plain(id)));
    offer(&mut bench, millis(1), millis(3000), SERVICE, plain);
    let waits = bench.waits(millis(100));
    assert!(waits.iter().all(|wait| *wait == Span::from_millis(4)));
    assert_eq!(bench.drops(DropReason::Aqm), []);
}

#[test]
fn a_standing_queue_is_brought_to_the_target() {
    // Twenty packets stand, with arrivals at exactly capacity: each drop shortens the queue for good.
    let mut bench = bench();
    (0..21).for_each(|id| bench.arrive(at(0), plain(id)));
    offer(&mut bench, millis(1), millis(5000), SERVICE, plain);
    // 20 ms wait; 16 drops leave 4 ms, below the target, and then none is dropped any more.
    assert_eq!(bench.drops(DropReason::Aqm).len(), 16);
    assert_eq!(bench.waits(millis(4000)).iter().max(), Some(&Span::from_millis(4)));
}

#[test]
fn nothing_is_dropped_with_at_most_a_maximum_packet_behind() {
    // A packet takes 100 ms, 20 targets: with one waiting behind the one in service delay exceeds the target
    // for ever, yet the queue holds no more than a packet as each leaves.
    let mut slow =
        TestLink::new(Codel::new(CodelParameters::default(), Limit::Packets(100)), Span::from_millis(100));
    for id in 0..200u64 {
        // Two at first, then one per service time: one is always behind the next to go.
        slow.arrive(millis(id.saturating_sub(2) * 100 + 10), plain(id));
    }
    slow.advance(millis(30_000));
    assert!(slow.waits(millis(1000)).iter().all(|wait| *wait > Span::from_millis(5)));
    assert_eq!(slow.drops(DropReason::Aqm), []);

    // Longer packets than the interface's maximum raise it.
    let jumbo = |id| Probe { length: 9000, ..plain(id) };
    let mut slow =
        TestLink::new(Codel::new(CodelParameters::default(), Limit::Packets(100)), Span::from_millis(100));
    (0..200u64).for_each(|id| slow.arrive(millis(id.saturating_sub(2) * 100 + 10), jumbo(id)));
    assert_eq!(slow.drops(DropReason::Aqm), []);

    // With two behind there is something to drop.
    let mut slow =
        TestLink::new(Codel::new(CodelParameters::default(), Limit::Packets(100)), Span::from_millis(100));
    (0..200u64).for_each(|id| slow.arrive(millis(id.saturating_sub(3) * 100 + 10), plain(id)));
    assert_eq!(slow.drops(DropReason::Aqm).len(), 1);
}

#[test]
fn a_new_episode_soon_after_goes_on_from_the_count_the_last_one_had_reached() {
    let episodes = |pause: u64| {
        let mut bench = bench();
        offer(&mut bench, at(0), millis(1000), SERVICE.scale(0.5), plain);
        let first = bench.drops(DropReason::Aqm).len() as u64;
        // The load ends, the queue drains (more is dropped meanwhile), and comes back.
        bench.advance(millis(2500));
        let all_of_first = bench.drops(DropReason::Aqm).len();
        assert!(all_of_first as u64 >= first);
        let back = millis(2500 + pause);
        offer(&mut bench, back, back + Span::from_millis(1000), SERVICE.scale(0.5), plain);
        let drops = bench.drops(DropReason::Aqm);
        let gap = drops[all_of_first + 1].since(drops[all_of_first]).as_secs_f64();
        (all_of_first as f64, gap)
    };
    // Soon: the first gap is interval/sqrt(count reached beyond the start), the start being 1.
    let (reached, gap) = episodes(0);
    let expected = 0.1 / (reached - 1.0).sqrt();
    assert!((gap - expected).abs() <= 0.001_5, "{gap} for {expected}");
    // After more than 16 intervals it starts afresh: interval/sqrt(1).
    let (_, gap) = episodes(2000);
    assert!((gap - 0.1).abs() <= 0.001, "{gap}");
}

#[test]
fn capable_packets_are_marked_on_the_same_schedule() {
    let run = |packet| {
        let mut bench = bench();
        offer(&mut bench, at(0), millis(3000), SERVICE.scale(0.5), packet);
        bench
    };
    let marked = run(capable);
    assert_eq!(marked.drops(DropReason::Aqm), []);
    let marks: Vec<_> = marked
        .fates
        .iter()
        .filter(|(_, packet, fate)| packet.ecn == Ecn::Marked && matches!(fate, Fate::Sent(_)))
        .map(|(time, ..)| *time)
        .collect();
    let expected = schedule(millis(110), 1, millis(3000));
    for (n, (mark, due)) in marks.iter().zip(&expected).enumerate() {
        let late = mark.as_secs_f64() - due;
        assert!((-1e-6..=0.001_001).contains(&late), "mark {n}: {late} s late");
    }
    assert!(marks.len().abs_diff(expected.len()) <= 1 && marks.len() > 200);

    // Switched off, capable packets are dropped like any other.
    let off = CodelParameters { ecn: false, ..CodelParameters::default() };
    let mut dropped = TestLink::new(Codel::new(off, Limit::Bytes(Bytes::new(10_000_000))), SERVICE);
    offer(&mut dropped, at(0), millis(3000), SERVICE.scale(0.5), capable);
    assert_eq!(dropped.drops(DropReason::Aqm), run(plain).drops(DropReason::Aqm));
}

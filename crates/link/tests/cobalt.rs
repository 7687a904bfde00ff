//! COBALT against Linux's `sch_cake`: late packets, drops that are taken back, and BLUE.

mod common;

use common::{Fate, TestLink, at, capable, context, millis, plain};
use tightlink_link::queue::{Cobalt, CobaltParameters};
use tightlink_link::{DropReason, Ecn};
use units::{Rate, Span, Time};

/// A packet of 1500 bytes takes 0.1 ms at this rate.
const MBPS: u64 = 120;

fn parameters() -> CobaltParameters {
    let rate = Rate::from_bps(MBPS * 1_000_000);
    CobaltParameters::at(rate, CobaltParameters::TARGET, CobaltParameters::INTERVAL, true)
}

fn bench(limit: u64) -> TestLink<Cobalt<common::Probe>> {
    TestLink::new(Cobalt::new(parameters(), context(limit, MBPS)), Span::from_micros(100))
}

#[test]
fn a_slow_link_has_a_longer_target() {
    let at = |kbps: u64| {
        let rate = Rate::from_bps(kbps * 1000);
        CobaltParameters::at(rate, CobaltParameters::TARGET, CobaltParameters::INTERVAL, true)
    };
    // 1514 bytes at 1 Mbit/s take 12.112 ms.
    assert_eq!(at(1000).target, Span::from_micros(18_168));
    assert_eq!(at(1000).interval, Span::from_micros(113_168));
    assert_eq!((at(100_000).target, at(100_000).interval), (Span::from_millis(5), Span::from_millis(100)));
    // At 56 kbit/s the interval is at least twice the target.
    assert_eq!(at(56).interval, at(56).target * 2);
}

#[test]
fn the_first_drop_comes_an_interval_after_the_first_late_packet_and_the_next_ones_sooner() {
    // 10 % too many packets, for long enough.
    let mut bench = bench(100_000);
    for tick in 0..20_000u64 {
        let id = bench.arrivals();
        bench.arrive(at(tick * 91_000), plain(id));
    }
    let drops = bench.drops(DropReason::Aqm);
    // The queue grows by 1 ms in 11.1 ms, so packets are late from 56 ms on.
    let first = drops[0];
    assert!((millis(150)..millis(170)).contains(&first), "{first:?}");
    // The n-th gap is interval / sqrt(n), up to the time to the next departure.
    for (n, pair) in drops.windows(2).enumerate().take(20) {
        let gap = pair[1].since(pair[0]).as_secs_f64();
        let wanted = 0.1 / ((n + 2) as f64).sqrt();
        assert!((gap - wanted).abs() < 0.0003, "{n}: {gap} for {wanted}");
    }
}

#[test]
fn a_queue_that_empties_takes_its_drops_back_one_by_one() {
    let mut bench = bench(100_000);
    let burst = |bench: &mut TestLink<_>, from: u64, ticks: u64, gap: u64| {
        for tick in 0..ticks {
            let id = bench.arrivals();
            bench.arrive(at(from + tick * gap), plain(id));
        }
    };
    burst(&mut bench, 0, 20_000, 91_000);
    let before = bench.drops(DropReason::Aqm).len();
    assert!(before > 50, "{before}");
    // Half a second at half the rate, then overload again. Not all drops are taken back by then, so that the next one
    // comes sooner than an interval after the queue is late.
    burst(&mut bench, 3_000_000_000, 2500, 200_000);
    burst(&mut bench, 3_500_000_000, 2000, 50_000);
    let again = bench.drops(DropReason::Aqm);
    let soon = again[before].since(millis(3510));
    assert!(soon < Span::from_millis(60), "{soon}");
    // After a minute on time everything is taken back.
    burst(&mut bench, 4_000_000_000, 600, 100_000_000);
    let before = bench.drops(DropReason::Aqm).len();
    burst(&mut bench, 64_000_000_000, 4000, 50_000);
    let late = bench.drops(DropReason::Aqm)[before].since(millis(64_010));
    assert!((Span::from_millis(95)..Span::from_millis(110)).contains(&late), "{late}");
}

#[test]
fn capable_packets_are_marked_on_the_same_schedule_and_not_dropped() {
    let mut bench = bench(100_000);
    for tick in 0..10_000u64 {
        let id = bench.arrivals();
        bench.arrive(at(tick * 91_000), capable(id));
    }
    assert!(bench.drops(DropReason::Aqm).is_empty());
    let marked = |(_, packet, fate): &&(Time, common::Probe, Fate)| {
        matches!(fate, Fate::Sent(_)) && packet.ecn == Ecn::Marked
    };
    let marks = bench.fates.iter().filter(marked).count();
    assert!((10..100).contains(&marks), "{marks}");
}

#[test]
fn blue_drops_packets_of_a_flow_that_does_not_answer_though_they_can_be_marked() {
    // Twice the rate, ECN set but ignored, room for 500 packets.
    let mut bench = bench(500);
    for tick in 0..400_000u64 {
        let id = bench.arrivals();
        bench.arrive(at(tick * 50_000), capable(id));
    }
    let share = |from: u64, to: u64, reason| {
        let drops = bench.drops(reason);
        drops.iter().filter(|time| (millis(from)..millis(to)).contains(time)).count() as f64
            / ((to - from) as f64 * 20.0)
    };
    // At first the room is full, and at the end BLUE drops nearly all that is too much.
    assert!(share(0, 500, DropReason::QueueFull) > 0.3);
    assert!(
        (0.45..0.55).contains(&share(15_000, 20_000, DropReason::Aqm)),
        "{}",
        share(15_000, 20_000, DropReason::Aqm)
    );
    assert!(share(15_000, 20_000, DropReason::QueueFull) < 0.1);
}

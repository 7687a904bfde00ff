//! PIE against RFC 8033: the controller's steps, what bursts and low delays are spared, de-randomized drops, the
//! 10 % rule for marks, and loads that it steers to its target delay.

mod common;

use common::{Fate, Probe, TestLink, at, capable, context, mean, millis, plain};
use tightlink_link::queue::{Pie, PieParameters};
use tightlink_link::{DropReason, Ecn, Queue};
use units::{Span, Time};

/// A packet takes a millisecond: 12 Mbit/s.
const SERVICE: Span = Span::from_millis(1);

fn bench(parameters: PieParameters) -> TestLink<Pie<Probe>> {
    TestLink::new(Pie::new(parameters, context(10_000, 12)), SERVICE)
}

/// Offers a constant load of `load` times capacity for `seconds`.
fn offer(bench: &mut TestLink<Pie<Probe>>, load: f64, seconds: u64, packet: fn(u64) -> Probe) {
    let gap = (1e6 / load) as u64;
    for id in 0..(seconds * 1_000_000_000 / gap) {
        bench.arrive(at(id * gap), packet(id));
    }
}

#[test]
fn delay_settles_at_the_target_under_unresponsive_overload() {
    for derandomize in [true, false] {
        for load in [1.02, 1.05, 1.1, 1.3, 1.8] {
            let mut bench = bench(PieParameters { derandomize, ..PieParameters::default() });
            offer(&mut bench, load, 100, plain);
            let delay = mean(&bench.waits(millis(60_000)));
            assert!((0.0135..0.0165).contains(&delay), "load {load}: {delay} s");
            // The probability is what must be dropped, on average over the last 40 s.
            let late = bench.drops(DropReason::Aqm).iter().filter(|time| **time >= millis(60_000)).count();
            let share = late as f64 / (40_000.0 * load);
            assert!((share / (1.0 - 1.0 / load) - 1.0).abs() < 0.05, "load {load}: {share}");
            assert_eq!(bench.drops(DropReason::QueueFull).len(), 0);
        }
    }
}

#[test]
fn delay_settles_at_the_target_with_senders_that_answer() {
    // Ten senders whose windows grow by a packet per round trip of 50 ms plus the queueing delay, and halve on
    // a drop, at most once per round trip: Reno without its details.
    #[derive(Clone, Copy)]
    struct Sender {
        window: f64,
        next: Time,
        halved: Time,
    }
    let mut bench = bench(PieParameters::default());
    let mut senders: Vec<_> =
        (0..10).map(|i| Sender { window: 2.0, next: millis(i * 5), halved: at(0) }).collect();
    let mut owner = Vec::new();
    let mut seen = 0;
    let end = Time::ZERO + Span::from_secs(120);
    loop {
        let index = (0..senders.len()).min_by_key(|index| senders[*index].next).expect("ten");
        let now = senders[index].next;
        if now >= end {
            break;
        }
        owner.push(index);
        bench.arrive(now, plain(owner.len() as u64 - 1));
        let delay = bench.queue.backlog().packets as f64 * 1e-3;
        let round = 0.05 + delay;
        for (time, packet, fate) in &bench.fates[seen..] {
            let sender = &mut senders[owner[packet.id as usize]];
            if matches!(fate, Fate::Dropped(_)) && time.since(sender.halved).as_secs_f64() > round {
                sender.window = (sender.window / 2.0).max(1.0);
                sender.halved = *time;
            }
        }
        seen = bench.fates.len();
        let sender = &mut senders[index];
        sender.window += 1.0 / sender.window;
        sender.next = now + Span::from_secs_f64(round / sender.window);
    }
    let waits = bench.waits(millis(40_000));
    let delay = mean(&waits);
    assert!((0.010..0.020).contains(&delay), "{delay} s");
    let utilization = waits.len() as f64 / 80_000.0;
    assert!(utilization > 0.97, "{utilization}");
}

/// The probability after each update while the queue is left alone with a constant wait: `waits` in
/// milliseconds, one per update.
fn probabilities(waits: &[u64]) -> Vec<f64> {
    let mut queue =
        Pie::new(PieParameters { burst: Span::ZERO, ..PieParameters::default() }, context(10_000, 12));
    let mut out = Vec::new();
    // The clock starts with the first packet; two behind keep the queue from being empty.
    let start = 1_000_000_000u64;
    let mut id = 0;
    let mut push = |queue: &mut Pie<Probe>, now: u64| {
        queue.enqueue(at(now), plain(id), &mut |_, _| panic!("a nearly empty queue loses nothing"));
        id += 1;
    };
    push(&mut queue, start);
    push(&mut queue, start);
    queue.dequeue(at(start), &mut |_, _| ());
    for (step, wait) in waits.iter().enumerate() {
        let update = start + (step as u64 + 1) * 15_000_000;
        // One that came `wait` before it leaves, just before the update.
        while queue.dequeue(at(update - 14_000_000), &mut |_, _| ()).is_some() {}
        let came = update - 1_000_000 - wait * 1_000_000;
        push(&mut queue, came);
        push(&mut queue, came);
        queue.dequeue(at(update - 1_000_000), &mut |_, _| ());
        queue.dequeue(at(update), &mut |_, _| ()).expect("two");
        out.push(queue.probability());
    }
    out
}

#[test]
fn updates_follow_the_control_law_and_its_tuning_table() {
    // Waits below 13 ms fit between updates; the target is 15 ms, so it is a rising delay that counts:
    // step = (0.125 (d - 0.015) + 1.25 (d - d_old)) / divisor.
    let steps = probabilities(&[12, 0, 12]);
    let first = (0.125 * (0.012 - 0.015) + 1.25 * 0.012) / 2048.0;
    assert!((steps[0] - first).abs() < 1e-12, "{} for {first}", steps[0]);
    // Down again: 0.125 (0 - 0.015) + 1.25 (0 - 0.012) < 0, and never below zero.
    assert_eq!(steps[1], 0.0);
    assert!((steps[2] - first).abs() < 1e-12);
    // The table: from 1e-6 on 512 divides, from 1e-5 on 128.
    let steps = probabilities(&[4, 9, 13]);
    let first = (0.125 * (0.004 - 0.015) + 1.25 * 0.004) / 2048.0;
    let second = first + (0.125 * (0.009 - 0.015) + 1.25 * 0.005) / 512.0;
    assert!(first > 1e-6 && first < 1e-5 && second < 1e-4 && second > 1e-5);
    assert!((steps[1] - second).abs() < 1e-12, "{} for {second}", steps[1]);
    let third = second + (0.125 * (0.013 - 0.015) + 1.25 * 0.004) / 128.0;
    assert!((steps[2] - third).abs() < 1e-12, "{} for {third}", steps[2]);
}

/// PIE at the end of a long overload of `load` times capacity, its queue at the target.
fn steady(load: f64) -> Pie<Probe> {
    let mut bench = bench(PieParameters::default());
    offer(&mut bench, load, 30, plain);
    bench.queue
}

#[test]
fn steps_are_capped_and_rest_decays() {
    let mut queue = steady(1.5);
    let mut none = |_, _| panic!("dequeue drops nothing");
    // A stall: the next packet leaves after ten seconds. The law's step would be over 1; the cap is 0.02.
    let late = 40_000;
    queue.dequeue(millis(late), &mut none);
    let before = queue.probability();
    queue.dequeue(millis(late + 15), &mut none);
    assert!((queue.probability() - before - 0.02).abs() < 1e-12, "{before} {}", queue.probability());

    let mut queue = steady(1.8);
    while queue.dequeue(millis(30_001), &mut none).is_some() {}
    // Now empty: one update sees the delay fall to zero, those after it see no delay at all.
    queue.dequeue(millis(30_017), &mut none);
    let first = queue.probability();
    queue.dequeue(millis(30_032), &mut none);
    let expected = (first - 0.125 * 0.015) * 0.98;
    assert!(first > 0.1 && (queue.probability() - expected).abs() < 1e-12);
}

#[test]
fn a_nearly_empty_queue_loses_nothing_whatever_the_probability() {
    let mut queue = steady(1.8);
    while queue.dequeue(millis(30_001), &mut |_, _| ()).is_some() {}
    let probability = queue.probability();
    assert!(probability > 0.3);
    // All within one update: up to three packets find at most two waiting.
    for id in 0..3000 {
        queue.enqueue(millis(30_001), plain(id), &mut |_, _| panic!("two or fewer wait"));
        if queue.backlog().packets == 3 {
            while queue.dequeue(millis(30_001), &mut |_, _| ()).is_some() {}
        }
    }
    assert_eq!(queue.probability(), probability);
}

#[test]
fn a_wait_that_leaves_the_queue_empty_is_no_delay() {
    let mut queue = Pie::new(PieParameters::default(), context(10_000, 12));
    queue.enqueue(at(0), plain(0), &mut |_, _| panic!("room"));
    queue.dequeue(millis(14), &mut |_, _| ());
    queue.dequeue(millis(15), &mut |_, _| ());
    assert_eq!(queue.probability(), 0.0);
    // With another behind it, it is.
    let mut queue = Pie::new(PieParameters::default(), context(10_000, 12));
    (0..2).for_each(|id| queue.enqueue(at(0), plain(id), &mut |_, _| panic!("room")));
    queue.dequeue(millis(14), &mut |_, _| ());
    queue.dequeue(millis(15), &mut |_, _| ());
    assert!(queue.probability() > 0.0);
}

#[test]
fn a_burst_shorter_than_the_allowance_passes_whole() {
    let mut bench = bench(PieParameters::default());
    // 140 ms of twice the capacity: delay reaches 70 ms, five targets, and drains.
    for id in 0..280 {
        bench.arrive(at(id * 500_000), plain(id));
    }
    bench.advance(millis(1000));
    assert_eq!(bench.waits(at(0)).len(), 280);
    // After rest the allowance is whole again.
    for id in 280..560 {
        bench.arrive(millis(20_000) + Span::from_micros((id - 280) * 500), plain(id));
    }
    bench.advance(millis(22_000));
    assert_eq!(bench.waits(at(0)).len(), 560);
    // Without allowance some are lost.
    let mut strict = self::bench(PieParameters { burst: Span::ZERO, ..PieParameters::default() });
    for id in 0..560 {
        strict.arrive(at(id * 500_000), plain(id));
    }
    assert!(!strict.drops(DropReason::Aqm).is_empty());
}

#[test]
fn updates_missed_while_nothing_happened_are_made_up_for() {
    // After an overload the queue drains and the link idles: the same probability whether it is asked every
    // 15 ms or once.
    let after = |asked: bool| {
        let mut bench = bench(PieParameters::default());
        offer(&mut bench, 1.5, 10, plain);
        bench.advance(millis(10_100));
        assert!(bench.queue.probability() > 0.1);
        let mut drops = |_, _| ();
        if asked {
            for ms in 10_100..14_000 {
                assert_eq!(bench.queue.dequeue(millis(ms), &mut drops), None);
            }
        }
        bench.queue.dequeue(millis(14_000), &mut drops);
        bench.queue.probability()
    };
    assert_eq!(after(true), after(false));
    assert!(after(true) < 0.05);
    // An hour is soon done, and leaves nothing.
    let mut bench = bench(PieParameters::default());
    offer(&mut bench, 3.0, 10, plain);
    bench.advance(millis(3_600_000));
    bench.queue.dequeue(millis(7_200_000), &mut |_, _| ());
    assert_eq!(bench.queue.probability(), 0.0);
}

#[test]
fn derandomized_drops_come_within_their_bounds() {
    // At one instant the probability stands still; the queue is kept as long as it is.
    let distances = |derandomize, offered: u64| {
        let mut bench = bench(PieParameters { derandomize, ..PieParameters::default() });
        offer(&mut bench, 1.1, 30, plain);
        let mut queue = bench.queue;
        let held = queue.backlog().packets;
        let (mut distances, mut since) = (Vec::new(), 0u64);
        for id in 0..offered {
            since += 1;
            queue.enqueue(millis(30_000), plain(id), &mut |_, _| {
                distances.push(since);
                since = 0;
            });
            if queue.backlog().packets > held {
                queue.dequeue(millis(30_000), &mut |_, _| ());
            }
        }
        // The first began before.
        (distances.split_off(1), queue.probability())
    };
    let (spread, p) = distances(true, 1_000_000);
    let (least, most) = (spread.iter().min().expect("drops"), spread.iter().max().expect("drops"));
    let bounds = ((0.85 / p).ceil() as u64, (8.5 / p).ceil() as u64);
    assert!(*least >= bounds.0 && *most <= bounds.1, "{least} … {most}, {bounds:?}");
    // Without the upper bound about one in two thousand would pass it.
    assert!(spread.len() > 20_000, "{}", spread.len());
    let (random, p) = distances(false, 1_000_000);
    assert_eq!(random.iter().min(), Some(&1));
    let share = random.len() as f64 / random.iter().sum::<u64>() as f64;
    assert!((share / p - 1.0).abs() < 0.02, "{share} for {p}");
}

#[test]
fn capable_packets_are_marked_up_to_ten_percent_and_dropped_beyond() {
    let run = |load, seconds| {
        let mut bench = bench(PieParameters::default());
        offer(&mut bench, load, seconds, capable);
        let marks = bench.fates.iter().filter(|(_, packet, _)| packet.ecn == Ecn::Marked).count();
        (marks, bench.drops(DropReason::Aqm).len(), bench.queue.probability())
    };
    // Unresponsive senders do not heed marks: the probability climbs until packets must be dropped.
    let (marks, drops, probability) = run(1.3, 30);
    assert!(marks > 0 && drops > 1000 && probability > 0.1, "{marks} {drops} {probability}");
    // Before it has climbed there are marks only.
    let (marks, drops, probability) = run(1.01, 4);
    assert!(marks > 0 && drops == 0 && probability <= 0.1, "{marks} {drops} {probability}");
}

//! RED and adaptive RED against their papers: the probability curve and its spreading, the average and what
//! idle time does to it, marks, and a load that adaptive RED steers into its band.

mod common;

use common::{Fate, Probe, TestLink, at, capable, context, plain};
use tightlink_link::queue::{AdaptiveRed, AdaptiveRedParameters, LengthUnit, Red, RedParameters};
use tightlink_link::{DropReason, Ecn, Limit, Queue};
use units::{Span, Time};

/// RED that takes the queue as it is for the average, so that a held queue holds the probability.
fn prompt() -> RedParameters {
    RedParameters {
        min_threshold: 10.0,
        max_threshold: 30.0,
        weight: 1.0,
        ..RedParameters::defaults(&context(1000, 12))
    }
}

/// The queue held at `held` packets of 1500 bytes while `offered` packets arrive: gaps between early drops, as
/// the number of the packet after the last drop that is dropped next.
fn gaps(parameters: RedParameters, held: u64, offered: u64, length: u64) -> Vec<u64> {
    let mut queue = Red::new(RedParameters { ecn: false, ..parameters }, context(1000, 12));
    let mut gaps = Vec::new();
    let mut since = 0;
    for id in 0..offered {
        let mut dropped = false;
        let now = at(id * 1000);
        let filling = queue.backlog().packets < held;
        queue.enqueue(now, Probe { length, ..plain(id) }, &mut |_, _| dropped = true);
        if !filling {
            since += 1;
        }
        if dropped {
            gaps.push(since);
            since = 0;
        } else if queue.backlog().packets > held {
            queue.dequeue(now, &mut |_, _| ());
        }
    }
    gaps
}

fn share(gaps: &[u64]) -> f64 {
    gaps.len() as f64 / gaps.iter().sum::<u64>() as f64
}

#[test]
fn base_probability_is_the_papers_curve() {
    let gentle = prompt();
    let steep = RedParameters { gentle: false, ..gentle };
    for (average, p, p_steep) in [
        (0.0, 0.0, 0.0),
        (9.999, 0.0, 0.0),
        (10.0, 0.0, 0.0),
        (20.0, 0.05, 0.05),
        (25.0, 0.075, 0.075),
        (30.0, 0.1, 1.0),
        (45.0, 0.55, 1.0),
        (60.0, 1.0, 1.0),
        (99.0, 1.0, 1.0),
    ] {
        assert!((gentle.base_probability(average) - p).abs() < 1e-12, "{average}");
        assert!((steep.base_probability(average) - p_steep).abs() < 1e-12, "{average}");
    }
}

#[test]
fn gaps_between_drops_are_uniform_as_in_figure_2_of_the_paper() {
    // p_b = max_p (q - 10)/20; the gap is uniform on 1 … 1/p_b - 1, so the share dropped is 2 p_b.
    for (held, base) in [(12, 0.01), (15, 0.025), (20, 0.05), (25, 0.075)] {
        let gaps = gaps(prompt(), held, 400_000, 1500);
        let share = share(&gaps);
        assert!((share / (2.0 * base) - 1.0).abs() < 0.03, "p_b {base}: {share}");
        let longest = *gaps.iter().max().expect("drops");
        assert!(longest as f64 <= 1.0 / base, "p_b {base}: {longest}");
        // Uniform: the variance is that of 1/p_b - 1 equally likely gaps.
        let n = 1.0 / base - 1.0;
        let mean = 1.0 / share;
        let variance = gaps.iter().map(|gap| (*gap as f64 - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let expected = (n * n - 1.0) / 12.0;
        assert!((variance / expected - 1.0).abs() < 0.08, "p_b {base}: {variance} for {expected}");
    }
}

#[test]
fn with_wait_drops_keep_a_distance() {
    // Uniform on 1/p_b … 2/p_b: 20 … 40 packets, 30 on average.
    let gaps = gaps(RedParameters { wait: true, ..prompt() }, 20, 400_000, 1500);
    // The first gap starts as the queue grew through smaller probabilities.
    let gaps = &gaps[1..];
    let (least, most) = (gaps.iter().min().expect("drops"), gaps.iter().max().expect("drops"));
    assert!(*least >= 20 && *most <= 40, "{least} … {most}");
    assert!((share(gaps) * 30.0 - 1.0).abs() < 0.03, "{}", share(gaps));
}

#[test]
fn in_byte_mode_a_packets_probability_is_proportional_to_its_length() {
    let bytes = RedParameters { unit: LengthUnit::Bytes, ..prompt() };
    let full = share(&gaps(bytes, 20, 400_000, 1500));
    let short =
        share(&gaps(RedParameters { min_threshold: 1.0, max_threshold: 3.0, ..bytes }, 20, 400_000, 150));
    assert!((full / 0.1 - 1.0).abs() < 0.03, "{full}");
    // Twenty of a tenth are 2 mean packets, the middle of 1 … 3: p_b = 0.05 per mean packet, a tenth of it
    // each, and the gap uniform in bytes.
    assert!((short / 0.01 - 1.0).abs() < 0.06, "{short}");
}

#[test]
fn average_follows_arrivals_and_decays_as_if_packets_had_come_while_idle() {
    let weight = 0.1;
    let parameters = RedParameters { weight, min_threshold: 1e6, max_threshold: 2e6, ..prompt() };
    // 12 Mbit/s: a mean packet takes 1 ms.
    let mut queue = Red::new(parameters, context(1000, 12));
    let mut expected = 0.0;
    for id in 0..20 {
        expected = (1.0 - weight) * expected + weight * id as f64;
        queue.enqueue(at(0), plain(id), &mut |_, _| panic!("below min_th"));
    }
    assert!((queue.average(at(0)) - expected).abs() < 1e-12);
    while queue.dequeue(at(1_000_000), &mut |_, _| ()).is_some() {}
    // Idle from 1 ms to 8.5 ms: 7.5 packets.
    let idle = at(8_500_000);
    assert!((queue.average(idle) / (expected * libm::pow(0.9f64, 7.5)) - 1.0).abs() < 1e-12);
    // The arrival that ends it is one more sample of an empty queue.
    assert!(queue.pass(idle, plain(20), &mut |_, _| ()).is_some());
    assert!((queue.average(idle) / (expected * libm::pow(0.9f64, 8.5)) - 1.0).abs() < 1e-12);
    // Hours leave nothing.
    while queue.dequeue(at(9_000_000), &mut |_, _| ()).is_some() {}
    assert_eq!(queue.average(at(20_000_000_000_000)), 0.0);
}

#[test]
fn below_min_th_the_count_starts_afresh() {
    // Again and again the queue is emptied, one packet arrives below min_th, and 20 more lift it to 20.
    let parameters = RedParameters { ecn: false, ..prompt() };
    let mut queue = Red::new(parameters, context(1000, 12));
    let (rounds, mut untouched) = (20_000, 0);
    for _ in 0..rounds {
        while queue.dequeue(at(0), &mut |_, _| ()).is_some() {}
        let mut drops = 0;
        (0..21).for_each(|id| queue.enqueue(at(0), plain(id), &mut |_, _| drops += 1));
        untouched += u32::from(drops == 0);
    }
    // Arrivals find 10 … 20 packets; the first with a probability above zero has seen the one at 10 counted.
    let mut expected = 1.0;
    for found in 11..=20 {
        let base = parameters.base_probability(f64::from(found));
        expected *= 1.0 - parameters.spread_probability(base, f64::from(found - 11));
    }
    let share = f64::from(untouched) / f64::from(rounds);
    assert!((share - expected).abs() < 0.01, "{share} for {expected}");
}

#[test]
fn capable_packets_are_marked_until_every_packet_must_be_dropped() {
    for (held, drops_expected) in [(20u64, false), (70, true)] {
        let mut queue = Red::new(prompt(), context(1000, 12));
        let (mut marks, mut drops) = (0, 0);
        for id in 0..5000 {
            queue.enqueue(at(id), capable(id), &mut |_, why| {
                assert_eq!(why, DropReason::Aqm);
                drops += 1;
            });
            if queue.backlog().packets > held {
                let sent = queue.dequeue(at(id), &mut |_, _| ()).expect("held");
                marks += u32::from(sent.ecn == Ecn::Marked);
            }
        }
        assert!(marks > 100 || drops_expected, "{marks}");
        // 2 max_th = 60 is never passed: there drops begin.
        assert_eq!(drops > 0, drops_expected, "{held}: {drops}");
        assert!(queue.backlog().packets <= 61);
    }
}

/// A bench where a constant load of `load` times capacity (a packet per ms) is offered for `seconds`.
fn overloaded(
    mut bench: TestLink<AdaptiveRed<Probe>>,
    load: f64,
    seconds: u64,
) -> TestLink<AdaptiveRed<Probe>> {
    let gap = (1e6 / load) as u64;
    let first = bench.fates.len() as u64;
    assert_eq!(first, 0);
    for id in 0..(seconds * 1_000_000_000 / gap) {
        bench.arrive(at(id * gap), plain(id));
    }
    bench
}

#[test]
fn adaptive_red_brings_the_average_into_its_band_under_any_load() {
    let context = context(1000, 12);
    let parameters = AdaptiveRedParameters::defaults(&context, Span::from_millis(40));
    assert_eq!((parameters.red.min_threshold, parameters.red.max_threshold), (20.0, 60.0));
    for load in [1.03, 1.1, 1.3, 1.6] {
        let queue = AdaptiveRed::new(parameters, context.clone());
        let bench = overloaded(TestLink::new(queue, Span::from_millis(1)), load, 120);
        // The last 40 s: the mean wait is the mean queue, in packets of a millisecond.
        let waits = bench.waits(Time::ZERO + Span::from_secs(80));
        let queue = common::mean(&waits) * 1000.0;
        assert!((36.0..=44.0).contains(&queue), "load {load}: {queue}");
        let probability = bench.queue.red().parameters().max_probability;
        let dropped = 1.0 - 1.0 / load;
        // At the middle of the band p_b is half max_p, and twice that is dropped.
        assert!((0.6..1.6).contains(&(probability / dropped)), "load {load}: max_p {probability}");
        assert_eq!(bench.drops(DropReason::QueueFull).len(), 0);
    }
}

#[test]
fn adaptive_red_steps_by_the_clock_even_without_arrivals() {
    // One arrival, nothing for 10 s, another: 20 steps down from 0.1, and none below 0.01 in an hour.
    let context = context(1000, 12);
    let parameters = AdaptiveRedParameters::defaults(&context, Span::from_millis(40));
    let mut bench = TestLink::new(AdaptiveRed::new(parameters, context), Span::from_millis(1));
    bench.arrive(at(0), plain(0));
    bench.arrive(Time::ZERO + Span::from_secs(10), plain(1));
    let probability = bench.queue.red().parameters().max_probability;
    assert!((probability - 0.1 * 0.9f64.powi(20)).abs() < 1e-12, "{probability}");
    bench.arrive(Time::ZERO + Span::from_secs(3600), plain(2));
    assert_eq!(bench.queue.red().parameters().max_probability, 0.01);
    assert!(bench.fates.iter().all(|(.., fate)| *fate == Fate::Sent(Span::ZERO)));
}

#[test]
fn a_full_queue_still_drops_at_the_tail() {
    let parameters = RedParameters { min_threshold: 1e6, max_threshold: 2e6, ..prompt() };
    let mut context = context(5, 12);
    context.limit = Limit::Packets(5);
    let mut queue = Red::new(parameters, context);
    let mut full = 0;
    for id in 0..8 {
        queue.enqueue(at(0), plain(id), &mut |_, why| full += u32::from(why == DropReason::QueueFull));
    }
    assert_eq!((full, queue.backlog().packets), (3, 5));
}

//! The link keeps its promises: conservation, order, exact rate, and one behaviour however it is driven.

use proptest::prelude::*;
use tightlink_link::queue::DropTail;
use tightlink_link::{Admission, Datagram, Limit, Link, LinkConfig, Queue};
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

fn config(rate: u64, delay_us: u64, loss: f64) -> LinkConfig {
    LinkConfig {
        loss: Fraction::new(loss).unwrap(),
        ..LinkConfig::constant(Rate::from_bps(rate), Span::from_micros(delay_us))
    }
}
fn fifo(config: &LinkConfig, limit: Limit) -> Link<Bytes> {
    Link::drop_tail(config, limit, Stream::new(1, "loss"))
}
fn queued(config: &LinkConfig, limit: Limit) -> Link<Bytes> {
    Link::queued(config, Box::new(DropTail::new(limit)), Stream::new(1, "loss"))
}
fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

/// Everything that comes out of a link fed with `arrivals`, with the time it comes out, and the drop count.
fn drive(link: &mut Link<Bytes>, arrivals: &[(Time, Bytes)]) -> (Vec<(Time, Bytes)>, usize) {
    let (mut out, mut dropped) = (Vec::new(), 0);
    let mut arrivals = arrivals.iter().copied().peekable();
    loop {
        let arrival = arrivals.peek().map(|(time, _)| *time);
        let Some(now) = [arrival, link.wakeup()].into_iter().flatten().min() else { break };
        while let Some(packet) = link.poll(now, &mut |_, _| dropped += 1) {
            out.push((now, packet));
        }
        if arrival == Some(now)
            && let Some((_, packet)) = arrivals.next()
        {
            link.push(now, packet, &mut |_, _| dropped += 1);
        }
    }
    (out, dropped)
}

#[test]
fn a_packet_meets_serialization_and_propagation() {
    let mut link = fifo(&config(12_000_000, 500, 0.0), Limit::Packets(1));
    assert_eq!(link.admit(at(0), Bytes::new(1500)), Admission::Departs(at(1_000_000)));
    link.push(at(0), Bytes::new(1500), &mut |_, _| panic!("room for one"));
    assert_eq!(link.wakeup(), Some(at(2_500_000)));
    assert_eq!(link.poll(at(2_500_000), &mut |_, _| ()), Some(Bytes::new(1500)));
}

#[test]
fn a_long_busy_period_keeps_the_exact_rate() {
    // 97 Mbit/s makes 123711.34 ns of a 1500-byte packet; a million of them take 123.711340206 s.
    let mut link = fifo(&config(97_000_000, 0, 0.0), Limit::Packets(u64::MAX));
    let mut last = Time::ZERO;
    for _ in 0..1_000_000 {
        let Admission::Departs(departs) = link.admit(at(0), Bytes::new(1500)) else { panic!("no limit") };
        last = departs;
    }
    assert_eq!(last, at(123_711_340_206));
}

#[test]
fn the_packet_being_sent_does_not_count_against_the_limit() {
    let mut link = fifo(&config(12_000_000, 0, 0.0), Limit::Packets(2));
    let admitted = (0..5).filter(|_| matches!(link.admit(at(0), Bytes::new(1500)), Admission::Departs(_)));
    assert_eq!(admitted.count(), 3);
}

#[test]
fn integrals_are_exact_over_a_hand_worked_case() {
    // Two packets of 1 ms arrive at 0 and one at 5 ms; measured from 0 to 10 ms.
    for mut link in [
        fifo(&config(12_000_000, 0, 0.0), Limit::Packets(9)),
        queued(&config(12_000_000, 0, 0.0), Limit::Packets(9)),
    ] {
        link.begin_measuring(at(0));
        let packets =
            [(at(0), Bytes::new(1500)), (at(0), Bytes::new(1500)), (at(5_000_000), Bytes::new(1500))];
        drive(&mut link, &packets);
        let report = link.report(at(10_000_000));
        assert!((report.utilization - 0.3).abs() < 1e-12);
        assert!((report.idle_fraction - 0.7).abs() < 1e-12);
        assert!((report.queue_empty_fraction - 0.9).abs() < 1e-12);
        assert!((report.mean_waiting_packets - 0.1).abs() < 1e-12);
        assert!((report.mean_waiting_bytes - 150.0).abs() < 1e-9);
        // One packet of the three waited, for 1 ms, and was being sent for a tenth of the time.
        let delay = &report.queueing_delay;
        assert_eq!((delay.max(), delay.mean()), (Span::from_millis(1), Some(Span::from_micros(100))));
        assert_eq!(delay.quantile(0.9), Some(Span::ZERO));
        assert!(delay.quantile(0.91).unwrap().as_millis_f64() > 0.999);
    }
}

#[test]
fn warm_up_and_end_cut_through_packets() {
    // One packet is on the wire from 0 to 1 ms, another waits 0-1 and is sent 1-2 ms; measured 0.5-1.5 ms.
    for mut link in [
        fifo(&config(12_000_000, 0, 0.0), Limit::Packets(9)),
        queued(&config(12_000_000, 0, 0.0), Limit::Packets(9)),
    ] {
        link.push(at(0), Bytes::new(1500), &mut |_, _| ());
        link.push(at(0), Bytes::new(1500), &mut |_, _| ());
        link.begin_measuring(at(500_000));
        while link.poll(at(1_500_000), &mut |_, _| ()).is_some() {}
        let report = link.report(at(1_500_000));
        assert!((report.utilization - 1.0).abs() < 1e-12, "{}", report.utilization);
        assert!((report.mean_waiting_packets - 0.5).abs() < 1e-12);
        // Of the packet that is still being sent the half that was counts, with the whole wait.
        let delay = &report.queueing_delay;
        assert_eq!((delay.total(), delay.mean()), (report.measured, Some(Span::from_micros(500))));
        assert_eq!(delay.quantile(0.5), Some(Span::ZERO));
        assert_eq!(report.conservation.held, 1);
    }
}

#[test]
fn random_loss_has_its_probability() {
    let mut link = fifo(&config(1_000_000_000, 0, 0.01), Limit::Packets(u64::MAX));
    let n = 200_000u64;
    for i in 0..n {
        link.admit(at(i * 20_000), Bytes::new(1500));
    }
    let report = link.report(at(n * 20_000));
    assert!((report.random_losses as f64 / n as f64 - 0.01).abs() < 0.001);
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0u64..40).prop_map(Limit::Packets),
        (0u64..60_000).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
    ]
}

proptest! {
    /// Both ways of driving drop-tail give the same packets at the same times, and measure the same.
    #[test]
    fn known_departures_equal_the_held_queue(
        gaps in prop::collection::vec((0u64..300_000, 40u64..1500), 1..300),
        limit in limit(),
        rate in 1_000_000u64..1_000_000_000,
        loss in 0.0f64..0.2,
        warmup in 0u64..5_000_000,
    ) {
        let mut now = 0;
        let arrivals: Vec<_> = gaps.iter().map(|(gap, length)| {
            now += gap;
            (at(now), Bytes::new(*length))
        }).collect();
        let end = at(now + 1_000_000);
        let config = config(rate, 100, loss);
        let run = |mut link: Link<Bytes>| {
            let split = arrivals.partition_point(|(time, _)| *time <= at(warmup));
            // The warm-up boundary is an event of its own: nothing may be polled past it before it.
            let mut out = Vec::new();
            let mut dropped = 0;
            for (time, packet) in &arrivals[..split] {
                while let Some(wakeup) = link.wakeup().filter(|wakeup| wakeup <= time) {
                    while let Some(packet) = link.poll(wakeup, &mut |_, _| dropped += 1) { out.push((wakeup, packet)); }
                }
                link.push(*time, *packet, &mut |_, _| dropped += 1);
            }
            while let Some(wakeup) = link.wakeup().filter(|wakeup| *wakeup <= at(warmup)) {
                while let Some(packet) = link.poll(wakeup, &mut |_, _| dropped += 1) { out.push((wakeup, packet)); }
            }
            link.begin_measuring(at(warmup));
            let (rest, more) = drive(&mut link, &arrivals[split..]);
            out.extend(rest);
            let last = out.last().map_or(end, |(time, _)| end.max(*time));
            (out, dropped + more, link.report(last))
        };
        let (a, dropped_a, report_a) = run(fifo(&config, limit));
        let (b, dropped_b, report_b) = run(queued(&config, limit));
        prop_assert_eq!(&a, &b);
        prop_assert_eq!(dropped_a, dropped_b);
        prop_assert_eq!(report_a.conservation, report_b.conservation);
        prop_assert!((report_a.mean_waiting_bytes - report_b.mean_waiting_bytes).abs() < 1e-6);
        prop_assert!((report_a.queue_empty_fraction - report_b.queue_empty_fraction).abs() < 1e-9);
        prop_assert!((report_a.utilization - report_b.utilization).abs() < 1e-9);
        // Conservation and order.
        let c = report_a.conservation;
        prop_assert_eq!(c.arrived, c.forwarded + c.dropped + c.held);
        prop_assert_eq!(arrivals.len(), a.len() + dropped_a);
        prop_assert!(a.windows(2).all(|pair| pair[0].0 <= pair[1].0));
    }

    /// Every policy of the registry conserves packets and keeps its backlog equal to what it holds.
    #[test]
    fn every_policy_conserves_packets(
        operations in prop::collection::vec((any::<bool>(), 40u64..1500), 1..400),
        limit in limit(),
    ) {
        for policy in tightlink_link::queue::POLICIES {
            let mut queue = tightlink_link::queue::build::<Bytes>(policy.name, limit).expect("registered");
            let (mut entered, mut left, mut dropped) = (0u64, 0u64, 0u64);
            let (mut in_bytes, mut out_bytes) = (0u64, 0u64);
            for (i, (arrive, length)) in operations.iter().enumerate() {
                let now = at(i as u64 * 1000);
                let mut log = |packet: Bytes, _| { dropped += 1; out_bytes += packet.get(); };
                if *arrive {
                    entered += 1;
                    in_bytes += length;
                    queue.enqueue(now, Bytes::new(*length), &mut log);
                } else if let Some(packet) = queue.dequeue(now, &mut log) {
                    left += 1;
                    out_bytes += packet.get();
                }
            }
            prop_assert_eq!(entered, left + dropped + queue.backlog().packets);
            prop_assert_eq!(in_bytes, out_bytes + queue.backlog().bytes.get());
        }
    }
}

#[test]
fn drop_tail_is_first_in_first_out() {
    let mut queue = DropTail::new(Limit::Packets(3));
    for length in [1, 2, 3, 4] {
        queue.enqueue(Time::ZERO, Bytes::new(length), &mut |packet, _| assert_eq!(packet, Bytes::new(4)));
    }
    let out: Vec<_> =
        std::iter::from_fn(|| queue.dequeue(Time::ZERO, &mut |_, _| ())).map(Bytes::get).collect();
    assert_eq!(out, [1, 2, 3]);
}

/// A packet with its number.
struct Numbered(u64);

impl Datagram for Numbered {
    fn wire_len(&self) -> Bytes {
        Bytes::new(1500)
    }
}

#[test]
fn jitter_lets_packets_overtake_and_loses_none() {
    let jittering = LinkConfig { jitter: Span::from_millis(5), ..config(12_000_000, 1000, 0.0) };
    for policy in ["drop-tail", "codel"] {
        let make =
            || Link::make(&jittering, policy, Limit::Packets(100), Stream::new(1, "link")).expect("a policy");
        let mut link: Link<Numbered> = make();
        assert!(!link.knows_departures(), "an arrival is known only when it is there");
        // 1000 packets a second of 1000 can be sent, so none waits.
        let sent = |number: u64| Time::ZERO + Span::from_millis(number);
        let mut came = Vec::new();
        let mut collect = |link: &mut Link<Numbered>, until: Time| {
            while let Some(at) = link.wakeup().filter(|at| *at <= until) {
                while let Some(Numbered(number)) = link.poll(at, &mut |_, _| panic!("there is room")) {
                    came.push((number, at.since(sent(number)).as_millis_f64()));
                }
            }
        };
        for number in 0..1000 {
            collect(&mut link, sent(number));
            link.push(sent(number), Numbered(number), &mut |_, _| panic!("there is room"));
        }
        collect(&mut link, sent(2000));
        assert_eq!(came.len(), 1000, "{policy}");
        let overtaken = came.windows(2).filter(|pair| pair[0].0 > pair[1].0).count();
        assert!(overtaken > 200, "{policy}: {overtaken} of 1000");
        // 1 ms to send and 1 ms of way, then up to 5 ms.
        let (least, most) =
            came.iter().fold((f64::MAX, 0.0_f64), |(low, high), (_, took)| (low.min(*took), high.max(*took)));
        assert!(
            (2.0..2.05).contains(&least) && (6.95..=7.0).contains(&most),
            "{policy}: {least} to {most} ms"
        );
        let mean = came.iter().map(|(_, took)| took).sum::<f64>() / 1000.0;
        assert!((mean - 4.5).abs() < 0.2, "{policy}: {mean} ms in the mean, 4.5 expected");
    }
}

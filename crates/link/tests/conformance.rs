//! What every policy of the registry owes, whatever it is: conservation, an exact backlog, the limit, order,
//! work for the serializer, marks only where they are understood, and a link report that agrees.

mod common;

use common::{Fate, Probe, at, drive};
use proptest::prelude::*;
use std::collections::BTreeMap;
use tightlink_link::queue::{self, Context, POLICIES, PolicyConfig, Settings};
use tightlink_link::{Conservation, Datagram, DropReason, Ecn, Limit, Link, LinkConfig, LinkReport};
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

#[derive(Clone, Copy, Debug)]
enum Operation {
    /// After so many nanoseconds a packet of this length, flow and ECN field arrives.
    Arrive(u64, u64, u64, Ecn),
    /// After so many nanoseconds the serializer asks so many times.
    Ask(u64, u64),
}

/// Equal times, less than a packet, more than CoDel's interval, hours, a decade.
fn gap() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => Just(0),
        8 => 0..2_000_000u64,
        2 => 0..300_000_000u64,
        1 => Just(20_000_000_000_000),
        1 => Just(300_000_000_000_000_000),
    ]
}

fn arrive() -> impl Strategy<Value = Operation> {
    let ecn = prop_oneof![Just(Ecn::NotCapable), Just(Ecn::Capable), Just(Ecn::Scalable), Just(Ecn::Marked)];
    (gap(), 0..9000u64, 0..5u64, ecn)
        .prop_map(|(gap, length, flow, ecn)| Operation::Arrive(gap, length, flow, ecn))
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![5 => arrive(), 3 => (gap(), 1..4u64).prop_map(|(gap, times)| Operation::Ask(gap, times))]
}

fn limit() -> impl Strategy<Value = Limit> {
    prop_oneof![
        (0u64..60).prop_map(Limit::Packets),
        (0u64..200_000).prop_map(|bytes| Limit::Bytes(Bytes::new(bytes))),
    ]
}

/// A packet's number must rise within its flow, or within the queue for policies with only one. DualPI2 has two, and
/// the field with which the packet came decides.
fn in_order(policy: &str, last: &mut BTreeMap<u64, u64>, packet: &Probe, came: Ecn) -> bool {
    let line = match policy {
        "fq-codel" | "fq-pie" | "cake" => packet.flow,
        "dualpi2" => u64::from(matches!(came, Ecn::Scalable | Ecn::Marked)),
        _ => 0,
    };
    last.insert(line, packet.id).is_none_or(|before| before < packet.id)
}

proptest! {
    #[test]
    fn every_policy_keeps_account_on_any_sequence(
        operations in prop::collection::vec(operation(), 1..300),
        limit in limit(),
        megabits in 1u64..1000,
        seed in any::<u64>(),
    ) {
        for policy in POLICIES {
            let rate = Rate::from_bps(megabits * 1_000_000);
            let context = Context::new(limit, rate, Stream::new(seed, "queue"));
            let mut queue = queue::make::<Probe>(policy.name, context).expect("registered");
            // What must be inside, by number; what left since the last look.
            let mut inside = BTreeMap::<u64, Probe>::new();
            let (mut now, mut next_id) = (0u64, 0u64);
            let mut last_out = BTreeMap::new();
            for operation in &operations {
                let (gap, asks) = match *operation {
                    Operation::Arrive(gap, ..) => (gap, 0),
                    Operation::Ask(gap, times) => (gap, times),
                };
                now = now.saturating_add(gap);
                let mut gone: Vec<(Probe, Option<DropReason>)> = Vec::new();
                if let Operation::Arrive(_, length, flow, ecn) = *operation {
                    let (host, dscp) = (flow / 2, [0, 8, 46, 0, 34][flow as usize]);
                    let packet = Probe { id: next_id, flow, host, length, ecn, dscp };
                    next_id += 1;
                    inside.insert(packet.id, packet);
                    let mut log = |packet, why| gone.push((packet, Some(why)));
                    // Every third arrival at an empty queue finds the serializer free.
                    if inside.len() == 1 && next_id % 3 == 0 {
                        if let Some(packet) = queue.pass(at(now), packet, &mut log) {
                            gone.push((packet, None));
                        }
                    } else {
                        queue.enqueue(at(now), packet, &mut log);
                    }
                }
                for _ in 0..asks {
                    let sent = queue.dequeue(at(now), &mut |packet, why| gone.push((packet, Some(why))));
                    prop_assert!(sent.is_some() || queue.backlog().packets == 0, "{} idles", policy.name);
                    gone.extend(sent.map(|packet| (packet, None)));
                }
                for (packet, why) in gone {
                    let entered = inside.remove(&packet.id);
                    prop_assert!(entered.is_some(), "{}: {} left twice", policy.name, packet.id);
                    prop_assert_ne!(why, Some(DropReason::RandomLoss));
                    let was = entered.expect("checked").ecn;
                    prop_assert!(packet.ecn == was || was != Ecn::NotCapable && packet.ecn == Ecn::Marked);
                    if why.is_none() {
                        prop_assert!(in_order(policy.name, &mut last_out, &packet, was), "{} reorders", policy.name);
                    }
                }
                let backlog = queue.backlog();
                prop_assert_eq!(backlog.packets, inside.len() as u64, "{}", policy.name);
                prop_assert_eq!(backlog.bytes.get(), inside.values().map(|packet| packet.length).sum::<u64>());
                prop_assert!(limit.holds(backlog), "{} holds {:?}", policy.name, backlog);
            }
        }
    }

    #[test]
    fn every_policy_is_measured_exactly(
        arrivals in prop::collection::vec((0..1_500_000u64, 40..1500u64, 0..5u64, any::<bool>()), 1..250),
        limit in limit(),
        loss in 0.0f64..0.1,
    ) {
        let arrivals = paced(arrivals);
        for policy in POLICIES {
            measured_exactly(policy.name, &arrivals, limit, loss);
        }
    }
}

/// Packets from (gap in nanoseconds, length, flow, whether capable of ECN).
fn paced(packets: impl IntoIterator<Item = (u64, u64, u64, bool)>) -> Vec<(Time, Probe)> {
    let mut now = 0;
    let packet = |(id, (gap, length, flow, capable))| {
        now += gap;
        let ecn = if capable { Ecn::Capable } else { Ecn::NotCapable };
        (at(now), Probe { flow, length, ecn, ..common::plain(id) })
    };
    (0..).zip(packets).map(packet).collect()
}

/// Through a link of 8 Mbit/s: the report's counts and integrals equal those of the packets' own times.
fn measured_exactly(policy: &str, arrivals: &[(Time, Probe)], limit: Limit, loss: f64) -> LinkReport {
    // A microsecond per byte, without remainder.
    let rate = Rate::from_bps(8_000_000);
    let config =
        LinkConfig { loss: Fraction::new(loss).expect("a share"), ..LinkConfig::constant(rate, Span::ZERO) };
    let mut link = Link::make(&config, policy, limit, Stream::new(5, "loss")).expect("registered");
    link.begin_measuring(at(0));
    let (out, dropped) = drive(&mut link, arrivals);
    let ends = out.iter().map(|(time, _)| *time).chain(dropped.iter().map(|(time, ..)| *time));
    let end = ends.max().expect("something happened").max(arrivals[arrivals.len() - 1].0);
    let report = link.report(end);

    let count = |reason| dropped.iter().filter(|(.., fate)| *fate == Fate::Dropped(reason)).count() as u64;
    assert_eq!(report.queue_drops, count(DropReason::QueueFull), "{policy}");
    assert_eq!(report.early_drops, count(DropReason::Aqm), "{policy}");
    assert_eq!(report.random_losses, count(DropReason::RandomLoss), "{policy}");
    assert_eq!((report.drops(), report.forwarded), (dropped.len() as u64, out.len() as u64), "{policy}");
    assert_eq!(report.loss_rate(), dropped.len() as f64 / arrivals.len() as f64);
    let marks = out.iter().filter(|(_, packet)| packet.ecn == Ecn::Marked).count() as u64;
    assert_eq!(report.marks, marks, "{policy}");
    let inside = Conservation {
        arrived: arrivals.len() as u64,
        forwarded: out.len() as u64,
        dropped: dropped.len() as u64,
        held: 0,
    };
    assert_eq!(report.conservation, inside, "{policy}");

    // The wait of each packet, sent or dropped, from its own times.
    let arrived = |packet: &Probe| arrivals[packet.id as usize].0;
    let sent = out.iter().map(|(time, packet)| {
        let started = time.as_nanos() - packet.length * 1000;
        (packet.length, started - arrived(packet).as_nanos())
    });
    let lost =
        dropped.iter().map(|(time, packet, _)| (packet.length, time.since(arrived(packet)).as_nanos()));
    let byte_nanos: u64 = sent.clone().chain(lost.clone()).map(|(length, wait)| length * wait).sum();
    let packet_nanos: u64 = sent.clone().chain(lost).map(|(_, wait)| wait).sum();
    let measured = report.measured.as_nanos().max(1) as f64;
    let mean_bytes = byte_nanos as f64 / measured;
    assert!((report.mean_waiting_bytes - mean_bytes).abs() <= 1e-9 * mean_bytes, "{policy}");
    assert!((report.mean_waiting_packets - packet_nanos as f64 / measured).abs() < 1e-9, "{policy}");
    let longest = sent.clone().map(|(_, wait)| wait).max().unwrap_or(0);
    assert_eq!(report.queueing_delay.max(), Span::from_nanos(longest), "{policy}");
    delay_by_time(policy, &report, sent.map(|(length, wait)| (wait, length * 1000)).collect());
    let busy: u64 = out.iter().map(|(_, packet)| packet.length * 1000).sum();
    assert!((report.utilization - busy as f64 / measured).abs() < 1e-9, "{policy}");

    // The time each length of the queue lasted, from the times at which packets began and ceased to wait.
    let began_to_be_sent = out.iter().map(|(time, packet)| (packet, time.as_nanos() - packet.length * 1000));
    let left = began_to_be_sent.chain(dropped.iter().map(|(time, packet, _)| (packet, time.as_nanos())));
    let mut changes: Vec<(u64, i64)> =
        left.flat_map(|(packet, left)| [(arrived(packet).as_nanos(), 1), (left, -1)]).collect();
    changes.push((end.as_nanos(), 0));
    changes.sort_unstable();
    let (mut lengths, mut length, mut since) = (BTreeMap::new(), 0i64, 0);
    for (time, change) in changes {
        *lengths.entry(length as u64).or_insert(0) += time - since;
        (length, since) = (length + change, time);
    }
    for (length, nanos) in &lengths {
        assert_eq!(report.queue_length.time(*length), Span::from_nanos(*nanos), "{policy}: {length} waiting");
    }
    assert_eq!(report.queue_length.total(), report.measured, "{policy}");
    report
}

/// The distribution of the queueing delay over time is that of these waits, each with its time on the wire.
fn delay_by_time(policy: &str, report: &LinkReport, mut sent: Vec<(u64, u64)>) {
    let measured = report.measured.as_nanos();
    sent.push((0, measured - sent.iter().map(|(_, nanos)| nanos).sum::<u64>()));
    sent.sort_unstable();
    let delay = &report.queueing_delay;
    assert_eq!(delay.total(), report.measured, "{policy}");
    let mean =
        sent.iter().map(|(wait, nanos)| *wait as f64 * *nanos as f64).sum::<f64>() / measured.max(1) as f64;
    assert!((delay.mean().map_or(0.0, |mean| mean.as_nanos() as f64) - mean).abs() <= 0.6, "{policy}");
    for q in [0.01, 0.3, 0.5, 0.95, 0.99, 1.0] {
        let mut seen = 0;
        let exact = sent.iter().find(|(_, nanos)| {
            seen += nanos;
            seen as f64 >= q * measured as f64 && seen > 0
        });
        let (exact, found) = (exact.map_or(0, |(wait, _)| *wait), delay.quantile(q).unwrap_or_default());
        let off = found.as_nanos().abs_diff(exact) as f64;
        assert!(off <= exact as f64 / 1024.0, "{policy}, {q}: {found} for {exact} ns");
    }
}

/// Long enough an overload that every active policy drops and marks, at the head or the tail.
#[test]
fn active_policies_drop_and_mark_and_are_measured_exactly() {
    let arrivals = paced((0..4000).map(|i| (i * 7919 % 1_400_000, 200 + i * 31 % 1300, i % 5, i % 2 == 0)));
    for policy in POLICIES {
        let report = measured_exactly(policy.name, &arrivals, Limit::Packets(300), 0.01);
        let active = policy.settings.contains(&"ecn");
        assert_eq!((report.early_drops > 0, report.marks > 0), (active, active), "{}", policy.name);
        assert!(report.mark_rate() <= 0.5, "{}", policy.name);
    }
}

#[test]
fn a_step_of_zero_marks_what_has_to_wait_and_nothing_that_finds_the_link_idle() {
    let rate = Rate::from_bps(8_000_000);
    let config = LinkConfig::constant(rate, Span::ZERO);
    let capable = |id| Probe { ecn: Ecn::Capable, length: 1000, ..common::plain(id) };
    // A packet takes 1 ms. The second finds the first being sent, the others an idle link.
    let arrivals = [
        (at(0), capable(0)),
        (at(500_000), capable(1)),
        (at(2_000_000), capable(2)),
        (at(9_000_000), capable(3)),
    ];
    for policy in ["drop-tail", "drop-head"] {
        for limit in [Limit::Packets(9), Limit::Bytes(Bytes::new(9000))] {
            let settings = Settings { mark_above: Some(0.0), ..Settings::default() };
            let queue = PolicyConfig { settings, mean_packet: Bytes::new(1000), ..policy.into() };
            let mut link =
                Link::make_with(&config, &queue, limit, Stream::new(5, "loss")).expect("registered");
            let (out, dropped) = drive(&mut link, &arrivals);
            let marked: Vec<bool> = out.iter().map(|(_, packet)| packet.ecn == Ecn::Marked).collect();
            assert_eq!((marked, dropped.len()), (vec![false, true, false, false], 0), "{policy} {limit:?}");
        }
    }
}

#[test]
fn packets_that_come_marked_are_spared_but_not_counted() {
    let config = LinkConfig::constant(Rate::from_bps(8_000_000), Span::ZERO);
    let arrivals: Vec<_> =
        (0..2000).map(|id| (at(id * 1_400_000), Probe { ecn: Ecn::Marked, ..common::plain(id) })).collect();
    for policy in ["red", "codel", "fq-codel", "cobalt", "cake"] {
        let mut link =
            Link::make(&config, policy, Limit::Packets(300), Stream::new(5, "loss")).expect("registered");
        link.begin_measuring(at(0));
        let (out, dropped) = drive(&mut link, &arrivals);
        let report = link.report(out[out.len() - 1].0);
        assert_eq!((report.marks, report.early_drops, dropped.len()), (0, 0, 0), "{policy}");
    }
}

#[test]
fn every_policy_gives_the_same_for_the_same_seed() {
    for policy in POLICIES {
        let run = || {
            let rate = Rate::from_bps(10_000_000);
            let config = LinkConfig::constant(rate, Span::ZERO);
            let mut link = Link::make(&config, policy.name, Limit::Packets(100), Stream::new(3, "loss"))
                .expect("registered");
            let arrivals: Vec<_> =
                (0..5000).map(|i| (at(i * 1_000_000), Probe { flow: i % 7, ..common::plain(i) })).collect();
            drive(&mut link, &arrivals)
        };
        assert_eq!(run(), run(), "{}", policy.name);
    }
}

#[test]
fn random_loss_strikes_the_same_packets_whatever_the_policy() {
    let struck = |policy: &str| {
        let rate = Rate::from_bps(1_000_000_000);
        let config = LinkConfig {
            loss: Fraction::new(0.1).expect("a share"),
            ..LinkConfig::constant(rate, Span::ZERO)
        };
        let mut link =
            Link::make(&config, policy, Limit::Packets(100), Stream::new(3, "loss")).expect("registered");
        let arrivals: Vec<_> = (0..1000).map(|i| (at(i * 1_000_000), common::plain(i))).collect();
        drive(&mut link, &arrivals).1.iter().map(|(_, packet, _)| packet.id).collect::<Vec<_>>()
    };
    let drop_tail = struck(queue::DROP_TAIL);
    assert!((80..120).contains(&drop_tail.len()));
    for policy in POLICIES {
        assert_eq!(struck(policy.name), drop_tail, "{}", policy.name);
    }
}

#[test]
fn drop_tail_takes_the_fast_path_and_no_other_policy_does() {
    let config = LinkConfig::constant(Rate::from_bps(1_000_000), Span::ZERO);
    for policy in POLICIES {
        let link = Link::<Bytes>::make(&config, policy.name, Limit::Packets(9), Stream::new(1, "loss"));
        assert_eq!(link.expect("registered").knows_departures(), policy.name == queue::DROP_TAIL);
    }
    assert!(Link::<Bytes>::make(&config, "rod", Limit::Packets(9), Stream::new(1, "loss")).is_none());
    assert_eq!(Bytes::new(40).ecn(), Ecn::NotCapable);
}

#[test]
fn drop_head_keeps_the_newest() {
    let mut queue = queue::build::<Probe>("drop-head", Limit::Packets(3)).expect("registered");
    let mut dropped = Vec::new();
    for id in 0..5 {
        queue.enqueue(at(id), common::plain(id), &mut |packet, why| dropped.push((packet.id, why)));
    }
    assert_eq!(dropped, [(0, DropReason::QueueFull), (1, DropReason::QueueFull)]);
    let out: Vec<_> =
        std::iter::from_fn(|| queue.dequeue(at(9), &mut |_, _| ())).map(|packet| packet.id).collect();
    assert_eq!(out, [2, 3, 4]);

    // One that fits no queue pushes nobody out.
    let mut queue = queue::build::<Probe>("drop-head", Limit::Bytes(Bytes::new(3000))).expect("registered");
    let mut dropped = Vec::new();
    for packet in [common::plain(0), common::plain(1), Probe { length: 3001, ..common::plain(2) }] {
        queue.enqueue(at(0), packet, &mut |packet, _| dropped.push(packet.id));
    }
    assert_eq!((dropped, queue.backlog().packets), (vec![2], 2));
}

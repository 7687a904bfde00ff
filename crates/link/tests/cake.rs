//! CAKE against Linux's `sch_cake`: even shares of hosts and of their flows, sparse flows that hardly wait, tins within
//! their shares, and room taken from the fattest.

mod common;

use common::{Fate, Probe, TestLink, at, context, plain};
use std::collections::BTreeMap;
use tightlink_link::queue::{Cake, CakeParameters, Isolation, Tins};
use tightlink_link::{DropReason, Queue};
use units::{Span, Time};

/// A packet of 1500 bytes takes 1 ms at this rate.
const MBPS: u64 = 12;

fn cake(isolation: Isolation, tins: Tins, limit: u64) -> Cake<Probe> {
    Cake::new(CakeParameters { isolation, tins, ..CakeParameters::default() }, context(limit, MBPS))
}

/// Sends packets of each of `flows` (flow, host, DSCP) in turn, 1.5 times as many as the link takes, for `seconds`.
fn overload(queue: Cake<Probe>, flows: &[(u64, u64, u8)], seconds: u64) -> TestLink<Cake<Probe>> {
    let mut bench = TestLink::new(queue, Span::from_millis(1));
    for tick in 0..seconds * 1500 {
        for (flow, host, dscp) in flows {
            let id = bench.arrivals();
            let packet = Probe { flow: *flow, host: *host, dscp: *dscp, ..plain(id) };
            bench.arrive(at(tick * 666_667), packet);
        }
    }
    bench
}

/// The packets sent from two seconds on, by `key`.
fn sent(bench: &TestLink<Cake<Probe>>, key: impl Fn(&Probe) -> u64) -> BTreeMap<u64, f64> {
    let mut packets = BTreeMap::new();
    for (time, packet, fate) in &bench.fates {
        if matches!(fate, Fate::Sent(_)) && *time >= Time::ZERO + Span::from_secs(2) {
            *packets.entry(key(packet)).or_insert(0.0) += 1.0;
        }
    }
    let total: f64 = packets.values().sum();
    packets.into_iter().map(|(key, count)| (key, count / total)).collect()
}

/// Host 1 with one flow, and host 2 with ten.
fn one_and_ten() -> Vec<(u64, u64, u8)> {
    (0..11).map(|flow| (flow, if flow == 0 { 1 } else { 2 }, 0)).collect()
}

#[test]
fn two_hosts_with_one_and_ten_flows_share_evenly() {
    for isolation in [Isolation::Triple, Isolation::DualSrc] {
        let bench = overload(cake(isolation, Tins::BestEffort, 2000), &one_and_ten(), 12);
        let hosts = sent(&bench, |packet| packet.host);
        assert!((hosts[&1] - 0.5).abs() < 0.005, "{isolation:?}: {hosts:?}");
        let flows = sent(&bench, |packet| packet.flow);
        assert!((1..11).all(|flow| (flows[&flow] - 0.05).abs() < 0.002), "{isolation:?}: {flows:?}");
    }
}

#[test]
fn other_isolations_share_among_other_parties() {
    let shares = |isolation| {
        let bench = overload(cake(isolation, Tins::BestEffort, 2000), &one_and_ten(), 6);
        sent(&bench, |packet| packet.host)[&1]
    };
    // Each flow has a receiver of its own, so that these see eleven parties.
    for isolation in [Isolation::Flows, Isolation::DualDst, Isolation::Hosts] {
        assert!((shares(isolation) - 1.0 / 11.0).abs() < 0.002, "{isolation:?}");
    }
}

#[test]
fn a_packet_of_an_idle_flow_waits_for_no_more_than_two_quanta() {
    let mut bench = TestLink::new(cake(Isolation::Triple, Tins::default(), 2000), Span::from_millis(1));
    let mut idle = Vec::new();
    for tick in 0..10_000u64 {
        for flow in 0..4 {
            let id = bench.arrivals();
            bench.arrive(at(tick * 1_000_000), Probe { flow, host: flow, ..plain(id) });
        }
        if tick % 40 == 13 {
            let id = bench.arrivals();
            idle.push(id);
            bench
                .arrive(at(tick * 1_000_000 + 300_000), Probe { flow: 9, host: 9, length: 200, ..plain(id) });
        }
    }
    // At 12 Mbit/s a quantum is 366 bytes, below a packet; the packet in service alone takes 1 ms. So the bound is that
    // of two packets of 1514 bytes.
    let waits = bench.fates.iter().filter(|(_, packet, _)| packet.flow == 9).map(|(_, _, fate)| match fate {
        Fate::Sent(wait) => *wait,
        Fate::Dropped(reason) => panic!("a packet of the idle flow was dropped: {reason:?}"),
    });
    let waits: Vec<Span> = waits.collect();
    assert!(waits.len() >= idle.len() - 1, "{} of {}", waits.len(), idle.len());
    assert!(waits.iter().all(|wait| *wait <= Span::from_millis(2)), "{:?}", waits.iter().max());
}

#[test]
fn each_tin_goes_first_within_its_share_of_the_rate() {
    // All overloaded: voice has a quarter and bulk a 16th, and best effort the rest.
    let three = [(0, 0, 0), (1, 1, 8), (2, 2, 46)];
    let shares = sent(&overload(cake(Isolation::Triple, Tins::Diffserv3, 3000), &three, 8), |p| p.flow);
    for (flow, share) in [(0, 0.6875), (1, 0.0625), (2, 0.25)] {
        assert!((shares[&flow] - share).abs() < 0.005, "{shares:?}");
    }
    let four = [(0, 0, 0), (1, 1, 1), (2, 2, 34), (3, 3, 40)];
    let shares = sent(&overload(cake(Isolation::Triple, Tins::Diffserv4, 4000), &four, 8), |p| p.flow);
    for (flow, share) in [(0, 0.1875), (1, 0.0625), (2, 0.5), (3, 0.25)] {
        assert!((shares[&flow] - share).abs() < 0.005, "{shares:?}");
    }
    // One tin knows no classes.
    let shares = sent(&overload(cake(Isolation::Triple, Tins::BestEffort, 3000), &three, 8), |p| p.flow);
    assert!(shares.values().all(|share| (share - 1.0 / 3.0).abs() < 0.005), "{shares:?}");
}

#[test]
fn the_queue_with_the_most_bytes_makes_room() {
    let mut queue = cake(Isolation::Flows, Tins::BestEffort, 10);
    let mut dropped = Vec::new();
    for id in 0..12 {
        let flow = u64::from(id >= 2);
        let packet = Probe { flow, ..plain(id) };
        queue.enqueue(at(0), packet, &mut |packet, reason| dropped.push((packet.id, reason)));
    }
    // The oldest of the flow with ten.
    assert_eq!(dropped, [(2, DropReason::QueueFull), (3, DropReason::QueueFull)]);
}

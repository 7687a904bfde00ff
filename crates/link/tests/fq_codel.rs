//! FQ-CoDel against RFC 8290: shares by bytes, sparse flows that hardly wait, room taken from the fattest, and a
//! CoDel of their own for each flow.

mod common;

use common::{Fate, Probe, TestLink, at, capable, context, millis, plain};
use std::collections::BTreeMap;
use tightlink_link::queue::{FqCodel, FqCodelParameters};
use tightlink_link::{DropReason, Ecn, Queue};
use units::{Bytes, Span, Time};

fn queue(limit: u64) -> FqCodel<Probe> {
    FqCodel::new(FqCodelParameters::default(), context(limit, 12))
}

/// Bytes sent per flow before `until`.
fn sent(bench: &TestLink<FqCodel<Probe>>, from: Time) -> BTreeMap<u64, u64> {
    let mut bytes = BTreeMap::new();
    for (time, packet, fate) in &bench.fates {
        if matches!(fate, Fate::Sent(_)) && *time >= from {
            *bytes.entry(packet.flow).or_insert(0) += packet.length;
        }
    }
    bytes
}

/// Whether no two of the flows share a queue.
fn apart(queue: &FqCodel<Probe>, flows: u64) -> bool {
    let mut queues: Vec<_> = (0..flows).map(|flow| queue.queue_of(flow)).collect();
    queues.sort_unstable();
    queues.dedup();
    queues.len() as u64 == flows
}

#[test]
fn backlogged_flows_share_by_bytes_whatever_their_packets() {
    // Flows of 1500, 500 and 100-byte packets, all backlogged; each gets a third of the bytes.
    let mut queue = queue(1_000_000);
    assert!(apart(&queue, 3));
    for id in 0..90_000 {
        let length = [1500, 500, 100][id as usize % 3];
        queue.enqueue(at(0), Probe { flow: id % 3, length, ..plain(id) }, &mut |_, _| panic!("room"));
    }
    let mut bytes = [0u64; 3];
    while bytes.iter().sum::<u64>() < 6_000_000 {
        // At one instant: nothing has waited, CoDel is quiet.
        let packet = queue.dequeue(at(0), &mut |_, _| panic!("no wait")).expect("backlogged");
        bytes[packet.flow as usize] += packet.length;
        // Deficit round robin: no flow is ever more than a quantum and a packet ahead.
        let spread = bytes.iter().max().expect("three") - bytes.iter().min().expect("three");
        assert!(spread <= 2 * (1514 + 1500), "{bytes:?}");
    }
}

#[test]
fn a_sparse_flow_waits_less_than_a_quantum_per_active_flow() {
    // Four greedy flows with standing queues; a fifth sends 200 bytes every 20 ms, well under its share.
    let mut bench = TestLink::new(queue(2000), Span::from_millis(1));
    assert!(apart(&bench.queue, 5));
    let mut sparse_ids = Vec::new();
    for tick in 0..20_000u64 {
        let now = at(tick * 500_000);
        let id = bench.arrivals();
        bench.arrive(now, Probe { flow: tick % 4, ..plain(id) });
        if tick % 40 == 13 {
            let id = bench.arrivals();
            sparse_ids.push(id);
            bench.arrive(now, Probe { flow: 4, length: 200, ..plain(id) });
        }
    }
    let mut waits = Vec::new();
    for (_, packet, fate) in &bench.fates {
        match fate {
            Fate::Sent(wait) if packet.flow == 4 => waits.push(*wait),
            Fate::Sent(_) => {}
            Fate::Dropped(_) => assert_ne!(packet.flow, 4, "a sparse flow loses nothing"),
        }
    }
    assert!(waits.len() + 1 >= sparse_ids.len() && waits.len() > 400);
    // It goes first, behind the packet in service: a millisecond. The RFC's bound for flows that were all
    // new at once is a quantum each.
    let longest = waits.iter().max().expect("sent");
    assert!(*longest <= Span::from_millis(1), "{longest}");
    // The greedy ones share the rest evenly, and wait.
    let bytes = sent(&bench, millis(1000));
    let greedy: Vec<_> = (0..4).map(|flow| bytes[&flow] as f64).collect();
    let mean = greedy.iter().sum::<f64>() / 4.0;
    assert!(greedy.iter().all(|bytes| (bytes / mean - 1.0).abs() < 0.01), "{greedy:?}");
    let greedy_wait = bench.waits(millis(9000)).into_iter().max().expect("sent");
    assert!(greedy_wait > Span::from_millis(20), "{greedy_wait}");
}

#[test]
fn many_new_flows_at_once_wait_at_most_a_quantum_each() {
    let mut bench = TestLink::new(queue(2000), Span::from_millis(1));
    for id in 0..50 {
        bench.arrive(at(0), Probe { flow: id % 10, ..plain(id) });
    }
    bench.advance(millis(100));
    let mut first = BTreeMap::new();
    for (_, packet, fate) in &bench.fates {
        let Fate::Sent(wait) = *fate else { panic!("room for all") };
        first.entry(packet.flow).or_insert(wait);
    }
    assert!(apart(&bench.queue, 10) && first.len() == 10);
    // A quantum of 1514 lets a flow of 1500-byte packets send two before its turn ends.
    assert!(first.values().all(|wait| *wait <= Span::from_millis(2 * 9)), "{first:?}");
}

#[test]
fn a_packet_that_finds_the_link_idle_spends_its_flows_credit() {
    let mut bench = TestLink::new(queue(100), Span::from_millis(1));
    for (id, flow) in [0, 0, 0, 1].into_iter().enumerate() {
        bench.arrive(at(0), Probe { flow, ..plain(id as u64) });
    }
    bench.advance(millis(10));
    // 14 bytes of flow 0's quantum are left for its second packet; then it is flow 1's turn.
    let order: Vec<_> = bench.fates.iter().map(|(_, packet, _)| packet.id).collect();
    assert_eq!(order, [0, 1, 3, 2]);
}

#[test]
fn the_fattest_flow_makes_room_in_batches_from_its_head() {
    let mut queue = queue(1000);
    let mut dropped = Vec::new();
    for id in 0..1000 {
        let flow = u64::from(id % 10 == 0);
        queue.enqueue(at(0), Probe { flow, ..plain(id) }, &mut |_, _| panic!("room"));
    }
    let mut log = |packet: Probe, why| dropped.push((packet.id, packet.flow, why));
    queue.enqueue(at(0), Probe { flow: 1, ..plain(1000) }, &mut log);
    // 64 packets of flow 0, its oldest, though flow 1 arrived: it is a ninth as fat.
    let oldest: Vec<_> =
        (0..).filter(|id| id % 10 != 0).take(64).map(|id| (id, 0, DropReason::QueueFull)).collect();
    assert_eq!(dropped, oldest);
    assert_eq!(queue.backlog().packets, 1001 - 64);

    // Half of a small queue is less than a batch.
    let mut queue = self::queue(10);
    let mut dropped = 0;
    (0..11).for_each(|id| queue.enqueue(at(0), plain(id), &mut |_, _| dropped += 1));
    assert_eq!((dropped, queue.backlog().packets), (6, 5));
}

#[test]
fn each_flow_has_its_own_codel() {
    // Flow 0 sends at 1.5 times capacity, flow 1 at a quarter of it: only flow 0 is dropped or marked.
    let mut bench = TestLink::new(queue(100_000), Span::from_millis(1));
    assert!(apart(&bench.queue, 2));
    for tick in 0..30_000u64 {
        let id = bench.arrivals();
        bench.arrive(at(tick * 666_667), Probe { flow: 0, ..capable(id) });
        if tick % 6 == 0 {
            let id = bench.arrivals();
            bench.arrive(at(tick * 666_667), Probe { flow: 1, ..capable(id) });
        }
    }
    let of = |flow: u64| bench.fates.iter().filter(move |(_, packet, _)| packet.flow == flow);
    assert!(of(0).any(|(_, packet, _)| packet.ecn == Ecn::Marked));
    assert!(of(1).all(|(_, packet, fate)| packet.ecn == Ecn::Capable && matches!(fate, Fate::Sent(_))));
    assert_eq!(bench.drops(DropReason::Aqm), [], "capable packets are marked");
}

#[test]
fn with_one_flow_it_is_codel() {
    use tightlink_link::Limit;
    use tightlink_link::queue::{Codel, CodelParameters};
    let mut flows = TestLink::new(queue(500), Span::from_millis(1));
    let mut single =
        TestLink::new(Codel::new(CodelParameters::default(), Limit::Packets(500)), Span::from_millis(1));
    for id in 0..4000 {
        // Bursts and pauses, but never a full queue: there the two differ.
        let now = at(id * 700_000 + id / 1000 * 1_500_000_000);
        flows.arrive(now, plain(id));
        single.arrive(now, plain(id));
    }
    assert!(!single.drops(DropReason::Aqm).is_empty());
    assert_eq!(flows.fates, single.fates);
}

#[test]
fn a_small_quantum_still_serves_long_packets() {
    let parameters = FqCodelParameters { quantum: Bytes::new(1), ..FqCodelParameters::default() };
    let mut queue = FqCodel::new(parameters, context(100, 12));
    (0..10).for_each(|id| queue.enqueue(at(0), Probe { flow: id % 2, ..plain(id) }, &mut |_, _| ()));
    let out: Vec<_> =
        std::iter::from_fn(|| queue.dequeue(at(0), &mut |_, _| ())).map(|packet| packet.id).collect();
    assert_eq!(out.len(), 10);
}

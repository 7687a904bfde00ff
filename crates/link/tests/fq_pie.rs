//! FQ-PIE: with one flow it is PIE, flows share by bytes, and each flow's own PIE answers for its own load.

mod common;

use common::{Fate, Probe, TestLink, at, capable, context, mean, millis, plain};
use tightlink_link::queue::{Context, FqPie, FqPieParameters, Pie, PieParameters};
use tightlink_link::{DropReason, Ecn, Queue};
use units::{Bytes, Span};

fn queue(limit: u64) -> FqPie<Probe> {
    FqPie::new(FqPieParameters::default(), context(limit, 12))
}

/// Asserts that no two of the flows share a queue.
fn assert_apart(queue: &FqPie<Probe>, flows: u64) {
    let mut queues: Vec<_> = (0..flows).map(|flow| queue.queue_of(flow)).collect();
    queues.sort_unstable();
    queues.dedup();
    assert_eq!(queues.len() as u64, flows);
}

#[test]
fn one_flow_has_the_fates_that_pie_gives_it() {
    let mut flows = queue(10_000);
    // FQ-PIE has drawn a number for its hash.
    let Context { mut stream, .. } = context(10_000, 12);
    stream.integer(0, u64::MAX);
    let mut pie = Pie::new(PieParameters::default(), Context { stream, ..context(10_000, 12) });
    let (mut fates, mut expected) = (Vec::new(), Vec::new());
    let mut id = 0;
    for tick in 0..60_000u64 {
        let now = at(tick * 1_000_000);
        // Twice the capacity for 20 s, then as much as it, then none.
        for _ in 0..[2, 1, 0][tick as usize / 20_000] {
            let packet = if id % 3 == 0 { capable(id) } else { plain(id) };
            id += 1;
            flows.enqueue(now, packet, &mut |packet, why| fates.push((packet, Some(why))));
            pie.enqueue(now, packet, &mut |packet, why| expected.push((packet, Some(why))));
        }
        fates.extend(flows.dequeue(now, &mut |_, _| ()).map(|packet| (packet, None)));
        expected.extend(pie.dequeue(now, &mut |_, _| ()).map(|packet| (packet, None)));
    }
    let count = |why| expected.iter().filter(|(_, fate)| *fate == why).count();
    let marked = expected.iter().filter(|(packet, _)| packet.ecn == Ecn::Marked).count();
    assert!(count(Some(DropReason::Aqm)) > 1000 && count(None) > 10_000 && marked > 0);
    assert_eq!(fates, expected);
    assert_eq!(flows.probability(0), pie.probability());
}

#[test]
fn backlogged_flows_share_by_bytes_whatever_their_packets() {
    let mut queue = queue(1_000_000);
    assert_apart(&queue, 3);
    for id in 0..90_000 {
        let length = [1500, 500, 100][id as usize % 3];
        queue.enqueue(at(0), Probe { flow: id % 3, length, ..plain(id) }, &mut |_, _| panic!("room"));
    }
    let mut bytes = [0u64; 3];
    while bytes.iter().sum::<u64>() < 6_000_000 {
        let packet = queue.dequeue(at(0), &mut |_, _| panic!("drops on arrival only")).expect("backlogged");
        bytes[packet.flow as usize] += packet.length;
        let spread = bytes.iter().max().expect("three") - bytes.iter().min().expect("three");
        assert!(spread <= 2 * (1514 + 1500), "{bytes:?}");
    }
}

#[test]
fn a_flow_that_floods_is_dropped_and_one_within_its_share_is_not() {
    // A packet takes 1 ms. Flow 0 sends at 1.5 times capacity, flow 1 at a fifth of it.
    let mut bench = TestLink::new(queue(10_000), Span::from_millis(1));
    assert_apart(&bench.queue, 2);
    for tick in 0..600_000u64 {
        let now = at(tick * 100_000);
        for (flow, every) in [(0, 20), (0, 10), (1, 50)] {
            if tick % every == flow {
                let id = bench.arrivals();
                bench.arrive(now, Probe { flow, ..plain(id) });
            }
        }
    }
    let dropped = |flow| {
        let dropped = Fate::Dropped(DropReason::Aqm);
        bench.fates.iter().filter(|(_, packet, fate)| packet.flow == flow && *fate == dropped).count()
    };
    assert!(dropped(0) > 10_000, "{}", dropped(0));
    assert_eq!(dropped(1), 0);
    let waits = |flow| -> Vec<Span> {
        let of = bench.fates.iter().filter(|(time, packet, _)| *time > millis(30_000) && packet.flow == flow);
        of.filter_map(|(_, _, fate)| if let Fate::Sent(wait) = fate { Some(*wait) } else { None }).collect()
    };
    // The flood waits for the target, the other flow for the packet being sent and one of the flood.
    assert!((0.0135..0.0165).contains(&mean(&waits(0))), "{}", mean(&waits(0)));
    assert!(waits(1).iter().all(|wait| *wait <= Span::from_millis(2)), "{:?}", waits(1).iter().max());
    let (flood, calm) = (bench.queue.probability(0), bench.queue.probability(1));
    assert!(flood > 0.3 && calm == 0.0, "{flood} {calm}");
}

#[test]
fn an_arrival_without_room_is_dropped_itself() {
    let mut queue = queue(5);
    let mut dropped = Vec::new();
    for id in 0..8 {
        let flow = u64::from(id >= 5);
        queue.enqueue(at(0), Probe { flow, ..plain(id) }, &mut |packet, why| dropped.push((packet.id, why)));
    }
    assert_eq!(dropped, [5, 6, 7].map(|id| (id, DropReason::QueueFull)));
}

#[test]
fn capable_packets_are_marked_up_to_the_probability_that_is_set() {
    let run = |ecn_probability: f64| {
        let pie = PieParameters { ecn_probability, ..PieParameters::default() };
        let parameters = FqPieParameters { pie, quantum: Bytes::new(300), flows: 16 };
        let mut bench = TestLink::new(FqPie::new(parameters, context(10_000, 12)), Span::from_millis(1));
        for id in 0..40_000u64 {
            bench.arrive(at(id * 770_000), capable(id));
        }
        let marks = bench.fates.iter().filter(|(_, packet, _)| packet.ecn == Ecn::Marked).count();
        (marks, bench.drops(DropReason::Aqm).len())
    };
    let ((none, all_dropped), (some, dropped), (all, not_dropped)) = (run(0.0), run(0.1), run(1.0));
    assert!(none == 0 && all_dropped > 1000, "{none} {all_dropped}");
    assert!(some > 0 && dropped > 1000, "{some} {dropped}");
    assert!(all > 1000 && not_dropped == 0, "{all} {not_dropped}");
}

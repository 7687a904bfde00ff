use super::*;
use crate::Ecn;
use std::collections::HashSet;

struct Packet {
    flow: u64,
    length: u64,
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes::new(self.length)
    }
    fn flow_key(&self) -> u64 {
        self.flow
    }
    fn ecn(&self) -> Ecn {
        Ecn::NotCapable
    }
}

fn cake(seed: u64, limit: Limit) -> Cake<Packet> {
    let context = Context::new(limit, Rate::from_bps(10_000_000), Stream::new(seed, "queue"));
    Cake::new(CakeParameters::default(), context)
}

#[test]
fn ten_thousand_flows_take_memory_for_the_packets_that_wait_and_no_more() {
    let mut cake = cake(1, Limit::Packets(500));
    let mut now = Time::ZERO;
    for round in 0..20 {
        for flow in 0..10_000u64 {
            now += Span::from_micros(100);
            cake.enqueue(now, Packet { flow: flow + round, length: 60 + flow % 1440 }, &mut |_, _| ());
            if flow % 3 == 0 {
                cake.dequeue(now, &mut |_, _| ());
            }
        }
    }
    // The arrival that does not fit has a place for a moment.
    assert_eq!(cake.packets.places(), 501);
    assert!(cake.tins.iter().all(|tin| tin.flows.len() == flows::QUEUES));
    while cake.dequeue(now, &mut |_, _| ()).is_some() {}
    assert_eq!(cake.total, Backlog::default());
    // Once all COBALT has decayed and the room is used again, no flow is lost on a list.
    cake.enqueue(now, Packet { flow: 1, length: 100 }, &mut |_, _| ());
    assert!(cake.dequeue(now, &mut |_, _| ()).is_some());
}

#[test]
fn flows_find_a_free_queue_among_eight_before_they_share_one() {
    let (mut apart, mut by_hash) = (0, 0);
    for seed in 0..200 {
        let mut cake = cake(seed, Limit::Packets(1000));
        let mut homes = HashSet::new();
        for flow in 0..100 {
            homes.insert(super::super::flows::hash(flow, cake.salt) as usize % flows::QUEUES);
            cake.enqueue(Time::ZERO, Packet { flow, length: 100 }, &mut |_, _| ());
        }
        let used = cake.tins[0].flows.iter().filter(|flow| !flow.line.is_empty()).count();
        apart += usize::from(used == 100);
        by_hash += usize::from(homes.len() == 100);
    }
    // A plain hash keeps 100 flows in 1024 queues apart with a probability of 0.7 %. Eight ways fail where nine flows
    // have the same eighth of a set.
    assert!(by_hash <= 6, "{by_hash}");
    assert!(apart >= 198, "{apart}");
}

#[test]
fn more_flows_than_queues_share_them_and_every_packet_leaves_once() {
    let mut cake = cake(3, Limit::Packets(100_000));
    let mut left = vec![0; 3000];
    for number in 0..4 {
        for flow in 0..3000 {
            let length = 100 + number;
            cake.enqueue(Time::ZERO, Packet { flow, length }, &mut |_, _| panic!("there is room"));
        }
    }
    for _ in 0..12_000 {
        let packet = cake.dequeue(Time::ZERO, &mut |_, _| panic!("nothing waited")).expect("packets wait");
        left[packet.flow as usize] |= 1 << (packet.length - 100);
    }
    assert!(left.iter().all(|left| *left == 0b1111));
    assert!(cake.dequeue(Time::ZERO, &mut |_, _| ()).is_none());
}

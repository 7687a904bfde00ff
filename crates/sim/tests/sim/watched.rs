//! Packets and acknowledgements one by one: they change nothing, and they add up to the reports.

use crate::common::{link, plan, run, seconds};
use link::LinkState;
use tightlink_sim::{
    AckView, FlowPlan, FlowView, Outcome, PacketView, PathEnd, Plan, Recorder, SegmentView, SenderState,
    Simulation, Topology, Watches,
};
use units::{Bytes, Span, Time};

/// A recorder that keeps all packets and acknowledgements.
#[derive(Debug, Default)]
struct Watcher {
    acks: Vec<AckView>,
    packets: Vec<(Time, PacketView)>,
}

impl Recorder for Watcher {
    fn interval(&self) -> Option<Span> {
        None
    }
    fn link(&mut self, _at: Time, _state: &LinkState) {}
    fn flow(&mut self, _at: Time, _index: usize, _view: &FlowView) {}
    fn watches(&self) -> Watches {
        Watches { acknowledgements: true, packets: true }
    }
    fn acknowledged(&mut self, ack: &AckView) {
        self.acks.push(*ack);
    }
    fn packet(&mut self, now: Time, packet: PacketView) {
        self.packets.push((now, packet));
    }
}

/// Runs a plan twice, watched and not, and checks that the flows fare alike.
fn watched(plan: Plan) -> Outcome<Watcher> {
    let unseen = run(plan.clone());
    let seen = Simulation::new(plan, Watcher::default()).run();
    assert_eq!(seen.events, unseen.events);
    for (one, other) in seen.flows.iter().zip(&unseen.flows) {
        let counts = |flow: &tightlink_sim::FlowReport| {
            (flow.delivered, flow.sent, flow.dropped, flow.retransmits, flow.timeouts, flow.min_rtt)
        };
        assert_eq!(counts(one), counts(other), "{}", one.name);
    }
    seen
}

fn data(seen: &Outcome<Watcher>, flow: usize, end: PathEnd) -> Vec<(Time, Bytes, Bytes)> {
    let packets = seen.recorder.packets.iter().map(|(_, packet)| packet);
    let data = packets.filter(|packet| packet.flow == flow && packet.end == end);
    data.filter_map(|packet| match &packet.segment {
        SegmentView::Data { start, payload, .. } => Some((packet.at, *start, *payload)),
        _ => None,
    })
    .collect()
}

/// Two flows with losses at a drop-tail link: one on hosts of the RFCs, one on Linux's with a handshake.
fn two_flows() -> Plan {
    let mut plan = Plan { end: Some(seconds(20)), ..plan(10_000_000, 20) };
    plan.flows = vec![
        FlowPlan::greedy("one", "reno", Span::from_millis(40)),
        FlowPlan {
            handshake: true,
            size: Some(Bytes::new(3_000_001)),
            ..FlowPlan::greedy("two", "cubic", Span::from_millis(60))
        },
    ];
    plan.flows[1].transport.host.gro = Span::from_micros(50);
    plan.flows[1].transport.host.tso = true;
    plan
}

#[test]
fn packets_add_up_to_the_reports_of_the_flows() {
    let seen = watched(two_flows());
    for (index, flow) in seen.flows.iter().enumerate() {
        let (sent, arrived) = (data(&seen, index, PathEnd::Sender), data(&seen, index, PathEnd::Receiver));
        // The SYN is a segment that was sent, too.
        let syns = u64::from(flow.handshake.is_some());
        assert_eq!(sent.len() as u64 + syns, flow.sent, "{}", flow.name);
        assert!(flow.dropped > 0 && flow.retransmits > 0, "{}: {flow:?}", flow.name);
        let under_way = flow.sent - syns - flow.dropped - arrived.len() as u64;
        assert!(under_way <= 100, "{}: {under_way} under way at the end", flow.name);
        let mut highest = Bytes::ZERO;
        let again = sent.iter().filter(|(_, start, payload)| {
            let again = *start < highest;
            highest = highest.max(*start + *payload);
            again
        });
        assert_eq!(again.count() as u64, flow.retransmits, "{}", flow.name);
    }
    assert_eq!(seen.flows[1].delivered, Bytes::new(3_000_001));
    let last = data(&seen, 1, PathEnd::Receiver).iter().map(|(_, start, payload)| *start + *payload).max();
    assert_eq!(last, Some(Bytes::new(3_000_001)));
}

#[test]
fn a_round_trip_lies_between_a_segment_and_its_acknowledgement() {
    let mut plan = Plan { end: Some(seconds(5)), ..plan(10_000_000, 1000) };
    plan.flows = vec![FlowPlan {
        socket_buffer: Bytes::new(10 * 1448),
        ..FlowPlan::greedy("one", "fixed", Span::from_millis(40))
    }];
    let seen = watched(plan);
    let sent = data(&seen, 0, PathEnd::Sender);
    let arrived = data(&seen, 0, PathEnd::Receiver);
    let rows: Vec<&AckView> = seen.recorder.acks.iter().filter(|ack| ack.rtt.is_some()).collect();
    assert!(rows.len() > 1000 && rows.iter().all(|ack| ack.state == SenderState::Avoidance));
    for (place, row) in rows.iter().enumerate() {
        assert_eq!(row.rtt, Some(row.at.since(sent[place].0)), "acknowledgement {place}");
        assert_eq!(row.acked, sent[place].1 + sent[place].2);
        // Half of the base RTT lies behind the receiver.
        assert_eq!(arrived[place].0 + Span::from_millis(20), row.at);
    }
}

#[test]
fn selective_acknowledgements_list_their_blocks_as_on_the_wire() {
    let seen = watched(two_flows());
    let mut with_blocks = 0;
    for (_, packet) in &seen.recorder.packets {
        let SegmentView::Ack { acked, blocks, .. } = &packet.segment else { continue };
        assert!(blocks.len() <= 3, "three blocks fit next to time stamps");
        with_blocks += usize::from(!blocks.is_empty());
        for (from, to) in blocks {
            assert!(from < to && (from >= acked || to <= acked), "{from} to {to} beyond {acked}");
        }
    }
    assert!(with_blocks > 10, "{with_blocks}");
    let states: Vec<SenderState> = seen.recorder.acks.iter().map(|ack| ack.state).collect();
    for state in [SenderState::SlowStart, SenderState::Avoidance, SenderState::Recovery] {
        assert!(states.contains(&state), "{state:?}");
    }
    assert!(seen.recorder.acks.iter().all(|ack| ack.acked <= ack.delivered && ack.delivered <= ack.sent));
}

#[test]
fn acknowledgements_that_cross_queues_are_seen_where_they_leave_and_where_they_arrive() {
    let mut plan = Plan { end: Some(seconds(10)), ..plan(1, 1) };
    plan.topology =
        Topology::Network { links: vec![link("there", 10, 5, 30), link("back", 1, 5, 5)], tight: 0 };
    plan.flows = vec![FlowPlan {
        route: vec![0],
        return_route: vec![1],
        handshake: true,
        ..FlowPlan::greedy("one", "reno", Span::from_millis(40))
    }];
    let seen = watched(plan);
    let acks = |end| {
        let at = |(_, packet): &&(Time, PacketView)| {
            packet.end == end && matches!(packet.segment, SegmentView::Ack { .. })
        };
        seen.recorder.packets.iter().filter(at).count()
    };
    let (left, came) = (acks(PathEnd::Receiver), acks(PathEnd::Sender));
    assert!(came > 1000 && left >= came, "{left} left, {came} came");
    assert_eq!(came, seen.recorder.acks.len());
    let syns = seen.recorder.packets.iter().filter_map(|(_, packet)| match packet.segment {
        SegmentView::Syn { answer, .. } => Some((packet.end, answer)),
        _ => None,
    });
    let (sender, receiver) = (PathEnd::Sender, PathEnd::Receiver);
    assert_eq!(
        syns.collect::<Vec<_>>(),
        [(sender, false), (receiver, false), (receiver, true), (sender, true)]
    );
}

#[test]
fn no_packet_is_shown_later_than_a_base_rtt() {
    let seen = watched(two_flows());
    for (now, packet) in &seen.recorder.packets {
        assert!(packet.at + Span::from_millis(60) >= *now, "{packet:?} at {now:?}");
    }
}

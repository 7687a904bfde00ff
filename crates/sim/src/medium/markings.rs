//! The hosts and the class of each packet, which some queues look at. Media set them on the packets of queues that may,
//! so that others cost nothing.

use crate::packet::{Kind, Packet};
use crate::plan::{Marking, Plan};

/// The markings of all flows and of cross traffic. Both are empty if no packet has any.
#[derive(Clone, Debug)]
pub(crate) struct Markings {
    flows: Box<[Marking]>,
    traffic: Box<[Marking]>,
}

impl Markings {
    pub(crate) fn new(plan: &Plan) -> Self {
        let flows: Box<[Marking]> = plan.connections().map(|flow| flow.marking).collect();
        let traffic: Box<[Marking]> = plan.traffic.iter().map(|traffic| traffic.marking).collect();
        let any = flows.iter().chain(&traffic).any(|marking| *marking != Marking::default());
        if any { Self { flows, traffic } } else { Self { flows: Box::default(), traffic: Box::default() } }
    }

    /// Returns the packet with the hosts and the class of its flow. Acknowledgements go from receiver to sender.
    #[inline]
    pub(crate) fn mark(&self, packet: Packet) -> Packet {
        if self.flows.is_empty() && self.traffic.is_empty() {
            return packet;
        }
        let marking = match packet.kind {
            Kind::Cross => self.traffic.get(packet.segment.number() as usize),
            _ => self.flows.get(packet.flow as usize),
        };
        let Marking { sender, receiver, dscp } = marking.copied().unwrap_or_default();
        match packet.kind {
            Kind::Acknowledgement => {
                Packet { marking: Marking { sender: receiver, receiver: sender, dscp }, ..packet }
            }
            _ => Packet { marking: Marking { sender, receiver, dscp }, ..packet },
        }
    }
}

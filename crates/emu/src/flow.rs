//! The flow of a packet, the arrivals and drops of each flow, and the flows that lose in the same episodes.

use link::{LossEpisodes, SynchronizedLosses};
use std::collections::{HashMap, HashSet};
use units::{Bytes, Span, Time};

/// The protocol number of TCP.
const TCP: u8 = 6;
/// The protocol number of UDP.
const UDP: u8 = 17;

/// A flow across the path. Its addresses are the path's own, so protocol and ports identify it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct FlowKey {
    /// IP protocol number: 6 is TCP, 17 is UDP.
    pub protocol: u8,
    /// Port at the sender's end; 0 if the protocol has none.
    pub source_port: u16,
    /// Port at the receiver's end; 0 if the protocol has none.
    pub destination_port: u16,
}

/// Real packets of a flow at the tight link in the measured interval. A retransmission counts like any other packet,
/// because the link cannot tell them apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FlowCount {
    /// Packets (segments of the MTU's size, not super-packets) that arrived at the link, dropped ones included.
    pub arrived: u64,
    /// Their bytes on the wire.
    pub arrived_bytes: Bytes,
    /// Packets that the link dropped, for any reason.
    pub dropped: u64,
    /// Their bytes on the wire.
    pub dropped_bytes: Bytes,
}

impl FlowCount {
    /// Returns drops over arrivals; zero without arrivals.
    #[must_use]
    pub fn loss_rate(&self) -> f64 {
        self.dropped as f64 / (self.arrived as f64).max(1.0)
    }
}

impl FlowKey {
    /// Reads the flow of an IP packet; all zero if it is not one.
    pub(crate) fn of(packet: &[u8]) -> Self {
        let Some((protocol, transport)) = transport(packet) else { return Self::default() };
        let ports = match (protocol, packet.get(transport..transport + 4)) {
            (6 | 17 | 132 | 136, Some(&[a, b, c, d])) => {
                (u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d]))
            }
            _ => (0, 0),
        };
        Self { protocol, source_port: ports.0, destination_port: ports.1 }
    }
}

/// Returns the protocol and the offset of the transport header; later fragments have none.
fn transport(packet: &[u8]) -> Option<(u8, usize)> {
    match packet.first()? >> 4 {
        4 => {
            let fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x1fff;
            let end = if fragment == 0 { usize::from(packet[0] & 0x0f) * 4 } else { packet.len() };
            Some((*packet.get(9)?, end))
        }
        6 => Some((*packet.get(6)?, 40)),
        _ => None,
    }
}

/// The number of flows with an entry of their own. Later flows share one entry, so that memory stays bounded on a path
/// with many short transfers.
const FLOWS_MAX: usize = 1 << 16;

/// Counts per flow.
#[derive(Debug)]
pub(crate) struct Flows {
    index: HashMap<FlowKey, u32>,
    counts: Vec<(FlowKey, FlowCount)>,
    /// Loss episodes of flows, each watched from its first packet on.
    losses: LossEpisodes,
    /// The UDP ports of flows.
    ports: HashSet<u16>,
    /// The flows of packets that were dropped and are not yet assigned to an episode.
    struck: Vec<u32>,
}

impl Flows {
    /// Makes an empty table for flows that all have `base_rtt`. TCP connections and the UDP `ports` are flows.
    pub(crate) fn new(base_rtt: Span, ports: HashSet<u16>) -> Self {
        Self {
            index: HashMap::new(),
            counts: Vec::new(),
            losses: LossEpisodes::new(base_rtt),
            ports,
            struck: Vec::new(),
        }
    }

    /// Returns the number of the flow `key`, a packet of which arrives at `now`.
    pub(crate) fn number(&mut self, key: FlowKey, now: Time) -> u32 {
        if let Some(number) = self.index.get(&key) {
            return *number;
        }
        let key = if self.counts.len() < FLOWS_MAX { key } else { FlowKey::default() };
        *self.index.entry(key).or_insert_with(|| {
            let number = self.counts.len();
            self.counts.push((key, FlowCount::default()));
            let flow = key.protocol == UDP && self.ports.contains(&key.source_port);
            if flow || key.protocol == TCP {
                self.losses.watch(number, now);
            }
            number as u32
        })
    }

    pub(crate) fn arrived(&mut self, flow: u32, length: u32) {
        let count = &mut self.counts[flow as usize].1;
        count.arrived += 1;
        count.arrived_bytes += Bytes::new(u64::from(length));
    }

    pub(crate) fn dropped(&mut self, flow: u32, length: u32) {
        let count = &mut self.counts[flow as usize].1;
        count.dropped += 1;
        count.dropped_bytes += Bytes::new(u64::from(length));
        self.struck.push(flow);
    }

    /// Assigns the drops at `now` to their loss episode; `delay` returns the queueing delay.
    pub(crate) fn group_drops(&mut self, now: Time, mut delay: impl FnMut() -> Span) {
        self.struck.drain(..).for_each(|flow| self.losses.observe(now, flow as usize, &mut delay));
    }

    /// Returns the loss episodes of flows.
    pub(crate) fn losses(&self) -> SynchronizedLosses {
        self.losses.counts()
    }

    /// Counts from zero again; packets in flight keep their flow's number.
    pub(crate) fn clear(&mut self) {
        for (_, count) in &mut self.counts {
            *count = FlowCount::default();
        }
        self.losses.begin_measuring();
    }

    /// Returns the flows that had arrivals, in order of protocol and ports.
    pub(crate) fn seen(&self) -> Vec<(FlowKey, FlowCount)> {
        let mut seen: Vec<_> = self.counts.iter().filter(|(_, count)| count.arrived > 0).copied().collect();
        seen.sort_by_key(|(key, _)| *key);
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drops_count_in_loss_episodes_for_tcp_and_for_the_udp_ports_of_flows() {
        let mut flows = Flows::new(Span::from_millis(10), HashSet::from([1024]));
        let mut drop_at = |millis, protocol, source_port| {
            let now = Time::ZERO + Span::from_millis(millis);
            let key = FlowKey { protocol, source_port, destination_port: 1024 };
            let flow = flows.number(key, now);
            flows.arrived(flow, 1500);
            flows.dropped(flow, 1500);
            flows.group_drops(now, || Span::ZERO);
            flows.losses().episodes
        };
        // The second drop is a probe's, from another port. An episode counts once the next one begins.
        let drops = [(UDP, 1024), (UDP, 5001), (TCP, 4000), (UDP, 1024)];
        let counts = (0..).zip(drops).map(|(index, (protocol, port))| drop_at(index * 100, protocol, port));
        assert_eq!(counts.collect::<Vec<_>>(), [0, 0, 1, 2]);
    }
}

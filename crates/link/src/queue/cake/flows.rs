//! The flows and hosts of one tin.

use super::super::cobalt::{CobaltParameters, Control};
use super::super::flows::hash;
use super::packets::Line;
use super::rings::{Ring, Rings};
use crate::{Backlog, Datagram};
use serde::Serialize;
use units::{Bytes, Rate, Time};

/// The number of flow queues of a tin, and of the hosts that it distinguishes.
pub(super) const QUEUES: usize = 1024;
/// The queues among which a flow finds a free one, so that two active flows share a queue only if eight are active.
const WAYS: usize = 8;
/// The fraction of a byte in which credits are counted, so that any share of a turn is exact enough.
pub(super) const UNIT: i64 = 1 << 16;

/// The parties among which capacity is shared evenly.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Isolation {
    /// Flows.
    Flows,
    /// Pairs of hosts.
    Hosts,
    /// Sending hosts, and the flows of each.
    DualSrc,
    /// Receiving hosts, and the flows of each.
    DualDst,
    /// Sending and receiving hosts, and the flows of each: a flow counts with the busier of its two hosts.
    #[default]
    Triple,
}

impl Isolation {
    const fn by_source(self) -> bool {
        matches!(self, Self::DualSrc | Self::Triple)
    }

    const fn by_destination(self) -> bool {
        matches!(self, Self::DualDst | Self::Triple)
    }
}

/// The state of a flow, which decides how it counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Set {
    /// On no list.
    #[default]
    Idle,
    /// Active, and within its first turn.
    Sparse,
    /// Empty after its first turn, and still counted as sparse.
    SparseWait,
    /// Active beyond its first turn.
    Bulk,
    /// Empty, on the list of decaying flows.
    Decaying,
}

#[derive(Debug, Default)]
pub(super) struct Flow {
    /// The hash of the flow that the queue is reserved for.
    tag: u64,
    pub(super) line: Line,
    pub(super) control: Control,
    /// Bytes it may still send in this turn, in [`UNIT`]s; a packet may overdraw it.
    credit: i64,
    set: Set,
    source: u16,
    destination: u16,
}

/// A sending host and a receiving host that have the same place. The number is that of their bulk flows.
#[derive(Clone, Copy, Debug, Default)]
struct Host {
    source: (u64, u32),
    destination: (u64, u32),
}

/// One tin.
#[derive(Debug)]
pub(super) struct Tin {
    pub(super) flows: Box<[Flow]>,
    hosts: Box<[Host]>,
    rings: Rings,
    isolation: Isolation,
    pub(super) parameters: CobaltParameters,
    pub(super) rate: Rate,
    /// Bytes of a turn, in [`UNIT`]s.
    quantum: i64,
    /// The time from which it may send again within its share.
    pub(super) next: Time,
    pub(super) packets: u64,
    /// The number of sparse and of bulk flows.
    active: u32,
}

impl Tin {
    pub(super) fn new(rate: Rate, isolation: Isolation, parameters: CobaltParameters) -> Self {
        let bytes_per_second = rate.as_bps() / 8;
        // Linux: a turn lasts a quarter of a millisecond, within these bounds.
        let quantum = (bytes_per_second >> 12).clamp(300, 1514);
        Self {
            flows: (0..QUEUES).map(|_| Flow::default()).collect(),
            hosts: vec![Host::default(); QUEUES].into_boxed_slice(),
            rings: Rings::new(QUEUES as u16),
            isolation,
            parameters,
            rate,
            quantum: quantum as i64 * UNIT,
            next: Time::ZERO,
            packets: 0,
            active: 0,
        }
    }

    #[inline]
    pub(super) fn is_active(&self) -> bool {
        self.active > 0
    }

    /// Returns the queue of a packet, and reserves it for the packet's flow.
    #[inline]
    pub(super) fn queue_of(&mut self, packet: &impl Datagram, salt: u64) -> usize {
        let key = match self.isolation {
            Isolation::Hosts => {
                let (source, destination) = packet.hosts();
                hash(source, salt) ^ destination
            }
            _ => packet.flow_key(),
        };
        let tag = hash(key, salt);
        let home = tag as usize % QUEUES;
        let flow = &self.flows[home];
        if flow.tag == tag && flow.set != Set::Idle {
            return home;
        }
        self.search(tag, home, packet.hosts(), salt)
    }

    #[inline(never)]
    fn search(&mut self, tag: u64, home: usize, hosts: (u64, u64), salt: u64) -> usize {
        let base = home - home % WAYS;
        let mut ways = (0..WAYS).map(|way| base + (home + way) % WAYS);
        let reserved = ways.clone().find(|place| self.flows[*place].tag == tag);
        let place =
            reserved.or_else(|| ways.find(|place| self.flows[*place].set == Set::Idle)).unwrap_or(home);
        let flow = &self.flows[place];
        if flow.tag == tag && flow.set != Set::Idle {
            return place;
        }
        let bulk = flow.set == Set::Bulk;
        if bulk {
            self.count(place, false);
        }
        let source = host_of(&self.hosts, hash(hosts.0, salt), |host| host.source);
        let destination = host_of(&self.hosts, hash(hosts.1, salt), |host| host.destination);
        self.hosts[source].source.0 = hash(hosts.0, salt);
        self.hosts[destination].destination.0 = hash(hosts.1, salt);
        let flow = &mut self.flows[place];
        (flow.tag, flow.source, flow.destination) = (tag, source as u16, destination as u16);
        if bulk {
            self.count(place, true);
        }
        place
    }

    /// Counts a flow as one of its hosts' bulk flows, or no longer.
    fn count(&mut self, index: usize, bulk: bool) {
        let (source, destination) = (self.flows[index].source, self.flows[index].destination);
        let change = |count: &mut u32| *count = if bulk { *count + 1 } else { count.saturating_sub(1) };
        if self.isolation.by_source() {
            change(&mut self.hosts[usize::from(source)].source.1);
        }
        if self.isolation.by_destination() {
            change(&mut self.hosts[usize::from(destination)].destination.1);
        }
    }

    /// Returns the credit of a turn, which the bulk flows of the busier host share.
    #[inline]
    fn turn(&self, index: usize) -> i64 {
        let flow = &self.flows[index];
        let mut load = 1;
        if self.isolation.by_source() {
            load = load.max(self.hosts[usize::from(flow.source)].source.1);
        }
        if self.isolation.by_destination() {
            load = load.max(self.hosts[usize::from(flow.destination)].destination.1);
        }
        if load == 1 { self.quantum } else { self.quantum / i64::from(load) }
    }

    /// Notes that a packet has joined queue `index`.
    #[inline]
    pub(super) fn joined(&mut self, index: usize) {
        match self.flows[index].set {
            Set::Sparse | Set::Bulk => {}
            Set::Idle | Set::Decaying => {
                self.rings.append(Ring::New, index);
                self.active += 1;
                let turn = self.turn(index);
                let flow = &mut self.flows[index];
                (flow.set, flow.credit) = (Set::Sparse, turn);
            }
            Set::SparseWait => {
                self.flows[index].set = Set::Bulk;
                self.count(index, true);
            }
        }
    }

    /// Returns the queue whose turn it is. Queues without credit get some and go behind all others. With
    /// `decaying_first` a decaying one comes first.
    #[inline]
    pub(super) fn next(&mut self, decaying_first: bool) -> Option<usize> {
        if decaying_first && let Some(index) = self.rings.first(Ring::Decaying) {
            return Some(index);
        }
        loop {
            let index = self.rings.first(Ring::New).or_else(|| self.rings.first(Ring::Old))?;
            if self.flows[index].credit > 0 {
                return Some(index);
            }
            if self.flows[index].set == Set::Sparse {
                // A flow without credit that is empty goes on as sparse, but waits with the others.
                if self.flows[index].line.is_empty() {
                    self.flows[index].set = Set::SparseWait;
                } else {
                    self.flows[index].set = Set::Bulk;
                    self.count(index, true);
                }
            }
            let turn = self.turn(index);
            self.flows[index].credit += turn;
            self.rings.append(Ring::Old, index);
        }
    }

    /// Returns the queue with the most bytes, and its backlog.
    pub(super) fn longest(&self) -> Option<(Bytes, u64, usize)> {
        let active = [Ring::New, Ring::Old].into_iter().flat_map(|ring| self.rings.members(ring));
        let size = |index: usize| {
            let Backlog { bytes, packets } = self.flows[index].line.backlog();
            (bytes, packets, index)
        };
        active.map(size).max()
    }

    /// Takes `length` bytes from the credit of queue `index`.
    #[inline]
    pub(super) fn spend(&mut self, index: usize, length: u64) {
        self.flows[index].credit -= length as i64 * UNIT;
    }

    /// Notes that queue `index` had its turn and was empty. It stays on a list until its COBALT has come to rest.
    pub(super) fn found_empty(&mut self, now: Time, index: usize) {
        let flow = &mut self.flows[index];
        flow.control.on_empty(now, &self.parameters);
        let rests = flow.control.is_at_rest(now);
        let was = std::mem::replace(&mut flow.set, if rests { Set::Idle } else { Set::Decaying });
        if was == Set::Bulk {
            self.count(index, false);
        }
        if was != Set::Decaying {
            self.active -= 1;
        }
        if rests {
            self.rings.remove(index);
        } else {
            self.rings.append(Ring::Decaying, index);
        }
    }
}

/// Returns the place of a host by its hash: the one that has it, or one that no bulk flow uses, or else the first.
fn host_of(hosts: &[Host], hash: u64, end: impl Fn(&Host) -> (u64, u32)) -> usize {
    let home = hash as usize % QUEUES;
    let base = home - home % WAYS;
    let mut ways = (0..WAYS).map(|way| base + (home + way) % WAYS);
    let known = ways.clone().find(|place| end(&hosts[*place]).0 == hash);
    known.or_else(|| ways.find(|place| end(&hosts[*place]).1 == 0)).unwrap_or(home)
}

//! CAKE without its shaper: flows in queues of their own, each under COBALT, served in turn so that hosts and their
//! flows have even shares; classes by DSCP. `link/shaper.rs` is the shaper, which may stand in front of any link.
//!
//! Source: Linux `sch_cake` (6.18), and Høiland-Jørgensen, Täht and Morton, "Piece of CAKE" (LANMAN 2018). A packet
//! goes to a tin by its DSCP (`tins.rs`), and in the tin to a queue by its flow (`flows.rs`). Eight queues are possible
//! for a flow, so that it shares one only if eight others are active there. Then its packets may overtake each other.
//!
//! - **Tins.** The last tin in Linux's order that keeps to its share of the rate is served, or else the one that may
//!   send first.
//! - **Flows.** A flow that becomes active goes first for one turn. The credit of a turn is a quantum over the number
//!   of bulk flows of the busier of its two hosts.
//! - **Room.** If an arrival does not fit, the queue with the most bytes drops its oldest packet, and its BLUE notes
//!   it.
//!
//! The rate is that of the link, or of the shaper in front of it. Lengths are those on the medium ([`Framing`]). The
//! filter for acknowledgements, which Linux has off, is left out. Host shares are exact where Linux adds random bytes.

mod flows;
mod packets;
mod rings;
mod tins;

pub use flows::Isolation;
pub use tins::Tins;

use super::cobalt::CobaltParameters;
use super::{Context, Limit, Queue};
use crate::{Backlog, Datagram, DropReason, Framing};
use flows::Tin;
use packets::Packets;
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// The settings of [`Cake`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CakeParameters {
    /// The round-trip time of the flows: COBALT's interval. Its target is a 20th of this.
    pub rtt: Span,
    /// The parties that have even shares.
    pub isolation: Isolation,
    /// The classes.
    pub tins: Tins,
    /// True if capable packets are marked.
    pub ecn: bool,
}

impl Default for CakeParameters {
    /// Returns the defaults of Linux `sch_cake`.
    fn default() -> Self {
        Self {
            rtt: CobaltParameters::INTERVAL,
            isolation: Isolation::default(),
            tins: Tins::default(),
            ecn: true,
        }
    }
}

/// Queues per flow under COBALT, in tins.
#[derive(Debug)]
pub struct Cake<P> {
    tins: Box<[Tin]>,
    classes: Tins,
    packets: Packets<P>,
    framing: Framing,
    limit: Limit,
    /// A random number that enters the hash, so that the seed decides which flows share a queue.
    salt: u64,
    random: Stream,
    total: Backlog,
}

impl<P: Datagram> Cake<P> {
    /// Creates empty queues that share one limit, the context's.
    #[must_use]
    pub fn new(parameters: CakeParameters, mut context: Context) -> Self {
        let tin = |shift: &u32| {
            let rate = Rate::from_bps((context.rate.as_bps() >> shift).max(1));
            let target = Span::from_nanos((parameters.rtt.as_nanos() / 20).max(1));
            let cobalt = CobaltParameters::at(rate, target, parameters.rtt, parameters.ecn);
            Tin::new(rate, parameters.isolation, cobalt)
        };
        Self {
            tins: parameters.tins.shifts().iter().map(tin).collect(),
            classes: parameters.tins,
            packets: Packets::new(),
            framing: context.framing,
            limit: context.limit,
            salt: context.stream.integer(0, u64::MAX),
            random: context.stream,
            total: Backlog::default(),
        }
    }

    fn add(&mut self, now: Time, packet: P) {
        let length = packet.wire_len();
        let tin = &mut self.tins[if self.tins.len() == 1 { 0 } else { self.classes.of(packet.dscp()) }];
        let index = tin.queue_of(&packet, self.salt);
        if tin.packets == 0 {
            // An idle tin saves nothing up.
            tin.next = tin.next.max(now);
        }
        tin.packets += 1;
        self.packets.push(&mut tin.flows[index].line, now, length, packet);
        tin.joined(index);
        self.total.packets += 1;
        self.total.bytes += length;
    }

    /// Drops the oldest packet of the queue with the most bytes.
    #[cold]
    fn shrink(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) {
        let longest = self.tins.iter().enumerate().filter_map(|(tin, of)| Some((of.longest()?, tin)));
        let Some(((_, _, index), tin)) = longest.max() else { return };
        let tin = &mut self.tins[tin];
        let flow = &mut tin.flows[index];
        let Some((_, length, packet)) = self.packets.pop(&mut flow.line) else { return };
        flow.control.on_full(now, &tin.parameters);
        tin.packets -= 1;
        self.total.packets -= 1;
        self.total.bytes -= length;
        drops(packet, DropReason::QueueFull);
    }

    /// Returns the tin to serve: the last that keeps to its share, or else the one that may send first.
    #[inline]
    fn choose(&self, now: Time) -> Option<usize> {
        if let [only] = &*self.tins {
            return only.is_active().then_some(0);
        }
        let mut best: Option<(Time, usize)> = None;
        for (index, tin) in self.tins.iter().enumerate().filter(|(_, tin)| tin.is_active()) {
            if tin.next <= now || best.is_none_or(|(next, _)| tin.next <= next) {
                best = Some((tin.next, index));
            }
        }
        best.map(|(_, index)| index)
    }

    fn serve(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        let mut decaying_first = true;
        while self.total.packets > 0 {
            let place = self.choose(now)?;
            let tin = &mut self.tins[place];
            let Some(index) = tin.next(std::mem::take(&mut decaying_first)) else { continue };
            loop {
                let flow = &mut tin.flows[index];
                let Some((arrived, length, mut packet)) = self.packets.pop(&mut flow.line) else {
                    tin.found_empty(now, index);
                    break;
                };
                tin.packets -= 1;
                self.total.packets -= 1;
                self.total.bytes -= length;
                let waited = now.since(arrived);
                let verdict =
                    flow.control.judge(now, waited, packet.ecn(), &tin.parameters, &mut self.random);
                if verdict.mark {
                    packet.mark();
                }
                if verdict.drop && !flow.line.is_empty() {
                    drops(packet, DropReason::Aqm);
                    continue;
                }
                let length = self.framing.length(length);
                tin.spend(index, length.get());
                advance(tin, now, length);
                return Some(packet);
            }
        }
        None
    }
}

/// Charges a packet to the tin's share. A tin that was late catches up.
#[inline]
fn advance(tin: &mut Tin, now: Time, length: Bytes) {
    let time = tin.rate.serialization(length);
    if tin.next < now {
        tin.next += time;
    } else if tin.next < now + time {
        tin.next = now + time;
    }
}

impl<P: Datagram + Send> Queue<P> for Cake<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        self.add(now, packet);
        while !self.limit.holds(self.total) {
            self.shrink(now, drops);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        self.serve(now, drops)
    }

    fn pass(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        // The packet leaves at once and takes no room, but it spends its flow's credit.
        self.add(now, packet);
        self.serve(now, drops)
    }

    fn backlog(&self) -> Backlog {
        self.total
    }
}

#[cfg(test)]
#[path = "../../tests/within/cake.rs"]
mod tests;

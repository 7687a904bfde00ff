//! One tight link, with all propagation behind it: the fast medium.

use super::{Lines, Markings, Medium};
use crate::packet::{Kind, Packet, UnderWay};
use crate::plan::Plan;
use link::{Admission, Datagram, Link, LinkReport, LinkState, LossEpisodes, SourceReport};
use units::{Bytes, Time};

/// The tight link and the lines behind it, as the endpoints see them. Behind a drop-tail queue a departure is known as
/// the packet is offered; behind any other queue it is known when it happens.
pub(crate) struct TightLink {
    link: Link<Packet>,
    lines: Lines,
    knows_departures: bool,
    markings: Markings,
    /// True if a packet needs no more than its departure: departures are known, the rate is constant, and the link does
    /// not count packets by their source.
    plain: bool,
    /// Owners of the packets dropped and not yet reported.
    dropped: Vec<u32>,
    /// True if there is nothing to settle: departures are known and no packet was dropped. It is a flag because it is
    /// read at every event.
    settled: bool,
    /// Boxed, because drops are rare.
    losses: Box<LossEpisodes>,
}

impl TightLink {
    pub(crate) fn new(link: Link<Packet>, lines: Lines, plan: &Plan) -> Self {
        let knows_departures = link.knows_departures();
        let (settled, losses) = (knows_departures, Box::new(plan.loss_episodes()));
        let markings = Markings::new(plan);
        let plain = knows_departures && !link.meters_sources() && !link.changes_rate();
        Self { knows_departures, markings, plain, link, lines, dropped: Vec::new(), settled, losses }
    }
}

impl TightLink {
    /// Returns the data that waits, as of the last packet that was offered.
    pub(crate) fn backlog(&self) -> Bytes {
        self.link.backlog().bytes
    }

    /// Offers a packet to a link that needs more than its length, or does not know its departure.
    #[inline(never)]
    fn offer_any(&mut self, now: Time, packet: Packet) -> bool {
        if !self.knows_departures {
            let dropped = &mut self.dropped;
            self.link.push(now, self.markings.mark(packet), &mut |packet, _| note(dropped, &packet));
            return true;
        }
        let admission = if self.link.meters_sources() {
            self.link.admit_packet(now, &packet)
        } else {
            self.link.admit_any(now, packet.wire_len())
        };
        self.admitted(packet, admission)
    }

    /// Puts a packet that was admitted on its line, or notes that it was dropped. Returns true if it was admitted.
    #[inline(always)]
    fn admitted(&mut self, packet: Packet, admission: Admission) -> bool {
        match admission {
            Admission::Departs(departs) => {
                if packet.flow != Packet::CROSS {
                    self.lines.push(departs, packet.into());
                }
                true
            }
            Admission::Dropped(_) => {
                note(&mut self.dropped, &packet);
                self.settled = false;
                false
            }
        }
    }

    /// Records that a segment of `flow` was dropped.
    #[cold]
    #[inline(never)]
    fn on_drop(&mut self, now: Time, flow: u32) {
        self.losses.observe(now, flow as usize, || self.link.state(now).queueing_delay());
    }
}

impl Medium for TightLink {
    const CARRIES_ACKNOWLEDGEMENTS: bool = false;

    #[inline]
    fn offer(&mut self, now: Time, packet: Packet) -> bool {
        if !self.plain {
            return self.offer_any(now, packet);
        }
        let admission = self.link.admit(now, packet.wire_len());
        self.admitted(packet, admission)
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.lines.next()
    }

    #[inline]
    fn pop_arrival(&mut self) -> Option<UnderWay> {
        self.lines.pop()
    }

    #[inline]
    fn arrives_later(&self, places: usize) -> Option<u32> {
        self.lines.arrives_later(places)
    }

    #[inline(always)]
    fn take_ahead(&mut self, flow: u32, takes: impl FnMut(Time, &UnderWay) -> bool) {
        self.lines.take_ahead(flow, takes);
    }

    #[inline]
    fn brings_nothing(&self, flow: u32, now: Time, until: Time) -> bool {
        self.knows_departures && self.lines.bring_nothing(flow, now, until)
    }

    fn slots(&self) -> usize {
        1
    }

    /// Puts the packets that have left the link by `now` on its lines.
    fn act(&mut self, now: Time, _slot: usize, _arrived: &mut Vec<Packet>) {
        let dropped = &mut self.dropped;
        while let Some(packet) = self.link.poll(now, &mut |packet, _| note(dropped, &packet)) {
            if packet.flow != Packet::CROSS {
                self.lines.push(now, packet.into());
            }
        }
    }

    #[inline]
    fn settle(&mut self, now: Time, mut dropped: impl FnMut(u32, Kind), mut wake: impl FnMut(usize, Time)) {
        if self.settled {
            return;
        }
        self.settled = self.knows_departures;
        while let Some(owner) = self.dropped.pop() {
            self.on_drop(now, owner);
            if !self.knows_departures {
                dropped(owner, Kind::Segment);
            }
        }
        if self.knows_departures {
            return;
        }
        wake(0, self.link.wakeup().unwrap_or(Time::NEVER));
    }

    #[inline]
    fn is_settled(&self) -> bool {
        self.settled
    }

    fn losses(&mut self) -> &mut LossEpisodes {
        &mut self.losses
    }

    fn begin_measuring(&mut self, now: Time) {
        self.link.begin_measuring(now);
        self.losses.begin_measuring();
    }

    fn state(&mut self, now: Time) -> LinkState {
        self.link.state(now)
    }

    fn reports(&mut self, end: Time) -> Vec<LinkReport> {
        vec![self.link.report(end)]
    }

    fn traffic(&mut self, end: Time) -> Vec<SourceReport> {
        self.link.report(end).sources.map_or_else(Vec::new, |sources| sources.cross)
    }
}

/// Notes a drop, to be reported to its flow. A probe's drop is not reported, because its sizer sees the gap in the
/// echoes' numbers.
fn note(dropped: &mut Vec<u32>, packet: &Packet) {
    if packet.kind != Kind::Probe {
        dropped.push(packet.flow);
    }
}

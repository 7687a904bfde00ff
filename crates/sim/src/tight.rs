//! One tight link, with all propagation behind it: the fast way.

use crate::endpoints::Endpoints;
use crate::lines::{Lines, UnderWay};
use crate::packet::{Kind, Medium, Packet};
use link::{Admission, Datagram, Link, LinkReport, LinkState};
use units::{Bytes, Time};

/// The tight link and the lines behind it, as the endpoints see them. Behind a drop-tail queue a departure is known
/// as the packet is handed over; behind another the link tells in its own time.
pub(crate) struct TightLink {
    link: Link<Packet>,
    lines: Lines,
    knows_departures: bool,
    /// Owners of the packets dropped since flows were told.
    dropped: Vec<u32>,
}

impl TightLink {
    pub(crate) fn new(link: Link<Packet>, lines: Lines) -> Self {
        Self { knows_departures: link.knows_departures(), link, lines, dropped: Vec::new() }
    }
}

impl TightLink {
    /// What waits, as of the last packet that was offered.
    pub(crate) fn backlog(&self) -> Bytes {
        self.link.backlog().bytes
    }
}

impl Medium for TightLink {
    const CARRIES_ACKNOWLEDGEMENTS: bool = false;

    #[inline]
    fn offer(&mut self, now: Time, packet: Packet) -> bool {
        if !self.knows_departures {
            let dropped = &mut self.dropped;
            self.link.push(now, packet, &mut |packet, _| note(dropped, &packet));
            return true;
        }
        match self.link.admit(now, packet.wire_len()) {
            Admission::Departs(departs) => {
                if packet.flow != Packet::CROSS {
                    self.lines.push(departs, packet.into());
                }
                true
            }
            Admission::Dropped(_) => false,
        }
    }

    #[inline]
    fn next_arrival(&self) -> Time {
        self.lines.next()
    }

    #[inline]
    fn pop_arrival(&mut self) -> Option<UnderWay> {
        self.lines.pop()
    }

    fn slots(&self) -> usize {
        1
    }

    /// Puts what has left the link by `now` on its lines.
    fn act(&mut self, now: Time, _slot: usize, _endpoints: &mut Endpoints, _moved: &mut Vec<usize>) {
        let dropped = &mut self.dropped;
        while let Some(packet) = self.link.poll(now, &mut |packet, _| note(dropped, &packet)) {
            if packet.flow != Packet::CROSS {
                self.lines.push(now, packet.into());
            }
        }
    }

    #[inline]
    fn settle(&mut self, endpoints: &mut Endpoints, mut wake: impl FnMut(usize, Time)) {
        if self.knows_departures {
            return;
        }
        while let Some(owner) = self.dropped.pop() {
            endpoints.on_drop(owner as usize, Kind::Segment);
        }
        wake(0, self.link.wakeup().unwrap_or(Time::NEVER));
    }

    fn begin_measuring(&mut self, now: Time) {
        self.link.begin_measuring(now);
    }

    fn state(&mut self, now: Time) -> LinkState {
        self.link.state(now)
    }

    fn reports(&mut self, end: Time) -> Vec<LinkReport> {
        vec![self.link.report(end)]
    }
}

/// A flow learns of its dropped segments only: what becomes of probes shows in their numbers.
fn note(dropped: &mut Vec<u32>, packet: &Packet) {
    if packet.kind != Kind::Measure {
        dropped.push(packet.flow);
    }
}

//! What the tight link carries in a simulation.

use crate::lines::{Lines, UnderWay};
use crate::tagged::Tagged;
use link::{Admission, Datagram, Ecn, Link};
use units::{Bytes, Time};

/// A segment of a flow, or a packet of cross traffic, at the tight link.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Packet {
    /// The flow's index; [`Packet::CROSS`] for cross traffic.
    pub(crate) flow: u32,
    pub(crate) length: u32,
    pub(crate) segment: Tagged,
    pub(crate) sent: Time,
}

impl From<Packet> for UnderWay {
    fn from(packet: Packet) -> Self {
        Self { segment: packet.segment, sent: packet.sent, flow: packet.flow }
    }
}

impl Packet {
    /// The owner of cross traffic.
    pub(crate) const CROSS: u32 = u32::MAX;

    /// A packet of cross traffic.
    pub(crate) fn cross(length: Bytes) -> Self {
        Self { flow: Self::CROSS, length: length.get() as u32, segment: Tagged::plain(0), sent: Time::ZERO }
    }
}

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes::new(u64::from(self.length))
    }
    fn flow_key(&self) -> u64 {
        u64::from(self.flow)
    }
    fn ecn(&self) -> Ecn {
        self.segment.ecn()
    }
    fn mark(&mut self) {
        self.segment = self.segment.marked();
    }
}

/// The tight link and the lines behind it, as the endpoints see them. Behind a drop-tail queue a departure is known
/// as the packet is handed over; behind another the link tells in its own time.
pub(crate) struct TightLink {
    link: Link<Packet>,
    lines: Lines,
    knows_departures: bool,
    /// Owners of the packets dropped since last asked.
    dropped: Vec<u32>,
}

impl TightLink {
    pub(crate) fn new(link: Link<Packet>, lines: Lines) -> Self {
        Self { knows_departures: link.knows_departures(), link, lines, dropped: Vec::new() }
    }

    pub(crate) fn link(&mut self) -> &mut Link<Packet> {
        &mut self.link
    }

    pub(crate) fn lines(&mut self) -> &mut Lines {
        &mut self.lines
    }

    /// When the next acknowledgement comes.
    #[inline]
    pub(crate) fn next_arrival(&self) -> Time {
        self.lines.next()
    }

    /// Whether the link has a time of its own to act, in [`TightLink::deliver`].
    pub(crate) fn delivers(&self) -> bool {
        !self.knows_departures
    }

    /// A packet arrives at the link; false if it is known to be dropped.
    #[inline]
    pub(crate) fn offer(&mut self, now: Time, packet: Packet) -> bool {
        if !self.knows_departures {
            let dropped = &mut self.dropped;
            self.link.push(now, packet, &mut |packet, _| dropped.push(packet.flow));
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

    /// Puts what has left the link by `now` on its lines.
    pub(crate) fn deliver(&mut self, now: Time) {
        let dropped = &mut self.dropped;
        while let Some(packet) = self.link.poll(now, &mut |packet, _| dropped.push(packet.flow)) {
            if packet.flow != Packet::CROSS {
                self.lines.push(now, packet.into());
            }
        }
    }

    /// When [`TightLink::deliver`] next has something to do.
    pub(crate) fn wakeup(&self) -> Time {
        if self.knows_departures { Time::NEVER } else { self.link.wakeup().unwrap_or(Time::NEVER) }
    }

    /// Owners of dropped packets, one at a time.
    pub(crate) fn take_dropped(&mut self) -> Option<u32> {
        self.dropped.pop()
    }
}

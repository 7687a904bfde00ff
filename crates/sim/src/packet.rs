//! What the tight link carries in a simulation.

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

/// A segment's number, and in the bits above it what its headers say of congestion: one word, since most say
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged(u64);

impl Tagged {
    /// ECT, CE, CWR.
    const CAPABLE: u64 = 1 << 61;
    const MARKED: u64 = 1 << 62;
    const REDUCED: u64 = 1 << 63;

    /// A segment that says nothing.
    #[inline]
    pub(crate) fn plain(number: u64) -> Self {
        Self(number)
    }

    /// A segment that may be marked; `reduced`: it tells that the sender has reduced its window.
    pub(crate) fn capable(number: u64, reduced: bool) -> Self {
        Self(number | Self::CAPABLE | if reduced { Self::REDUCED } else { 0 })
    }

    /// Its number, if it says nothing.
    #[inline]
    pub(crate) fn plain_number(self) -> Option<u64> {
        (self.0 < Self::CAPABLE).then_some(self.0)
    }

    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0 & (Self::CAPABLE - 1)
    }

    pub(crate) fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }

    pub(crate) fn tells_reduction(self) -> bool {
        self.0 & Self::REDUCED != 0
    }

    fn ecn(self) -> Ecn {
        if self.is_marked() {
            Ecn::Marked
        } else if self.0 & Self::CAPABLE != 0 {
            Ecn::Capable
        } else {
            Ecn::NotCapable
        }
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
        self.segment.0 |= Tagged::MARKED;
    }
}

/// The tight link as the endpoints see it: what they hand over either has a known departure at once (a drop-tail
/// queue), or comes out in its own time.
pub(crate) struct TightLink {
    link: Link<Packet>,
    knows_departures: bool,
    /// Owners of the packets dropped since last asked.
    dropped: Vec<u32>,
}

/// What the endpoint knows of a packet it has handed over.
pub(crate) enum Fate {
    /// It leaves the link at this time.
    Departs(Time),
    /// It was dropped.
    Dropped,
    /// The link will tell.
    Unknown,
}

impl TightLink {
    pub(crate) fn new(link: Link<Packet>) -> Self {
        Self { knows_departures: link.knows_departures(), link, dropped: Vec::new() }
    }

    pub(crate) fn link(&mut self) -> &mut Link<Packet> {
        &mut self.link
    }

    /// Whether packets come out by [`TightLink::poll`].
    pub(crate) fn delivers(&self) -> bool {
        !self.knows_departures
    }

    #[inline]
    pub(crate) fn offer(&mut self, now: Time, packet: Packet) -> Fate {
        if self.knows_departures {
            return match self.link.admit(now, packet.wire_len()) {
                Admission::Departs(departs) => Fate::Departs(departs),
                Admission::Dropped(_) => Fate::Dropped,
            };
        }
        let dropped = &mut self.dropped;
        self.link.push(now, packet, &mut |packet, _| dropped.push(packet.flow));
        Fate::Unknown
    }

    /// What has left the link by `now`, one at a time.
    pub(crate) fn poll(&mut self, now: Time) -> Option<Packet> {
        let dropped = &mut self.dropped;
        self.link.poll(now, &mut |packet, _| dropped.push(packet.flow))
    }

    /// When [`TightLink::poll`] next has something to do.
    pub(crate) fn wakeup(&self) -> Time {
        if self.knows_departures { Time::NEVER } else { self.link.wakeup().unwrap_or(Time::NEVER) }
    }

    /// Owners of dropped packets, one at a time.
    pub(crate) fn take_dropped(&mut self) -> Option<u32> {
        self.dropped.pop()
    }
}

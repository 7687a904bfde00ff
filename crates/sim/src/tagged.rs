//! [`Tagged`]: a segment's number, and the information of its headers (RFC 3168, RFC 9331).

use link::Ecn;

/// A packet by which a sizer measures the path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probe {
    /// The echo of a probe, with the probe's number.
    Echo(u64),
    /// A packet of a train, with the train's number and the packet's number in it.
    Train(u64, usize),
}

/// The parts of an ECN-capable segment's headers that its sender chooses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CapableHeaders {
    /// True for ECT(1), false for ECT(0).
    pub(crate) scalable: bool,
    /// True if the segment reports that the sender has reduced its window (CWR).
    pub(crate) reduced: bool,
}

/// The parts of an arriving segment's headers that concern marks: none, or a capable segment with a mark and a report.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Signs(u8);

impl Signs {
    /// Returns true if the segment is ECN-capable.
    pub(crate) fn any(self) -> bool {
        self.0 != 0
    }

    pub(crate) fn marked(self) -> bool {
        self.0 & 2 != 0
    }

    /// Returns true if the segment reports a reduced window.
    pub(crate) fn reduced(self) -> bool {
        self.0 & 4 != 0
    }

    #[cfg(test)]
    pub(crate) fn of(marked: bool, reduced: bool) -> Self {
        Self(1 | u8::from(marked) << 1 | u8::from(reduced) << 2)
    }
}

/// A segment's number, with flags of its headers in the bits above it. One word is enough, and most segments have no
/// flag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged(u64);

impl Tagged {
    /// The largest number.
    const LARGEST: u64 = Self::SCALABLE - 1;
    /// ECT(1) in place of ECT(0), in a packet that is capable.
    const SCALABLE: u64 = 1 << 56;
    /// The last segment of a super-packet (PSH).
    const PUSHED: u64 = 1 << 57;
    /// A segment that goes to a host which gathers segments.
    const GATHERED: u64 = 1 << 58;
    /// The flag of a probe. With [`Self::TRAIN`] it marks a packet of a handshake.
    const PROBE: u64 = 1 << 59;
    /// The flag of a packet of a train.
    const TRAIN: u64 = 1 << 60;
    /// ECT: the packet may be marked.
    const CAPABLE: u64 = 1 << 61;
    /// CE: a queue has marked the packet.
    const MARKED: u64 = 1 << 62;
    /// CWR: the sender has reduced its window.
    const REDUCED: u64 = 1 << 63;

    /// Makes a segment without flags.
    #[inline]
    pub(crate) fn plain(number: u64) -> Self {
        Self(number)
    }

    /// Makes a segment that may be marked, with these headers.
    pub(crate) fn capable(number: u64, headers: CapableHeaders) -> Self {
        let scalable = if headers.scalable { Self::SCALABLE } else { 0 };
        Self(number | Self::CAPABLE | scalable | if headers.reduced { Self::REDUCED } else { 0 })
    }

    /// Returns the parts of its headers that concern marks.
    pub(crate) fn signs(self) -> Signs {
        Signs((self.0 >> 61) as u8)
    }

    /// Returns the same segment, marked as one that goes to a host which gathers segments.
    pub(crate) fn gathered(self) -> Self {
        Self(self.0 | Self::GATHERED)
    }

    pub(crate) fn is_gathered(self) -> bool {
        self.0 & Self::GATHERED != 0
    }

    /// Returns its number, if it goes to a host which gathers segments, and says no more than whether it is the last of a
    /// super-packet.
    #[inline]
    pub(crate) fn gathered_number(self) -> Option<u64> {
        let flags = self.0 & !Self::LARGEST & !Self::PUSHED;
        (flags == Self::GATHERED).then_some(self.number())
    }

    /// Returns the same segment as the last one of a super-packet.
    pub(crate) fn pushed(self) -> Self {
        Self(self.0 | Self::PUSHED)
    }

    pub(crate) fn is_pushed(self) -> bool {
        self.0 & Self::PUSHED != 0
    }

    /// Makes the echo of probe `number`.
    pub(crate) fn probe(number: u64) -> Self {
        Self(number | Self::PROBE)
    }

    /// Makes packet `packet` of train `train`.
    pub(crate) fn train(train: u64, packet: u64) -> Self {
        Self((train << 16) | packet | Self::TRAIN)
    }

    /// Makes the SYN of a connection, or its answer.
    pub(crate) fn syn() -> Self {
        Self(Self::PROBE | Self::TRAIN)
    }

    pub(crate) fn is_syn(self) -> bool {
        self.0 & (Self::PROBE | Self::TRAIN) == Self::PROBE | Self::TRAIN
    }

    /// Returns its number, if it is a segment without flags.
    #[inline]
    pub(crate) fn plain_number(self) -> Option<u64> {
        (self.0 < Self::SCALABLE).then_some(self.0)
    }

    #[inline]
    pub(crate) fn number(self) -> u64 {
        self.0 & Self::LARGEST
    }

    /// Returns the probe that it is, if it is not a segment.
    pub(crate) fn as_probe(self) -> Option<Probe> {
        if self.is_syn() {
            None
        } else if self.0 & Self::PROBE != 0 {
            Some(Probe::Echo(self.number()))
        } else if self.0 & Self::TRAIN != 0 {
            let number = self.number();
            Some(Probe::Train(number >> 16, (number & 0xffff) as usize))
        } else {
            None
        }
    }

    /// Returns the same segment with a congestion mark.
    pub(crate) fn marked(self) -> Self {
        Self(self.0 | Self::MARKED)
    }

    pub(crate) fn is_marked(self) -> bool {
        self.signs().marked()
    }

    pub(crate) fn reports_reduction(self) -> bool {
        self.signs().reduced()
    }

    pub(crate) fn ecn(self) -> Ecn {
        if self.is_marked() {
            Ecn::Marked
        } else if self.0 & Self::CAPABLE == 0 {
            Ecn::NotCapable
        } else if self.0 & Self::SCALABLE != 0 {
            Ecn::Scalable
        } else {
            Ecn::Capable
        }
    }
}

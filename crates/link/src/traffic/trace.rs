//! Packets recorded elsewhere: sizes and the gaps between them, six bytes for each.

use serde::Serialize;
use units::{Bytes, Rate, Span};

/// The mark of a gap that is kept separately because it does not fit in 32 bits.
const LONG: u32 = u32::MAX;

/// Packets in order of time. The room `capture` makes them from files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Trace {
    /// The gap before each packet, nanoseconds; zero for the first.
    gaps: Vec<u32>,
    sizes: Vec<u16>,
    /// Gaps of over four seconds: the packet's number and nanoseconds, in order.
    long: Vec<(usize, u64)>,
    bytes: u64,
    duration: u64,
    largest: u16,
    fingerprint: u64,
}

/// A place in a trace.
#[derive(Clone, Debug, Default)]
pub(super) struct Cursor {
    packet: usize,
    /// The number of long gaps passed.
    long: usize,
}

impl Trace {
    /// Adds a packet of `size` bytes, `gap` nanoseconds after the one before.
    pub fn push(&mut self, gap: u64, size: u16) {
        let short = u32::try_from(gap).ok().filter(|short| *short != LONG);
        if short.is_none() {
            self.long.push((self.gaps.len(), gap));
        }
        self.gaps.push(short.unwrap_or(LONG));
        self.sizes.push(size);
        self.bytes += u64::from(size);
        self.duration += gap;
        self.largest = self.largest.max(size);
        // FNV-1a over whole packets.
        for word in [gap, u64::from(size)] {
            self.fingerprint = (self.fingerprint ^ word).wrapping_mul(0x0000_0100_0000_01b3).rotate_left(29);
        }
    }

    /// Returns the packets: nanoseconds after the one before, and bytes.
    pub fn packets(&self) -> impl Iterator<Item = (u64, u16)> + '_ {
        let mut long = self.long.iter().map(|(_, gap)| *gap);
        let gap = move |gap: u32| if gap == LONG { long.next().unwrap_or_default() } else { u64::from(gap) };
        self.gaps.iter().copied().map(gap).zip(self.sizes.iter().copied())
    }

    /// Returns the sum of the sizes.
    #[must_use]
    pub fn bytes(&self) -> Bytes {
        Bytes::new(self.bytes)
    }

    /// Returns the number of packets.
    #[must_use]
    pub fn len(&self) -> usize {
        self.sizes.len()
    }

    /// Returns true if there are no packets.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.sizes.is_empty()
    }

    /// Returns the time from the first packet to the last.
    #[must_use]
    pub fn duration(&self) -> Span {
        Span::from_nanos(self.duration)
    }

    /// Returns the size of the largest packet.
    #[must_use]
    pub fn largest(&self) -> Bytes {
        Bytes::new(u64::from(self.largest))
    }

    /// Returns the mean rate of the packets, with a mean gap after the last; zero if all come at one instant.
    #[must_use]
    pub fn mean_rate(&self) -> Rate {
        let period = self.duration() + self.mean_gap();
        if period == Span::ZERO { Rate::ZERO } else { Rate::of(Bytes::new(self.bytes), period) }
    }

    /// Returns a hash that differs between traces of different packets.
    #[must_use]
    pub fn fingerprint(&self) -> u64 {
        self.fingerprint
    }

    /// Returns the memory taken by the packets.
    #[must_use]
    pub fn held(&self) -> Bytes {
        Bytes::new((self.gaps.capacity() * 4 + self.sizes.capacity() * 2 + self.long.capacity() * 16) as u64)
    }

    fn mean_gap(&self) -> Span {
        Span::from_nanos(self.duration / (self.len() as u64).saturating_sub(1).max(1))
    }

    pub(super) fn size(&self, cursor: &Cursor) -> Bytes {
        Bytes::new(self.sizes.get(cursor.packet).map_or(0, |size| u64::from(*size)))
    }

    /// Moves on by one packet and returns the gap before it. After the last packet returns `None`, or a mean gap if the
    /// trace repeats. A trace without duration does not repeat.
    pub(super) fn gap(&self, cursor: &mut Cursor, repeat: bool) -> Option<Span> {
        cursor.packet += 1;
        match self.gaps.get(cursor.packet) {
            Some(&LONG) => {
                let (_, gap) = self.long.get(cursor.long)?;
                cursor.long += 1;
                Some(Span::from_nanos(*gap))
            }
            Some(gap) => Some(Span::from_nanos(u64::from(*gap))),
            None if repeat && self.duration > 0 => {
                *cursor = Cursor::default();
                Some(self.mean_gap())
            }
            None => None,
        }
    }
}

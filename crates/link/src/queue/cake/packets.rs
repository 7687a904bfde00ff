//! The packets of all flows in one store, so that memory grows with the packets that wait and not with the flows.

use crate::{Backlog, Datagram};
use units::{Bytes, Time};

/// The place of no packet.
const NOWHERE: u32 = u32::MAX;

#[derive(Debug)]
struct Place<P> {
    packet: Option<P>,
    arrived: Time,
    /// The next place of the same line, or the next free one.
    next: u32,
}

/// Packets of many lines.
#[derive(Debug)]
pub(super) struct Packets<P> {
    places: Vec<Place<P>>,
    free: u32,
}

/// The packets of one flow, oldest first.
#[derive(Clone, Debug)]
pub(super) struct Line {
    first: u32,
    last: u32,
    backlog: Backlog,
}

impl Default for Line {
    fn default() -> Self {
        Self { first: NOWHERE, last: NOWHERE, backlog: Backlog::default() }
    }
}

impl Line {
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.first == NOWHERE
    }

    pub(super) fn backlog(&self) -> Backlog {
        self.backlog
    }
}

impl<P: Datagram> Packets<P> {
    pub(super) fn new() -> Self {
        Self { places: Vec::new(), free: NOWHERE }
    }

    /// Puts a packet of `length` at the end of a line.
    #[inline]
    pub(super) fn push(&mut self, line: &mut Line, now: Time, length: Bytes, packet: P) {
        let filled = Place { packet: Some(packet), arrived: now, next: NOWHERE };
        let place = if self.free == NOWHERE {
            self.places.push(filled);
            (self.places.len() - 1) as u32
        } else {
            let place = self.free;
            self.free = self.places[place as usize].next;
            self.places[place as usize] = filled;
            place
        };
        match line.last {
            NOWHERE => line.first = place,
            last => self.places[last as usize].next = place,
        }
        line.last = place;
        line.backlog.packets += 1;
        line.backlog.bytes += length;
    }

    /// Takes the oldest packet of a line; returns it with the time of its arrival and its length.
    #[inline]
    pub(super) fn pop(&mut self, line: &mut Line) -> Option<(Time, Bytes, P)> {
        let place = line.first;
        let stored = self.places.get_mut(place as usize)?;
        let packet = stored.packet.take()?;
        let arrived = stored.arrived;
        line.first = stored.next;
        if line.first == NOWHERE {
            line.last = NOWHERE;
        }
        stored.next = self.free;
        self.free = place;
        let length = packet.wire_len();
        line.backlog.packets -= 1;
        line.backlog.bytes -= length;
        Some((arrived, length, packet))
    }

    /// Returns the number of places, used or free.
    #[cfg(test)]
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }
}

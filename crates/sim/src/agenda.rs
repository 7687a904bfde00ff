//! The agenda: the order in which endpoints, sources and clocks act. Each has one slot; setting a slot's time
//! replaces the old one, so nothing is ever cancelled.
//!
//! A single slot needs no order. A tournament tree orders a few slots: its path from a slot to the root is short and
//! stays in the cache. With many slots that path leaves the cache, and a [calendar](calendar::Calendar) takes the tree's
//! place. Both give the same order.

mod calendar;
mod tournament;

use calendar::Calendar;
use tournament::Tournament;
use units::Time;

/// The number of slots from which a calendar orders them.
const MANY: usize = 4096;

/// The time of each slot. The earliest slot comes first, and ties go to the lower slot.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    first: Entry,
    order: Order,
}

#[derive(Clone, Debug)]
enum Order {
    /// One slot, or none.
    Single,
    Tournament(Tournament),
    Calendar(Box<Calendar>),
}

/// A slot and its time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Entry {
    at: Time,
    slot: u32,
}

impl Entry {
    /// The entry of an agenda in which nobody acts again.
    const NOBODY: Self = Self { at: Time::NEVER, slot: u32::MAX };
}

impl Agenda {
    /// Creates an agenda of `slots` slots, all [`Time::NEVER`].
    pub(crate) fn new(slots: usize) -> Self {
        match slots {
            0 | 1 => Self { first: Entry::NOBODY, order: Order::Single },
            2..MANY => Self::tournament(slots),
            _ => Self::calendar(slots),
        }
    }

    fn tournament(slots: usize) -> Self {
        let tournament = Tournament::new(slots);
        Self { first: tournament.first(), order: Order::Tournament(tournament) }
    }

    fn calendar(slots: usize) -> Self {
        Self { first: Entry::NOBODY, order: Order::Calendar(Box::new(Calendar::new(slots))) }
    }

    /// Sets the time at which `slot` acts next.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, at: Time) {
        let entry = Entry { at, slot: slot as u32 };
        self.first = match &mut self.order {
            Order::Single => entry,
            Order::Tournament(tournament) => tournament.set(entry),
            Order::Calendar(calendar) => calendar.set(entry, self.first),
        };
    }

    /// Returns the time at which `slot` acts next.
    pub(crate) fn at(&self, slot: usize) -> Time {
        match &self.order {
            Order::Single => self.first.at,
            Order::Tournament(tournament) => tournament.at(slot),
            Order::Calendar(calendar) => calendar.at(slot),
        }
    }

    /// Returns the earliest time of all slots but the first, or an earlier time if that would take a search.
    #[inline]
    pub(crate) fn second(&self) -> Time {
        match &self.order {
            Order::Single => Time::NEVER,
            Order::Tournament(tournament) => tournament.earliest_but(self.first.slot as usize),
            Order::Calendar(calendar) => calendar.later(1).map_or(Time::ZERO, |entry| entry.at),
        }
    }

    /// Returns the earliest time and its slot; [`Time::NEVER`] if nobody acts again.
    #[inline]
    pub(crate) fn next(&self) -> (Time, usize) {
        (self.first.at, self.first.slot as usize)
    }

    /// Returns a slot that comes about `places` behind the first, if this takes no search. It is a hint: slots that
    /// were set to another time may be among those counted.
    #[inline]
    pub(crate) fn later(&self, places: usize) -> Option<usize> {
        match &self.order {
            Order::Single | Order::Tournament(_) => None,
            Order::Calendar(calendar) => calendar.later(places).map(|entry| entry.slot as usize),
        }
    }
}

#[cfg(test)]
#[path = "../tests/within/agenda.rs"]
mod tests;

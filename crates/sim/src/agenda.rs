//! The agenda: who acts next. One slot per endpoint, source or clock; setting a slot's time replaces the old
//! one, so nothing is ever cancelled.

use units::Time;

/// A tournament tree over slots: the first of all is the earliest, ties go to the lower slot.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// Who meets whom: pair i is of the winners of pairs 2i and 2i + 1, the last `base / 2` of the slots themselves.
    /// There is no pair 0.
    pairs: Vec<[Entry; 2]>,
    base: usize,
    first: Entry,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: Time,
    slot: u32,
}

impl Agenda {
    /// An agenda of `slots` slots, all [`Time::NEVER`].
    pub(crate) fn new(slots: usize) -> Self {
        let base = slots.next_power_of_two().max(2);
        let nobody = Entry { at: Time::NEVER, slot: u32::MAX };
        let mut agenda = Self { pairs: vec![[nobody; 2]; base], base, first: nobody };
        for slot in 0..slots {
            agenda.set(slot, Time::NEVER);
        }
        agenda
    }

    /// `slot` acts next at `at`, and not before.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, at: Time) {
        let mut place = self.base + slot;
        let mut entry = Entry { at, slot: slot as u32 };
        while place > 1 {
            let pair = &mut self.pairs[place / 2];
            pair[place % 2] = entry;
            // The left one stands for lower slots, so a tie is its.
            let [left, right] = *pair;
            entry = if right.at < left.at { right } else { left };
            place /= 2;
        }
        self.first = entry;
    }

    /// The earliest time and its slot; [`Time::NEVER`] if nobody acts again.
    #[inline]
    pub(crate) fn next(&self) -> (Time, usize) {
        (self.first.at, self.first.slot as usize)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_earliest_slot_comes_first_and_ties_go_to_the_lower() {
        let mut agenda = Agenda::new(5);
        assert_eq!(agenda.next().0, Time::NEVER);
        agenda.set(3, Time::from_nanos(7));
        agenda.set(1, Time::from_nanos(9));
        assert_eq!(agenda.next(), (Time::from_nanos(7), 3));
        agenda.set(1, Time::from_nanos(7));
        assert_eq!(agenda.next(), (Time::from_nanos(7), 1));
        agenda.set(1, Time::NEVER);
        agenda.set(3, Time::from_nanos(20));
        agenda.set(4, Time::from_nanos(8));
        assert_eq!(agenda.next(), (Time::from_nanos(8), 4));
    }
}

//! The agenda: the order in which endpoints, sources and clocks act. Each has one slot; setting a slot's time
//! replaces the old one, so nothing is ever cancelled.

use units::Time;

/// A tournament tree over slots. The earliest slot wins, and ties go to the lower slot.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// Pair i holds the winners of pairs 2i and 2i + 1; the last `base / 2` pairs hold the slots. Pair 0 is unused.
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
    /// Creates an agenda of `slots` slots, all [`Time::NEVER`].
    pub(crate) fn new(slots: usize) -> Self {
        let base = slots.next_power_of_two().max(2);
        let nobody = Entry { at: Time::NEVER, slot: u32::MAX };
        let mut agenda = Self { pairs: vec![[nobody; 2]; base], base, first: nobody };
        for slot in 0..slots {
            agenda.set(slot, Time::NEVER);
        }
        agenda
    }

    /// Sets the time at which `slot` acts next.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, at: Time) {
        let mut place = self.base + slot;
        let mut entry = Entry { at, slot: slot as u32 };
        while place > 1 {
            let pair = &mut self.pairs[place / 2];
            pair[place % 2] = entry;
            // The left entry stands for lower slots, so it wins a tie.
            let [left, right] = *pair;
            entry = if right.at < left.at { right } else { left };
            place /= 2;
        }
        self.first = entry;
    }

    /// Returns the earliest time and its slot; [`Time::NEVER`] if nobody acts again.
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

//! The agenda: who acts next. One slot per endpoint, source or clock; setting a slot's time replaces the old
//! one, so nothing is ever cancelled.

use units::Time;

/// A tournament tree over slots: the root is the earliest, ties go to the lower slot.
#[derive(Clone, Debug)]
pub(crate) struct Agenda {
    /// Leaves stand at `base..`; node i has the children 2i and 2i + 1.
    nodes: Vec<Entry>,
    base: usize,
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
        let nodes = vec![Entry { at: Time::NEVER, slot: u32::MAX }; 2 * base];
        let mut agenda = Self { nodes, base };
        for slot in 0..slots {
            agenda.set(slot, Time::NEVER);
        }
        agenda
    }

    /// `slot` acts next at `at`, and not before.
    #[inline]
    pub(crate) fn set(&mut self, slot: usize, at: Time) {
        let mut node = self.base + slot;
        self.nodes[node] = Entry { at, slot: slot as u32 };
        while node > 1 {
            node /= 2;
            // The left child stands for lower slots, so a tie is its.
            let (left, right) = (self.nodes[2 * node], self.nodes[2 * node + 1]);
            self.nodes[node] = if right.at < left.at { right } else { left };
        }
    }

    /// The earliest time and its slot; [`Time::NEVER`] if nobody acts again.
    #[inline]
    pub(crate) fn next(&self) -> (Time, usize) {
        let first = self.nodes[1];
        (first.at, first.slot as usize)
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

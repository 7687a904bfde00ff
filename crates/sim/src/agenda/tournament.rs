//! A tournament tree over slots.

use super::Entry;
use units::Time;

/// A tree in which every node holds the earlier of its two children.
#[derive(Clone, Debug)]
pub(super) struct Tournament {
    /// Pair i holds the winners of pairs 2i and 2i + 1; the last `base / 2` pairs hold the slots. Pair 0 is unused.
    pairs: Vec<[Entry; 2]>,
    base: usize,
}

impl Tournament {
    /// Creates a tournament of `slots` slots, all [`Time::NEVER`].
    pub(super) fn new(slots: usize) -> Self {
        let base = slots.next_power_of_two().max(2);
        let mut tournament = Self { pairs: vec![[Entry::NOBODY; 2]; base], base };
        for slot in 0..slots {
            tournament.set(Entry { at: Time::NEVER, slot: slot as u32 });
        }
        tournament
    }

    /// Sets a slot's time; returns the earliest entry.
    #[inline]
    pub(super) fn set(&mut self, mut entry: Entry) -> Entry {
        let mut place = self.base + entry.slot as usize;
        while place > 1 {
            let pair = &mut self.pairs[place / 2];
            pair[place % 2] = entry;
            // The left entry stands for lower slots, so it wins a tie.
            let [left, right] = *pair;
            entry = if right.at < left.at { right } else { left };
            place /= 2;
        }
        entry
    }

    /// Returns the time of `slot`.
    pub(super) fn at(&self, slot: usize) -> Time {
        self.pairs[(self.base + slot) / 2][slot % 2].at
    }

    /// Returns the earliest time of all slots but `slot`.
    #[inline]
    pub(super) fn earliest_but(&self, slot: usize) -> Time {
        let mut place = self.base + slot;
        let mut earliest = Time::NEVER;
        while place > 1 {
            earliest = earliest.min(self.pairs[place / 2][(place % 2) ^ 1].at);
            place /= 2;
        }
        earliest
    }

    /// Returns the earliest entry.
    pub(super) fn first(&self) -> Entry {
        let [left, right] = self.pairs[1];
        if right.at < left.at { right } else { left }
    }
}

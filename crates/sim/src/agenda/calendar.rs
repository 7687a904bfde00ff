//! A calendar queue with an exact order: slots wait on a page for each day, and a day's page is sorted as the day begins.
//! The idea is R. Brown's ("Calendar queues", Communications of the ACM 31(10), 1988).
//!
//! Setting a slot writes an entry and leaves the old one, which is dropped when its day comes. So a slot costs a write to
//! one page, however many slots there are, and pages are read one after the other.

use super::Entry;
use std::mem;
use units::Time;

/// The number of entries that a day should have.
const ENTRIES: u64 = 64;
/// The number of entries for which a page has room at first.
const FIRST_MARKS: usize = 16;
/// The moves of a slot in a second, by which a day's length is chosen: about those of a retransmission timer.
const MOVES_PER_SECOND: u64 = 4;

/// The times of many slots.
#[derive(Clone, Debug)]
pub(super) struct Calendar {
    /// The time of each slot. An entry with another time is an old one.
    times: Vec<Time>,
    /// The binary logarithm of a day's length in nanoseconds.
    day_bits: u32,
    /// The entries of the days after today, each day's at its number modulo the number of pages, a power of two.
    pages: Vec<Vec<Mark>>,
    /// The number of entries on the pages.
    waiting: usize,
    /// The entries of all days beyond the last page.
    later: Vec<Entry>,
    /// Today's entries, the earliest last.
    today: Vec<Entry>,
    /// The number of today.
    day: u64,
}

/// An entry on the page of its day.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// The nanoseconds since the day began.
    since: u32,
    slot: u32,
}

impl Calendar {
    /// Creates a calendar for `slots` slots, all [`Time::NEVER`], whose pages reach a second ahead.
    pub(super) fn new(slots: usize) -> Self {
        let day = ENTRIES * 1_000_000_000 / (MOVES_PER_SECOND * slots.max(1) as u64);
        let day_bits = day.max(1).ilog2().min(u32::BITS);
        let pages = (1_000_000_000u64 >> day_bits).next_power_of_two().max(2);
        Self {
            times: vec![Time::NEVER; slots],
            day_bits,
            pages: vec![Vec::new(); pages as usize],
            waiting: 0,
            later: Vec::new(),
            today: Vec::new(),
            day: 0,
        }
    }

    /// Sets a slot's time; returns the earliest entry, which was `first` before.
    pub(super) fn set(&mut self, entry: Entry, first: Entry) -> Entry {
        let before = mem::replace(&mut self.times[entry.slot as usize], entry.at);
        if before != entry.at && entry.at != Time::NEVER {
            self.write(entry);
        }
        if entry < first && entry.at != Time::NEVER {
            entry
        } else if entry.slot == first.slot && before != entry.at {
            self.first()
        } else {
            first
        }
    }

    /// Returns the time of `slot`.
    pub(super) fn at(&self, slot: usize) -> Time {
        self.times[slot]
    }

    /// Returns the entry of today that is `places` behind the earliest, be it an old one or not.
    pub(super) fn later(&self, places: usize) -> Option<&Entry> {
        self.today.get(self.today.len().checked_sub(places + 1)?)
    }

    fn day_of(&self, entry: Entry) -> u64 {
        entry.at.as_nanos() >> self.day_bits
    }

    /// Writes an entry where it belongs.
    fn write(&mut self, entry: Entry) {
        let day = self.day_of(entry);
        if day <= self.day {
            let place = self.today.partition_point(|other| *other > entry);
            self.today.insert(place, entry);
        } else if day - self.day < self.pages.len() as u64 {
            let page = day as usize & (self.pages.len() - 1);
            let since = (entry.at.as_nanos() - (day << self.day_bits)) as u32;
            let page = &mut self.pages[page];
            if page.capacity() == 0 {
                page.reserve_exact(FIRST_MARKS);
            }
            page.push(Mark { since, slot: entry.slot });
            self.waiting += 1;
        } else {
            self.later.push(entry);
        }
    }

    /// Returns the earliest entry.
    fn first(&mut self) -> Entry {
        loop {
            while let Some(entry) = self.today.last() {
                if self.times[entry.slot as usize] == entry.at {
                    return *entry;
                }
                self.today.pop();
            }
            if !self.turn_over() {
                return Entry::NOBODY;
            }
        }
    }

    /// Goes on to the next day, or over all days without entries if no page has one; returns false if there are no
    /// entries.
    fn turn_over(&mut self) -> bool {
        let half = self.pages.len() as u64 / 2;
        if self.waiting > 0 {
            self.day += 1;
        } else {
            let Some(first) = self.later.iter().min() else { return false };
            self.day = self.day_of(*first);
        }
        if self.waiting == 0 || self.day.is_multiple_of(half) {
            for entry in mem::take(&mut self.later) {
                if self.times[entry.slot as usize] == entry.at {
                    self.write(entry);
                }
            }
        }
        let page = self.day as usize & (self.pages.len() - 1);
        // The page's memory goes back, because there may be a hundred thousand pages.
        let page = mem::take(&mut self.pages[page]);
        self.waiting -= page.len();
        let begin = self.day << self.day_bits;
        let times = &self.times;
        let marks = page
            .into_iter()
            .map(|Mark { since, slot }| Entry { at: Time::from_nanos(begin + u64::from(since)), slot });
        self.today.extend(marks.filter(|entry| times[entry.slot as usize] == entry.at));
        self.today.sort_unstable_by(|a, b| b.cmp(a));
        true
    }
}

//! Loss episodes: drops that belong to one overflow, and the episodes in which most flows lost together.

use std::mem;
use units::{Span, Time};

/// The number of episodes below which a share says little: with ten its standard error, sqrt(p (1 - p) / n), is 0.16 at
/// most.
const LEAST_EPISODES: u64 = 10;

/// The mark of a flow that is not watched, in place of an episode's number.
const NOT_WATCHED: u32 = u32::MAX;

/// Groups a link's drops into loss episodes.
///
/// An episode begins with a drop and includes every drop within one round trip. That round trip is the base RTT and the
/// delay of the queue at that drop, because no sender answers sooner. [rfc5348:5.2] groups the losses of one flow
/// likewise. Only drops of watched flows count.
#[derive(Clone, Debug)]
pub struct LossEpisodes {
    base_rtt: Span,
    /// The number of the episode in which each flow lost last, or [`NOT_WATCHED`]. Small, because there may be a million.
    last: Vec<u32>,
    /// The times at which watched flows start.
    starts: Times,
    /// The times at which they leave.
    ends: Times,
    /// The number of the current episode.
    number: u32,
    /// The time at which it ends.
    until: Time,
    /// The number of flows present at its beginning.
    present: usize,
    /// The number of flows that have lost in it.
    struck: usize,
    counts: SynchronizedLosses,
}

/// The number of loss episodes, and of those in which most flows lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SynchronizedLosses {
    /// Episodes with at least two flows present.
    pub episodes: u64,
    /// Episodes among them in which more than half of the flows lost.
    pub synchronized: u64,
}

impl SynchronizedLosses {
    /// Returns the share of the episodes in which more than half of the flows lost; `None` with fewer than ten
    /// episodes.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.episodes >= LEAST_EPISODES).then(|| self.synchronized as f64 / self.episodes as f64)
    }
}

impl LossEpisodes {
    /// Creates a counter that watches no flow yet. `base_rtt` is the base RTT of the flows, or their mean base RTT.
    #[must_use]
    pub fn new(base_rtt: Span) -> Self {
        Self {
            base_rtt,
            last: Vec::new(),
            starts: Times::default(),
            ends: Times::default(),
            number: 0,
            until: Time::ZERO,
            present: 0,
            struck: 0,
            counts: SynchronizedLosses::default(),
        }
    }

    /// Watches `flow`, which is present from `start` on. A flow that is watched already stays unchanged.
    pub fn watch(&mut self, flow: usize, start: Time) {
        if self.last.len() <= flow {
            self.last.resize(flow + 1, NOT_WATCHED);
        }
        let last = &mut self.last[flow];
        if *last == NOT_WATCHED {
            // Zero means that the flow has not lost yet, because episodes are numbered from one.
            *last = 0;
            self.starts.push(start);
        }
    }

    /// Records that `flow` leaves at `end`, after its start.
    pub fn leave(&mut self, flow: usize, end: Time) {
        if self.last.get(flow).is_some_and(|last| *last != NOT_WATCHED) {
            self.ends.push(end);
        }
    }

    /// Starts the measured interval.
    pub fn begin_measuring(&mut self) {
        self.until = Time::ZERO;
        self.counts = SynchronizedLosses::default();
    }

    /// Takes a drop of a packet of `flow` at `now`. `delay` returns the queue's delay, and is called only when an
    /// episode begins. Times never go backwards.
    pub fn observe(&mut self, now: Time, flow: usize, delay: impl FnOnce() -> Span) {
        let Some(last) = self.last.get_mut(flow).filter(|last| **last != NOT_WATCHED) else { return };
        if now >= self.until {
            self.number += 1;
            self.until = now + self.base_rtt + delay();
            self.present = self.starts.count_until(now).saturating_sub(self.ends.count_until(now));
            self.struck = 0;
            self.counts.episodes += u64::from(self.present >= 2);
        }
        if self.present < 2 || mem::replace(last, self.number) == self.number {
            return;
        }
        let were_most = 2 * self.struck > self.present;
        self.struck += 1;
        self.counts.synchronized += u64::from(!were_most && 2 * self.struck > self.present);
    }

    /// Returns the counts since measuring began.
    #[must_use]
    pub fn counts(&self) -> SynchronizedLosses {
        self.counts
    }
}

/// Instants, which are added in any order and sorted only when they are counted, because there may be a hundred
/// thousand.
#[derive(Clone, Debug, Default)]
struct Times {
    times: Vec<Time>,
    unsorted: bool,
}

impl Times {
    fn push(&mut self, time: Time) {
        self.unsorted |= self.times.last().is_some_and(|last| *last > time);
        self.times.push(time);
    }

    /// Returns the number of instants at or before `now`.
    fn count_until(&mut self, now: Time) -> usize {
        if mem::take(&mut self.unsorted) {
            self.times.sort_unstable();
        }
        self.times.partition_point(|time| *time <= now)
    }
}

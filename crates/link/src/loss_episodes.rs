//! Loss episodes: drops that belong to one overflow, and the episodes in which most flows lost together.

use std::mem;
use units::{Span, Time};

/// The number of episodes below which a share says little: with ten its standard error, sqrt(p (1 - p) / n), is 0.16 at
/// most.
const LEAST_EPISODES: u64 = 10;

/// Groups a link's drops into loss episodes.
///
/// An episode begins with a drop and includes every drop within one round trip. That round trip is the base RTT and the
/// delay of the queue at that drop, because no sender answers sooner. [rfc5348:5.2] groups the losses of one flow
/// likewise. Only drops of watched flows count.
#[derive(Clone, Debug)]
pub struct LossEpisodes {
    base_rtt: Span,
    /// The number of the episode in which each flow lost last; `None` if it is not watched.
    last: Vec<Option<u64>>,
    /// The times at which watched flows start and leave.
    starts: Times,
    ends: Times,
    /// The current episode: its number, its end, the number of flows present at its beginning, and of those that have
    /// lost.
    number: u64,
    until: Time,
    present: usize,
    struck: usize,
    counts: SynchronizedLosses,
}

/// Loss episodes, and the number of them that were common to most flows.
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
    /// Creates a counter that watches no flow yet. `base_rtt` is that of the flows, or its mean.
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
            self.last.resize(flow + 1, None);
        }
        let last = &mut self.last[flow];
        if last.is_none() {
            // Episodes are numbered from one.
            *last = Some(0);
            self.starts.push(start);
        }
    }

    /// Records that `flow` leaves at `end`, after its start.
    pub fn leave(&mut self, flow: usize, end: Time) {
        if self.last.get(flow).is_some_and(Option::is_some) {
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
        let Some(Some(last)) = self.last.get_mut(flow) else { return };
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

/// Instants, sorted only when they are counted, because a hundred thousand may come in any order.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// Watches `flows` flows with a base RTT of 40 ms, present from the beginning.
    fn watching(flows: usize) -> LossEpisodes {
        let mut episodes = LossEpisodes::new(Span::from_millis(40));
        (0..flows).for_each(|flow| episodes.watch(flow, Time::ZERO));
        episodes
    }

    fn counts(episodes: u64, synchronized: u64) -> SynchronizedLosses {
        SynchronizedLosses { episodes, synchronized }
    }

    /// Counts drops at (ms, flow) behind a queue of 10 ms.
    fn after(mut episodes: LossEpisodes, drops: &[(u64, usize)]) -> SynchronizedLosses {
        for (ms, flow) in drops {
            episodes.observe(at(*ms), *flow, || Span::from_millis(10));
        }
        episodes.counts()
    }

    #[test]
    fn an_episode_lasts_one_round_trip_with_the_queue_as_it_was() {
        assert_eq!(after(watching(2), &[(0, 0), (49, 1)]), counts(1, 1));
        assert_eq!(after(watching(2), &[(0, 0), (50, 1)]), counts(2, 0));
        assert_eq!(after(watching(2), &[(0, 0), (40, 0), (80, 1)]), counts(2, 0), "drops do not prolong it");
    }

    #[test]
    fn an_episode_is_common_if_more_than_half_of_the_flows_lost_however_much() {
        assert_eq!(after(watching(4), &[(0, 0), (1, 1), (2, 1), (3, 0)]), counts(1, 0), "two of four");
        assert_eq!(after(watching(4), &[(0, 0), (1, 1), (2, 2), (3, 3), (4, 2)]), counts(1, 1));
        assert_eq!(after(watching(3), &[(0, 0), (1, 2), (60, 1), (61, 1)]), counts(2, 1));
    }

    #[test]
    fn flows_count_from_their_start_until_they_leave_and_a_lone_one_not_at_all() {
        let mut episodes = LossEpisodes::new(Span::from_millis(40));
        episodes.watch(3, at(1000));
        (0..=3).for_each(|flow| episodes.watch(flow, Time::ZERO));
        episodes.leave(0, at(2000));
        episodes.leave(1, at(2000));
        episodes.leave(2, at(2000));
        assert_eq!(after(episodes.clone(), &[(999, 0), (999, 1)]), counts(1, 1), "two of three");
        assert_eq!(after(episodes.clone(), &[(1000, 0), (1000, 1)]), counts(1, 0), "two of four");
        assert_eq!(after(episodes.clone(), &[(2000, 3)]), counts(0, 0), "a lone flow");
        assert_eq!(after(episodes, &[(0, 7), (0, u32::MAX as usize)]), counts(0, 0), "not watched");
    }

    #[test]
    fn a_share_takes_ten_episodes_of_the_measured_interval() {
        let mut episodes = watching(2);
        episodes.observe(at(0), 0, || Span::ZERO);
        episodes.begin_measuring();
        episodes.observe(at(1), 0, || Span::ZERO);
        episodes.observe(at(1), 1, || Span::ZERO);
        assert_eq!(episodes.counts(), counts(1, 1), "losses before the interval are not part of it");
        assert_eq!(counts(9, 9).share(), None);
        assert_eq!(counts(10, 9).share(), Some(0.9));
    }
}

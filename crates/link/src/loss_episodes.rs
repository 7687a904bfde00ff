//! Loss episodes: drops that belong to one overflow, and in how many episodes most flows lost together.

use std::mem;
use units::{Span, Time};

/// With fewer episodes a share says little: of ten its standard error, sqrt(p (1 - p) / n), is 0.16 at most.
const LEAST_EPISODES: u64 = 10;

/// Groups a link's drops into loss episodes.
///
/// An episode begins with a drop and takes in every drop within one round trip. That round trip is the base RTT and
/// the delay of the queue at that drop, because no sender answers sooner. [rfc5348:5.2] groups the losses of one flow
/// likewise. Only drops of watched flows count.
#[derive(Clone, Debug)]
pub struct LossEpisodes {
    base_rtt: Span,
    /// Of each flow the episode in which it lost last, by number; `None` if it is not watched.
    last: Vec<Option<u64>>,
    /// When watched flows start and leave.
    starts: Times,
    ends: Times,
    /// The episode under way: its number, its end, how many flows were there at its beginning, and how many have lost.
    number: u64,
    until: Time,
    present: usize,
    struck: usize,
    counts: SynchronizedLosses,
}

/// Loss episodes, and how many of them were common to most flows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SynchronizedLosses {
    /// Episodes while at least two flows were there.
    pub episodes: u64,
    /// Of those, episodes in which more than half of the flows lost.
    pub synchronized: u64,
}

impl SynchronizedLosses {
    /// Share of the episodes in which more than half of the flows lost; `None` with fewer than ten episodes.
    #[must_use]
    pub fn share(self) -> Option<f64> {
        (self.episodes >= LEAST_EPISODES).then(|| self.synchronized as f64 / self.episodes as f64)
    }
}

impl LossEpisodes {
    /// No flow is watched yet. `base_rtt` is theirs, or the mean of theirs.
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

    /// Watches `flow`, which is there from `start` on. One that is watched already stays as it is.
    pub fn watch(&mut self, flow: usize, start: Time) {
        if self.last.len() <= flow {
            self.last.resize(flow + 1, None);
        }
        let last = &mut self.last[flow];
        if last.is_none() {
            // The number of no episode.
            *last = Some(0);
            self.starts.push(start);
        }
    }

    /// `flow` leaves at `end`, after its start.
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

    /// The link drops a packet of `flow` at `now`. `delay` says how long the queue is, and is asked as an episode
    /// begins. Times never go backwards.
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

    /// What was counted since measurement began.
    #[must_use]
    pub fn counts(&self) -> SynchronizedLosses {
        self.counts
    }
}

/// Instants, put in order when they are counted: a hundred thousand may come in any order.
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

    /// How many are at or before `now`.
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

    /// `flows` flows with a base RTT of 40 ms, there from the beginning.
    fn watching(flows: usize) -> LossEpisodes {
        let mut episodes = LossEpisodes::new(Span::from_millis(40));
        (0..flows).for_each(|flow| episodes.watch(flow, Time::ZERO));
        episodes
    }

    fn counts(episodes: u64, synchronized: u64) -> SynchronizedLosses {
        SynchronizedLosses { episodes, synchronized }
    }

    /// Drops at (ms, flow) behind a queue of 10 ms.
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
        assert_eq!(episodes.counts(), counts(1, 1), "what came before the interval is no part of it");
        assert_eq!(counts(9, 9).share(), None);
        assert_eq!(counts(10, 9).share(), Some(0.9));
    }
}

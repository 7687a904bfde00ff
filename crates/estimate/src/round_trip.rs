//! Round-trip times: the least ever, those before our transfer, and those now.

use crate::{Estimator, median};
use std::collections::VecDeque;
use units::{Span, Time};

/// The part of the base RTT within which samples are kept as one group. So a sample per packet costs no more than
/// probes do.
const PARTS: u64 = 16;

/// The age in base RTTs after which samples are forgotten, but not before [`MEMORY`].
const ROUNDS: u64 = 16;

/// The least time for which samples are kept. Probes come every 10 ms, so on a short path this still holds a few dozen.
const MEMORY: Span = Span::from_millis(500);

/// A path's round-trip times in the words of the source [sobas:II].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundTripTimes {
    /// The base RTT, the least ever: propagation and processing.
    pub base: Span,
    /// Te: the median of the times before our transfer, the queues of others included. The base RTT if there were none.
    pub exogenous: Span,
    /// Ta: the mean of the samples that are remembered.
    pub average: Span,
}

/// A summary of the samples of some stretch of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Waits {
    /// The least round-trip time. Its excess over the base RTT is the standing queue, which was there all the time.
    pub least: Span,
    /// The mean round-trip time.
    pub mean: Span,
    /// The greatest round-trip time, in which even a short burst shows.
    pub greatest: Span,
    /// The number of samples.
    pub count: u64,
}

/// An estimator of round-trip times.
#[derive(Clone, Debug, Default)]
pub struct RoundTrip {
    base: Option<Span>,
    before: Vec<Span>,
    exogenous: Option<Span>,
    began: bool,
    recent: VecDeque<Group>,
    /// The sum of the samples in `recent`.
    sum: Span,
    /// The number of the samples in `recent`.
    count: u64,
}

/// A group of samples that lie close together.
#[derive(Clone, Copy, Debug)]
struct Group {
    first: Time,
    last: Time,
    least: Span,
    greatest: Span,
    sum: Span,
    count: u64,
}

impl RoundTrip {
    /// Makes an estimator without samples.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Begins the transfer: samples from now on are not exogenous.
    pub fn begin_transfer(&mut self) {
        if !self.began {
            self.began = true;
            let mut before: Vec<f64> = self.before.drain(..).map(Span::as_secs_f64).collect();
            self.exogenous = median(&mut before).map(Span::from_secs_f64);
        }
    }

    /// Sets the base and the exogenous RTT to `base`, because the path has changed.
    pub fn rebase(&mut self, base: Span) {
        self.base = Some(base);
        self.exogenous = Some(base);
    }

    /// Returns a summary of the samples taken at `from` or later; `None` without any. Old samples are forgotten.
    #[must_use]
    pub fn since(&self, from: Time) -> Option<Waits> {
        let groups = || self.recent.iter().rev().take_while(|group| group.last >= from);
        let count: u64 = groups().map(|group| group.count).sum();
        let sum: Span = groups().map(|group| group.sum).sum();
        Some(Waits {
            least: groups().map(|group| group.least).min()?,
            mean: sum / count,
            greatest: groups().map(|group| group.greatest).max()?,
            count,
        })
    }

    /// Returns the median of the samples taken at `from` or later, which a few late packets do not change; `None`
    /// without any.
    #[must_use]
    pub fn median_since(&self, from: Time) -> Option<Span> {
        let groups = self.recent.iter().rev().take_while(|group| group.last >= from);
        let mut means: Vec<f64> = groups.map(|group| (group.sum / group.count).as_secs_f64()).collect();
        median(&mut means).map(Span::from_secs_f64)
    }

    /// Returns the time of the newest sample.
    #[must_use]
    pub fn newest(&self) -> Option<Time> {
        self.recent.back().map(|group| group.last)
    }
}

impl Estimator for RoundTrip {
    type Sample = Span;
    type Estimate = RoundTripTimes;

    fn observe(&mut self, at: Time, sample: Span) {
        let base = self.base.map_or(sample, |base| base.min(sample));
        self.base = Some(base);
        if !self.began && self.before.len() < 1000 {
            self.before.push(sample);
        }
        self.sum += sample;
        self.count += 1;
        match self.recent.back_mut() {
            Some(group) if at.since(group.first) < base / PARTS => {
                group.last = at;
                group.least = group.least.min(sample);
                group.greatest = group.greatest.max(sample);
                group.sum += sample;
                group.count += 1;
            }
            _ => self.recent.push_back(Group {
                first: at,
                last: at,
                least: sample,
                greatest: sample,
                sum: sample,
                count: 1,
            }),
        }
        let kept = (base * ROUNDS).max(MEMORY);
        while self.recent.front().is_some_and(|group| at.since(group.last) > kept) {
            let Some(old) = self.recent.pop_front() else { break };
            self.sum = self.sum.saturating_sub(old.sum);
            self.count -= old.count;
        }
    }

    fn estimate(&self) -> Option<RoundTripTimes> {
        let base = self.base?;
        let exogenous = self.exogenous.unwrap_or(base).max(base);
        Some(RoundTripTimes { base, exogenous, average: self.sum / self.count.max(1) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sample_per_packet_is_kept_in_groups_and_what_is_old_is_forgotten() {
        let mut rtt = RoundTrip::new();
        let ms = Span::from_millis;
        for packet in 0..100_000u64 {
            rtt.observe(Time::from_nanos(packet * 100_000), ms(40) + Span::from_nanos(packet % 7));
        }
        // The filter remembers 640 ms of the 10 s of samples, in groups of 2.5 ms.
        assert!((250..=260).contains(&rtt.recent.len()), "{}", rtt.recent.len());
        assert_eq!(rtt.since(Time::ZERO).unwrap().greatest, ms(40) + Span::from_nanos(6));
    }
}

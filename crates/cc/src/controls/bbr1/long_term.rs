//! The rate of a path that looks policed: a token bucket drops what exceeds its rate. Linux measures that rate over
//! intervals of many losses, and uses it for a while in place of the largest one (`bbr_lt_bw_sampling()` of 6.18). CoDel
//! and an outage look like a policer, too. The draft of BBR v1 has no such rule.

use crate::RateSample;
use units::{Bytes, Span, Time};

/// `bbr_lt_intvl_min_rtts`: the least rounds of an interval. Four times as many are too long.
const ROUNDS: u32 = 4;
/// `bbr_lt_loss_thresh`: the least losses of an interval, in 256ths of what was delivered.
const LOSSES: u128 = 50;
/// `bbr_lt_bw_ratio`: the share of a rate by which the next interval's may differ.
const NEAR: f64 = 0.125;
/// `bbr_lt_bw_diff`: the difference that is always small enough, bits per second.
const NEAR_BPS: f64 = 4000.0;
/// `bbr_lt_bw_max_rtts`: the rounds for which a rate is used.
const USED: u32 = 48;

/// A moment of a connection: the last delivery, and the data delivered and lost until then.
#[derive(Clone, Copy, Debug, Default)]
struct Moment {
    at: Time,
    delivered: Bytes,
    lost: Bytes,
}

/// The effect of an observation on the rate in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Change {
    None,
    /// The path looks policed, and its rate is used from now on.
    Begins,
    /// The rate has been used for long enough.
    Ends,
}

/// The rate that a policer seems to allow.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct LongTerm {
    /// The rate in use, or that of the last interval, in bits per second; zero without one.
    rate: f64,
    in_use: bool,
    /// True from the first loss on.
    sampling: bool,
    /// The rounds of the interval, or those for which the rate has been used.
    rounds: u32,
    latest: Moment,
    began: Moment,
}

impl LongTerm {
    /// Returns the rate to use instead of the largest one, in bits per second.
    #[inline]
    pub(super) fn rate(&self) -> Option<f64> {
        self.in_use.then_some(self.rate)
    }

    /// Returns true if [`observe`](Self::observe) has to see a sample that begins no round; `limited` as there.
    #[inline]
    pub(super) fn must_see(&self, sample: &RateSample, limited: bool) -> bool {
        sample.newly_lost > Bytes::ZERO || (limited && self.sampling)
    }

    /// Counts the delivery and the losses of `sample`.
    #[inline]
    pub(super) fn count(&mut self, now: Time, sample: &RateSample) {
        let lost = self.latest.lost + sample.newly_lost;
        self.latest = Moment { at: now, delivered: sample.delivered_total, lost };
    }

    /// Takes an acknowledgement that has been counted. `lost`: it reports a loss; `limited`: the rate was not the path's;
    /// `round`: it begins a round; `probes`: BBR probes for bandwidth.
    pub(super) fn observe(&mut self, lost: bool, limited: bool, round: bool, probes: bool) -> Change {
        if self.in_use {
            self.rounds += u32::from(probes && round);
            if self.rounds < USED {
                return Change::None;
            }
            self.reset();
            return Change::Ends;
        }
        if !self.sampling {
            if !lost {
                return Change::None;
            }
            // Tokens that were saved up are gone with the first loss.
            self.begin_interval();
            self.sampling = true;
        }
        self.rounds += u32::from(round);
        if limited || self.rounds > 4 * ROUNDS {
            self.reset();
            return Change::None;
        }
        if self.rounds < ROUNDS || !lost {
            return Change::None;
        }
        self.end_interval()
    }

    /// Takes the expiry of the retransmission timer, which shows that `lost` more bytes are lost. It counts as the end of
    /// a round.
    pub(super) fn on_timeout(&mut self, lost: Bytes, probes: bool) -> Change {
        let before = self.latest.lost;
        self.latest.lost += lost;
        let change = self.observe(true, false, true, probes);
        // The next sample reports them again.
        self.latest.lost = before;
        change
    }

    /// Forgets everything except the counts.
    pub(super) fn reset(&mut self) {
        *self = Self { latest: self.latest, began: self.latest, ..Self::default() };
    }

    fn begin_interval(&mut self) {
        (self.began, self.rounds) = (self.latest, 0);
    }

    fn end_interval(&mut self) -> Change {
        let lost = self.latest.lost.saturating_sub(self.began.lost);
        let delivered = self.latest.delivered.saturating_sub(self.began.delivered);
        let span = self.latest.at.since(self.began.at);
        let few = u128::from(lost.get()) * 256 < LOSSES * u128::from(delivered.get());
        if delivered == Bytes::ZERO || few || span < Span::from_millis(1) {
            return Change::None;
        }
        let rate = delivered.bits_f64() / span.as_secs_f64();
        let apart = (rate - self.rate).abs();
        if self.rate > 0.0 && (apart <= NEAR * self.rate || apart <= NEAR_BPS) {
            (self.rate, self.in_use, self.rounds) = (rate.midpoint(self.rate), true, 0);
            return Change::Begins;
        }
        self.rate = rate;
        self.begin_interval();
        Change::None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A policer of 8 Mbit/s: in each round of 100 ms 100 kB arrive, and `lost` kB are lost.
    fn rounds(of: &mut LongTerm, from: u64, count: u64, lost: u64) -> Vec<Change> {
        let round = |round: u64| {
            let sample = RateSample {
                delivered_total: Bytes::new(round * 100_000),
                newly_lost: Bytes::new(lost * 1000),
                ..RateSample::default()
            };
            of.count(Time::from_nanos(round * 100_000_000), &sample);
            of.observe(lost > 0, false, true, true)
        };
        (from..from + count).map(round).collect()
    }

    #[test]
    fn two_lossy_intervals_of_one_rate_look_policed_for_48_rounds() {
        let mut long_term = LongTerm::default();
        let changes = rounds(&mut long_term, 1, 8, 25);
        assert_eq!(changes.iter().position(|&change| change == Change::Begins), Some(7), "{changes:?}");
        assert!((long_term.rate().unwrap() - 8e6).abs() < 1.0, "{long_term:?}");
        let changes = rounds(&mut long_term, 9, 48, 0);
        assert_eq!(changes.iter().position(|&change| change == Change::Ends), Some(47));
        assert_eq!(long_term.rate(), None);
    }

    #[test]
    fn few_losses_do_not() {
        let mut long_term = LongTerm::default();
        assert!(rounds(&mut long_term, 1, 100, 19).iter().all(|&change| change == Change::None));
    }
}

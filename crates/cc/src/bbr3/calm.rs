//! When an acknowledgement tells BBR v3 no more than that data arrived: most of them do, and only what each may change is
//! looked at then.
//!
//! The model, the state and what follows of them move as a round begins, with a faster sample, a lower RTT or more in flight
//! than the long-term bound, and when the state has what it waits for. The last is noted whenever the model has moved.

use super::bounds::{larger, smaller};
use super::cycle::is_too_high;
use super::probe_rtt::EVERY;
use super::{Bbr3, EXTRA_ROUNDS, Probe, State, amount};
use crate::{Ack, RateSample};
use units::{Span, Time};

/// What the state waits for: nothing of it has come.
#[derive(Clone, Copy, Debug)]
pub(super) struct Calm {
    /// Not after this.
    until: Time,
    /// While more than this is in flight, and the window is larger than this, bytes.
    in_flight_above: f64,
    window_above: f64,
}

impl Calm {
    /// Everything is looked at.
    pub(super) const NOT: Self =
        Self { until: Time::ZERO, in_flight_above: f64::INFINITY, window_above: f64::INFINITY };
}

impl Bbr3 {
    /// Whether nothing but the window follows of `ack`, unless its rate is a new one.
    #[inline]
    pub(super) fn is_calm(&self, ack: &Ack, sample: &RateSample) -> bool {
        #[cfg(test)]
        if self.looks_always {
            return false;
        }
        ack.now <= self.calm.until
            && !self.rounds.starts(sample)
            && !self.bounds.round_starts(sample)
            && (!self.recovering || ack.recovering)
            && ack.rtt.latest.is_none_or(|rtt| rtt >= self.min_rtt)
            && (amount(sample.sent_in_flight) <= self.bounds.inflight_long
                || is_too_high(sample.lost, sample.sent_in_flight))
            && amount(ack.in_flight) > self.calm.in_flight_above
            && self.window > self.calm.window_above
    }

    /// All is calm but for a rate that the round has not seen: mostly another round has.
    #[inline(never)]
    pub(super) fn on_faster(&mut self, ack: &Ack, sample: &RateSample) {
        let before = self.max_rate;
        let rate = self.rate_of(sample);
        self.bounds.observe_rate(rate);
        if self.max_rate == before {
            self.carry_on(sample);
        } else {
            self.update_model(ack, sample);
        }
    }

    /// An acknowledgement while all is calm: what has arrived is counted, and the window follows.
    #[inline]
    pub(super) fn carry_on(&mut self, sample: &RateSample) {
        self.bounds.observe_within_round(sample);
        let extra = self.extra_delivered(sample);
        self.extra.raise(extra);
        let most = self.with_quanta(self.wanted + self.extra.largest());
        let grown = smaller(self.window + amount(sample.newly_delivered), most);
        self.resize(smaller(larger(grown, self.least_window), self.most_window));
    }

    /// What the state waits for from here on.
    pub(super) fn foresee(&mut self) {
        // As the pipe fills, the filter of what came together goes over one round for one acknowledgement more.
        let is_settled = self.min_rtt != Span::MAX && self.extra.length() == EXTRA_ROUNDS as u64;
        self.calm = match self.state {
            // Probing upwards, the bound may rise with each acknowledgement.
            State::Probe(probe) if is_settled && probe != Probe::Up => self.calm_in(probe),
            _ => Calm::NOT,
        };
    }

    fn calm_in(&self, probe: Probe) -> Calm {
        let (always, until) = (-1.0, self.min_rtt_at + EVERY);
        if probe == Probe::Refill {
            return Calm { until, in_flight_above: always, window_above: always };
        }
        let grown = self.grown_meanwhile();
        if grown >= self.bdp(self.rate) {
            return Calm::NOT;
        }
        let in_flight_above = if probe == Probe::Down { self.drained() } else { always };
        Calm { until: until.min(self.probe_at), in_flight_above, window_above: grown }
    }
}

#[cfg(test)]
mod tests {
    use super::Bbr3;
    use crate::lives::{compare, start};

    #[test]
    fn what_is_left_alone_while_all_is_calm_would_not_have_changed() {
        let calm = compare(|| Bbr3::new(start()), |own| own.looks_always = true, Bbr3::is_calm);
        assert!(calm > 0.3, "{calm}");
    }
}

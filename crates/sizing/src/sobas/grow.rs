//! SOBAS before S is decided: it measures the path, and the window grows to C'T and beyond. `sobas.rs` defines the
//! symbols.

use super::path::{Level, QueueBeforeLoss, Sign};
use super::{FLAT, LEAST_SEGMENTS, Phase, Sobas};
use estimate::{Estimator, train_bytes};
use units::{Rate, Span, Time};

/// The segments with which a sender begins [rfc6928:2].
pub(super) const INITIAL_SEGMENTS: u64 = 10;

/// The part of the ramp's growth that remains where the path may be full below C'T, because data sent before a full
/// path shows has to queue.
pub(super) const LATE: f64 = 0.25;

/// The share of C' at which a sender is paced: slightly below C', no queue forms.
const BELOW: f64 = 0.998;

/// The state of a growing window.
#[derive(Clone, Copy, Debug)]
pub(super) struct Grow {
    /// C'T: the window up to which it ramps, and above which it grows by a segment per RTT. `None`: C' is not known.
    ramp_to: Option<f64>,
    /// True before the first loss: the sender is in its first slow start.
    starting: bool,
}

impl Sobas {
    /// Returns true if the data need not wait for trains any longer, because the trains are over. Without a bound on
    /// regret it is enough that one train has arrived whole, and that the others are requested in the sender's first
    /// round trips.
    pub(super) fn has_measured(&self) -> bool {
        self.trains.is_over()
            || (self.config.regret.is_none()
                && self.path.capacity.whole() > 0
                && self.trains.soon_over(self.base()))
    }

    pub(super) fn measured(&mut self, now: Time, sign: Sign) -> Phase {
        match sign {
            Sign::Train if self.has_measured() => self.begin_to_grow(now),
            Sign::Delivered(bytes) => {
                let most = self.segments(4 * INITIAL_SEGMENTS);
                self.grow_by(self.config.parameters.ramp * bytes.get() as f64, most);
                let patient = self.port.delivered.get() as f64 <= 64.0 * most;
                if self.path.times().is_some() || patient {
                    Phase::Measure
                } else {
                    self.open(now, "no round-trip times, so nothing to decide by")
                }
            }
            _ => Phase::Measure,
        }
    }

    /// Begins to grow, because data may flow.
    fn begin_to_grow(&mut self, now: Time) -> Phase {
        self.note_train(now);
        if self.port.rate_based {
            return self.open(now, "the sender is rate-based, such as BBR");
        }
        let ramp_to = self.ceiling();
        if let Some(ceiling) = ramp_to {
            // If the sender is paced, its doubling up to this window causes no queue. Otherwise half of the window
            // queues: that half may be no longer than a train that arrived whole.
            let fits = if self.config.can_pace || self.path.capacity.whole() == 0 {
                ceiling / if self.config.can_pace { 4.0 } else { 16.0 }
            } else {
                (1.5 * train_bytes(self.trains.packets()).get() as f64).clamp(ceiling / 16.0, ceiling / 4.0)
            };
            self.window = self.window.max(fits).min(ceiling);
        }
        let (whole, lost) = (self.path.capacity.whole(), self.path.capacity.lost());
        let capacity = self.path.capacity.estimate().map_or("unknown".to_owned(), Rate::rounded);
        self.reason = format!("C' is {capacity}, {whole} of {} trains came whole; growing", whole + lost);
        Phase::Grow(Grow { ramp_to, starting: true })
    }

    /// Records that a train is back: for two round trips, the trains may be the cause of a queue.
    fn note_train(&mut self, now: Time) {
        self.port.trains_until = now + self.base() * 2;
    }

    pub(super) fn grown(&mut self, now: Time, grow: Grow, sign: Sign) -> Phase {
        let queue_of_trains = now < self.port.trains_until;
        let ramps = grow.ramp_to.is_none_or(|to| self.window < to);
        match sign {
            Sign::Train => {
                self.note_train(now);
                // Another train may give a better C'.
                let ramp_to = grow.ramp_to.filter(|_| !ramps).or_else(|| self.ceiling());
                Phase::Grow(Grow { ramp_to, ..grow })
            }
            Sign::Delivered(bytes) => {
                let bytes = bytes.get() as f64;
                match ramps {
                    true => self.grow_by(self.ramp(now, grow) * bytes, grow.ramp_to.unwrap_or(f64::INFINITY)),
                    false => self.grow_by(self.beyond(now) * bytes, f64::INFINITY),
                }
                Phase::Grow(grow)
            }
            Sign::Wait(wait) if ramps && !queue_of_trains && wait >= self.aim() + self.noise() => {
                // Undoes the growth of the last round trip, whose data is still in flight.
                self.window /= 1.0 + LATE * self.config.parameters.ramp;
                self.reason = format!(
                    "a queue of {} stands; growing by a segment per RTT until the rate is flat",
                    wait.rounded()
                );
                Phase::Grow(Grow { ramp_to: Some(self.window), ..grow })
            }
            Sign::Sample(_) => self.decide_if_flat(now, grow),
            Sign::Loss(_) if queue_of_trains || now < self.losses.recovered => Phase::Grow(grow),
            Sign::Loss(QueueBeforeLoss::Standing) => self.decide_by_loss(now, self.given()),
            Sign::Loss(QueueBeforeLoss::Burst) if self.is_near_capacity() => {
                self.decide_by_loss(now, self.given())
            }
            Sign::Loss(QueueBeforeLoss::Burst)
                if self.losses.count(now) < self.config.parameters.losses as u32 =>
            {
                // At the start, bursts that a small buffer cannot hold are to be expected.
                self.losses.recovered = now + self.base() * 4;
                Phase::Grow(Grow { ramp_to: self.ceiling().or(Some(self.window)), starting: false })
            }
            Sign::Loss(_) => self.open(now, "congested path, loss without a queue before it"),
            Sign::Wait(_) => Phase::Grow(grow),
        }
    }

    /// Returns the growth of the window per delivered byte on its way to C'T.
    fn ramp(&self, now: Time, grow: Grow) -> f64 {
        let gain = self.config.parameters.ramp;
        let near = grow.ramp_to.is_some_and(|to| self.window > to / 2.0);
        let fills = now >= self.port.trains_until
            && self.path.waits_by(now).is_some_and(|wait| wait >= self.path.hint(self.base()) / 2);
        if near || fills { LATE * gain } else { gain }
    }

    /// Returns the growth per delivered byte beyond C'T: a segment per window, more while no data waits.
    fn beyond(&self, now: Time) -> f64 {
        let segment = self.config.segment.get() as f64 / self.window;
        if self.path.has_room(now) { segment.max(self.config.parameters.explore) } else { segment }
    }

    fn decide_if_flat(&mut self, now: Time, grow: Grow) -> Phase {
        let equal = if grow.starting { FLAT.0 } else { FLAT.1 };
        // If the window is the limit, the path is full only if the window is as large as C'T.
        let at_ceiling = self.ceiling().is_some_and(|ceiling| self.window >= 0.999 * ceiling);
        // A paced sender can have all of C' with less than its window.
        let all = self.path.flat(equal).filter(|level| at_ceiling && self.has_all(*level));
        if let Some((level, risen)) =
            self.path.flat_rate(equal, at_ceiling).or(all.map(|level| (level, false)))
        {
            // If the window was the limit, no queue stands yet, so S leaves room for the queue that it aims at.
            let average = if risen { level.average } else { self.target().unwrap_or(level.average) };
            return self.decide(now, Level { average, ..level }, "flat rate");
        }
        match self.path.const_rate_drop() {
            Some(level) => {
                self.halvings += 1;
                self.decide(now, level, "constant rate, then a drop")
            }
            None => Phase::Grow(grow),
        }
    }

    /// Returns the path's level until now: the best of the last samples, or the last round trip if that was better. The
    /// last round trip counts because a window that grows fast outgrows its samples.
    pub(super) fn given(&self) -> Option<Level> {
        let last = self.path.last_round(self.capacity());
        match (self.path.best(), last) {
            (Some(best), Some(last)) if last.rate > best.rate => Some(last),
            (best, last) => best.or(last),
        }
    }

    fn is_near_capacity(&self) -> bool {
        let given = self.given().and_then(|level| self.share(level.rate));
        given.is_some_and(|share| share >= self.config.parameters.dropped)
    }

    /// Returns the excess of the median RTT before the transfer over the base RTT, which other traffic or a late
    /// machine causes.
    pub(super) fn noise(&self) -> Span {
        self.path.times().map_or(Span::ZERO, |times| times.exogenous.saturating_sub(times.base))
    }

    /// Returns C' in payload, if it is known: the rate of its packets without their headers.
    pub(super) fn capacity(&self) -> Option<f64> {
        let segment = self.config.segment;
        let share = segment.get() as f64 / (segment + self.config.header).get() as f64;
        self.path.capacity.estimate().map(|rate| rate.as_bps_f64() * share)
    }

    /// Returns R's part of C', if that is known.
    pub(super) fn share(&self, rate: f64) -> Option<f64> {
        Some(rate / self.capacity()?)
    }

    /// Returns C'T in payload, with T the RTT before the transfer.
    pub(super) fn ceiling(&self) -> Option<f64> {
        let window = self.capacity()? / 8.0 * self.path.times()?.exogenous.as_secs_f64();
        Some(window.clamp(self.segments(LEAST_SEGMENTS), self.maximum()))
    }

    /// Returns the pace of the sender while its window is limited. It is a little more than a window per round trip,
    /// and never more than C', with which no queue forms. C' counts whole packets, a pace counts payload.
    pub(super) fn pace(&self) -> Option<Rate> {
        if !self.config.can_pace {
            return None;
        }
        let capacity = self.capacity().map(|rate| BELOW * rate);
        let known = self.is_decided() || self.path.capacity.whole() > 0;
        match self.phase {
            Phase::Measure | Phase::Open { .. } => None,
            // In competition with other traffic a pace costs goodput, which the bound limits.
            _ if self.config.regret.is_some() && known && self.shares_the_path() => None,
            Phase::Hold(hold) if self.has_all(hold.level) => capacity.map(Rate::from_bps_f64),
            Phase::Grow(_) | Phase::Hold(_) => {
                let ahead = 1.25 * self.window * 8.0 / self.path.times()?.exogenous.as_secs_f64();
                Some(Rate::from_bps_f64(ahead.min(capacity.unwrap_or(f64::INFINITY))))
            }
        }
    }

    /// Returns true if R, the goodput of `level`, is nearly all of C'.
    pub(super) fn has_all(&self, level: Level) -> bool {
        self.share(level.rate).is_some_and(|share| share >= self.config.parameters.all)
    }
}

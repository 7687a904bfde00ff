//! How the window grows before S is decided: the ramp to C'T, and what comes after it.

use super::path::mbps;
use super::{LEAST_SEGMENTS, Phase, Sobas};
use estimate::{Estimator, TRAIN_BYTES};
use units::{Bytes, Span, Time};

impl Sobas {
    /// Whether the data need not wait for trains any longer: they are over, one way or another, or one has come whole and the others
    /// are asked for while the sender is still in its first round trips.
    pub(super) fn has_measured(&self) -> bool {
        let round_trip = self.path.times().map_or(Span::ZERO, |times| times.base);
        self.trains.is_over() || (self.path.capacity.whole() > 0 && self.trains.soon_over(round_trip))
    }

    /// A train is back: what the path holds, and how long its queue is the trains'.
    pub(super) fn note_train(&mut self, now: Time) {
        let base = self.path.times().map_or(Span::ZERO, |times| times.base);
        self.trains_until = now + base * 2;
        let (whole, lost) = (self.path.capacity.whole(), self.path.capacity.lost());
        // A train is a burst that the path held, or did not.
        let burst = TRAIN_BYTES.get() as f64;
        self.room = if lost > 0 && whole == 0 { burst / 8.0 } else { burst };
    }

    /// Data may flow.
    pub(super) fn begin_ramp(&mut self, now: Time) -> Phase {
        self.note_train(now);
        let (whole, lost) = (self.path.capacity.whole(), self.path.capacity.lost());
        // Packets are better spread where no train came whole, or a ramp, which queues a fifth of its window, queues more than
        // a train. Not where some came whole and some did not: so does a path that loses at random, and who was paced once
        // stays so and gets 2 to 4 % less there.
        let ramp_queues = self.ceiling().map(|ceiling| ceiling / 5.0);
        let spread = match (whole, lost) {
            _ if self.rate_based => true,
            (0, _) => true,
            (_, 0) => ramp_queues.is_none_or(|queues| queues > TRAIN_BYTES.get() as f64),
            _ => false,
        };
        self.paced |= self.config.can_pace && spread;
        let trains = match lost {
            0 if !self.trains.is_over() => "the first train came whole".to_owned(),
            _ => format!("{whole} of {} trains came whole", whole + lost),
        };
        if whole == 0 {
            self.margin /= 2.0;
        }
        if let (true, Some(ceiling)) = (self.rate_based, self.ceiling()) {
            self.window = self.window.max(2.0 * ceiling).min(self.maximum());
            let capacity = self.path.capacity.estimate().map_or(String::new(), mbps);
            self.reason = format!("C' is {capacity}, {trains}; the sender finds its rate itself, up to C'");
            return Phase::Linear { starting: true };
        }
        match (self.path.capacity.estimate(), self.ceiling()) {
            (Some(rate), Some(ceiling)) => {
                // Doubling up to here queues nothing if it is spread, else half of it: no more than has been shown to fit, or little.
                let fits = if self.paced { ceiling } else { 1.5 * self.room };
                let start = fits.min(ceiling / 4.0).max(ceiling * self.config.thresholds.ramp_start);
                self.window = self.window.max(start).min(ceiling);
                self.reason = format!("C' is {}, {trains}; growing x1.25 per RTT to C'T", mbps(rate));
            }
            _ => self.reason = format!("no C', {trains}; growing x1.25 per RTT until a queue stands"),
        }
        Phase::Ramp
    }

    /// How much a window grows per delivered byte in the ramp. Above a quarter of C'T, a half if the sender is paced, in
    /// a round trip by a sixteenth of itself, or by the burst that is known to fit if that is more; where none was
    /// found to fit, never by more than that.
    pub(super) fn ramp_gain(&self, now: Time, ceiling: Option<f64>) -> f64 {
        let limits = self.config.thresholds;
        let fits = self.room / self.window;
        let begins = if self.paced { 0.5 } else { 0.25 };
        match ceiling {
            // The path fills: what is sent until that shows has to wait somewhere.
            Some(_)
                if now >= self.trains_until
                    && self.path.waits_by(now).is_some_and(|wait| wait >= self.hint() / 2) =>
            {
                limits.ramp_gain_late
            }
            Some(ceiling) if self.window > ceiling * begins => {
                limits.ramp_gain.min(fits.max(limits.ramp_gain_late))
            }
            Some(_) => limits.ramp_gain,
            None if self.path.capacity.lost() > 0 => limits.ramp_gain.min(fits),
            None => limits.ramp_gain,
        }
    }

    pub(super) fn linear(&mut self, starting: bool, why: String) -> Phase {
        self.reason = why + "; growing by a segment per RTT until the rate is flat";
        Phase::Linear { starting }
    }

    /// One segment per window delivered; more while nothing waits.
    pub(super) fn grow_linearly(&mut self, now: Time, bytes: Bytes) {
        let segment = self.config.segment.get() as f64;
        let room = self.path.has_room(now);
        let limits = self.config.thresholds;
        let gain = match room {
            true if self.is_far(now) => limits.ramp_gain_late,
            true => limits.explore_gain,
            false => 0.0,
        };
        // At C'T there is no more room, however quiet the path still is.
        let full = self.ceiling().is_some_and(|ceiling| self.window >= ceiling * (1.0 + self.margin / 2.0));
        let gain = if full { 0.0 } else { gain };
        self.grow_to(gain.max(segment / self.window), bytes, None);
    }

    /// Far below C' and nothing waits: a queue that was seen was not ours, or a machine's that was late.
    pub(super) fn is_far(&self, now: Time) -> bool {
        let near = self.config.thresholds.near;
        self.ceiling().is_some_and(|ceiling| self.window < near * ceiling)
            && self.path.waits_by(now).is_some_and(|wait| wait < self.hint())
    }

    /// C'T in payload, T the exogenous RTT.
    pub(super) fn ceiling(&self) -> Option<f64> {
        let rate = self.path.payload_capacity(self.config.segment, self.config.header)?;
        let window = rate / 8.0 * self.path.times()?.exogenous.as_secs_f64();
        Some(window.clamp(self.segments(LEAST_SEGMENTS), self.maximum()))
    }

    pub(super) fn grow_to(&mut self, gain: f64, bytes: Bytes, most: Option<f64>) {
        let most = most.map_or(self.maximum(), |most| most.max(self.window).min(self.maximum()));
        self.window = (self.window + gain * bytes.get() as f64).min(most);
    }
}

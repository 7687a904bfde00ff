//! SOBAS: a receive window found during the transfer, so that it fills the path and loses nothing [sobas:IV].
//!
//! The source's state diagram (its Fig. 8) is lost; this one is ours, and `docs/adr/0009-sobas-reconstructed.md` says why
//! it is as it is. Inputs become [`Sign`]s (`sobas/path.rs`): payload delivered, a goodput sample over 2 RTT complete, a
//! round-trip time, a loss with or without a queue before it, a train. [`Sobas::step`] is one match over phase and sign.
//!
//! | phase | sign | if | next | window |
//! |---|---|---|---|---|
//! | measure | train | one came whole and the others are asked for within three round trips; all are back, three came with losses, or none will come | ramp | C'T/4 if the sender is paced, else one and a half of what has been shown to fit, C'T/16 to C'T/4 |
//! | | train | the same, and the sender finds its own rate | linear | 2 C'T, paced at C' |
//! | | delivered | | | x1.25 per RTT, 40 segments at most |
//! | | delivered | no RTT is ever seen | open | maximum |
//! | ramp | delivered | | | x1.25 per RTT; from C'T/4 on, C'T/2 if the sender is paced, by no more than a train is; when probes begin to wait x1.06 |
//! | | delivered | the window is C'T | linear | C'T |
//! | | wait | a queue begins to stand: 1.5 % above the base RTT, and a packet | linear | /1.06 |
//! | | sample | flat-rate (2) or const-rate-drop | hold | S = R T |
//! | | loss | after a standing queue | hold | S, R of the best sample or of the last round trip |
//! | | loss | after a burst | linear | C'T: now congestion control is slow enough |
//! | | loss | after no queue | open | maximum |
//! | linear | delivered | | | + 1 segment per RTT; without a queue x1.016, far below C'T x1.06 |
//! | | sample | flat-rate (2, after a loss 5) or const-rate-drop | hold | S |
//! | | loss | after a queue, near the most that was seen | hold | S, R as in the ramp |
//! | | loss | a burst, and no train came whole; twice | linear | as before |
//! | | loss | otherwise | open | maximum |
//! | hold | sample | a queue stands above what was decided, twice | hold | S anew |
//! | | sample | that did not help: the queue is not ours | hold | as before; the base RTT is risen |
//! | | sample | that cost goodput: others took it | hold | as before |
//! | | sample | the segment is over, others have a share, have given way before, and a trial would overflow the buffer | contend | maximum |
//! | | sample | the segment is over, and the path is not known to be full | trial | x1.016 per RTT |
//! | | loss | | hold | S with half the margin; after a climb beside others, less 3 % |
//! | | loss | the third in 20 s; what is lost in four round trips after an overflow is one | open | maximum |
//! | trial | sample | the path had room, and has a queue now | hold | stays |
//! | | sample | goodput grew with the window, judged by 3 samples, a wide step by 2, by 6 where it varies by itself | trial | stays; a larger step follows at once |
//! | | sample | it did, but too little to go on | hold | stays |
//! | | sample | it did not | hold | as before; the next trial waits longer |
//! | | loss | | hold | as before, less 3 % |
//! | contend | sample | it cost 5 % of all that was delivered, against what S brought | hold | S |
//! | | sample | flat-rate (5) with a standing queue, and nobody else has a share | hold | S anew |
//! | hold | any | R is below 0.9 C', and the sender finds its own rate | open | maximum |
//! | open | sample | flat-rate (5) with a standing queue, no loss | hold | S |
//! | | loss | the third in a row after a standing queue | hold | S |
//!
//! S = R T: R is the goodput, T the average RTT, but not more than the exogenous RTT and a margin. What T has beyond that
//! is our own queue; with it S = R T would be the window that is there already, whatever it is.
//!
//! Without probes the receiver's own round-trip times serve, without the sender's report R T shows whether the window
//! is the limit, without trains the ramp ends at the first standing queue.
//!
//! Reading order: here, `sobas/growth.rs` (ramp and linear), `sobas/decide.rs` (S = R T), `sobas/port.rs` (inputs and actions), `sobas/thresholds.rs`,
//! `sobas/path.rs`, `sobas/trains.rs`, `sobas/held.rs`, `sobas/trial.rs`, `sobas/contend.rs`, `sobas/pace.rs`,
//! `sobas/under_way.rs` (where `takeover.rs` has found the base RTT).

mod contend;
mod decide;
mod growth;
mod held;
mod pace;
mod path;
mod port;
mod thresholds;
mod trains;
mod trial;
mod under_way;

use crate::SizerConfig;
use contend::Contend;
use estimate::TRAIN_BYTES;
use held::Hold;
use path::{Before, Path, Sign};
pub use thresholds::Thresholds;
pub(crate) use trains::Trains;
use trial::Trial;
use units::{Bytes, Rate, Span, Time};

/// The source's probes: 100 bytes every 10 ms [sobas:IV].
pub const PROBE_INTERVAL: Span = Span::from_millis(10);

/// Segments that a sender begins with [rfc6928:2].
const INITIAL_SEGMENTS: u64 = 10;

/// Below this a window starves loss recovery: three duplicates need four segments.
pub const LEAST_SEGMENTS: u64 = 4;

/// The sizer. Best polled every round trip or more often; trains are best answered before data flows.
#[derive(Debug)]
pub struct Sobas {
    config: SizerConfig,
    path: Path,
    trains: Trains,
    phase: Phase,
    reason: String,
    /// Bytes, with their fractions.
    window: f64,
    /// Last said.
    said: Option<Bytes>,
    paced: bool,
    /// The burst that the path is taken to hold.
    room: f64,
    said_pace: Option<Rate>,
    delivered: Bytes,
    /// Until then RTTs are exogenous: the first train is not here yet.
    undisturbed_until: Time,
    /// Until then losses may be the trains' doing.
    trains_until: Time,
    /// Until then losses belong to the burst that overflowed the buffer.
    recovered: Time,
    margin: f64,
    /// With S in force; forgiven one at a time, from then on.
    losses: u32,
    forgiven: Time,
    releases: u32,
    /// When the buffer overflowed, and what was in flight: no trial goes there for a while.
    overflowed: Option<(Time, f64)>,
    /// How often trials have told nothing in a row.
    idle_trials: u32,
    /// A larger window was tried since the last decision that the path forced.
    tried: bool,
    /// Others were seen to give way to a larger window.
    others_yield: bool,
    /// The first payload came.
    began: Time,
    /// The window is not opened for the sake of others' share before.
    contends_from: Time,
    /// The sender's congestion control does not yield to loss.
    rate_based: bool,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Measure,
    Ramp,
    Linear {
        /// No loss so far: the sender is in its first slow start.
        starting: bool,
    },
    Hold(Hold),
    Trial(Trial),
    Contend(Contend),
    Open {
        /// The window is not limited again before.
        until: Time,
        /// Losses in a row after a standing queue.
        explained: u32,
    },
}

impl Sobas {
    /// A machine before its first input.
    #[must_use]
    pub fn new(config: SizerConfig) -> Self {
        let initial = (config.segment * INITIAL_SEGMENTS).min(config.maximum);
        let (phase, window, reason) = if config.running.is_some() {
            let open = Phase::Open { until: Time::ZERO, explained: 0 };
            (open, config.maximum, "the transfer was under way: watching for a flat rate")
        } else if config.trains == 0 {
            (Phase::Ramp, initial, "no trains: growing x1.25 per RTT until a queue stands")
        } else {
            (Phase::Measure, initial, "waiting for round-trip times and packet trains")
        };
        Self {
            path: Path::new(config.thresholds),
            trains: Trains::new(if config.running.is_some() { 0 } else { config.trains }),
            phase,
            reason: reason.to_owned(),
            window: window.get() as f64,
            said: None,
            paced: false,
            room: TRAIN_BYTES.get() as f64,
            said_pace: None,
            delivered: Bytes::ZERO,
            undisturbed_until: Time::NEVER,
            trains_until: Time::ZERO,
            recovered: Time::ZERO,
            margin: config.thresholds.margin,
            losses: 0,
            forgiven: Time::ZERO,
            releases: 0,
            overflowed: None,
            idle_trials: 0,
            tried: false,
            others_yield: false,
            began: Time::NEVER,
            contends_from: Time::ZERO,
            rate_based: false,
            config,
        }
    }

    /// What `sign` leads to.
    fn step(&mut self, now: Time, sign: Sign) {
        let limits = self.config.thresholds;
        self.phase = match (self.phase, sign) {
            (Phase::Measure, Sign::Train) if self.has_measured() => self.begin_ramp(now),
            (Phase::Ramp | Phase::Linear { .. }, Sign::Train) => {
                self.note_train(now);
                self.phase
            }
            (Phase::Measure, Sign::Delivered(bytes)) => {
                let most = self.segments(4 * INITIAL_SEGMENTS);
                self.grow_to(limits.ramp_gain, bytes, Some(most));
                if self.path.times().is_none() && self.delivered.get() as f64 > 64.0 * most {
                    self.open(now, "no round-trip times: nothing to decide by".to_owned())
                } else {
                    Phase::Measure
                }
            }

            (Phase::Ramp, Sign::Delivered(bytes)) => {
                let ceiling = self.ceiling();
                self.grow_to(self.ramp_gain(now, ceiling), bytes, ceiling);
                if ceiling.is_some_and(|ceiling| self.window >= ceiling) {
                    let what = format!("the window is C'T, {}", self.shown());
                    self.linear(true, what)
                } else {
                    Phase::Ramp
                }
            }
            // What the trains left behind.
            (Phase::Ramp | Phase::Linear { .. }, Sign::Wait(_) | Sign::Loss(_))
                if now < self.trains_until =>
            {
                self.phase
            }
            (Phase::Ramp, Sign::Wait(wait))
                if wait >= self.hint() + self.noise()
                    || self.path.waits_by(now).is_some_and(|wait| wait >= self.hint() * 2) =>
            {
                // What was let out in the last round trip is under way still.
                self.window /= 1.0 + limits.ramp_gain_late;
                self.linear(true, format!("a queue of {} stands", shown_ms(wait)))
            }
            (Phase::Ramp | Phase::Linear { starting: true }, Sign::Sample(_)) => {
                self.decide_if_flat(now, limits.flat_starting)
            }
            (Phase::Ramp, Sign::Loss(Before::Standing)) => self.decide_by_loss(now),
            (Phase::Ramp, Sign::Loss(Before::Burst)) => {
                self.window = self.ceiling().unwrap_or(self.window * 2.0).min(self.maximum());
                self.recover(now);
                self.linear(false, "a burst overflowed a small buffer".to_owned())
            }
            (Phase::Ramp, Sign::Loss(Before::Calm)) => self.release(now, "loss without a queue before it"),

            (Phase::Linear { .. }, Sign::Delivered(bytes)) => {
                self.grow_linearly(now, bytes);
                self.phase
            }
            (Phase::Linear { starting: false }, Sign::Sample(_)) => {
                self.decide_if_flat(now, limits.flat_later)
            }
            (Phase::Linear { .. }, Sign::Loss(_)) if now < self.recovered => self.phase,
            (Phase::Linear { .. }, Sign::Loss(before)) => {
                let full = self.is_near_capacity();
                match before {
                    Before::Standing => self.decide_by_loss(now),
                    Before::Burst if full => self.decide_by_loss(now),
                    // Bursts that a small buffer does not hold are had at the start, not again and again.
                    Before::Burst
                        if self.path.capacity.whole() == 0 && self.losses + 1 < limits.losses_held =>
                    {
                        self.losses += 1;
                        self.phase
                    }
                    Before::Burst | Before::Calm => self.release(now, "loss without a queue before it"),
                }
            }

            (Phase::Hold(hold), Sign::Sample(sample)) => self.held(now, hold, &sample),
            (Phase::Hold(_), Sign::Loss(_)) if now < self.recovered => self.phase,
            (Phase::Hold(hold), Sign::Loss(before)) => self.lost_in_hold(now, hold, before),

            (Phase::Trial(trial), Sign::Delivered(bytes)) => self.grow_in_trial(now, trial, bytes),
            (Phase::Trial(trial), Sign::Sample(sample)) => self.judge(now, trial, &sample),
            (Phase::Trial(trial), Sign::Loss(before)) => self.lost_in_trial(now, trial, before),

            (Phase::Contend(contend), Sign::Sample(sample)) => self.contended(now, contend, &sample),

            (Phase::Open { until, .. }, Sign::Sample(sample)) if now >= until => {
                let calm = self.path.last_loss().is_none_or(|last| {
                    now.since(last) > sample.to.since(sample.from) * limits.flat_later as u64
                });
                match self.path.flat_rate(limits.flat_later, false) {
                    Some((level, _)) if calm && !self.yields_to_rate(level) => {
                        self.decide(now, level, "flat rate and a standing queue")
                    }
                    _ => self.phase,
                }
            }
            (Phase::Open { until, explained }, Sign::Loss(Before::Standing)) => {
                let explained = explained + 1;
                if now >= until && explained >= limits.losses_held && !self.rate_based {
                    self.decide_by_loss(now)
                } else {
                    Phase::Open { until, explained }
                }
            }
            (Phase::Open { until, .. }, Sign::Loss(_)) => Phase::Open { until, explained: 0 },
            (phase, _) => phase,
        };
        if let Some(level) = self.shared_by_rate() {
            let why = format!(
                "others share the path, R = {}, and the sender keeps to a rate of its own",
                level.rate()
            );
            self.phase = self.open(now, why + ": a limit would only leave them more");
        }
    }

    /// Loss that is not ours: the path is congested, and a limit would only cost [sobas:III.B].
    fn release(&mut self, now: Time, why: &str) -> Phase {
        if now < self.trains_until {
            return self.phase;
        }
        self.open(now, format!("congested path: {why}; the window is its maximum"))
    }

    fn open(&mut self, now: Time, why: String) -> Phase {
        let base = self.path.times().map_or(Span::ZERO, |times| times.base);
        let until = self.config.thresholds.segment_end(now, base, self.releases);
        self.releases += 1;
        self.window = self.maximum();
        self.path.forget_samples(now);
        self.reason = why;
        Phase::Open { until, explained: 0 }
    }

    /// What the path gave lately is what it can give, as far as is known.
    fn is_near_capacity(&self) -> bool {
        let capacity = self.path.payload_capacity(self.config.segment, self.config.header);
        let best = self.given().map_or(0.0, |level| level.rate);
        capacity.is_some_and(|capacity| best >= self.config.thresholds.dropped * capacity)
    }

    /// From when on a queue may stand. A false alarm only slows growth down, so little of it will do.
    fn hint(&self) -> Span {
        let base = self.path.times().map_or(Span::ZERO, |times| times.base);
        self.path.hint(base)
    }

    /// By what round trips were longer than the least one before the transfer: other traffic, or a machine that is late.
    fn noise(&self) -> Span {
        self.path.times().map_or(Span::ZERO, |times| times.exogenous.saturating_sub(times.base))
    }

    /// The queue that S aims at. Traffic that comes in bursts needs it: with none, the link idles between them.
    fn aim(&self) -> Span {
        let base = self.path.times().map_or(Span::ZERO, |times| times.base);
        self.hint().max(base.scale(self.margin / 2.0))
    }

    fn segments(&self, count: u64) -> f64 {
        (self.config.segment * count).min(self.config.maximum).get() as f64
    }

    fn maximum(&self) -> f64 {
        self.config.maximum.get() as f64
    }

    fn shown(&self) -> String {
        format!("{:.0} kB", self.window / 1e3)
    }
}

pub(crate) fn shown_ms(span: Span) -> String {
    format!("{:.1} ms", span.as_millis_f64())
}

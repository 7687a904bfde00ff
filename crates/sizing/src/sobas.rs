//! SOBAS: the receive window that fills a path without a standing queue [sobas:III, IV].
//!
//! SOBAS measures the path, and lets the window grow until a sign shows that the path is full. Then it sets the window
//! to S = R T. R is the goodput. T is the RTT, limited to the RTT before the transfer plus a margin. A longer RTT is
//! our own queue: with it S = R T would only repeat the current window, whatever its size. C' is the dispersion rate of
//! packet trains, an estimate of the capacity.
//!
//! | phase | sign | next | window |
//! |---|---|---|---|
//! | measure | the trains are over, or, without a bound, one came whole | grow | up to a quarter of C'T |
//! | grow | payload arrives | grow | x1.25 per RTT up to C'T, then a segment per RTT |
//! | | a queue stands before C'T | grow | a segment per RTT from there |
//! | | flat rate: nearly equal samples, 2 before the first loss, 5 after, and the RTT has risen or the window was the limit | hold | S |
//! | | the same, but the RTT has not risen | hold | R times the RTT that is aimed at |
//! | | constant rate, then a drop | hold | S, R as before the drop |
//! | | loss after a queue | hold | S, R as before the loss |
//! | | loss without a queue, or the third loss after a queue for moments | open | maximum |
//! | hold | the window is the limit, and nothing waits | hold | x1.016 per RTT |
//! | | twice the queue that was aimed at stands for 5 samples | hold | S anew |
//! | | S anew has not shortened the RTT: the queue is not ours | hold | as before S anew; the base RTT is raised |
//! | | loss after a queue | hold | less, by half of the queue that was aimed at |
//! | | the third loss without a queue in 20 s | open | maximum |
//! | | the segment is over | hold | as before; a queue aimed at that a loss has halved is doubled again |
//! | open | a segment later: flat rate (5) with a standing queue, no loss | hold | S |
//! | any | the sender is rate-based, such as BBR | open | maximum |
//!
//! Without probes, the receiver's own round-trip times serve. Without the sender's report, R T shows whether the window
//! is the limit. Without trains, the window grows until a queue stands. A sender of ours is paced while its window is
//! limited, so that its bursts make no queue. With a bound on regret, it is paced only if other traffic does not share
//! the path.
//!
//! Reading order: this file, `sobas/grow.rs`, `sobas/port.rs` (inputs and actions), `sobas/parameters.rs`,
//! `sobas/path.rs`, `sobas/trains.rs`. `regret.rs` compares S with a window without limit, `takeover.rs` finds the base
//! RTT of a transfer that is under way.

mod grow;
mod parameters;
mod path;
mod port;
mod trains;

use crate::{Input, SizerConfig};

use grow::Grow;
pub(crate) use parameters::CLOCK_STEP;
use parameters::LOSS_MEMORY;
pub use parameters::Parameters;
use path::{Level, Path, QueueBeforeLoss, Sign};
pub(crate) use port::IDLY;
pub(crate) use trains::Trains;
use units::{Bytes, Rate, Span, Time};

/// The interval of the source's probes: 100 bytes every 10 ms [sobas:IV].
pub const PROBE_INTERVAL: Span = Span::from_millis(10);

/// The number of segments below which a window starves loss recovery: three duplicates need four segments.
pub const LEAST_SEGMENTS: u64 = 4;

/// The longest time for which S waits for the data that a larger window has promised.
const MOST_DRAIN: Span = Span::from_secs(5);

/// The segments of an open window beyond a multiple of the data in flight, for a sender whose window is still small.
const ALLOWANCE: u64 = 32;

/// The numbers of nearly equal samples that make a rate flat, before the first loss and later [sobas:IV].
const FLAT: (usize, usize) = (2, 5);

/// The sizer SOBAS. It should be polled every round trip or more often, and its trains should be answered before data
/// flows.
#[derive(Debug)]
pub struct Sobas {
    config: SizerConfig,
    path: Path,
    trains: Trains,
    phase: Phase,
    reason: String,
    /// The window in bytes, with fractions.
    window: f64,
    /// The number of overflows that have halved the queue that S aims at.
    halvings: u32,
    losses: Losses,
    /// The number of times that the window was opened.
    releases: u32,
    port: port::Port,
}

#[derive(Clone, Copy, Debug)]
enum Phase {
    Measure,
    Grow(Grow),
    Hold(Hold),
    Open {
        /// The time before which the window is not limited again.
        until: Time,
    },
}

/// The state while the window is S.
#[derive(Clone, Copy, Debug)]
struct Hold {
    /// The R and T by which S was decided.
    level: Level,
    /// The RTT that S should result in.
    target: Span,
    /// The number of successive samples with at least twice the queue that S aims at.
    over: u32,
    /// True if no data waits, and the window is the limit.
    room: bool,
    /// The window and level before S was lowered, until the next sample shows a shorter queue.
    before: Option<(f64, Level)>,
    /// The time at which the data promised before has arrived, so that samples show the effect of S.
    settled: Time,
    /// The end of the segment of the transfer; the next one is decided on its own.
    until: Time,
}

/// The losses that count.
#[derive(Clone, Copy, Debug, Default)]
struct Losses {
    count: u32,
    /// The time at which one loss is forgiven.
    forgiven: Time,
    /// The time until which a loss belongs to the burst that overflowed the buffer.
    recovered: Time,
}

impl Losses {
    /// Counts another loss, and returns their number.
    fn count(&mut self, now: Time) -> u32 {
        self.count += 1;
        self.forgiven = now + LOSS_MEMORY;
        self.count
    }

    fn forgive(&mut self, now: Time) {
        if self.count > 0 && now >= self.forgiven {
            self.count -= 1;
            self.forgiven = now + LOSS_MEMORY;
        }
    }
}

impl Sobas {
    /// Makes a machine before its first input.
    #[must_use]
    pub fn new(config: SizerConfig) -> Self {
        let initial = (config.segment * grow::INITIAL_SEGMENTS).min(config.maximum);
        let (phase, window, reason) = if config.running.is_some() {
            let open = Phase::Open { until: Time::ZERO };
            (open, config.maximum, "the transfer was under way: watching for a flat rate")
        } else {
            (Phase::Measure, initial, "waiting for round-trip times and packet trains")
        };
        Self {
            path: Path::new(config.parameters),
            trains: Trains::new(if config.running.is_some() { 0 } else { config.trains }),
            phase,
            reason: reason.to_owned(),
            window: window.get() as f64,
            halvings: 0,
            losses: Losses::default(),
            releases: 0,
            port: port::Port::default(),
            config,
        }
    }

    /// Makes a machine for a transfer that is under way at `now` over a path with this `base` RTT. `standing` has its
    /// goodput and RTT if a queue stood: then the machine begins with S = R T. Otherwise the window is open.
    #[must_use]
    pub fn under_way(config: SizerConfig, now: Time, base: Span, standing: Option<(Rate, Span)>) -> Self {
        let running = Some(config.running.unwrap_or(config.maximum));
        let mut sobas = Self::new(SizerConfig { running, ..config });
        sobas.path.begin_transfer();
        sobas.path.rebase(base + CLOCK_STEP);
        sobas.path.observe(now, Input::RoundTrip(base), Bytes::new(sobas.window as u64));
        match standing {
            None => {
                let base = base.rounded();
                sobas.reason = format!("base RTT {base}, no queue stands: watching for a flat rate");
            }
            Some((rate, average)) => {
                let level = Level { rate: rate.as_bps_f64(), average, median: average };
                // With a window of zero, `decide` waits for no promised data, because all of it has arrived.
                sobas.window = 0.0;
                sobas.phase = sobas.decide(now, level, "a dip of the window found the base RTT");
            }
        }
        sobas
    }

    /// Takes the transition that `sign` causes.
    fn step(&mut self, now: Time, sign: Sign) {
        self.phase = match (self.phase, sign) {
            (Phase::Measure, sign) => self.measured(now, sign),
            (Phase::Grow(grow), sign) => self.grown(now, grow, sign),
            (Phase::Hold(hold), sign) => self.held(now, hold, sign),
            (Phase::Open { .. }, Sign::Delivered(_)) => {
                self.window = self.window.max(self.unlimited());
                self.phase
            }
            (Phase::Open { until }, Sign::Sample(sample)) if now >= until && !self.port.rate_based => {
                let long = sample.to.since(sample.from) * FLAT.1 as u64;
                let calm = self.path.last_loss().is_none_or(|last| now.since(last) > long);
                match self.path.flat_rate(FLAT.1, false).filter(|_| calm) {
                    Some((level, _)) => self.decide(now, level, "flat rate and a standing queue"),
                    None => self.phase,
                }
            }
            (phase, _) => phase,
        };
    }

    /// Handles `sign` while the window is S, so that the path stays full without a longer queue.
    fn held(&mut self, now: Time, mut hold: Hold, sign: Sign) -> Phase {
        let parameters = self.config.parameters;
        match sign {
            Sign::Delivered(bytes) if hold.room => {
                // A buffer that has overflowed has less room, so the window grows more slowly.
                let mut gain = parameters.explore / f64::from(1 << self.halvings.min(8));
                // Beyond C'T a queue is expected, so the window grows more slowly.
                if self.ceiling().is_some_and(|ceiling| self.window >= ceiling) {
                    gain *= grow::LATE;
                }
                self.grow_by(gain * bytes.get() as f64, f64::INFINITY);
            }
            Sign::Wait(wait) if wait >= self.path.hint(self.base()) => hold.room = false,
            Sign::Sample(sample) => {
                let base = self.base();
                self.losses.forgive(now);
                if now >= hold.until {
                    self.halvings = self.halvings.saturating_sub(1);
                    self.next_segment(now, &mut hold);
                }
                if let Some((window, before)) = hold.before.take() {
                    let excess = before.median.saturating_sub(hold.target);
                    if sample.median + excess / 3 > before.median {
                        // The smaller window has not shortened the RTT, so this RTT is the path's, and the old window
                        // returns.
                        self.path.rebase(self.path.least().unwrap_or(base));
                        self.window = window;
                        let median = sample.median.rounded();
                        self.reason = format!("a smaller window left the RTT at {median}: it is the path's");
                        return self.hold(now, base * 2, before, before.median);
                    }
                }
                hold.room = sample.limited && sample.waits.least < base + self.aim();
                let over = sample.limited && sample.waits.least >= hold.target + self.aim();
                hold.over = if over { hold.over + 1 } else { 0 };
                if let Some(level) = self.path.level_of(FLAT.1).filter(|_| hold.over >= FLAT.1 as u32) {
                    let window = self.window;
                    let next = self.decide(now, level, "the queue has grown");
                    return match next {
                        Phase::Hold(next) if self.window < window => {
                            Phase::Hold(Hold { before: Some((window, level)), ..next })
                        }
                        next => next,
                    };
                }
            }
            Sign::Loss(QueueBeforeLoss::Calm)
                if now >= self.losses.recovered && self.losses.count(now) >= parameters.losses as u32 =>
            {
                return self.open(now, "losses go on with S in force");
            }
            Sign::Loss(QueueBeforeLoss::Calm) => {}
            // The buffer has less room than the queue that S aims at.
            Sign::Loss(_) if now >= self.losses.recovered => {
                let (base, aim) = (self.base().as_secs_f64(), self.aim().as_secs_f64());
                self.overflowed(now);
                self.window =
                    (self.window * (base + aim / 2.0) / (base + aim)).max(self.segments(LEAST_SEGMENTS));
                self.next_segment(now, &mut hold);
                hold.room = false;
            }
            _ => {}
        }
        Phase::Hold(hold)
    }

    /// Begins the next segment of the transfer, which is decided on its own.
    fn next_segment(&self, now: Time, hold: &mut Hold) {
        hold.until = self.config.parameters.segment_end(now, self.base(), self.halvings);
        hold.target = self.target().unwrap_or(hold.target);
    }

    /// Decides on S after a loss with a queue before it: the level before the loss is the most that the path gives.
    fn decide_by_loss(&mut self, now: Time, level: Option<Level>) -> Phase {
        self.overflowed(now);
        level.map_or(self.phase, |level| self.decide(now, level, "loss after a queue stood"))
    }

    /// Records an overflow: losses in the next round trips belong to it.
    fn overflowed(&mut self, now: Time) {
        self.losses.recovered = now + self.path.times().map_or(Span::ZERO, |times| times.average * 4);
        self.halvings = (self.halvings + 1).min(8);
    }

    /// Returns the standing queue that S aims at, which is shorter after overflows.
    fn aim(&self) -> Span {
        self.path.aim(self.base()) / (1 << self.halvings)
    }

    /// Sets the window to S = R T.
    fn decide(&mut self, now: Time, level: Level, why: &str) -> Phase {
        let Some(times) = self.path.times() else { return self.phase };
        let most = self.target().unwrap_or(times.base);
        let wait = level.average.min(most).max(times.base);
        let segment = self.config.segment.get() as f64;
        let before = self.window;
        let window = (level.rate / 8.0 * wait.as_secs_f64() / segment).ceil() * segment;
        self.window = window.clamp(self.segments(LEAST_SEGMENTS), self.maximum());
        let (rate, wait, without) = (level.shown(), wait.rounded(), times.exogenous.rounded());
        let window = shown(self.window);
        self.reason = format!("{why}: R = {rate}, T = {wait} of {without} without a queue, S = {window}");
        // Samples count once the data promised beyond S has drained, and two round trips have passed.
        let promised = (before - self.window).max(0.0);
        let drain = Span::from_secs_f64(promised * 8.0 / level.rate.max(1.0)).min(MOST_DRAIN);
        self.hold(now, drain + times.average * 2, level, most)
    }

    /// Returns the RTT that S should result in.
    fn target(&self) -> Option<Span> {
        self.path.times().map(|times| times.exogenous + self.aim())
    }

    /// Begins to hold the current window; samples of the first `settle` do not count.
    fn hold(&mut self, now: Time, settle: Span, level: Level, target: Span) -> Phase {
        self.path.forget_samples(now + settle);
        let until = self.config.parameters.segment_end(now + settle, self.base(), self.halvings);
        Phase::Hold(Hold { level, target, over: 0, room: false, before: None, until, settled: now + settle })
    }

    /// Opens the window after loss that is not ours: the path is congested, and a limit would only cost goodput
    /// [sobas:III.B].
    fn open(&mut self, now: Time, why: &str) -> Phase {
        if now < self.port.trains_until && !self.port.rate_based {
            return self.phase;
        }
        let until = self.config.parameters.segment_end(now, self.base(), self.releases);
        self.releases += 1;
        self.losses.count = 0;
        self.window = self.window.max(self.unlimited());
        self.path.forget_samples(now);
        self.reason = format!("{why}: the window does not limit the flow");
        Phase::Open { until }
    }

    /// Returns a window that limits no sender, not even one in slow start. Slow start doubles the data in flight, so
    /// the window is two and a half times as much. BBR's STARTUP has 2.89 times (2/ln 2) in flight, and ends for good
    /// when three round trips bring no more. So for a rate-based sender the window is four times as much. A larger
    /// window, once promised, could not be taken back. Without an RTT in the last round trip, the window before counts
    /// as in flight, or all delivered data if that is less.
    pub(crate) fn unlimited(&self) -> f64 {
        let most = self.window.min(self.port.delivered.get() as f64);
        let sent = self.path.last_round(None).map_or(most, |level| level.in_flight());
        let times = if self.port.rate_based { 4.0 } else { 2.5 };
        (times * sent + self.segments(ALLOWANCE)).min(self.maximum())
    }

    fn base(&self) -> Span {
        self.path.times().map_or(Span::ZERO, |times| times.base)
    }

    fn segments(&self, count: u64) -> f64 {
        (self.config.segment * count).min(self.config.maximum).get() as f64
    }

    fn maximum(&self) -> f64 {
        self.config.maximum.get() as f64
    }

    fn grow_by(&mut self, bytes: f64, most: f64) {
        self.window = (self.window + bytes).min(most.max(self.window)).min(self.maximum());
    }
}

/// Formats `bytes` for people.
pub(crate) fn shown(bytes: f64) -> String {
    Bytes::new(bytes as u64).rounded()
}

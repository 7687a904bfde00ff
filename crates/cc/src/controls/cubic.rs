//! CUBIC: the window as a cubic function of the time since the last loss.
//!
//! W(t) = C (t - K)^3 + W_max: steep after a loss, flat near the window of that loss, steep again beyond it. Where Reno
//! would be faster, the window follows an estimate of Reno's.

use crate::growth::Growth;
use crate::growth::share::{Remainder, in_use, segments};
use crate::{Ack, Congestion, CongestionKind};
use model::response::cubic::{ALPHA, BETA, C};
use units::{Bytes, Span, Time};

/// The largest growth in a round trip: by half [rfc9438:4.2].
const MOST: f64 = 1.5;
/// The number of round trips that may pass without an acknowledgement while the window is in use; our choice. A longer
/// gap is a pause of the application, and does not count as time for W(t) [rfc9438:5.8].
const PAUSE: u64 = 2;

/// The number of acknowledged segments for which Linux's window grows by at least one before the first loss and after a
/// timeout: 5 % in a round trip (`bictcp_update`). W(t) says nothing of a path of unknown capacity.
const FASTEST_COUNT: f64 = 20.0;

/// RFC 9438's CUBIC, or Linux's (`net/ipv4/tcp_cubic.c` of 6.18). The cube root is computed at the start of an epoch,
/// once per loss.
///
/// Linux differs in three points:
///
/// - The RFC's estimate of Reno grows as Reno does once it is back at the window before the loss. Linux's estimate
///   always grows by [`ALPHA`]. On a path with bursts, where losses are frequent, this costs up to a fifth of the
///   goodput.
/// - Before the first loss and after a timeout, the window grows by 5 % in a round trip or more.
/// - The window aims at W(t) one least RTT ahead (`delay_min`), not one smoothed RTT.
#[derive(Clone, Copy, Debug)]
pub struct Cubic {
    segment: Bytes,
    rest: Remainder,
    fast_convergence: bool,
    linux: bool,
    memory: Memory,
    /// The memory before the last congestion event.
    before: Memory,
}

#[derive(Clone, Copy, Debug)]
struct Memory {
    /// `W_max`, segments; zero before the first loss.
    maximum: f64,
    /// `cwnd_prior`: the window before the last loss, segments.
    prior: f64,
    /// True if a timeout found the last loss: the window before it does not guide the next [rfc9438:4.8].
    timed_out: bool,
    /// True once the first stage after the last loss has begun.
    begun: bool,
    /// The stage at hand, if one has begun.
    epoch: Epoch,
}

/// A stage of congestion avoidance.
#[derive(Clone, Copy, Debug, Default)]
struct Epoch {
    start: Time,
    latest: Time,
    /// K: the seconds from the start of the stage to the flat point of W(t).
    k: f64,
    /// The value of W(t) at its flat point, segments.
    plateau: f64,
    /// `W_est`, segments.
    estimate: f64,
}

impl Cubic {
    /// Creates a growth rule for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        let memory =
            Memory { maximum: 0.0, prior: 0.0, timed_out: false, begun: false, epoch: Epoch::default() };
        Self {
            segment,
            rest: Remainder::default(),
            fast_convergence: true,
            linux: false,
            memory,
            before: memory,
        }
    }

    /// Creates Linux's growth rule.
    #[must_use]
    pub fn of_linux(segment: Bytes) -> Self {
        Self { linux: true, ..Self::new(segment) }
    }

    /// Turns off fast convergence [rfc9438:4.7], as the RFC's average windows assume.
    #[must_use]
    pub fn without_fast_convergence(self) -> Self {
        Self { fast_convergence: false, ..self }
    }
}

/// Returns K, the seconds W(t) takes from `window` to `maximum` segments [rfc9438:4.2, equation 2].
#[must_use]
pub fn time_to_plateau(window: f64, maximum: f64) -> f64 {
    libm::cbrt((maximum - window).max(0.0) / C)
}

/// Returns W(t) in segments [rfc9438:4.2, equation 1]. `plateau` is the window at the plateau, in segments.
/// `since_plateau` is t - K in seconds, and negative before the plateau.
#[inline]
#[must_use]
pub fn window_at(since_plateau: f64, plateau: f64) -> f64 {
    C * since_plateau * since_plateau * since_plateau + plateau
}

impl Memory {
    /// Begins a stage with `window` segments. Before the first loss, or after a timeout, W(t) begins on its plateau
    /// [rfc9438:4.8, 4.10].
    fn begin(&self, now: Time, window: f64) -> Epoch {
        let plateau = if self.timed_out { window } else { self.maximum.max(window) };
        Epoch { start: now, latest: now, k: time_to_plateau(window, plateau), plateau, estimate: window }
    }
}

impl Epoch {
    /// Returns the seconds since the stage began, without pauses.
    fn age(&mut self, now: Time, rtt: Span) -> f64 {
        let pause = now.since(self.latest).saturating_sub(rtt * PAUSE);
        self.start += pause;
        self.latest = self.latest.max(now);
        now.since(self.start).as_secs_f64()
    }
}

impl Growth for Cubic {
    fn increase(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        let now = segments(window, self.segment);
        let mut epoch = if self.memory.begun { self.memory.epoch } else { self.memory.begin(ack.now, now) };
        let since_plateau = epoch.age(ack.now, ack.rtt.smoothed) - epoch.k;
        // [rfc9438:4.3, equation 4]: once the estimate is back at the prior window, it grows as Reno does.
        let caught_up = !self.linux && epoch.estimate >= self.memory.prior;
        let alpha = if caught_up { 1.0 } else { ALPHA };
        let acked = segments(counted, self.segment);
        epoch.estimate += alpha * acked / now;
        (self.memory.begun, self.memory.epoch) = (true, epoch);
        let uninformed = self.linux && (self.memory.maximum == 0.0 || self.memory.timed_out);
        let least = if uninformed { counted.get() as f64 / FASTEST_COUNT } else { 0.0 };
        if window_at(since_plateau, epoch.plateau) < epoch.estimate {
            let wanted = (epoch.estimate - now) * self.segment.get() as f64;
            if wanted >= least {
                return Bytes::new(wanted.max(0.0) as u64).min(counted);
            }
        }
        let ahead = if self.linux { ack.rtt.min } else { ack.rtt.smoothed };
        let target = window_at(since_plateau + ahead.as_secs_f64(), epoch.plateau).clamp(now, MOST * now);
        let wanted = (target - now) / now * counted.get() as f64;
        self.rest.give(wanted.max(least), counted)
    }

    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        self.before = self.memory;
        let window = in_use(event, window);
        let lost_at = segments(window, self.segment);
        let converging = self.fast_convergence && lost_at < self.memory.maximum;
        self.memory = Memory {
            maximum: if converging { lost_at * (1.0 + BETA) / 2.0 } else { lost_at },
            prior: lost_at,
            timed_out: event.kind == CongestionKind::Timeout,
            begun: false,
            epoch: Epoch::default(),
        };
        window.scale(BETA)
    }

    fn undo(&mut self) {
        // Linux forgets the last loss when the timer expires (`bictcp_state`), and keeps it forgotten.
        if !(self.linux && self.memory.timed_out) {
            self.memory = self.before;
        }
    }
}

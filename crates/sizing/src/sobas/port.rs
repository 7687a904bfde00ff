//! The interface of SOBAS to the owner of a connection: inputs become signs, and decisions become actions.

use super::path::{Level, Sign};
use super::{Phase, Sobas};
use crate::{Action, BufferSizer, Input, SizerState};
use units::{Bytes, Rate, Span, Time};

/// The factor by which probes are rarer with an open window, because no decision then depends on single probes.
pub(crate) const IDLY: u64 = 8;

/// The state of the interface: the last actions, and facts from inputs.
#[derive(Debug)]
pub(super) struct Port {
    last_window: Option<Bytes>,
    said_pace: Option<Rate>,
    pub(super) delivered: Bytes,
    /// The time until which no packets of ours affect the RTTs, because the first train has not arrived yet.
    undisturbed_until: Time,
    /// The time until which queues and losses may be caused by the trains.
    pub(super) trains_until: Time,
    /// True if the sender's congestion control sends at a rate that it measures.
    pub(super) rate_based: bool,
}

impl Default for Port {
    fn default() -> Self {
        Self {
            last_window: None,
            said_pace: None,
            delivered: Bytes::ZERO,
            undisturbed_until: Time::NEVER,
            trains_until: Time::ZERO,
            rate_based: false,
        }
    }
}

impl Sobas {
    /// Converts `input` to signs.
    pub(super) fn observe(&mut self, now: Time, input: Input) -> [Option<Sign>; 2] {
        if now >= self.port.undisturbed_until {
            self.path.begin_transfer();
        }
        match input {
            Input::Delivered(bytes) => {
                self.port.delivered += bytes;
                self.path.begin_transfer();
            }
            Input::Train(rate) if !self.trains.on_train(now, rate) => return [None, None],
            Input::TrainRemains(rate) => self.trains.on_broken(now, Some(rate)),
            Input::RateBased => self.port.rate_based = true,
            _ => {}
        }
        self.path.observe(now, input, Bytes::new(self.window as u64))
    }

    /// Returns the pace, if it differs from the last one by more than a hundredth.
    fn new_pace(&mut self) -> Option<Action> {
        let (pace, last_window) = (self.pace(), self.port.said_pace);
        let differs = match (pace, last_window) {
            (Some(pace), Some(last_window)) => {
                (pace.as_bps_f64() / last_window.as_bps_f64() - 1.0).abs() > 0.01
            }
            (pace, last_window) => pace != last_window,
        };
        differs.then(|| {
            self.port.said_pace = pace;
            Action::Pace(pace)
        })
    }

    /// Returns the share of goodput that SOBAS may give up.
    pub(crate) fn bound(&self) -> Option<f64> {
        self.config.regret
    }

    /// Returns the requested window in bytes.
    pub(crate) fn window(&self) -> f64 {
        self.window
    }

    /// Returns true if SOBAS holds the window at S, which it has decided.
    pub(crate) fn is_decided(&self) -> bool {
        matches!(self.phase, Phase::Hold(_))
    }

    /// Returns true if nothing is decided yet.
    pub(crate) fn is_beginning(&self) -> bool {
        matches!(self.phase, Phase::Measure | Phase::Grow(_))
    }

    /// Returns true if the path has other traffic: if the measurements before the transfer show it, or S does not have
    /// all of C'.
    pub(crate) fn shares_the_path(&self) -> bool {
        match self.phase {
            Phase::Measure => false,
            Phase::Grow(_) => !self.seemed_unused(),
            Phase::Hold(hold) => !self.has_all(hold.level),
            Phase::Open { .. } => true,
        }
    }

    /// Returns true if nothing else seemed to be on the path before the transfer: trains agree, all of them or none
    /// arrived whole, and round trips do not differ.
    pub(crate) fn seemed_unused(&self) -> bool {
        let capacity = &self.path.capacity;
        let agree = capacity.spread().is_some_and(|spread| spread <= self.config.parameters.nearly_equal);
        agree
            && (capacity.whole() == 0 || capacity.lost() == 0)
            && self.noise() <= self.path.hint(self.base())
    }

    /// Ends the measurement, once it is complete.
    pub(crate) fn begin_if_measured(&mut self, now: Time) {
        if matches!(self.phase, Phase::Measure) && self.has_measured() {
            self.step(now, Sign::Train);
        }
    }

    /// Uses another window than S from now on, without a pace.
    pub(crate) fn release(&mut self) {
        self.phase = Phase::Open { until: Time::NEVER };
    }

    /// Returns `rate`, in payload, as a share of C', if a train arrived whole. Returns `None` otherwise, because the
    /// remains of a train may have met our own data.
    pub(crate) fn part(&self, rate: f64) -> Option<f64> {
        self.share(rate).filter(|_| self.path.capacity.whole() > 0)
    }

    /// Returns true if a longer queue stands than S aims at, and the sender keeps to a window.
    pub(crate) fn queues(&self) -> bool {
        let stands = self.path.times().is_some_and(|times| times.average >= times.exogenous + self.aim());
        stands && !self.port.rate_based
    }

    /// Returns the current round-trip time.
    pub(crate) fn round_trip(&self) -> Span {
        self.path.times().map_or(Span::from_millis(100), |times| times.average)
    }

    /// Handles `input` while the window is not S.
    pub(crate) fn watch(&mut self, now: Time, input: Input) {
        self.observe(now, input);
    }

    /// Sets the window back to S = R T, with `rate` for R, after a window of `window`. Returns the time from which on
    /// samples with S count.
    pub(crate) fn resume(&mut self, now: Time, rate: Rate, window: f64) -> Time {
        self.window = window;
        let average = self.round_trip();
        self.phase =
            self.decide(now, Level { rate: rate.as_bps_f64(), average, median: average }, "asked again");
        if let Phase::Hold(hold) = self.phase { hold.settled } else { now }
    }

    /// Does the same as [`poll`](BufferSizer::poll), with another window.
    pub(crate) fn poll_with(&mut self, now: Time, window: f64) -> Option<Action> {
        self.demands(now).or_else(|| self.set_window(window))
    }

    /// Returns the next action, other than a window.
    pub(super) fn demands(&mut self, now: Time) -> Option<Action> {
        let base = self.path.times().map(|times| times.base);
        if let Some(packets) = self.trains.ask(now, base) {
            self.port.undisturbed_until = self.port.undisturbed_until.min(now + base.unwrap_or_default());
            return Some(Action::Train(packets));
        }
        self.begin_if_measured(now);
        self.new_pace()
    }

    /// Returns the action for `window`, in whole segments, as senders use it, if it differs from the last one.
    pub(super) fn set_window(&mut self, window: f64) -> Option<Action> {
        let segment = self.config.segment;
        let window = (segment * (Bytes::new(window as u64) / segment).max(1)).min(self.config.maximum);
        let changed = self.port.last_window.replace(window) != Some(window);
        changed.then_some(Action::Window(window))
    }
}

impl BufferSizer for Sobas {
    fn handle(&mut self, now: Time, input: Input) {
        let signs = self.observe(now, input);
        signs.into_iter().flatten().for_each(|sign| self.step(now, sign));
        if self.port.rate_based && matches!(self.phase, Phase::Grow(_) | Phase::Hold(_)) {
            self.phase = self.open(now, "the sender is rate-based, such as BBR");
        }
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        self.demands(now).or_else(|| self.set_window(self.window))
    }

    fn wakeup(&self) -> Option<Time> {
        self.trains.wakeup(self.path.times().map(|times| times.base))
    }

    fn probe_interval(&self) -> Option<Span> {
        // A rate-based sender is never limited.
        let interval = self.path.probe_interval();
        match self.phase {
            Phase::Open { .. } if self.port.rate_based => None,
            Phase::Open { .. } => Some(interval * IDLY),
            _ => Some(interval),
        }
    }

    fn wants_quiet(&self) -> bool {
        matches!(self.phase, Phase::Measure)
    }

    fn state(&self) -> SizerState {
        let phase = match self.phase {
            Phase::Measure => "measure",
            Phase::Grow(_) => "grow",
            Phase::Hold(_) => "hold",
            Phase::Open { .. } => "open",
        };
        SizerState { phase, reason: self.reason.clone() }
    }
}

//! [`Wad`]: the bandwidth-delay product, measured once before the transfer.

use crate::sobas::{PROBE_INTERVAL, Trains};
use crate::{Action, BufferSizer, Input, SizerConfig, SizerState};
use estimate::{Capacity, Estimator, RoundTrip, TRAINS};
use units::{Bytes, Span, Time};

/// The window before anything is measured: the default of Linux' `tcp_rmem`, in payload.
const BEFORE: Bytes = Bytes::new(65_535);

/// The Work Around Daemon's rule [sobas:VI.A]: window = C x base RTT, once, with the capacity by trains and the RTT by
/// probes. It does not consider cross traffic, and never checks its result.
#[derive(Debug)]
pub struct Wad {
    segment: Bytes,
    header: Bytes,
    maximum: Bytes,
    trains: Trains,
    capacity: Capacity,
    round_trip: RoundTrip,
    window: Bytes,
    changed: bool,
    decided: bool,
}

impl Wad {
    /// Makes a sizer for the segments, headers and largest window of `config`.
    #[must_use]
    pub fn new(config: &SizerConfig) -> Self {
        let SizerConfig { segment, header, maximum, .. } = *config;
        Self {
            segment,
            header,
            maximum,
            trains: Trains::new(TRAINS),
            capacity: Capacity::new(),
            round_trip: RoundTrip::new(),
            window: BEFORE.min(maximum),
            changed: true,
            decided: false,
        }
    }

    fn base(&self) -> Option<Span> {
        self.round_trip.estimate().map(|times| times.base)
    }
}

impl BufferSizer for Wad {
    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Probe(Some(sample)) => self.round_trip.observe(now, sample),
            Input::Train(rate) if self.trains.on_train(now, rate) => self.capacity.observe(now, rate),
            Input::TrainRemains(rate) => {
                self.trains.on_broken(now, Some(rate));
                self.capacity.observe_remains(rate);
            }
            _ => {}
        }
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if std::mem::take(&mut self.changed) {
            return Some(Action::Window(self.window));
        }
        if let Some(packets) = self.trains.ask(now, self.base()) {
            return Some(Action::Train(packets));
        }
        if self.decided || !self.trains.is_over() {
            return None;
        }
        self.decided = true;
        if let (Some(rate), Some(base)) = (self.capacity.estimate(), self.base()) {
            let packets = rate.volume(base).get().div_ceil((self.segment + self.header).get());
            self.window = (self.segment * packets).max(self.segment).min(self.maximum);
        }
        Some(Action::Window(self.window))
    }

    fn wakeup(&self) -> Option<Time> {
        if self.decided { None } else { self.trains.wakeup(self.base()) }
    }

    fn probe_interval(&self) -> Option<Span> {
        (!self.decided).then_some(PROBE_INTERVAL)
    }

    fn wants_quiet(&self) -> bool {
        !self.decided
    }

    fn state(&self) -> SizerState {
        let phase = if self.decided { "hold" } else { "measure" };
        let reason = match (self.capacity.estimate(), self.base()) {
            (Some(rate), Some(base)) if self.decided => {
                let (rate, base, window) = (rate.rounded(), base.rounded(), self.window.rounded());
                format!("C is {rate}, the base RTT {base}: C T = {window}")
            }
            _ if self.decided => "no train came whole: the window stays as it was".to_owned(),
            _ => "waiting for round-trip times and packet trains".to_owned(),
        };
        SizerState { phase, reason }
    }
}

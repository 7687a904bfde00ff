//! What the owner of a connection sees of SOBAS: inputs become signs, and what it decided becomes actions.

use super::path::Sign;
use super::{Phase, Sobas};
use crate::{Action, BufferSizer, Input, SizerState};
use estimate::TRAIN_BYTES;
use units::{Bytes, Span, Time};

/// With an open window no decision hangs on single probes: they are so much rarer.
const IDLY: u64 = 8;

impl BufferSizer for Sobas {
    fn handle(&mut self, now: Time, input: Input) {
        if now >= self.undisturbed_until {
            self.path.begin_transfer();
        }
        match input {
            Input::Delivered(bytes) => {
                self.delivered += bytes;
                self.began = self.began.min(now);
                self.path.begin_transfer();
            }
            Input::Train(rate) => {
                if rate.is_some() {
                    self.trains.on_train(now, rate, TRAIN_BYTES);
                } else {
                    self.trains.on_broken(now, None, TRAIN_BYTES);
                }
            }
            Input::RateBased => self.rate_based = true,
            Input::TrainRemains(rate) => self.trains.on_broken(now, Some(rate), TRAIN_BYTES),
            _ => {}
        }
        let signs = self.path.observe(now, input, Bytes::new(self.window as u64));
        signs.into_iter().flatten().for_each(|sign| self.step(now, sign));
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        let base = self.path.times().map(|times| times.base);
        if self.trains.ask(now, base) {
            self.undisturbed_until = self.undisturbed_until.min(now + base.unwrap_or_default());
            return Some(Action::Train);
        }
        if matches!(self.phase, Phase::Measure) && self.has_measured() {
            self.step(now, Sign::Train);
        }
        // In whole segments, as senders use it.
        let segment = self.config.segment;
        let window = segment * (Bytes::new(self.window as u64) / segment).max(1);
        if self.said != Some(window) {
            self.said = Some(window);
            return Some(Action::Window(window.min(self.config.maximum)));
        }
        self.new_pace()
    }

    fn wakeup(&self) -> Option<Time> {
        self.trains.wakeup(self.path.times().map(|times| times.base))
    }

    fn probe_interval(&self) -> Option<Span> {
        let interval = self.path.probe_interval();
        Some(if matches!(self.phase, Phase::Open { .. }) { interval * IDLY } else { interval })
    }

    fn wants_quiet(&self) -> bool {
        matches!(self.phase, Phase::Measure)
    }

    fn state(&self) -> SizerState {
        let phase = match self.phase {
            Phase::Measure => "measure",
            Phase::Ramp => "ramp",
            Phase::Linear { .. } => "linear",
            Phase::Hold(_) => "hold",
            Phase::Trial(_) => "trial",
            Phase::Contend(_) => "contend",
            Phase::Open { .. } => "open",
        };
        SizerState { phase, reason: self.reason.clone() }
    }
}

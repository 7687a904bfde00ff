//! [`Driver`]: a sizer, with the state that each of its owners keeps about it.
//!
//! ```text
//!   what the receiver sees ── tell() ──► BufferSizer ──► Window ──► window()        the owner of the connection advertises it
//!                                                   ├──► Train ───► take_demands()  the sender's side fulfils them
//!                                                   └──► Pace ───►
//! ```
//!
//! A driver does no IO and reads no clock. Simulated receivers and real ones use the same driver.

use crate::{Action, BufferSizer, Input, SizerState};
use units::{Bytes, Rate, Span, Time};

/// The number of phase changes that are kept: a sizer with more of them is broken, and must not fill the memory as
/// well.
const MOST_CHANGES: usize = 1000;

/// The requests of a sizer that a receive window cannot fulfil.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// The number of packet trains to request from the sender, each answered by [`Input::Train`] or
    /// [`Input::TrainRemains`].
    pub trains: u32,
    /// The packets of each train.
    pub packets: usize,
    /// Another cap on the sender's pacing rate; `Some(None)` removes the cap.
    pub pace: Option<Option<Rate>>,
}

impl Demands {
    /// Returns true if there are no requests.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// The entry of a sizer into a phase, or its first phase.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseChange {
    /// The time of the entry.
    pub at: Time,
    /// The phase and the reason for it.
    pub state: SizerState,
    /// The window that the sizer had requested by then; `None` before its first request.
    pub window: Option<Bytes>,
}

/// A sizer, the window that it requests, its requests to others, and its phases.
#[derive(Debug)]
pub struct Driver {
    sizer: Box<dyn BufferSizer>,
    window: Option<Bytes>,
    demands: Demands,
    changes: Vec<PhaseChange>,
}

impl Driver {
    /// Makes a driver, and polls `sizer` at `now` for its first window.
    #[must_use]
    pub fn new(sizer: Box<dyn BufferSizer>, now: Time) -> Self {
        let mut driver = Self { sizer, window: None, demands: Demands::default(), changes: Vec::new() };
        driver.follow(now);
        driver
    }

    /// Passes `input`, which happens at `now`, to the sizer and polls it. Returns true if it requests a window.
    pub fn tell(&mut self, now: Time, input: Input) -> bool {
        self.handle(now, input);
        self.follow(now)
    }

    /// Passes the arrival of segments in order to the sizer ([`BufferSizer::on_segments`]), and polls it if need be.
    /// Returns the number of segments handled, and true if the sizer was polled.
    #[inline]
    pub fn on_segments(
        &mut self,
        now: Time,
        count: u64,
        payload: Bytes,
        round_trip: Option<Span>,
    ) -> (u64, bool) {
        let (handled, polls) = self.sizer.on_segments(now, count, payload, round_trip);
        if polls {
            self.follow(now);
        }
        (handled, polls)
    }

    /// Passes `input`, which happens at `now`, to the sizer without polling it, because more input follows.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.sizer.handle(now, input);
    }

    /// Polls the sizer for all its actions. Returns true if it requests a window.
    pub fn follow(&mut self, now: Time) -> bool {
        let mut asked = false;
        while let Some(action) = self.sizer.poll(now) {
            match action {
                Action::Window(window) => (self.window, asked) = (Some(window), true),
                Action::Train(packets) => {
                    (self.demands.trains, self.demands.packets) = (self.demands.trains + 1, packets);
                }
                Action::Pace(rate) => self.demands.pace = Some(rate),
            }
        }
        asked
    }

    /// Returns the window requested last; `None` before the first request.
    #[must_use]
    pub const fn window(&self) -> Option<Bytes> {
        self.window
    }

    /// Returns the sizer's requests to others since the last call.
    pub fn take_demands(&mut self) -> Demands {
        std::mem::take(&mut self.demands)
    }

    /// Returns true if it has requests to others.
    #[must_use]
    pub fn has_demands(&self) -> bool {
        !self.demands.is_empty()
    }

    /// Returns the sizer, so that the caller can read its state and its next wake-up.
    #[must_use]
    pub fn sizer(&self) -> &dyn BufferSizer {
        &*self.sizer
    }

    /// Keeps the sizer's phase, if it is a new one.
    pub fn note_phase(&mut self, now: Time) {
        let state = self.sizer.state();
        if self.changes.last().is_none_or(|last| last.state.phase != state.phase) {
            self.keep(PhaseChange { at: now, state, window: self.window });
        }
    }

    /// Keeps the sizer's phase and reason with the current window, if the phase or the reason is new.
    pub fn note_state(&mut self, now: Time, window: Bytes) {
        let state = self.sizer.state();
        if self.changes.last().is_none_or(|last| last.state != state) {
            self.keep(PhaseChange { at: now, state, window: Some(window) });
        }
    }

    /// Returns the phases so far, at most a thousand.
    #[must_use]
    pub fn changes(&self) -> &[PhaseChange] {
        &self.changes
    }

    fn keep(&mut self, change: PhaseChange) {
        if self.changes.len() < MOST_CHANGES {
            self.changes.push(change);
        }
    }
}

//! [`Driver`]: a sizer, and what everybody who drives one keeps of what it says.
//!
//! ```text
//!   what the receiver sees ── tell() ──► BufferSizer ──► Window ──► window()        the owner of the connection advertises it
//!                                                   ├──► Train ───► take_demands()  whoever reaches the sender meets them
//!                                                   └──► Pace ───►
//! ```
//!
//! It does no IO and reads no clock. Simulated receivers and real ones use the same one.

use crate::{Action, BufferSizer, Input, SizerState};
use units::{Bytes, Rate, Time};

/// Changes of phase that are kept: a sizer with more of them is broken, and shall not take the memory, too.
const MOST_CHANGES: usize = 1000;

/// What a sizer wants that no receive window does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Demands {
    /// So many packet trains from the sender, each answered by [`Input::Train`] or [`Input::TrainRemains`].
    pub trains: u32,
    /// The packets of each.
    pub packets: usize,
    /// Another cap on the sender's pacing rate; `Some(None)` takes the cap away.
    pub pace: Option<Option<Rate>>,
}

impl Demands {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A sizer has entered a phase, or was there when it took over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseChange {
    /// When.
    pub at: Time,
    /// Which phase, and why.
    pub state: SizerState,
    /// The window it asked for by then; `None` if it had not asked for any.
    pub window: Option<Bytes>,
}

/// A sizer, the window it asks for, what it wants of others, and its phases.
#[derive(Debug)]
pub struct Driver {
    sizer: Box<dyn BufferSizer>,
    window: Option<Bytes>,
    demands: Demands,
    changes: Vec<PhaseChange>,
}

impl Driver {
    /// Asks `sizer` at `now` with which window to begin.
    #[must_use]
    pub fn new(sizer: Box<dyn BufferSizer>, now: Time) -> Self {
        let mut driver = Self { sizer, window: None, demands: Demands::default(), changes: Vec::new() };
        driver.follow(now);
        driver
    }

    /// `input` happens at `now`, and the sizer is asked what to do. Whether it asks for a window.
    pub fn tell(&mut self, now: Time, input: Input) -> bool {
        self.handle(now, input);
        self.follow(now)
    }

    /// `input` happens at `now` and belongs to what is told next: the sizer is not asked yet.
    pub fn handle(&mut self, now: Time, input: Input) {
        self.sizer.handle(now, input);
    }

    /// Asks the sizer what to do. Whether it asks for a window.
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

    /// The window asked for last; `None` before the first.
    #[must_use]
    pub const fn window(&self) -> Option<Bytes> {
        self.window
    }

    /// What the sizer wants of others since this was called last.
    pub fn take_demands(&mut self) -> Demands {
        std::mem::take(&mut self.demands)
    }

    /// Whether it wants something of others.
    #[must_use]
    pub fn has_demands(&self) -> bool {
        !self.demands.is_empty()
    }

    /// The sizer, to ask what it is doing and when it wants to be polled.
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

    /// Keeps the sizer's phase and reason, if one of them is new, with the window in force.
    pub fn note_state(&mut self, now: Time, window: Bytes) {
        let state = self.sizer.state();
        if self.changes.last().is_none_or(|last| last.state != state) {
            self.keep(PhaseChange { at: now, state, window: Some(window) });
        }
    }

    /// The phases so far, at most a thousand.
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

#[cfg(test)]
mod tests {
    use super::*;
    use units::Span;

    /// Says what it was made with, and is in a phase for each input.
    #[derive(Debug)]
    struct Script(Vec<Action>, u64);

    impl BufferSizer for Script {
        fn handle(&mut self, _now: Time, input: Input) {
            if let Input::OutOfOrder(count) = input {
                self.1 = count;
            }
        }

        fn poll(&mut self, _now: Time) -> Option<Action> {
            self.0.pop()
        }

        fn state(&self) -> SizerState {
            SizerState { phase: if self.1 < 2 { "few" } else { "many" }, reason: self.1.to_string() }
        }
    }

    fn driver(actions: &[Action]) -> Driver {
        Driver::new(Box::new(Script(actions.iter().rev().copied().collect(), 0)), Time::ZERO)
    }

    #[test]
    fn the_last_window_and_the_last_pace_count_and_every_train() {
        let (window, pace) = (Bytes::new(7), Some(Rate::from_bps(8)));
        let actions =
            [Action::Train(20), Action::Window(Bytes::new(9)), Action::Pace(pace), Action::Train(20)];
        let mut driver = driver(&[&actions[..], &[Action::Pace(None), Action::Window(window)]].concat());
        assert_eq!(driver.window(), Some(window));
        assert!(driver.has_demands());
        assert_eq!(driver.take_demands(), Demands { trains: 2, packets: 20, pace: Some(None) });
        assert!(!driver.has_demands(), "each is given once");
        assert!(!driver.tell(Time::ZERO, Input::OutOfOrder(1)), "no window is asked for");
    }

    #[test]
    fn a_phase_is_kept_once_and_a_reason_where_it_is_asked_for() {
        let [mut by_phase, mut by_reason] = [driver(&[]), driver(&[])];
        for tick in 0..=3 {
            let now = Time::ZERO + Span::from_secs(tick);
            by_phase.tell(now, Input::OutOfOrder(tick));
            by_phase.note_phase(now);
            by_phase.note_phase(now);
            by_reason.tell(now, Input::OutOfOrder(tick));
            by_reason.note_state(now, Bytes::new(1));
            by_reason.note_state(now, Bytes::new(1));
        }
        let reasons = |driver: &Driver| -> Vec<String> {
            driver.changes().iter().map(|change| change.state.reason.clone()).collect()
        };
        assert_eq!(reasons(&by_phase), ["0", "2"]);
        assert_eq!(reasons(&by_reason), ["0", "1", "2", "3"]);
    }

    #[test]
    fn a_sizer_that_never_rests_does_not_take_the_memory() {
        let mut driver = driver(&[]);
        for count in 0..3000 {
            driver.tell(Time::ZERO, Input::OutOfOrder(count));
            driver.note_state(Time::ZERO, Bytes::new(1));
        }
        assert_eq!(driver.changes().len(), MOST_CHANGES);
    }
}

//! A watch follows runs, and may stop them.

use super::task::{Answer, Task};
use crate::run::record::Engine;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// A watch that follows the progress of a study, and may stop it.
///
/// Events of runs on several threads come one after the other.
pub trait Watch: Send {
    /// Takes note of `event`. After [`ControlFlow::Break`] no run begins, and those under way end. A run of the kernel
    /// ends at once, a simulation within a second of its own time, a closed form when it is computed.
    fn on_event(&mut self, event: Event<'_>) -> ControlFlow<()>;
}

/// The events that a [`Watch`] gets.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Work of another kind begins: it counts its steps from zero.
    Begun(Work),
    /// `done` of `all` steps are finished. `all` grows if more turn out to be needed.
    Finished {
        /// The number of finished steps.
        done: usize,
        /// The number of steps that are known to be needed.
        all: usize,
    },
    /// A run is under way.
    Running {
        /// The task that is run.
        task: &'a Task,
        /// The engine that runs it.
        engine: Engine,
        /// The seconds of the scenario that have passed.
        passed: f64,
        /// The scenario's length in seconds, if it has one.
        end: Option<f64>,
    },
    /// An earlier run was reused.
    Reused,
    /// A search has tried `value`.
    Tried {
        /// The key that is varied.
        key: &'a str,
        /// Its value.
        value: &'a str,
        /// The number of this search's runs so far.
        runs: usize,
        /// The finished share of this search, as far as it can be known.
        share: f64,
    },
    /// A point has been answered by every engine.
    Answered(&'a Answer),
}

/// Kinds of work, each with its own steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// Single runs, one after the other.
    Runs,
    /// Points of a sweep, on several threads.
    Points,
    /// The runs that judge claims.
    Evidence,
}

/// A watch that ignores all events.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn on_event(&mut self, _event: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// The one watch for all threads of a study. It counts the steps, and remembers a stop.
pub struct SharedWatch<'a>(Mutex<State<'a>>);

struct State<'a> {
    watch: Option<&'a mut dyn Watch>,
    stopped: bool,
    done: usize,
    all: usize,
}

impl SharedWatch<'static> {
    /// Creates the watch of a study that nobody watches.
    #[must_use]
    pub fn by_nobody() -> Self {
        Self(Mutex::new(State { watch: None, stopped: false, done: 0, all: 0 }))
    }
}

impl<'a> SharedWatch<'a> {
    /// Shares the caller's `watch` among the threads of a study.
    pub fn new(watch: &'a mut dyn Watch) -> Self {
        Self(Mutex::new(State { watch: Some(watch), stopped: false, done: 0, all: 0 }))
    }

    fn state(&self) -> MutexGuard<'_, State<'a>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns true if the watch has stopped the study.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Returns the number of finished steps, and of those that are known to be needed.
    #[must_use]
    pub fn steps(&self) -> (usize, usize) {
        let state = self.state();
        (state.done, state.all)
    }

    /// Begins work of another kind, and counts its steps from zero.
    pub fn begin(&self, work: Work) {
        let mut state = self.state();
        (state.done, state.all) = (0, 0);
        let _ = state.on_event(Event::Begun(work));
    }

    /// Adds `more` steps to those that are needed.
    pub fn need(&self, more: usize) {
        let mut state = self.state();
        state.all += more;
        state.tell_steps();
    }

    /// Adds `more` steps to those that are finished.
    pub fn finish(&self, more: usize) {
        let mut state = self.state();
        state.done += more;
        state.tell_steps();
    }

    /// Passes `event` on. Breaks if the study is stopped, now or before.
    pub fn on_event(&self, event: Event<'_>) -> ControlFlow<()> {
        self.state().on_event(event)
    }
}

impl State<'_> {
    fn tell_steps(&mut self) {
        let (done, all) = (self.done, self.all);
        let _ = self.on_event(Event::Finished { done, all });
    }

    fn on_event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self.stopped |= self.watch.as_mut().is_some_and(|watch| watch.on_event(event).is_break());
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

//! Watching runs, and stopping them.

use super::task::{Answer, Task};
use crate::run::record::Engine;
use std::ops::ControlFlow;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Is told how far a study is, and may stop it.
///
/// Events of runs on several threads come one after the other.
pub trait Watch: Send {
    /// Takes note of `event`. After [`ControlFlow::Break`] no run begins, and those under way end. A run of the
    /// kernel ends at once, a simulation within a second of its own time, a closed form when it is computed.
    fn tell(&mut self, event: Event<'_>) -> ControlFlow<()>;
}

/// What a [`Watch`] is told.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// Work of another kind begins: it counts its steps from zero.
    Begun(Work),
    /// `done` of `all` steps are finished. `all` grows where it turns out that more are needed.
    Finished {
        /// Steps that are finished.
        done: usize,
        /// Steps that are known to be needed.
        all: usize,
    },
    /// A run is under way.
    Running {
        /// Of what.
        task: &'a Task,
        /// On which engine.
        engine: Engine,
        /// Seconds of the scenario that have passed.
        passed: f64,
        /// The scenario's length in seconds, if it has one.
        end: Option<f64>,
    },
    /// A run was there from before.
    Reused,
    /// A search has tried `value`.
    Tried {
        /// The key that is varied.
        key: &'a str,
        /// Its value.
        value: &'a str,
        /// Runs of this search so far.
        runs: usize,
        /// The share of this search that is done, as far as that can be known.
        share: f64,
    },
    /// A point has been answered by every engine.
    Answered(&'a Answer),
}

/// Kinds of work, each with its own steps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Work {
    /// Runs, one after the other.
    Runs,
    /// Points of a sweep, on several threads.
    Points,
    /// The runs that judge claims.
    Evidence,
}

/// A watch that looks away.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    fn tell(&mut self, _event: Event<'_>) -> ControlFlow<()> {
        ControlFlow::Continue(())
    }
}

/// One watch for all threads of a study. It counts the steps, and remembers that it was stopped.
pub struct Watched<'a>(Mutex<State<'a>>);

struct State<'a> {
    watch: Option<&'a mut dyn Watch>,
    stopped: bool,
    done: usize,
    all: usize,
}

impl Watched<'static> {
    /// For a study that nobody watches.
    #[must_use]
    pub fn by_nobody() -> Self {
        Self(Mutex::new(State { watch: None, stopped: false, done: 0, all: 0 }))
    }
}

impl<'a> Watched<'a> {
    /// For a study that `watch` watches.
    pub fn new(watch: &'a mut dyn Watch) -> Self {
        Self(Mutex::new(State { watch: Some(watch), stopped: false, done: 0, all: 0 }))
    }

    fn state(&self) -> MutexGuard<'_, State<'a>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the watch has stopped the study.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.state().stopped
    }

    /// Steps that are finished, and those that are known to be needed.
    #[must_use]
    pub fn steps(&self) -> (usize, usize) {
        let state = self.state();
        (state.done, state.all)
    }

    /// Work of another kind begins.
    pub fn begin(&self, work: Work) {
        let mut state = self.state();
        (state.done, state.all) = (0, 0);
        let _ = state.tell(Event::Begun(work));
    }

    /// `more` steps are needed.
    pub fn need(&self, more: usize) {
        let mut state = self.state();
        state.all += more;
        state.tell_steps();
    }

    /// `more` steps are finished.
    pub fn finish(&self, more: usize) {
        let mut state = self.state();
        state.done += more;
        state.tell_steps();
    }

    /// Passes `event` on; breaks if the study is stopped, now or before.
    pub fn tell(&self, event: Event<'_>) -> ControlFlow<()> {
        self.state().tell(event)
    }
}

impl State<'_> {
    fn tell_steps(&mut self) {
        let (done, all) = (self.done, self.all);
        let _ = self.tell(Event::Finished { done, all });
    }

    fn tell(&mut self, event: Event<'_>) -> ControlFlow<()> {
        self.stopped |= self.watch.as_mut().is_some_and(|watch| watch.tell(event).is_break());
        if self.stopped { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

//! The wait for a study: Python's lock is released, Ctrl-C is noticed, and a callback sees the progress.

use cli::{Event, Watch};
use pyo3::prelude::*;
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Scope, ScopedJoinHandle, scope};
use std::time::Duration;

/// The time between two looks for Ctrl-C, and between two calls of the callback.
const PACE: Duration = Duration::from_millis(50);

/// The state that the caller's thread shares with the study.
#[derive(Default)]
struct Shared {
    state: Mutex<State>,
    ended: Condvar,
}

#[derive(Clone, Copy, Default)]
struct State {
    done: usize,
    all: usize,
    has_ended: bool,
    stops: bool,
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The watch of the study. It records the finished steps, and stops the study if the caller's thread asks for that.
struct Told<'a>(&'a Shared);

impl Watch for Told<'_> {
    fn on_event(&mut self, event: Event<'_>) -> ControlFlow<()> {
        let mut state = self.0.state();
        if let Event::Finished { done, all } = event {
            (state.done, state.all) = (done, all);
        }
        if state.stops { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

/// Wakes the caller's thread when the study ends, even by a panic.
struct End<'a>(&'a Shared);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.state().has_ended = true;
        self.0.ended.notify_all();
    }
}

/// Does `work` on a thread of its own while this one waits without Python's lock.
///
/// # Errors
/// Returns `KeyboardInterrupt` after Ctrl-C, and the exception of `progress`. The work has then been stopped.
pub(crate) fn attend<T: Send>(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn Watch) -> T + Send,
) -> PyResult<T> {
    let shared = &Shared::default();
    py.detach(|| scope(|threads| waited(threads, shared, progress, work)))
}

fn waited<'s, T: Send + 's>(
    threads: &'s Scope<'s, '_>,
    shared: &'s Shared,
    progress: Option<&Py<PyAny>>,
    work: impl FnOnce(&mut dyn Watch) -> T + Send + 's,
) -> PyResult<T> {
    let worker: ScopedJoinHandle<'s, T> = threads.spawn(move || {
        let _end = End(shared);
        work(&mut Told(shared))
    });
    let (mut told, mut problem) = ((0, 0), None);
    loop {
        let state = shared.state();
        let waited = shared.ended.wait_timeout_while(state, PACE, |state| !state.has_ended);
        let state = *waited.unwrap_or_else(PoisonError::into_inner).0;
        // `progress` also gets the last steps of work that has ended meanwhile, even if it failed, because these steps
        // were finished.
        if problem.is_none()
            && let Err(error) = Python::attach(|py| look(py, progress, state, &mut told))
        {
            problem = Some(error);
            shared.state().stops = true;
        }
        if state.has_ended {
            break;
        }
    }
    let result = worker.join().unwrap_or_else(|panic| resume_unwind(panic));
    problem.map_or(Ok(result), Err)
}

/// Looks for Ctrl-C, and calls `progress` if there is any.
fn look(
    py: Python<'_>,
    progress: Option<&Py<PyAny>>,
    state: State,
    told: &mut (usize, usize),
) -> PyResult<()> {
    py.check_signals()?;
    let steps = (state.done, state.all);
    if let Some(progress) = progress.filter(|_| steps != *told) {
        *told = steps;
        progress.call1(py, steps)?;
    }
    Ok(())
}

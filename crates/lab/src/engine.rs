//! The three engines behind one call: a resolved scenario in, a [`Record`] out.

mod live;
mod model;
mod sim;

use crate::record::{Engine, Record};
use crate::resolve::Resolved;

/// Why an engine gave no record.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The engine has no answer to this scenario; another may.
    #[error("{engine}: {reason}")]
    CannotAnswer {
        /// The engine.
        engine: Engine,
        /// What in the scenario it cannot do, and what to do instead.
        reason: String,
    },
    /// The machine or the user's rights lack something.
    #[error(transparent)]
    Emulator(#[from] emu::EmuError),
    /// A kernel transfer failed.
    #[error(transparent)]
    Live(#[from] ::live::LiveError),
    /// The two sides of a live run disagree on what happened.
    #[error("the live run broke off: {0}")]
    Broken(String),
}

/// Told now and then how far a run is: seconds of the scenario passed, of how many if known.
pub type Progress<'a> = &'a dyn Fn(f64, Option<f64>);

/// Runs `resolved` on `engine`.
///
/// # Errors
/// [`EngineError`]; [`EngineError::CannotAnswer`] if the engine is not made for such a scenario.
pub fn run(engine: Engine, resolved: &Resolved, progress: Progress<'_>) -> Result<Record, EngineError> {
    match engine {
        Engine::Model => model::run(resolved),
        Engine::Sim => sim::run(resolved),
        Engine::Live => live::run(resolved, progress),
    }
}

fn cannot<T>(engine: Engine, reason: impl Into<String>) -> Result<T, EngineError> {
    Err(EngineError::CannotAnswer { engine, reason: reason.into() })
}

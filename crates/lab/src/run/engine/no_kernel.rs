//! A stand-in for the kernel in a build without the feature `kernel`, which answers no scenario.

use super::{EngineError, Misfit, Progress};
use crate::run::record::{Engine, Record};
use crate::run::resolve::Resolved;
use units::Complaint;

pub(super) fn prepare() -> Result<(), EngineError> {
    Ok(())
}

pub(super) fn run(resolved: &Resolved, _progress: Progress<'_>) -> Result<Record, EngineError> {
    check(resolved)?;
    Err(EngineError::Broken("the kernel was left out of this build".into()))
}

pub(super) fn check(_resolved: &Resolved) -> Result<(), Misfit> {
    let complaint = Complaint::new("", "this build leaves the kernel out")
        .accepted("model, sim")
        .help("use --engine sim, or a build with the feature `kernel` on Linux");
    Err(Misfit { engine: Engine::Live, complaint })
}

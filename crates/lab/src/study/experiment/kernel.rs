//! The time of the kernel's runs, and a shorter interval for runs that were not asked for by name.

use super::Experiment;
use crate::run::engine;
use crate::run::record::Engine;
use crate::study::repeat::runs;
use crate::study::task::{Task, tasks};
use scenario::{Document, Faults};
use units::Span;

/// The measured time of a kernel run that was not asked for by name: long enough for ten batch means of over a second.
pub const UNASKED: Span = Span::from_secs(15);

/// Returns the scenario with a measured interval of [`UNASKED`] for every engine, and the length of its own interval.
/// Returns `None` where that is not longer, where the kernel cannot answer, or where something begins or ends after the
/// warm-up.
///
/// # Errors
/// The faults of the scenario.
pub fn shortened(document: &Document) -> Result<Option<(Document, Span)>, Faults> {
    let tasks = tasks(document)?;
    let first = &tasks[0].resolved;
    let Some(end) = first.end else { return Ok(None) };
    let warmup = first.warmup;
    let alike = |task: &Task| {
        let resolved = &task.resolved;
        let begins =
            resolved.flows.iter().all(|flow| flow.start <= units::Time::ZERO + warmup && flow.stop.is_none());
        let steady = resolved.traffic.iter().all(|traffic| {
            traffic.config.start.since(units::Time::ZERO) <= warmup
                && traffic.config.stop.since(units::Time::ZERO) >= end
        });
        begins && steady && resolved.end == Some(end) && resolved.warmup == warmup
    };
    let own = end.saturating_sub(warmup);
    let live = |task: &Task| engine::check(Engine::Live, &task.resolved).is_ok();
    let varied = document.sweep()?.keys().any(|key| key == "duration" || key == "warmup");
    if own <= UNASKED
        || varied
        || document.figure()?.is_some()
        || !tasks.iter().all(alike)
        || !tasks.iter().any(live)
    {
        return Ok(None);
    }
    let mut shorter = document.clone();
    shorter.set("duration", &(warmup + UNASKED).to_string())?;
    Ok(Some((shorter, own)))
}

impl Experiment {
    /// Returns the number of the kernel's runs that [`Self::compare`] makes, and the time that they take, one after the
    /// other. The time is not known for a run that ends with its flows.
    #[must_use]
    pub fn live_runs(&self) -> (u64, Span) {
        if !self.engines.contains(&Engine::Live) {
            return (0, Span::ZERO);
        }
        let live = self.tasks.iter().filter(|task| engine::check(Engine::Live, &task.resolved).is_ok());
        let each = runs(Engine::Live, self.repeat.unwrap_or(1));
        live.fold((0, Span::ZERO), |(count, time), task| {
            (count + each, time + task.resolved.end.unwrap_or_default() * each)
        })
    }
}

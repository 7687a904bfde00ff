//! The smallest value of a key that meets a target: which buffer is enough?
//!
//! By bisection (`scale.rs` has the values). At each candidate the simulation is repeated with other seeds until the
//! confidence interval of the mean lies on one side of the target, or until the repetitions are used up, when the mean
//! decides.

mod scale;

use crate::run::engine::EngineError;
use crate::run::metric;
use crate::run::record::{Engine, Summary};
use crate::run::statistics::{Estimate, estimate};
use crate::study::sweep::{Runner, SweepError, kept_points, point as kept_point, pool};
pub use crate::study::task::Target;
use crate::study::task::{Found, Task};
use crate::study::watch::{Event, Watched};
use rayon::prelude::*;
use scale::Scale;
use scenario::{Document, Faults};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use units::{Complaint, Span};

/// Repetitions per candidate: at least, at most, and how many are added at a time.
const REPETITIONS: (u64, u64, u64) = (4, 16, 4);
/// So many doublings in a row that change nothing, or lead away from the target, end the search for a bracket.
const ENOUGH: u32 = 3;

/// Why nothing was found.
#[derive(Debug, thiserror::Error)]
pub enum SearchError {
    /// The scenario or the key is not right.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// A run failed.
    #[error(transparent)]
    Engine(Box<EngineError>),
    /// The threads could not be started, or a result not be kept.
    #[error(transparent)]
    Keep(Box<SweepError>),
    /// The question has no answer.
    #[error(transparent)]
    NoAnswer(Complaint),
}

impl From<SweepError> for SearchError {
    fn from(error: SweepError) -> Self {
        match error {
            SweepError::Point { source, .. } => Self::Engine(source),
            other => Self::Keep(Box::new(other)),
        }
    }
}

/// The smallest value of `key` at which `target` is met, at the task's point of the document's sweep.
///
/// The metric must fall as the value grows, as idle time and loss do with the buffer. The scenario's own value is
/// where the search starts. A queue's limit is counted in whole packets, so that its unit makes no difference; another key
/// in its own unit, to 1 %. The metric need not fall with every step, so values a little below and above the answer are
/// tried, too. Finished runs are kept, as a sweep's are.
///
/// # Errors
/// [`SearchError`].
pub fn smallest(
    task: &Task,
    key: &str,
    target: &Target,
    runner: &Runner<'_, '_>,
) -> Result<Found, SearchError> {
    let base = task.document.at(&task.point)?;
    let scale = Scale::of(&base, key)?;
    let kept = kept_points(runner.folder, Engine::Sim)?;
    let (pool, runs) = (pool(runner.jobs)?, AtomicUsize::new(0));
    let mut search = Search { base, key, target, pool, kept, runs, watched: runner.watched };
    let (mut low, mut high, mut best) = search.bracket(&scale)?;
    while scale.has_between(low, high) {
        let middle = scale.middle(low, high);
        let (meets, estimate) = search.meets(&scale, middle)?;
        if meets {
            (high, best) = (middle, estimate);
        } else {
            low = middle;
        }
    }
    // The metric need not fall with every step: what lies below a value that misses may meet.
    let mut below = scale.below(high);
    while let Some(smaller) = below.next() {
        let (meets, estimate) = search.meets(&scale, smaller)?;
        if meets {
            (high, best) = (smaller, estimate);
            below = scale.below(high);
        }
    }
    let mut misses_above = Vec::new();
    for larger in scale.above(high) {
        let (meets, estimate) = search.meets(&scale, larger)?;
        if !meets {
            misses_above.push((scale.text(larger), estimate.mean));
        }
    }
    let value = scale.text(high);
    let summary = search.summary(&value, 1)?;
    let written = scale.written(&search.base, key, high);
    let runs = search.runs.into_inner();
    let (metric, half_width) = (best.mean, best.half_width);
    let (over, target) = (key.to_owned(), target.clone());
    Ok(Found { over, target, value, written, metric, half_width, misses_above, runs, summary })
}

struct Search<'a, 'w> {
    base: Document,
    key: &'a str,
    target: &'a Target,
    pool: rayon::ThreadPool,
    kept: PathBuf,
    runs: AtomicUsize,
    watched: &'a Watched<'w>,
}

impl Search<'_, '_> {
    /// Two values around the answer: the lower misses the target, the higher meets it.
    fn bracket(&mut self, scale: &Scale) -> Result<(f64, f64, Estimate), SearchError> {
        let mut value = scale.start;
        let (mut meets, mut estimate) = self.meets(scale, value)?;
        let (started_meeting, first) = (meets, (value, estimate));
        let (mut alike, mut wrong) = (0, 0);
        for _ in 0..scale.doublings() {
            let next = if started_meeting { value / 2.0 } else { value * 2.0 };
            let next = if scale.is_whole() { next.floor() } else { next };
            if next < 1.0 && scale.is_whole() {
                self.falls(scale, (value, estimate), first)?;
                return Ok((0.0, value, estimate));
            }
            let (now_meets, now) = self.meets(scale, next)?;
            if now_meets != started_meeting {
                return Ok(if now_meets { (value, next, now) } else { (next, value, estimate) });
            }
            // Away from the target: each step up should lower the metric, each step down raise it.
            let rise = if started_meeting { estimate.mean - now.mean } else { now.mean - estimate.mean };
            wrong = if rise > now.half_width + estimate.half_width { wrong + 1 } else { 0 };
            // A buffer that is never full makes no difference until it is much smaller.
            alike = if rise == 0.0 && !started_meeting { alike + 1 } else { 0 };
            (value, meets, estimate) = (next, now_meets, now);
            // Values further on would only make runs longer.
            if wrong == ENOUGH || alike == ENOUGH {
                break;
            }
        }
        let last = (value, estimate);
        let (lower, higher) = if started_meeting { (last, first) } else { (first, last) };
        self.falls(scale, lower, higher)?;
        let found = if meets { "every value meets" } else { "no value meets" };
        let (metric, bound, at) = (&self.target.metric, self.target.at_most, scale.text(value));
        let found = format!("{found} {metric} <= {bound}: at {at} it is {:.6}", estimate.mean);
        Err(SearchError::NoAnswer(Complaint::new(self.key, found)))
    }

    /// Refuses a metric that rises with the key: the smallest value would be no answer.
    fn falls(
        &self,
        scale: &Scale,
        lower: (f64, Estimate),
        higher: (f64, Estimate),
    ) -> Result<(), SearchError> {
        let ((low, at_low), (high, at_high)) = (lower, higher);
        if at_high.mean - at_low.mean <= at_high.half_width + at_low.half_width {
            return Ok(());
        }
        let (metric, key) = (&self.target.metric, self.key);
        let (low, high) = (scale.text(low), scale.text(high));
        let found = format!(
            "{metric} rises with {key}: from {:.5} at {low} to {:.5} at {high}",
            at_low.mean, at_high.mean
        );
        Err(SearchError::NoAnswer(Complaint::new("", found).accepted(
            "a metric that falls as the key grows, such as idle_fraction or loss_rate with link.queue.limit",
        )))
    }

    /// Whether the target is met at `value`, with confidence where repetitions allow.
    fn meets(&mut self, scale: &Scale, value: f64) -> Result<(bool, Estimate), SearchError> {
        let (least, most, step) = REPETITIONS;
        let mut samples = Vec::new();
        let mut wanted = least;
        loop {
            let seeds: Vec<u64> = (samples.len() as u64 + 1..=wanted).collect();
            let text = scale.text(value);
            let run = |seed: &u64| {
                let found = self.run(&text, *seed)?;
                let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
                // Whoever stops the search stops its next run.
                let _ = self.watched.tell(Event::Tried { key: self.key, value: &text, runs });
                Ok(found)
            };
            let runs = self.pool.install(|| seeds.par_iter().map(run).collect::<Result<Vec<f64>, _>>());
            let more = match runs {
                // Below what a scenario accepts, such as room for a packet, nothing meets the target.
                Err(SearchError::Faults(_)) if value < scale.start => {
                    return Ok((false, Estimate { mean: f64::INFINITY, half_width: 0.0 }));
                }
                runs => runs?,
            };
            samples.extend(more);
            let estimate = estimate(&samples);
            let apart = (estimate.mean - self.target.at_most).abs();
            if apart > estimate.half_width || wanted >= most {
                return Ok((estimate.mean <= self.target.at_most, estimate));
            }
            wanted += step;
        }
    }

    fn run(&self, value: &str, seed: u64) -> Result<f64, SearchError> {
        let summary = self.summary(value, seed)?;
        metric::value(&summary, &self.target.metric).ok_or_else(|| {
            let found = format!("the summary has no number called \"{}\"", self.target.metric);
            SearchError::NoAnswer(Complaint::new("", found).accepted(metric::numbers(&summary).join(", ")))
        })
    }

    fn summary(&self, value: &str, seed: u64) -> Result<Summary, SearchError> {
        let mut document = self.base.clone();
        document.set("seed", &seed.to_string())?;
        let task = Task::at(&Arc::new(document), vec![(self.key.into(), value.into())])?;
        Ok(kept_point(&task, Engine::Sim, &self.kept, self.watched)?.summary)
    }
}

/// A share or a time, as the command line writes a target's bound.
#[must_use]
pub fn bound(text: &str) -> Option<f64> {
    text.parse::<f64>()
        .ok()
        .or_else(|| text.parse::<units::Fraction>().ok().map(units::Fraction::get))
        .or_else(|| text.parse::<Span>().ok().map(Span::as_secs_f64))
        .filter(|bound| bound.is_finite() && *bound >= 0.0)
}

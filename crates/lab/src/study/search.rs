//! The smallest or the largest value of a key that meets a target: which buffer is enough, and which is not too much?
//!
//! By bisection (`scale.rs` has the values). At each candidate the simulation is repeated with other seeds until the
//! confidence interval of the mean lies on one side of the target. If the repetitions are used up before, the mean
//! decides.

mod scale;

use crate::run::engine::EngineError;
use crate::run::metric;
use crate::run::record::{Engine, Summary};
use crate::run::statistics::{Estimate, estimate};
use crate::study::sweep::{Runner, SweepError, kept_points, point as kept_point, pool};
pub use crate::study::task::{Bound, Target};
use crate::study::task::{Found, Sought, Task};
use crate::study::watch::{Event, Watched};
use rayon::prelude::*;
use scale::Scale;
use scenario::{Document, Faults, did_you_mean};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use units::{Complaint, Span};

/// Repetitions per candidate: at least, at most, and how many are added at a time.
const REPETITIONS: (u64, u64, u64) = (4, 16, 4);
/// So many doublings in a row that change nothing, or lead away from the target, end the search for a bracket.
const ENOUGH: u32 = 3;
/// The part of the work that is taken to be done when the answer lies between two values.
const BRACKETED: f64 = 0.4;

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

/// The smallest value of `key` at which `target` is met, at the task's point of the document's sweep. It is the
/// largest value if the metric comes nearer to the target as the value falls.
///
/// The scenario's own value is where the search starts. A queue's limit is counted in whole packets, so that its unit makes no
/// difference; another key in its own unit, to 1 %. The metric need not move one way with every step, so values a little below and
/// above the answer are tried, too. The seeds are the scenario's own and those that follow. Finished runs are kept, as a sweep's
/// are.
///
/// # Errors
/// [`SearchError`].
pub fn search(
    task: &Task,
    key: &str,
    target: &Target,
    runner: &Runner<'_, '_>,
) -> Result<Found, SearchError> {
    let base = task.document.at(&task.point)?;
    let scale = Scale::of(&base, key)?;
    let kept = kept_points(runner.folder, Engine::Sim)?;
    let pool = pool(runner.jobs)?;
    let seed = task.resolved.seed;
    let (runs, share) = (AtomicUsize::new(0), AtomicU64::new(0));
    let mut search = Search { base, key, target, seed, pool, kept, runs, share, watched: runner.watched };
    let (sought, bracket) = match search.bracket(&scale, Sought::Smallest) {
        Ok(bracket) => (Sought::Smallest, bracket),
        // What begins on the other side may have an answer there.
        Err(SearchError::NoAnswer(_)) => (Sought::Largest, search.bracket(&scale, Sought::Largest)?),
        Err(error) => return Err(error),
    };
    let Bracket { mut meets, mut misses, mut best } = bracket;
    let between = |meets: f64, misses: f64| (meets.min(misses), meets.max(misses));
    let steps = |(low, high): (f64, f64)| scale.steps(low, high);
    let first = steps(between(meets, misses)).max(1.0);
    while let (low, high) = between(meets, misses)
        && scale.has_between(low, high)
    {
        search.tell_share(BRACKETED + (1.0 - BRACKETED) * (1.0 - steps((low, high)) / first));
        let middle = scale.middle(low, high);
        let (met, estimate) = search.meets(&scale, middle)?;
        if met {
            (meets, best) = (middle, estimate);
        } else {
            misses = middle;
        }
    }
    // The metric need not move one way with every step: what lies beyond a value that misses may meet.
    let mut beyond = scale.beyond(meets, sought);
    while let Some(further) = beyond.next() {
        let (met, estimate) = search.meets(&scale, further)?;
        if met {
            (meets, best) = (further, estimate);
            beyond = scale.beyond(meets, sought);
        }
    }
    let mut misses_near = Vec::new();
    for value in scale.within(meets, sought) {
        let (met, estimate) = search.meets(&scale, value)?;
        if !met {
            misses_near.push((scale.text(value), search.shown(estimate.mean)));
        }
    }
    let value = scale.text(meets);
    let summary = search.summary(&value, search.seed)?;
    let (misses_above, misses_below) = match sought {
        Sought::Smallest => (misses_near, Vec::new()),
        Sought::Largest => (Vec::new(), misses_near),
    };
    Ok(Found {
        over: key.to_owned(),
        target: target.clone(),
        sought,
        written: scale.written(&search.base, key, meets),
        room: scale.room(&search.base, meets),
        value,
        metric: search.shown(best.mean),
        half_width: best.half_width,
        misses_above,
        misses_below,
        runs: search.runs.into_inner(),
        summary,
    })
}

/// Two values around the answer, and what was found at the one that meets the target.
struct Bracket {
    meets: f64,
    misses: f64,
    best: Estimate,
}

struct Search<'a, 'w> {
    base: Document,
    key: &'a str,
    target: &'a Target,
    /// The first of the repetitions'.
    seed: u64,
    pool: rayon::ThreadPool,
    kept: PathBuf,
    runs: AtomicUsize,
    /// How much of the search is done, in thousandths.
    share: AtomicU64,
    watched: &'a Watched<'w>,
}

/// Estimates are of the metric, or of its negative where it shall be at least the bound: less is better in either case.
impl Search<'_, '_> {
    fn sign(&self) -> f64 {
        match self.target.bound {
            Bound::AtMost(_) => 1.0,
            Bound::AtLeast(_) => -1.0,
        }
    }

    /// The metric itself.
    fn shown(&self, signed: f64) -> f64 {
        self.sign() * signed
    }

    fn tell_share(&self, share: f64) {
        self.share.store((share * 1000.0) as u64, Ordering::Relaxed);
    }

    /// Two values around the answer, if the metric comes nearer to the target as the value grows ([`Sought::Smallest`]) or falls.
    fn bracket(&mut self, scale: &Scale, sought: Sought) -> Result<Bracket, SearchError> {
        let mut value = scale.start;
        let (mut meets, mut estimate) = self.meets(scale, value)?;
        let (started_meeting, first) = (meets, (value, estimate));
        let (mut alike, mut wrong) = (0, 0);
        let down = started_meeting == (sought == Sought::Smallest);
        for step in 0..scale.doublings() {
            self.tell_share(BRACKETED * (1.0 - 0.7f64.powi(step as i32)));
            let next = if down { value / 2.0 } else { value * 2.0 };
            let next = if scale.is_whole() { next.floor() } else { next };
            if next < 1.0 && scale.is_whole() {
                if sought == Sought::Smallest {
                    self.nears(scale, sought, (value, estimate), first)?;
                    return Ok(Bracket { meets: value, misses: 0.0, best: estimate });
                }
                break;
            }
            let (now_meets, now) = self.meets(scale, next)?;
            if now_meets != started_meeting {
                let (meets, misses, best) =
                    if now_meets { (next, value, now) } else { (value, next, estimate) };
                return Ok(Bracket { meets, misses, best });
            }
            // Away from the change that is looked for.
            let rise = if started_meeting { estimate.mean - now.mean } else { now.mean - estimate.mean };
            wrong = if rise > now.half_width + estimate.half_width { wrong + 1 } else { 0 };
            // A buffer that is never full makes no difference until it is much smaller.
            alike = if rise == 0.0 && !down { alike + 1 } else { 0 };
            (value, meets, estimate) = (next, now_meets, now);
            // Values further on would only make runs longer.
            if wrong == ENOUGH || alike == ENOUGH {
                break;
            }
        }
        let last = (value, estimate);
        let (lower, higher) = if down { (last, first) } else { (first, last) };
        self.nears(scale, sought, lower, higher)?;
        let found = if meets { "every value meets" } else { "no value meets" };
        let (target, at, mean) = (self.target, scale.text(value), self.shown(estimate.mean));
        let found = if mean.is_infinite() {
            format!("{found} {target}: at {at} a flow does not complete within the run")
        } else {
            format!("{found} {target}: at {at} it is {mean:.6}")
        };
        Err(SearchError::NoAnswer(Complaint::new(self.key, found)))
    }

    /// Refuses a metric that goes the other way: the value would be no answer.
    fn nears(
        &self,
        scale: &Scale,
        sought: Sought,
        lower: (f64, Estimate),
        higher: (f64, Estimate),
    ) -> Result<(), SearchError> {
        let ((low, at_low), (high, at_high)) = (lower, higher);
        let rise = if sought == Sought::Smallest { 1.0 } else { -1.0 } * (at_high.mean - at_low.mean);
        if rise <= at_high.half_width + at_low.half_width {
            return Ok(());
        }
        let (target, key) = (self.target, self.key);
        let found = format!(
            "no value meets {target}: from {:.5} at {} to {:.5} at {}",
            self.shown(at_low.mean),
            scale.text(low),
            self.shown(at_high.mean),
            scale.text(high)
        );
        Err(SearchError::NoAnswer(Complaint::new(key, found)))
    }

    /// Whether the target is met at `value`, with confidence where repetitions allow.
    fn meets(&mut self, scale: &Scale, value: f64) -> Result<(bool, Estimate), SearchError> {
        let (least, most, step) = REPETITIONS;
        let mut samples = Vec::new();
        let mut wanted = least;
        loop {
            let seeds: Vec<u64> =
                (samples.len() as u64..wanted).map(|nth| self.seed.saturating_add(nth)).collect();
            let text = scale.text(value);
            let run = |seed: &u64| {
                let found = self.run(&text, *seed)?;
                let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
                // Whoever stops the search stops its next run.
                let share = self.share.load(Ordering::Relaxed) as f64 / 1000.0;
                let _ = self.watched.tell(Event::Tried { key: self.key, value: &text, runs, share });
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
            // A flow that never completes meets no bound on its completion.
            if samples.iter().any(|sample| sample.is_infinite()) {
                return Ok((false, Estimate { mean: f64::INFINITY, half_width: 0.0 }));
            }
            let estimate = estimate(&samples);
            let bound = self.sign() * self.target.bound.value();
            let apart = (estimate.mean - bound).abs();
            if apart > estimate.half_width || wanted >= most {
                return Ok((estimate.mean <= bound, estimate));
            }
            wanted += step;
        }
    }

    fn run(&self, value: &str, seed: u64) -> Result<f64, SearchError> {
        let summary = self.summary(value, seed)?;
        if metric::is_missing(&summary, &self.target.metric) {
            return Ok(f64::INFINITY);
        }
        metric::value(&summary, &self.target.metric).map(|value| self.sign() * value).ok_or_else(|| {
            let found = format!("the summary has no number called \"{}\"", self.target.metric);
            let known = metric::numbers(&summary);
            let help = did_you_mean(&self.target.metric, known.iter().map(String::as_str));
            SearchError::NoAnswer(Complaint { help, ..Complaint::new("", found).accepted(known.join(", ")) })
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
fn bound(text: &str) -> Option<f64> {
    text.parse::<f64>()
        .ok()
        .or_else(|| text.parse::<units::Fraction>().ok().map(units::Fraction::get))
        .or_else(|| text.parse::<Span>().ok().map(Span::as_secs_f64))
        .filter(|bound| bound.is_finite() && *bound >= 0.0)
}

impl std::str::FromStr for Target {
    type Err = Complaint;

    /// `METRIC<=BOUND` or `METRIC>=BOUND`; `METRIC=BOUND` is the second of these for a number of which more is better.
    fn from_str(text: &str) -> Result<Self, Complaint> {
        let read = || {
            let (metric, value) = text.split_once('=')?;
            let value = bound(value.trim())?;
            let (metric, least) = match (metric.strip_suffix('<'), metric.strip_suffix('>')) {
                (Some(metric), _) => (metric.trim(), false),
                (_, Some(metric)) => (metric.trim(), true),
                (None, None) => {
                    let better = metric::described(metric.trim()).map(|(metric, _)| metric.better);
                    (metric.trim(), better == Some(metric::Better::Higher))
                }
            };
            let bound = if least { Bound::AtLeast(value) } else { Bound::AtMost(value) };
            (!metric.is_empty()).then(|| Self { metric: metric.into(), bound })
        };
        read().ok_or_else(|| {
            Complaint::new(text, "no target")
                .accepted("METRIC<=BOUND or METRIC>=BOUND, such as idle_fraction<=1%, utilization>=99% or queueing_delay_s.p95<=10ms")
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_bound_from_either_side() {
        let read = |text: &str| text.parse::<Target>().map(|target| target.to_string());
        assert_eq!(read("idle_fraction=1%"), Ok("idle_fraction <= 0.01".into()));
        assert_eq!(read("idle_fraction <= 1%"), Ok("idle_fraction <= 0.01".into()));
        assert_eq!(read("utilization=99%"), Ok("utilization >= 0.99".into()));
        assert_eq!(read("utilization<=0.5"), Ok("utilization <= 0.5".into()));
        assert_eq!(read("queueing_delay_s.p95<=10ms"), Ok("queueing_delay_s.p95 <= 0.01".into()));
        for text in ["idle_fraction", "idle_fraction=", "idle_fraction=-1", "=1%", "idle_fraction=1 apple"] {
            assert!(read(text).is_err(), "{text}");
        }
    }
}

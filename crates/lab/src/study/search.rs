//! Searches for the smallest or the largest value of a key that meets a target: which buffer is enough, and which is
//! not too much?
//!
//! The search is a bisection (`scale.rs` has the values). At each candidate the simulation is repeated with other seeds
//! until the confidence interval of the mean lies on one side of the target. If the repetitions are used up before
//! that, the mean decides the next step, and an answer that rests on it is called undecided. The search then also seeks
//! the nearest value that surely meets the target. A run in which the metric has no value, such as the completion time
//! of a flow that did not end, misses the target.

mod scale;
mod target;

use crate::files::Place;
use crate::run::engine::EngineError;
use crate::run::metric;
use crate::run::record::{Engine, Summary};
use crate::run::statistics::{Estimate, estimate};
use crate::study::sweep::{Runner, SweepError, kept_points, point as kept_point, pool};
pub use crate::study::task::{Bound, Target};
use crate::study::task::{Goal, SearchResult, SureValue, Task};
use crate::study::watch::{Event, SharedWatch};
use rayon::prelude::*;
use scale::Scale;
use scenario::{Document, Faults, did_you_mean};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use units::Complaint;

/// Repetitions per candidate: the least number, the most, and the number added at a time. The answer is repeated the
/// largest number of times.
const REPETITIONS: (u64, u64, u64) = (4, 16, 4);
/// At most this many larger (or smaller) values are tried, each further by this factor, if the answer misses the target
/// with all repetitions.
const FURTHER: (u32, f64) = (40, 1.1);
/// The search for a bracket ends after this many successive doublings that change nothing or lead away from the target.
const ENOUGH: u32 = 3;
/// The most doublings or halvings of an undecided value in search of one that surely meets the target, and the ratio of
/// the two values at which the search ends.
const SURE: (u32, f64) = (8, 1.1);
/// The part of the work that counts as done when the answer lies between two values.
const BRACKETED: f64 = 0.4;

/// The reasons for which a search finds nothing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SearchError {
    /// The scenario or the key has faults.
    #[error(transparent)]
    Faults(#[from] Faults),
    /// A run failed.
    #[error(transparent)]
    Engine(Box<EngineError>),
    /// The threads could not be started, or a result could not be kept.
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

/// Searches for the smallest value of `key` at which `target` is met, at the task's point of the document's sweep. If
/// the metric comes nearer to the target as the value falls, the largest value is sought.
///
/// The search starts at the scenario's own value. A queue's limit is counted in whole packets, so that its unit makes
/// no difference; the value of another key is found in its own unit, to 1 %. The metric need not be monotone, so values
/// a little below and above the answer are tried, too. The seeds are the scenario's own and those that follow. Finished
/// runs are kept, as a sweep's are.
///
/// # Errors
/// [`SearchError`].
pub fn search(
    task: &Task,
    key: &str,
    target: &Target,
    runner: &Runner<'_, '_>,
) -> Result<SearchResult, SearchError> {
    let base = task.document.at(&task.point)?;
    let scale = Scale::of(&base, key)?;
    let kept = kept_points(runner.folder, Engine::Sim)?;
    let pool = pool(runner.jobs)?;
    let seed = task.resolved.seed;
    let (runs, silent, share) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicU64::new(0));
    let watched = runner.watched;
    let mut search = Search { base, key, target, seed, pool, kept, runs, silent, share, watched };
    let (sought, bracket) = match search.bracket(&scale, Goal::Smallest) {
        Ok(bracket) => (Goal::Smallest, bracket),
        // A search that finds no smallest value may find a largest one.
        Err(SearchError::NoAnswer(_)) => (Goal::Largest, search.bracket(&scale, Goal::Largest)?),
        Err(error) => return Err(error),
    };
    let Bracket { mut meets, mut misses } = bracket;
    let between = |meets: f64, misses: f64| (meets.min(misses), meets.max(misses));
    let steps = |(low, high): (f64, f64)| scale.steps(low, high);
    let first = steps(between(meets, misses)).max(1.0);
    while let (low, high) = between(meets, misses)
        && scale.has_between(low, high)
    {
        search.set_share(BRACKETED + (1.0 - BRACKETED) * (1.0 - steps((low, high)) / first));
        let middle = scale.middle(low, high);
        *if search.tries(&scale, middle)?.met { &mut meets } else { &mut misses } = middle;
    }
    // The metric need not be monotone: values beyond one that misses may meet the target.
    let mut beyond = scale.beyond(meets, sought);
    while let Some(further) = beyond.next() {
        if search.tries(&scale, further)?.met {
            meets = further;
            beyond = scale.beyond(meets, sought);
        }
    }
    let mut best = search.confirm(&scale, meets)?;
    let (further, factor) = FURTHER;
    for _ in 0..further {
        if best.met {
            break;
        }
        let next = match sought {
            Goal::Smallest if scale.is_whole() => (meets * factor).round().max(meets + 1.0),
            Goal::Smallest => meets * factor,
            Goal::Largest if scale.is_whole() => (meets / factor).round().min(meets - 1.0),
            Goal::Largest => meets / factor,
        };
        if next < 1.0 && scale.is_whole() {
            break;
        }
        (meets, best) = (next, search.confirm(&scale, next)?);
    }
    if !best.met {
        let found = format!(
            "no value meets {target} with all repetitions: at {} {}",
            scale.text(meets),
            search.describe(&best)
        );
        return Err(SearchError::NoAnswer(Complaint::new(key, found)));
    }
    let mut misses_near = Vec::new();
    for value in scale.within(meets, sought) {
        let tried = search.tries(&scale, value)?;
        if !tried.met {
            misses_near.push((scale.text(value), search.shown(tried.estimate.mean)));
        }
    }
    let sure = if best.decided { None } else { search.sure(&scale, meets, sought)? };
    let value = scale.text(meets);
    let summary = search.summary(&value, search.seed)?;
    let (misses_above, misses_below) = match sought {
        Goal::Smallest => (misses_near, Vec::new()),
        Goal::Largest => (Vec::new(), misses_near),
    };
    Ok(SearchResult {
        over: key.to_owned(),
        target: target.clone(),
        sought,
        written: scale.written(&search.base, key, meets),
        room: scale.room(&search.base, meets),
        value,
        metric: search.shown(best.estimate.mean),
        half_width: best.estimate.half_width,
        decided: best.decided,
        sure,
        misses_above,
        misses_below,
        runs: search.runs.into_inner(),
        runs_without_value: search.silent.into_inner(),
        summary,
    })
}

/// Two values around the answer.
struct Bracket {
    meets: f64,
    misses: f64,
}

/// The result of the repetitions at one value.
#[derive(Clone, Copy)]
struct Trial {
    /// True if the mean meets the target.
    met: bool,
    /// True if the whole confidence interval of the mean meets the target, or misses it.
    decided: bool,
    estimate: Estimate,
    /// The number of runs in which the metric had no value, and the number of all runs.
    silent: (usize, usize),
}

impl Trial {
    /// Creates the result of a trial that surely misses the target, as a run without a value does.
    const fn missed(silent: (usize, usize)) -> Self {
        let estimate = Estimate { mean: f64::INFINITY, half_width: 0.0 };
        Self { met: false, decided: true, estimate, silent }
    }
}

struct Search<'a, 'w> {
    base: Document,
    key: &'a str,
    target: &'a Target,
    /// The first seed of the repetitions.
    seed: u64,
    pool: rayon::ThreadPool,
    kept: Option<Place>,
    runs: AtomicUsize,
    /// The number of runs in which the metric had no value.
    silent: AtomicUsize,
    /// The finished share of the search, in thousandths.
    share: AtomicU64,
    watched: &'a SharedWatch<'w>,
}

/// Estimates are of the metric, or of its negative if it must be at least the bound, so that less is better in either
/// case.
impl Search<'_, '_> {
    fn sign(&self) -> f64 {
        match self.target.bound {
            Bound::AtMost(_) => 1.0,
            Bound::AtLeast(_) => -1.0,
        }
    }

    /// Returns the metric itself from its `signed` form.
    fn shown(&self, signed: f64) -> f64 {
        self.sign() * signed
    }

    fn set_share(&self, share: f64) {
        self.share.store((share * 1000.0) as u64, Ordering::Relaxed);
    }

    /// Finds two values around the answer, if the metric comes nearer to the target as the value grows
    /// ([`Goal::Smallest`]) or falls.
    fn bracket(&mut self, scale: &Scale, sought: Goal) -> Result<Bracket, SearchError> {
        let mut value = scale.start;
        let mut tried = self.tries(scale, value)?;
        let (started_meeting, first) = (tried.met, (value, tried));
        let (mut alike, mut wrong) = (0, 0);
        let down = started_meeting == (sought == Goal::Smallest);
        for step in 0..scale.doublings() {
            self.set_share(BRACKETED * (1.0 - 0.7f64.powi(step as i32)));
            let next = if down { value / 2.0 } else { value * 2.0 };
            let next = if scale.is_whole() { next.floor() } else { next };
            if next < 1.0 && scale.is_whole() {
                if sought == Goal::Smallest {
                    self.nears(scale, sought, (value, tried), first)?;
                    return Ok(Bracket { meets: value, misses: 0.0 });
                }
                break;
            }
            let now = self.tries(scale, next)?;
            if now.met != started_meeting {
                let (meets, misses) = if now.met { (next, value) } else { (value, next) };
                return Ok(Bracket { meets, misses });
            }
            // A positive `rise` means that the metric moves away from the bound.
            let (was, is) = (tried.estimate, now.estimate);
            let rise = if started_meeting { was.mean - is.mean } else { is.mean - was.mean };
            wrong = if rise > is.half_width + was.half_width { wrong + 1 } else { 0 };
            // A buffer that is never full makes no difference until it is much smaller. If no run here has a value,
            // runs further on may not have one either.
            alike = if (rise == 0.0 || rise.is_nan()) && !down { alike + 1 } else { 0 };
            (value, tried) = (next, now);
            // Values further on would only make runs longer.
            if wrong == ENOUGH || alike == ENOUGH {
                break;
            }
        }
        let last = (value, tried);
        let (lower, higher) = if down { (last, first) } else { (first, last) };
        self.nears(scale, sought, lower, higher)?;
        let found = if tried.met { "every value meets" } else { "no value meets" };
        let (target, at) = (self.target, scale.text(value));
        let found = format!("{found} {target}: at {at} {}", self.describe(&tried));
        Err(SearchError::NoAnswer(Complaint::new(self.key, found)))
    }

    /// Describes the result in words.
    fn describe(&self, tried: &Trial) -> String {
        match tried.silent {
            (0, _) => format!("it is {:.6}", self.shown(tried.estimate.mean)),
            (silent, all) => format!("{silent} of {all} runs have no value"),
        }
    }

    /// Finds the value nearest to `undecided` that surely meets the target, within a tenth; `None` if none is found.
    fn sure(&mut self, scale: &Scale, undecided: f64, goal: Goal) -> Result<Option<SureValue>, SearchError> {
        let (doublings, near) = SURE;
        let whole = |value: f64| if scale.is_whole() { value.round() } else { value };
        let (mut unsure, mut found) = (undecided, None);
        for _ in 0..doublings {
            let next = whole(if goal == Goal::Smallest { unsure * 2.0 } else { unsure / 2.0 });
            if next < 1.0 && scale.is_whole() {
                break;
            }
            let tried = self.confirm(scale, next)?;
            if tried.met && tried.decided {
                found = Some((next, tried));
                break;
            }
            unsure = next;
        }
        let Some((mut sure, mut best)) = found else { return Ok(None) };
        while let (low, high) = (unsure.min(sure), unsure.max(sure))
            && high > low * near
            && scale.has_between(low, high)
        {
            let middle = scale.middle(low, high);
            let tried = self.confirm(scale, middle)?;
            if tried.met && tried.decided { (sure, best) = (middle, tried) } else { unsure = middle }
        }
        Ok(Some(SureValue {
            value: scale.text(sure),
            room: scale.room(&self.base, sure),
            metric: self.shown(best.estimate.mean),
            half_width: best.estimate.half_width,
        }))
    }

    /// Refuses a metric that moves away from the target: the value would not be an answer.
    fn nears(
        &self,
        scale: &Scale,
        sought: Goal,
        lower: (f64, Trial),
        higher: (f64, Trial),
    ) -> Result<(), SearchError> {
        let ((low, at_low), (high, at_high)) = (lower, higher);
        let (at_low, at_high) = (at_low.estimate, at_high.estimate);
        let rise = if sought == Goal::Smallest { 1.0 } else { -1.0 } * (at_high.mean - at_low.mean);
        if rise.is_nan() || rise <= at_high.half_width + at_low.half_width {
            return Ok(());
        }
        let (target, key) = (self.target, self.key);
        let (of_lower, of_higher) = (self.describe(&lower.1), self.describe(&higher.1));
        let found = format!(
            "no value meets {target}: at {} {of_lower}, at {} {of_higher}",
            scale.text(low),
            scale.text(high)
        );
        Err(SearchError::NoAnswer(Complaint::new(key, found)))
    }

    /// Returns the target's metric at `value`, with as many repetitions as decide it.
    fn tries(&mut self, scale: &Scale, value: f64) -> Result<Trial, SearchError> {
        self.repeat(scale, value, REPETITIONS)
    }

    /// Returns the target's metric at `value` with all repetitions, unless the runs do not vary. Fewer repetitions may
    /// mislead, for example if only one run in ten waits for a timeout.
    fn confirm(&mut self, scale: &Scale, value: f64) -> Result<Trial, SearchError> {
        let (_, most, step) = REPETITIONS;
        let tried = self.tries(scale, value)?;
        if tried.silent.0 > 0 || tried.estimate.half_width == 0.0 || tried.silent.1 as u64 >= most {
            return Ok(tried);
        }
        self.repeat(scale, value, (most, most, step))
    }

    fn repeat(
        &mut self,
        scale: &Scale,
        value: f64,
        (least, most, step): (u64, u64, u64),
    ) -> Result<Trial, SearchError> {
        let mut samples = Vec::new();
        let mut wanted = least;
        loop {
            let seeds: Vec<u64> =
                (samples.len() as u64..wanted).map(|nth| self.seed.saturating_add(nth)).collect();
            let text = scale.text(value);
            let run = |seed: &u64| {
                let found = self.run(&text, *seed)?;
                let runs = self.runs.fetch_add(1, Ordering::Relaxed) + 1;
                // A watch that stops the search stops its next run.
                let share = self.share.load(Ordering::Relaxed) as f64 / 1000.0;
                let _ = self.watched.on_event(Event::Tried { key: self.key, value: &text, runs, share });
                Ok(found)
            };
            let runs =
                self.pool.install(|| seeds.par_iter().map(run).collect::<Result<Vec<Option<f64>>, _>>());
            let more = match runs {
                // A value below the least that a scenario accepts, such as room for less than a packet, counts as a
                // miss.
                Err(SearchError::Faults(_)) if value < scale.start => return Ok(Trial::missed((0, 0))),
                runs => runs?,
            };
            let silent = more.iter().filter(|value| value.is_none()).count();
            if silent > 0 {
                self.silent.fetch_add(silent, Ordering::Relaxed);
                return Ok(Trial::missed((silent, samples.len() + more.len())));
            }
            samples.extend(more.into_iter().flatten());
            let estimate = estimate(&samples);
            let bound = self.sign() * self.target.bound.value();
            let apart = (estimate.mean - bound).abs();
            let decided = apart > estimate.half_width || estimate.half_width == 0.0;
            if decided || wanted >= most {
                let met = estimate.mean <= bound;
                return Ok(Trial { met, decided, estimate, silent: (0, samples.len()) });
            }
            wanted += step;
        }
    }

    /// Returns the metric of one run; `None` where it has no value, such as the completion time of a flow that did not
    /// end.
    fn run(&self, value: &str, seed: u64) -> Result<Option<f64>, SearchError> {
        let summary = self.summary(value, seed)?;
        let key = &self.target.metric;
        let found = metric::value(&summary, key).map(|value| self.sign() * value);
        if found.is_some() || exists(&summary, key) {
            return Ok(found);
        }
        let complaint = format!("the summary has no number called \"{key}\"");
        let known = metric::numbers(&summary);
        let help = did_you_mean(key, known.iter().map(String::as_str));
        let complaint = Complaint::new("", complaint).accepted(known.join(", "));
        Err(SearchError::NoAnswer(Complaint { help, ..complaint }))
    }

    fn summary(&self, value: &str, seed: u64) -> Result<Summary, SearchError> {
        let mut document = self.base.clone();
        document.set("seed", &seed.to_string())?;
        let task = Task::at(&Arc::new(document), vec![(self.key.into(), value.into())])?;
        Ok(kept_point(&task, Engine::Sim, self.kept.as_ref(), self.watched)?.summary)
    }
}

/// Returns true if the key names a metric of a flow, link or users that the run had, even if its value is not known.
fn exists(summary: &Summary, key: &str) -> bool {
    if metric::is_missing(summary, key) {
        return true;
    }
    let Some((_, of)) = metric::described(key) else { return false };
    let named = |name: &str| {
        summary.flows.iter().any(|flow| flow.name == name)
            || summary.links.iter().any(|link| link.key() == name)
            || summary.sessions.iter().any(|sessions| sessions.name == name)
            || summary.wlan.iter().flat_map(|wlan| &wlan.stations).any(|station| station.key() == name)
    };
    of.is_none_or(named)
}

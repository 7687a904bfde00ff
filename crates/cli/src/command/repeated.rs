//! One point of a scenario on some engines, as often as asked: what `run`, `compare`, `figure` and `check` share.

use crate::problem::Problem;
use lab::run::record::Engine;
use lab::study::repeat::{self, median, repeats};
use lab::study::store::Store;
use lab::study::task::{self, Answer, Task};
use scenario::Document;

/// How a point is run.
pub(super) struct Asked<'a> {
    pub(super) document: &'a Document,
    pub(super) engines: &'a [Engine],
    pub(super) repeat: u64,
    /// Where every run is kept, and the command line for its manifest; `None` keeps nothing.
    pub(super) store: Option<(&'a Store, &'a str)>,
}

/// How many runs there are at each point.
pub(super) fn count(engines: &[Engine], repeat: u64) -> usize {
    engines.iter().map(|engine| repeat::runs(*engine, repeat) as usize).sum()
}

/// Runs the point; of several runs the answer has the one with the median goodput. `tell` learns how many runs of the
/// point have ended, the engine, and how far it is.
pub(super) fn answer(
    task: Task,
    asked: &Asked<'_>,
    tell: &mut dyn FnMut(usize, Engine, f64, Option<f64>),
) -> Result<Answer, Problem> {
    let (mut records, mut runs, mut absent, mut ended) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for engine in asked.engines {
        let tasks = repeats(asked.document, &task, repeat::runs(*engine, asked.repeat))?;
        let (mut found, next) = (Vec::new(), ended + tasks.len());
        for one in &tasks {
            let answered = task::answer(one.clone(), &[*engine], &mut |engine, passed, end| {
                tell(ended, engine, passed, end);
            })?;
            // An engine that is not made for the point is not made for it with another seed.
            if !answered.absent.is_empty() {
                absent.extend(answered.absent);
                break;
            }
            for record in &answered.records {
                asked.keep(one, record)?;
            }
            found.extend(answered.records);
            ended += 1;
        }
        ended = next;
        if found.len() > 1 {
            runs.extend(found.clone());
        }
        if let Some(record) = median(found) {
            // Once more, now that what the others found is known.
            if let Some(one) = tasks.iter().find(|one| one.resolved.hash == record.summary.scenario_hash)
                && record.summary.repeats.is_some()
            {
                asked.keep(one, &record)?;
            }
            records.push(record);
        }
    }
    Ok(Answer { task, records, runs, absent, found: None })
}

impl Asked<'_> {
    fn keep(&self, task: &Task, record: &lab::run::record::Record) -> Result<(), Problem> {
        if let Some((store, command)) = self.store {
            store.keep(task, self.document, command, record)?;
        }
        Ok(())
    }
}

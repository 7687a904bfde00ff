//! The runs of an experiment, one after the other.

use super::{Experiment, ExperimentError};
use crate::run::engine::EngineError;
use crate::run::record::Record;
use crate::study::repeat::{median, record, repeats, runs};
use crate::study::store::Store;
use crate::study::task::{Answer, Task};
use crate::study::watch::{Event, SharedWatch, Work};

impl Experiment {
    /// Runs every task on every engine, one run after the other.
    pub(super) fn answers(
        &self,
        tasks: &[Task],
        store: Option<&Store>,
        watched: &SharedWatch<'_>,
    ) -> Result<Vec<Answer>, ExperimentError> {
        let repeat = self.repeat.unwrap_or(1);
        let each: usize = self.engines.iter().map(|engine| runs(*engine, repeat) as usize).sum();
        watched.begin(Work::Runs);
        watched.need(tasks.len() * each);
        let mut answers = Vec::new();
        for task in tasks {
            let answer = self.answer(task, store, watched)?;
            // If the watch stops the experiment here, the next run does not begin.
            let _ = watched.on_event(Event::Answered(&answer));
            answers.push(answer);
        }
        Ok(answers)
    }

    /// Runs one task on every engine; of several runs the answer has the one with the median goodput.
    fn answer(
        &self,
        task: &Task,
        store: Option<&Store>,
        watched: &SharedWatch<'_>,
    ) -> Result<Answer, ExperimentError> {
        let keep = |task: &Task, record: &Record| {
            store.map(|store| store.keep(task, &self.command, record)).transpose()
        };
        let mut answer = Answer::of(task.clone(), Vec::new());
        for engine in &self.engines {
            let tasks = repeats(task, runs(*engine, self.repeat.unwrap_or(1)))?;
            let mut found = Vec::new();
            for one in &tasks {
                match record(one, *engine, watched) {
                    Ok(record) => {
                        keep(one, &record)?;
                        found.push(record);
                        watched.finish(1);
                    }
                    // An engine that cannot answer at the point cannot answer with another seed.
                    Err(EngineError::CannotAnswer(misfit)) => {
                        answer.absent.push(misfit.to_string());
                        watched.finish(tasks.len() - found.len());
                        break;
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            if found.len() > 1 {
                answer.runs.extend(found.clone());
            }
            if let Some(record) = median(found) {
                // The record is stored again, now with the spread of the other runs.
                if let Some(one) = tasks.iter().find(|one| one.resolved.hash == record.summary.scenario_hash)
                    && record.summary.repeats.is_some()
                {
                    keep(one, &record)?;
                }
                answer.records.push(record);
            }
        }
        Ok(answer)
    }
}

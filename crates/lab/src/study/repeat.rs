//! Repetitions of a run, with consecutive seeds. The result is the run with the median goodput, and the spread of the
//! others around it. A single run of a kernel, or of one seed, is weak evidence.

use crate::run::engine::{self, EngineError, Progress};
use crate::run::record::{Engine, Extent, Note, Record, Repeats};
use crate::study::task::Task;
use crate::study::watch::{Event, SharedWatch};
use scenario::Faults;

/// Runs the task on `engine`.
///
/// # Errors
/// If the machine lacks something or something broke; [`EngineError::CannotAnswer`] if the engine cannot answer at all.
pub fn record(task: &Task, engine: Engine, watched: &SharedWatch<'_>) -> Result<Record, EngineError> {
    let on_event: Progress<'_> =
        &|passed, end| watched.on_event(Event::Running { task, engine, passed, end });
    engine::run(engine, &task.resolved, on_event)
}

/// Returns the number of runs of `engine` where `asked` runs are wanted: closed forms give the same result each time.
#[must_use]
pub fn runs(engine: Engine, asked: u64) -> u64 {
    if engine == Engine::Model { 1 } else { asked.max(1) }
}

/// Returns `count` copies of `task` with consecutive seeds, beginning with its own. All but the first have the seed in
/// their point.
///
/// # Errors
/// If a seed is beyond the greatest that a scenario may have.
pub fn repeats(task: &Task, count: u64) -> Result<Vec<Task>, Faults> {
    let mut tasks = vec![task.clone()];
    for more in 1..count {
        // The sum cannot overflow, so that a seed beyond the greatest is refused and no seed is used twice.
        tasks.push(seeded(task, u128::from(task.resolved.seed) + u128::from(more))?);
    }
    Ok(tasks)
}

/// Returns `task` with another seed, which is in its point.
///
/// # Errors
/// If the seed is beyond the greatest that a scenario may have.
pub fn seeded(task: &Task, seed: u128) -> Result<Task, Faults> {
    let mut point = task.point.clone();
    point.retain(|(key, _)| key != "seed");
    point.push(("seed".into(), seed.to_string()));
    Task::at(&task.document, point)
}

/// Returns the run with the median goodput of the first flow, the lower of two. Its summary and its notes have the
/// findings of the others. Returns `None` without runs, and a single run as it is.
#[must_use]
pub fn median(mut records: Vec<Record>) -> Option<Record> {
    if records.len() < 2 {
        return records.pop();
    }
    records.sort_by(|a, b| goodput(a).total_cmp(&goodput(b)));
    let repeats = repeats_of(&records);
    let busy = records.iter().filter(|record| too_busy(record)).count();
    let mut chosen = records.swap_remove((records.len() - 1) / 2);
    chosen.notes.insert(0, spread_note(&chosen, &repeats).into());
    if busy > 0 {
        let spread_note = format!("the machine was too busy in {busy} of the {} runs", repeats.runs);
        chosen.notes.insert(1, spread_note.into());
    }
    chosen.summary.repeats = Some(repeats);
    Some(chosen)
}

/// Returns true if the machine was too busy for the emulator in this run.
#[must_use]
pub fn too_busy(record: &Record) -> bool {
    record.notes.iter().any(|note| matches!(note, Note::Busy(_)))
}

fn goodput(record: &Record) -> f64 {
    record.summary.flows.first().map_or_else(|| record.summary.goodput_bps(), |flow| flow.goodput_bps)
}

fn repeats_of(records: &[Record]) -> Repeats {
    let first = |record: &Record| record.summary.flows.first().cloned();
    let rtts = records.iter().map(|record| Some(first(record)?.rtt_s?.mean));
    let retransmits = records.iter().map(|record| Some(first(record)?.retransmits? as f64));
    let mut seeds: Vec<u64> = records.iter().map(|record| record.summary.seed).collect();
    seeds.sort_unstable();
    Repeats {
        runs: records.len() as u64,
        seeds,
        run_again: 0,
        goodput_bps: extent(records.iter().map(|record| Some(goodput(record)))),
        rtt_mean_s: extent(rtts),
        retransmits: extent(retransmits),
    }
}

/// Returns the least and the greatest value; `None` if one is not known.
fn extent(values: impl Iterator<Item = Option<f64>>) -> Option<Extent> {
    let values: Vec<f64> = values.collect::<Option<_>>()?;
    let least = values.iter().copied().reduce(f64::min)?;
    Some(Extent { least, most: values.iter().copied().fold(least, f64::max) })
}

/// Writes `of 5 runs (seeds 1, 2, 3, 4, 5) the one with the median goodput of target is shown, seed 3: goodput 88.1 to
/// 92.3 Mbit/s, mean RTT 41.2 to 41.9 ms, 0 to 3 segments sent again`.
fn spread_note(chosen: &Record, repeats: &Repeats) -> String {
    let name = chosen.summary.flows.first().map_or("all users", |flow| &flow.name);
    let seeds: Vec<String> = repeats.seeds.iter().map(u64::to_string).collect();
    let mut parts = Vec::new();
    let between = |extent: Extent, scale: f64, digits: usize| {
        format!("{:.digits$} to {:.digits$}", extent.least * scale, extent.most * scale)
    };
    parts.extend(repeats.goodput_bps.map(|of| format!("goodput {} Mbit/s", between(of, 1e-6, 2))));
    parts.extend(repeats.rtt_mean_s.map(|of| format!("mean RTT {} ms", between(of, 1e3, 2))));
    parts.extend(repeats.retransmits.map(|of| format!("{} segments sent again", between(of, 1.0, 0))));
    format!(
        "of {} runs (seeds {}) the one with the median goodput of {name} is shown, seed {}: {}",
        repeats.runs,
        seeds.join(", "),
        chosen.summary.seed,
        parts.join(", ")
    )
}

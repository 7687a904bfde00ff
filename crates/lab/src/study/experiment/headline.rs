//! The headline of a figure: its runs, and the verdicts on its claims.

use crate::run::record::Engine;
use crate::study::claims::Verdict;
use crate::study::curves::engines;
use crate::study::repeat::too_busy;
use crate::study::task::Answer;
use scenario::FigureSpec;

/// Writes "42 points simulated, 420 million packets. 5 of 5 published claims held." The text `comparison` is about the
/// reference data that is drawn as well.
pub(super) fn headline(
    answers: &[Answer],
    spec: &FigureSpec,
    comparison: &str,
    verdicts: &[Verdict],
) -> String {
    let records = || answers.iter().flat_map(|answer| &answer.records);
    let of = |engine: Engine| records().filter(move |record| record.summary.engine == engine);
    let mut text = String::new();
    let runs = if spec.repeat > 1 { format!(", {} times each", spec.repeat) } else { String::new() };
    for engine in engines(spec) {
        let packets: u64 = of(engine).filter_map(|record| record.summary.packets_forwarded).sum();
        let (points, packets) = (of(engine).count(), packets as f64 / 1e6);
        text += &match engine {
            Engine::Model => format!("{points} points by formula. "),
            Engine::Sim => format!("{points} points simulated{runs}, {packets:.0} million packets. "),
            Engine::Live => format!("{points} points run on the kernel{runs}. "),
        };
    }
    text += comparison;
    if spec.repeat > 1 {
        text += "Medians are drawn, from the least to the most of the runs. ";
    }
    let again: u64 = records().filter_map(|record| Some(record.summary.repeats.as_ref()?.run_again)).sum();
    if again > 0 {
        text += &format!("Runs that were run again, because the machine was too busy: {again}. ");
    }
    let busy = records().filter(|record| too_busy(record)).count();
    if busy > 0 {
        text += &format!("At {busy} points the machine was too busy in the run that is shown. ");
    }
    text.truncate(text.trim_end().len());
    if !verdicts.is_empty() {
        let held = verdicts.iter().filter(|verdict| verdict.held).count();
        let judged = verdicts.iter().filter(|verdict| !verdict.is_left_out()).count();
        text += &format!(" {held} of {judged} published claims held.");
        if judged < verdicts.len() {
            text += &format!(
                " {} were left out, because none of their engines was asked.",
                verdicts.len() - judged
            );
        }
    }
    text
}

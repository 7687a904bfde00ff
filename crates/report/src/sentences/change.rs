//! The changes from case to case: goodput, RTT, completion time, in one sentence or two.

use super::{REAL_PACKETS, by};
use crate::Case;
use crate::text::{bit_rate, capitalized, delay};
use lab::run::record::{Engine, Summary};

/// Values are called the same if they differ by at most this part of the larger one.
const SAME: f64 = 0.05;

/// A number by which a reader compares cases.
struct ComparedNumber {
    words: &'static str,
    get: fn(&Summary) -> Option<f64>,
    shown: fn(f64) -> String,
}

const QUANTITIES: [ComparedNumber; 3] = [
    ComparedNumber { words: "goodput", get: |s| Some(s.goodput_bps()), shown: bit_rate },
    ComparedNumber { words: "mean RTT", get: Summary::rtt_mean_s, shown: delay },
    ComparedNumber { words: "mean completion time", get: completion, shown: delay },
];

fn completion(summary: &Summary) -> Option<f64> {
    let known: Vec<f64> = summary.flows.iter().filter_map(|flow| flow.completion_s).collect();
    (!known.is_empty()).then(|| known.iter().sum::<f64>() / known.len() as f64)
}

/// One quantity over all cases.
struct NumberByCase {
    words: &'static str,
    shown: fn(f64) -> String,
    values: Vec<f64>,
}

impl NumberByCase {
    fn is_same(&self) -> bool {
        let least = self.values.iter().copied().fold(f64::MAX, f64::min);
        let most = self.values.iter().copied().fold(f64::MIN, f64::max);
        most - least <= SAME * most.abs()
    }

    /// Writes "goodput (4.8 Mbit/s)".
    fn same(&self) -> String {
        format!("{} ({})", self.words, (self.shown)(self.values[0]))
    }

    /// Writes "falls from 1887 ms with drop-tail to 88.4 ms with codel".
    fn change(&self, names: [&str; 2]) -> String {
        let (first, last) = (self.values[0], self.values[self.values.len() - 1]);
        let verb = if last < first { "falls" } else { "rises" };
        let (first, last) = ((self.shown)(first), (self.shown)(last));
        let [before, after] =
            names.map(|name| if name.is_empty() { String::new() } else { format!(" with {name}") });
        format!("{} {verb} from {first}{before} to {last}{after}", self.words)
    }

    /// Returns true if the number only rises, or only falls, from case to case.
    fn is_one_way(&self) -> bool {
        self.values.is_sorted() || self.values.iter().rev().is_sorted()
    }

    /// Writes "goodput is least with 0.1 bdp (3.1 Mbit/s) and greatest with 2 bdp (4.8 Mbit/s)".
    fn extremes(&self, names: &[String]) -> String {
        let at = |better: fn(f64, f64) -> bool| {
            (1..self.values.len())
                .fold(0, |best, i| if better(self.values[i], self.values[best]) { i } else { best })
        };
        let (least, most) = (at(|a, b| a < b), at(|a, b| a > b));
        format!(
            "{} is least with {} ({}) and greatest with {} ({})",
            self.words,
            names[least],
            (self.shown)(self.values[least]),
            names[most],
            (self.shown)(self.values[most])
        )
    }
}

/// Describes the changes between the cases, by the engine nearest to reality that answered all of them; empty for a
/// lone case.
pub(crate) fn change(cases: &[Case]) -> Vec<String> {
    let Some((engine, runs)) = answered(cases) else { return Vec::new() };
    let names = names(cases);
    let course = |quantity: &ComparedNumber| {
        let values: Option<Vec<f64>> = runs.iter().map(|run| (quantity.get)(run)).collect();
        let values = values.filter(|values| values.iter().all(|value| *value > 0.0))?;
        Some(NumberByCase { words: quantity.words, shown: quantity.shown, values })
    };
    let (same, moved): (Vec<NumberByCase>, Vec<NumberByCase>) =
        QUANTITIES.iter().filter_map(course).partition(NumberByCase::is_same);
    let same: Vec<String> = same.iter().map(NumberByCase::same).collect();
    let same = same.join(" and ");
    // Only flows over QUIC in the live engine have the lateness of departures.
    let is_quic = |run: &&Summary| run.flows.iter().any(|flow| flow.departure_late_s.is_some());
    let by = if runs.iter().any(is_quic) { REAL_PACKETS } else { by(engine) };
    let Some(first) = moved.first() else {
        return if same.is_empty() {
            Vec::new()
        } else {
            vec![format!("{by}, all cases have the same {same}.")]
        };
    };
    // The first and the last of many cases suffice only if all values between them lie between theirs.
    if cases.len() > 2 && !moved.iter().all(NumberByCase::is_one_way) {
        let mut out: Vec<String> =
            moved.iter().map(|course| format!("{by}, {}.", course.extremes(&names))).collect();
        if !same.is_empty() {
            out.push(format!("{} is the same in all cases.", capitalized(&same)));
        }
        return out;
    }
    let ends = [names[0].as_str(), names[names.len() - 1].as_str()];
    let mut text = format!("{by}, {}", first.change(ends));
    for course in &moved[1..] {
        text += &format!(", and {}", course.change(["", ""]));
    }
    if !same.is_empty() {
        text += &format!(" at the same {same}");
    }
    vec![text + "."]
}

/// Returns the engine nearest to reality that answered every case without breaking its assumptions, and its numbers.
fn answered(cases: &[Case]) -> Option<(Engine, Vec<&Summary>)> {
    if cases.len() < 2 {
        return None;
    }
    Engine::ALL.into_iter().rev().find_map(|engine| {
        let of = |case: &'_ Case| {
            case.records.iter().position(|run| run.summary.engine == engine && run.summary.is_exact())
        };
        let all: Option<Vec<usize>> = cases.iter().map(of).collect();
        let all = all?;
        Some((engine, cases.iter().zip(all).map(|(case, index)| &case.records[index].summary).collect()))
    })
}

/// Returns a name that distinguishes each case from the others: "codel", "limit = 120kB", "case 3".
fn names(cases: &[Case]) -> Vec<String> {
    let shared = |setting: &(String, String)| cases.iter().all(|case| case.settings.contains(setting));
    let name = |(index, case): (usize, &Case)| {
        let own: Vec<String> = case
            .settings
            .iter()
            .filter(|setting| !shared(setting))
            // A word needs no key before it; a number does.
            .map(|(key, value)| match value.starts_with(|c: char| c.is_ascii_alphabetic()) {
                true => value.clone(),
                false => format!("{key} = {value}"),
            })
            .collect();
        if own.is_empty() || own.len() > 2 { format!("case {}", index + 1) } else { own.join(", ") }
    };
    cases.iter().enumerate().map(name).collect()
}

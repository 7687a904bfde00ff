//! A call next to the greedy flows, and the advice that follows from its wait.
//!
//! The call is a source of equal gaps that does not respond to losses. It has runs of its own, so that the limits and
//! the other numbers of an answer are those of the question.

use super::answer::{Call, Point, Policy};
use super::question::Question;
use crate::run::record::Summary;
use scenario::ScenarioDraft;
use units::Rate;

/// The name of the call's traffic.
const NAME: &str = "call-of-size";
/// Its rate and its packets: 160 bytes of G.711 speech every 20 ms (RFC 3551), and 40 of RTP, UDP and IPv4.
const RATE: &str = "80kbit/s";
const PACKET: &str = "200B";
/// The least rate of a link that has a call: the call is at most 4 % of it.
const LEAST_RATE: Rate = Rate::from_bps(2_000_000);
/// The seconds for which a call is measured at least, so that a hundred of its packets count.
pub(super) const MEASURED: f64 = 2.0;
/// The share of the link's rate to which a shaper is set, so that packets wait in the shaper's queue and not behind it.
pub(super) const SHAPED: f64 = 0.95;

/// Adds the call to a scenario.
pub(super) fn added(draft: ScenarioDraft) -> ScenarioDraft {
    draft.traffic("cbr", &[("name", &NAME), ("rate", &RATE), ("packet", &PACKET)])
}

/// Returns the call as a table at the end of a scenario's text.
pub(super) fn table() -> String {
    format!("\n[[traffic]]\nname = \"{NAME}\"\nkind = \"cbr\"\nrate = \"{RATE}\"\npacket = \"{PACKET}\"\n")
}

/// Checks that a link of `rate` has room for a call.
///
/// # Errors
/// The reason why it has not.
pub(super) fn fits(rate: Rate) -> Result<(), String> {
    match rate >= LEAST_RATE {
        true => Ok(()),
        false => Err(format!("its {RATE} would be more than 4 % of the link, and change the answer")),
    }
}

/// Reads the call's numbers from `summaries`; `None` if a run has no call, or if none of its packets came through.
/// Delays are multiplied by `scale`.
pub(super) fn heard(summaries: &[Summary], scale: f64) -> Option<Call> {
    let one = |summary: &Summary| {
        let call = summary.traffic.iter().find(|traffic| traffic.name == NAME)?;
        Some((call.queueing_delay_s?.percentiles.p95?, call.loss_rate?))
    };
    let found = summaries.iter().map(one).collect::<Option<Vec<(f64, f64)>>>()?;
    let mean = |of: fn(&(f64, f64)) -> f64| found.iter().map(of).sum::<f64>() / found.len().max(1) as f64;
    Some(Call { queueing_delay_p95_s: mean(|(delay, _)| *delay) * scale, loss_rate: mean(|(_, loss)| *loss) })
}

/// Describes the call, or the reason why no row has one, for the list of assumptions.
pub(super) fn assumption(without: Option<&str>) -> String {
    match without {
        None => format!(
            "a call is {RATE} in packets of {PACKET} (20 ms of G.711, and headers); it has runs of its own, which do not decide the limits"
        ),
        Some(why) => format!("no call is simulated: {why}"),
    }
}

/// Returns the policy to advise for calls: of those that do not surely miss the target, the one behind which a call
/// waits least. If all miss it, the one of all. `None` if a call waits no less there than behind the recommended limit.
pub(super) fn best<'a>(question: &Question, recommended: &Point, rows: &'a [Policy]) -> Option<&'a Policy> {
    let own = own(question, recommended, rows)?.queueing_delay_p95_s;
    let wait = |row: &Policy| row.call.map_or(f64::INFINITY, |call| call.queueing_delay_p95_s);
    let shorter = || rows.iter().filter(|row| row.queue != question.queue && wait(row) < own);
    let least = |rows: Vec<&'a Policy>| rows.into_iter().min_by(|a, b| wait(a).total_cmp(&wait(b)));
    least(shorter().filter(|row| meets(question, row)).collect()).or_else(|| least(shorter().collect()))
}

fn meets(question: &Question, row: &Policy) -> bool {
    row.point.perhaps() >= question.target.get()
}

/// Returns the call behind the recommended limit.
fn own(question: &Question, recommended: &Point, rows: &[Policy]) -> Option<Call> {
    let own = |row: &&Policy| row.queue == question.queue && row.point.packets == recommended.packets;
    rows.iter().find(own)?.call
}

/// Returns the advice for an operator in a sentence. `best` is the policy to advise, and `shaped` has its effects
/// behind a shaper, if those were simulated; the utilization is then that of the shaped rate. Returns `None` if no call
/// was simulated.
pub(super) fn advice(
    question: &Question,
    recommended: &Point,
    rows: &[Policy],
    best: Option<&Policy>,
    shaped: Option<(Point, Call)>,
) -> Option<String> {
    let packets = recommended.packets;
    let fixed =
        format!("{} of {packets} packet{}", words(&question.queue), if packets == 1 { "" } else { "s" });
    let wait = own(question, recommended, rows)?.queueing_delay_p95_s;
    let Some(best) = best else {
        return Some(format!("{} keeps a call under {}", capital(&fixed), above(wait)));
    };
    let mut name = words(&best.queue).to_owned();
    let (mut utilization, mut call) = (best.point.utilization, best.call?.queueing_delay_p95_s);
    if let Some((point, heard)) = shaped {
        name += &format!(" behind a shaper at {:.0} %", SHAPED * 100.0);
        (utilization, call) = (point.utilization * SHAPED, heard.queueing_delay_p95_s);
    }
    let (used, call) = (format!("{:.1} % of utilization", utilization * 100.0), above(call));
    let costs = near(wait);
    Some(if meets(question, best) {
        format!("{} keeps a call under {call}, with {used}; {fixed} costs it {costs}", capital(&name))
    } else {
        let used_by_fixed = recommended.utilization * 100.0;
        format!(
            "{} keeps a call under {call}, but has only {used}; {fixed} has {used_by_fixed:.1} %, and costs it {costs}",
            capital(&name)
        )
    })
}

/// Returns the name of a policy within a sentence.
fn words(queue: &str) -> &str {
    match queue {
        "fq-codel" => "FQ-CoDel",
        "codel" => "CoDel",
        "pie" => "PIE",
        "fq-pie" => "FQ-PIE",
        "dualpi2" => "DualPI2",
        "cobalt" => "COBALT",
        "cake" => "CAKE",
        other => other,
    }
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

/// Rounds a time up to two digits, in milliseconds or microseconds: "under 1.4 ms".
fn above(seconds: f64) -> String {
    rounded(seconds, f64::ceil)
}

/// Rounds a time to the nearest two digits.
fn near(seconds: f64) -> String {
    rounded(seconds, f64::round)
}

fn rounded(seconds: f64, round: fn(f64) -> f64) -> String {
    // The time is in whole nanoseconds, so that a rounding error does not add to it.
    let nanos = (seconds * 1e9).round().max(0.0);
    let (unit, scale) = if nanos < 1e5 { ("us", 1e3) } else { ("ms", 1e6) };
    let value = nanos / scale;
    if value < 10.0 {
        format!("{} {unit}", round(value * 10.0) / 10.0)
    } else {
        format!("{:.0} {unit}", round(value))
    }
}

#[cfg(test)]
#[path = "../../../tests/within/call.rs"]
mod tests;

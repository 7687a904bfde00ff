//! The recommended limit under other circumstances, and other policies beside it. Each row answers the question that
//! was asked: at both ends of its range of flows, with its ECN, hosts, traffic and way back.

use super::answer::{Point, Policy, Variant};
use super::bench::{Bench, Case, Found, Room, Run};
use super::choice::Choice;
use super::path::ScenarioPath;
use super::question::{Ends, MOST_FLOWS, Question};
use super::settling;
use super::twin::{PACKETS, cases};
use crate::study::experiment::ExperimentError;

/// What keeps the queue short by itself, with the settings of the sources.
const POLICIES: [&str; 3] = ["codel", "fq-codel", "pie"];
/// Behind these each departure is an event of its own.
const POLICY_PACKETS: f64 = PACKETS / 2.0;
/// A row that has not settled is measured again, later, if that takes no more packets than this.
const LONG_PACKETS: f64 = 6.0 * PACKETS;
/// A policy that needs longer than this to settle is spoken of, seconds.
const SOON: f64 = 5.0;

pub(super) struct Around {
    pub(super) sensitivity: Vec<Variant>,
    pub(super) pareto: Vec<Policy>,
    /// The limit in bytes of the same length, where packets are not all full.
    pub(super) in_bytes: Option<Point>,
    pub(super) remarks: Vec<String>,
}

/// A row of a table: what it is simulated by, the worst of which counts.
struct Row {
    name: String,
    cases: Vec<Case>,
    room: Room,
    queue: String,
}

/// Simulates what is around the answer, all at once.
pub(super) fn around(
    question: &Question,
    bench: &Bench<'_, '_>,
    chosen: &Choice,
) -> Result<Around, ExperimentError> {
    let mut remarks = Vec::new();
    let scenario = bench.scenario();
    let variants = match scenario {
        Some(path) => variants_of_scenario(path, bench, chosen.recommended),
        None => variants_of_twins(question),
    };
    let row = |name: String, cases, room, queue: &str| Row { name, cases, room, queue: queue.into() };
    let recommended = Room::Packets(chosen.recommended);
    let mut rows: Vec<Row> = Vec::new();
    for (name, cases) in variants {
        let row = row(name, cases, recommended, &question.queue);
        match bench.check(&row.cases, row.room, &row.queue) {
            Ok(()) => rows.push(row),
            Err(why) => remarks.push(format!("no row with {}: {why}", row.name)),
        }
    }
    let sensitive = rows.len();
    // Room for what a policy lets pass for a while: its own rule ends it, not the limit.
    let room = Room::Packets(safe_room(question, chosen));
    let own = |packets| match scenario {
        Some(path) => vec![Case::Scenario(path.clone())],
        None => cases(question, packets),
    };
    for policy in POLICIES.into_iter().filter(|policy| *policy != question.queue) {
        let row = row(policy.into(), own(POLICY_PACKETS), room, policy);
        match bench.check(&row.cases, row.room, policy) {
            Ok(()) => rows.push(row),
            Err(why) => remarks.push(format!("no row for {policy}: {why}")),
        }
    }
    let policies = rows.len() - sensitive;
    if question.is_mixed() {
        rows.push(row("bytes".into(), own(PACKETS), Room::Bytes(chosen.recommended), &question.queue));
    }
    let mut points = simulate(bench, &rows, question, &mut remarks)?;
    let in_bytes = if points.len() > sensitive + policies { points.pop() } else { None };
    let mut named = rows.into_iter().map(|row| row.name).zip(points);
    let sensitivity = named.by_ref().take(sensitive).map(|(what, point)| Variant { what, point }).collect();
    let others: Vec<(String, Point)> = named.collect();
    let mut limits = vec![chosen.least, chosen.recommended, chosen.most];
    limits.sort_unstable();
    limits.dedup();
    let own = limits.into_iter().map(|limit| (question.queue.as_str(), bench.at(limit)));
    let others = others.iter().map(|(name, point)| (name.as_str(), *point));
    Ok(Around { sensitivity, pareto: pareto(own.chain(others).collect()), in_bytes, remarks })
}

/// The limit behind which a policy's own rule decides.
pub(super) fn safe_room(question: &Question, chosen: &Choice) -> u64 {
    chosen.most.max(chosen.recommended).max(question.bdp_limit().ceil() as u64)
}

/// What each row found, the worst of its cases. What has not settled is measured again where that is cheap.
fn simulate(
    bench: &Bench<'_, '_>,
    rows: &[Row],
    question: &Question,
    remarks: &mut Vec<String>,
) -> Result<Vec<Point>, ExperimentError> {
    let run = |row: &'_ Row| -> Vec<(Room, String)> {
        row.cases.iter().map(|_| (row.room, row.queue.clone())).collect()
    };
    let wanted: Vec<(Room, String)> = rows.iter().flat_map(run).collect();
    let cases: Vec<&Case> = rows.iter().flat_map(|row| &row.cases).collect();
    let runs: Vec<Run<'_>> =
        cases.iter().zip(&wanted).map(|(case, (room, queue))| Run { case, room: *room, queue }).collect();
    let mut found = bench.simulate(&runs)?;
    let later: Vec<(usize, Case)> = (found.iter().zip(&cases).enumerate())
        .filter(|(_, (found, _))| found.point.unsettled)
        .filter_map(|(place, (found, case))| {
            Some((place, case.later(found.slow.map(|slow| slow.seconds), LONG_PACKETS)?))
        })
        .collect();
    let again: Vec<Run<'_>> = later.iter().map(|(place, case)| Run { case, ..runs[*place] }).collect();
    let places: Vec<usize> = later.iter().map(|(place, _)| *place).collect();
    if !again.is_empty() {
        for (place, late) in places.into_iter().zip(bench.simulate(&again)?) {
            found[place] = late;
        }
    }
    let mut found = found.into_iter();
    let mut points = Vec::new();
    for row in rows {
        let own: Vec<Found> = found.by_ref().take(row.cases.len()).collect();
        let point = own.iter().map(|found| found.point).reduce(Point::worse).expect("a row has a case");
        remarks.extend(slow(row, &point, question));
        points.push(point);
    }
    Ok(points)
}

/// Said of a row that has not settled, and of CoDel where the path itself settles after long.
fn slow(row: &Row, point: &Point, question: &Question) -> Option<String> {
    let name = &row.name;
    let sent = point.utilization * question.rate.as_bps_f64() / question.mean_packet().bits_f64();
    let drops = sent * point.loss_rate / (1.0 - point.loss_rate).max(1e-6);
    let seconds = settling::seconds_by_default(drops);
    let climbs = row.queue == "codel" && seconds > SOON && !question.ecn;
    match (point.unsettled, climbs) {
        (false, false) => None,
        (true, false) => Some(format!(
            "{name} had not settled: its numbers still rose or fell within the measured time, and a longer run has others"
        )),
        (settled, true) => {
            let law = format!(
                "its rate of drops grows by 50 a second each second, and these flows need some {drops:.0} a second, which takes {}",
                settling::shown(seconds)
            );
            Some(if settled {
                format!("{name} had not settled: {law}")
            } else {
                format!("{name} settles slowly: {law}; the row is of the time after that")
            })
        }
    }
}

/// What may be otherwise than was asked, on paths made of the question.
fn variants_of_twins(question: &Question) -> Vec<(String, Vec<Case>)> {
    variants(question).into_iter().map(|(what, question)| (what, cases(&question, PACKETS / 2.0))).collect()
}

fn variants(question: &Question) -> Vec<(String, Question)> {
    let mut variants = Vec::new();
    let Ends { least, most } = question.flows;
    let with = |flows: Ends<u64>| Question { flows, ..question.clone() };
    if most > 1 {
        let half = Ends { least: (least / 2).max(1), most: most / 2 };
        variants.push((format!("half the flows ({half})"), with(half)));
    }
    let double = Ends { least: least * 2, most: most * 2 };
    if double.most <= MOST_FLOWS {
        variants.push((format!("double the flows ({double})"), with(double)));
    }
    let rtt = Ends { least: question.rtt.least * 2, most: question.rtt.most * 2 };
    variants.push((format!("double the RTT ({rtt})"), Question { rtt, ..question.clone() }));
    let (old, new) = other_control(question);
    let mix = question.mix.instead(&old, new);
    variants.push((instead(&old, new), Question { mix, ..question.clone() }));
    variants
}

/// The same on a scenario, which keeps all else.
fn variants_of_scenario(
    path: &ScenarioPath,
    bench: &Bench<'_, '_>,
    recommended: u64,
) -> Vec<(String, Vec<Case>)> {
    let question = bench.question;
    let flows = question.flows.most;
    let mut variants = Vec::new();
    if flows > 1 {
        variants.push((format!("half the flows ({})", flows / 2), path.with_flows(0.5)));
    }
    variants.push((format!("double the flows ({})", flows * 2), path.with_flows(2.0)));
    let rtt = Ends { least: question.rtt.least * 2, most: question.rtt.most * 2 };
    variants.push((format!("double the RTT ({rtt})"), path.with_rtt(2)));
    let (old, new) = other_control(question);
    variants.push((instead(&old, new), path.with_control(&old, new)));
    if let Some(full) = bench.elsewhere(recommended) {
        variants.push((
            format!("fq-codel at {}", full.table),
            path.with_queue(&full.table, "fq-codel", &full.limit),
        ));
    }
    variants.into_iter().map(|(what, path)| (what, vec![Case::Scenario(path)])).collect()
}

/// A control of the flows, and the one that may be there in its place.
fn other_control(question: &Question) -> (String, &'static str) {
    let mut controls = question.mix.shares().iter().map(|(control, _)| control.as_str());
    let first = controls.find(|control| *control != "bbr");
    first.map_or(("bbr".into(), "cubic"), |first| (first.into(), "bbr"))
}

fn instead(old: &str, new: &str) -> String {
    let names = |name: &str| if name.len() < 6 { name.to_uppercase() } else { name.to_owned() };
    format!("{} instead of {}", names(new), names(old))
}

/// Which of these no other excels in both.
pub(super) fn pareto(points: Vec<(&str, Point)>) -> Vec<Policy> {
    let better = |a: &Point, b: &Point| {
        let (more, less) = (a.utilization >= b.utilization, a.queueing_delay_s.p95 <= b.queueing_delay_s.p95);
        more && less && (a.utilization > b.utilization || a.queueing_delay_s.p95 < b.queueing_delay_s.p95)
    };
    let all: Vec<Point> = points.iter().map(|(_, point)| *point).collect();
    let policy = |(queue, point): (&str, Point)| Policy {
        queue: queue.into(),
        point,
        best: !point.unsettled && !all.iter().any(|other| !other.unsettled && better(other, &point)),
    };
    points.into_iter().map(policy).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::size::answer::Delay;
    use units::Rate;

    #[test]
    fn what_another_point_excels_in_both_is_not_best() {
        let question = Question::of(Rate::from_bps(10_000_000));
        let point = |utilization, p95| Point {
            utilization,
            queueing_delay_s: Delay { mean: p95, p95 },
            ..Point::at(&question, 10)
        };
        let slow = Point { unsettled: true, ..point(0.999, 0.001) };
        let found = pareto(vec![
            ("a", point(0.9, 0.01)),
            ("b", point(0.95, 0.005)),
            ("c", point(0.99, 0.02)),
            ("d", slow),
        ]);
        let best: Vec<bool> = found.iter().map(|policy| policy.best).collect();
        assert_eq!(best, [false, true, true, false]);
    }

    #[test]
    fn what_may_be_otherwise_is_half_double_and_another_control_at_both_ends() {
        let mut question = Question::of(Rate::from_bps(10_000_000));
        let told = |question: &Question| -> Vec<String> {
            variants(question).into_iter().map(|(what, _)| what).collect()
        };
        question.flows = Ends { least: 1, most: 7 };
        assert_eq!(
            told(&question),
            [
                "half the flows (1..3)",
                "double the flows (2..14)",
                "double the RTT (100ms)",
                "BBR instead of CUBIC"
            ]
        );
        for (_, other) in variants(&question).split_off(2) {
            assert_eq!(other.flows, question.flows);
        }
        question.flows = Ends::at(1);
        question.mix = "bbr".parse().unwrap();
        assert_eq!(
            told(&question),
            ["double the flows (2)", "double the RTT (100ms)", "CUBIC instead of BBR"]
        );
    }
}

//! The recommended limit under other circumstances, and other policies in comparison. Each row answers the question
//! that was asked: at both ends of its range of flows, with its ECN, hosts, traffic and way back.

use super::answer::{Point, Policy, Variant};
use super::choice::{Choice, pareto};
use super::lines;
use super::question::Question;
use super::settling;
use super::trials::{Room, Trials};
use super::twin::LIMITS;
use super::wire::{Measured, Run, TestPath, TestPaths};
use crate::study::experiment::ExperimentError;

/// The policies that keep the queue short by themselves, with the settings of the sources.
const POLICIES: [&str; 3] = ["codel", "fq-codel", "pie"];
/// The most packets for which a row that has not settled is measured again, later.
const LONG_PACKETS: f64 = 2.0 * LIMITS.packets;
/// The half width with which a row is long enough, as a share of the idle time that is allowed.
const TOLERANCE: f64 = 1.0;
/// The time of settling, in seconds, above which a remark mentions a policy.
const SOON: f64 = 5.0;

pub(super) struct Alternatives {
    pub(super) sensitivity: Vec<Variant>,
    pub(super) pareto: Vec<Policy>,
    /// The effects of the same limit in bytes, where packets are not all full.
    pub(super) in_bytes: Option<Point>,
    pub(super) remarks: Vec<String>,
}

/// A row of a table, with the paths on which it is simulated; the worst of them counts.
struct Row<W> {
    name: String,
    paths: Vec<W>,
    room: Room,
    queue: String,
}

impl<W> Row<W> {
    fn runs(&self) -> impl Iterator<Item = Run<'_, W>> {
        self.paths.iter().map(|path| Run { path, room: self.room, queue: &self.queue })
    }
}

/// Simulates the circumstances around the answer, all at once.
pub(super) fn alternatives<W: TestPath>(
    trials: &Trials<'_, '_, TestPaths<'_, W>>,
    chosen: &Choice,
) -> Result<Alternatives, ExperimentError> {
    let (question, testbed, mut remarks) = (trials.question, &trials.testbed, Vec::new());
    let path = testbed.paths.first().expect("a question has a path");
    let full = trials.found(chosen.recommended).and_then(|found| found.second_queue.as_ref());
    let row = |name: String, paths, room, queue: &str| Row { name, paths, room, queue: queue.into() };
    let recommended = Room::Packets(chosen.recommended);
    let mut rows: Vec<Row<W>> = Vec::new();
    for (name, paths) in path.variants(question, full) {
        let row = row(name, paths, recommended, &question.queue);
        match testbed.check(&row.paths, row.room, &row.queue) {
            Ok(()) => rows.push(row),
            Err(why) => remarks.push(format!("no row with {}: {why}", row.name)),
        }
    }
    let sensitive = rows.len();
    // The room allows for packets that a policy lets pass for a while, so that the policy's rule decides and not the
    // limit.
    let room = Room::Packets(safe_room(question, chosen));
    for policy in POLICIES.into_iter().filter(|policy| *policy != question.queue) {
        // Bursts of a link that changes can fill the limit, so the policy has the one of its defaults.
        let own = lines::default_limit(policy).filter(|_| question.changing.is_some());
        let room = own.map_or(room, |own| Room::Packets(own.max(room.packets())));
        let row = row(policy.into(), path.alike(question), room, policy);
        match testbed.check(&row.paths, row.room, policy) {
            Ok(()) => rows.push(row),
            Err(why) => remarks.push(format!("no row for {policy}: {why}")),
        }
    }
    let policies = rows.len() - sensitive;
    if question.is_mixed() {
        let paths = path.alike(question);
        rows.push(row("bytes".into(), paths, Room::Bytes(chosen.recommended), &question.queue));
    }
    let mut points = simulate(trials, &rows, &mut remarks)?;
    let in_bytes = if points.len() > sensitive + policies { points.pop() } else { None };
    let mut named = rows.into_iter().map(|row| row.name).zip(points);
    let sensitivity = named.by_ref().take(sensitive).map(|(what, point)| Variant { what, point }).collect();
    let others: Vec<(String, Point)> = named.collect();
    let mut limits = vec![chosen.least, chosen.recommended, chosen.most];
    if question.changing.is_some() {
        limits.extend(trials.limits().iter().map(|(limit, _)| *limit));
    }
    limits.sort_unstable();
    limits.dedup();
    let known = |limit: u64| Some((question.queue.as_str(), trials.found(limit)?.point));
    let own = limits.into_iter().filter_map(known);
    let others = others.iter().map(|(name, point)| (name.as_str(), *point));
    Ok(Alternatives { sensitivity, pareto: pareto(own.chain(others).collect()), in_bytes, remarks })
}

/// Returns the limit behind which a policy's own rule decides.
pub(super) fn safe_room(question: &Question, chosen: &Choice) -> u64 {
    chosen.most.max(chosen.recommended).max(question.bdp_limit().ceil() as u64)
}

/// Returns the result of each row, which is the worst of its paths. A row that has not settled is measured again if
/// that is cheap.
fn simulate<W: TestPath>(
    trials: &Trials<'_, '_, TestPaths<'_, W>>,
    rows: &[Row<W>],
    remarks: &mut Vec<String>,
) -> Result<Vec<Point>, ExperimentError> {
    let runs: Vec<Run<'_, W>> = rows.iter().flat_map(Row::runs).collect();
    let mut found = trials.testbed.simulate(&runs, TOLERANCE, &trials.runner)?;
    let later: Vec<(usize, W)> = (found.iter().zip(&runs).enumerate())
        .filter(|(_, (found, _))| found.point.unsettled)
        .filter_map(|(place, (found, run))| {
            Some((place, run.path.later(found.slow.map(|slow| slow.seconds), LONG_PACKETS)?))
        })
        .collect();
    let again: Vec<Run<'_, W>> = later
        .iter()
        .map(|(place, path)| Run { path, room: runs[*place].room, queue: runs[*place].queue })
        .collect();
    if !again.is_empty() {
        for ((place, _), late) in
            later.iter().zip(trials.testbed.simulate(&again, TOLERANCE, &trials.runner)?)
        {
            found[*place] = late;
        }
    }
    let mut found = found.into_iter();
    let mut points = Vec::new();
    for row in rows {
        let own: Vec<Measured> = found.by_ref().take(row.paths.len()).collect();
        let point = own.iter().map(|found| found.point).reduce(Point::worse).expect("a row has a path");
        remarks.extend(slow(&row.name, &row.queue, &point, trials.question));
        points.push(point);
    }
    Ok(points)
}

/// Returns a remark on a row that has not settled, or on CoDel if its rate of drops rises slowly; `None` otherwise.
fn slow(name: &str, queue: &str, point: &Point, question: &Question) -> Option<String> {
    let sent = point.utilization * question.rate.as_bps_f64() / question.mean_packet().bits_f64();
    let drops = sent * point.loss_rate / (1.0 - point.loss_rate).max(1e-6);
    let seconds = settling::seconds_by_default(drops);
    let climbs = queue == "codel" && seconds > SOON && !question.ecn;
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

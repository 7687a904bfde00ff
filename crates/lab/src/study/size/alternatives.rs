//! The recommended limit under other circumstances, and other policies in comparison. Each row answers the question
//! that was asked: at both ends of its range of flows, with its ECN, hosts, traffic and way back.

use super::answer::{Call, Point, Policy, Variant};
use super::call;
use super::choice::{Choice, pareto};
use super::question::Question;
use super::settling;
use super::tc::default_limit;
use super::trials::{Room, Trials};
use super::twin::LIMITS;
use super::wire::{Measured, Run, TestPath, TestPaths};
use crate::study::experiment::ExperimentError;

/// The policies that keep the queue short by themselves, with the settings of the sources.
const POLICIES: [&str; 6] = ["codel", "fq-codel", "pie", "fq-pie", "dualpi2", "cake"];
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
    pub(super) advice: Option<String>,
    /// The assumption about the call.
    pub(super) about_call: String,
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
        let own = default_limit(policy).filter(|_| question.changing.is_some());
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
    let mut points = simulate(trials, &mut rows, &mut remarks)?;
    let in_bytes = if points.len() > sensitive + policies { points.pop() } else { None };
    let others_paths: Vec<Vec<W>> =
        rows.iter().skip(sensitive).take(policies).map(|row| row.paths.clone()).collect();
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
    let mut pareto = pareto(own.chain(others).collect());
    let recommended = trials.found(chosen.recommended).expect("a limit that was simulated").point;
    let about_call =
        call::assumption(add_calls(trials, &mut pareto, &others_paths, &recommended)?.as_deref());
    let best = call::best(question, &recommended, &pareto);
    let shaped = best.map(|best| shaped(trials, path, best)).transpose()?.flatten();
    let advice = call::advice(question, &recommended, &pareto, best, shaped);
    Ok(Alternatives { sensitivity, pareto, in_bytes, remarks, advice, about_call })
}

/// Simulates a call behind the queue of each row of `pareto`. `others` are the paths of the other policies' rows, which
/// come last. On a link that changes, the recommended limit alone stands for the fixed ones. Returns the reason if a
/// row has no call.
fn add_calls<W: TestPath>(
    trials: &Trials<'_, '_, TestPaths<'_, W>>,
    pareto: &mut [Policy],
    others: &[Vec<W>],
    recommended: &Point,
) -> Result<Option<String>, ExperimentError> {
    let own = pareto.len() - others.len();
    let (question, mut why, mut calls) = (trials.question, None, Vec::new());
    for (place, row) in pareto.iter().enumerate() {
        let fixed = place < own;
        if row.point.unsettled
            || fixed && question.changing.is_some() && row.point.packets != recommended.packets
        {
            continue;
        }
        let paths = if fixed { &trials.testbed.paths } else { &others[place - own] };
        match paths.iter().map(W::with_call).collect::<Result<Vec<W>, String>>() {
            Ok(paths) => calls.extend(paths.into_iter().map(|path| (place, path))),
            Err(reason) => why = Some(reason),
        }
    }
    let run = |(place, path)| -> Run<'_, W> {
        let row: &Policy = &pareto[place];
        Run { path, room: Room::Packets(row.point.packets), queue: &row.queue }
    };
    let runs: Vec<Run<'_, W>> = calls.iter().map(|(place, path)| run((*place, path))).collect();
    let found = trials.testbed.once(&runs, &trials.runner)?;
    for ((place, _), found) in calls.iter().zip(found) {
        let call = &mut pareto[*place].call;
        *call = match (*call, found.call) {
            (Some(one), Some(other)) => Some(one.worse(other)),
            (one, other) => one.or(other),
        };
    }
    Ok(why)
}

/// Simulates a call behind the policy of the row `best` at the end of a shaper; `None` if the path has no other rate.
fn shaped<W: TestPath>(
    trials: &Trials<'_, '_, TestPaths<'_, W>>,
    path: &W,
    best: &Policy,
) -> Result<Option<(Point, Call)>, ExperimentError> {
    let Ok(paths) = path.shaped(trials.question).iter().map(W::with_call).collect::<Result<Vec<W>, String>>()
    else {
        return Ok(None);
    };
    let run = |path| Run { path, room: Room::Packets(best.point.packets), queue: &best.queue };
    let found = trials.testbed.once(&paths.iter().map(run).collect::<Vec<_>>(), &trials.runner)?;
    Ok(found.into_iter().reduce(Measured::worse).and_then(|found| Some((found.point, found.call?))))
}

/// Returns the limit behind which a policy's own rule decides.
pub(super) fn safe_room(question: &Question, chosen: &Choice) -> u64 {
    chosen.most.max(chosen.recommended).max(question.bdp_limit().ceil() as u64)
}

/// Returns the result of each row, which is the worst of its paths. A row that has not settled is measured again if
/// that is cheap, and has the later path from then on.
fn simulate<W: TestPath>(
    trials: &Trials<'_, '_, TestPaths<'_, W>>,
    rows: &mut [Row<W>],
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
    for (at, later) in later {
        let path = rows.iter_mut().flat_map(|row| &mut row.paths).nth(at);
        *path.expect("a run is of a path") = later;
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
    let climbs = queue == "codel" && seconds > SOON && !question.has_ecn();
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

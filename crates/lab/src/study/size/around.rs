//! The recommended limit under other circumstances, and other policies beside it.

use super::answer::{Point, Policy, Variant};
use super::bench::{Bench, Case, Run};
use super::choice::Choice;
use super::question::{Ends, Question};
use super::twin::{PACKETS, Twin};
use crate::study::experiment::ExperimentError;

/// What keeps the queue short by itself, with the settings of the sources.
const POLICIES: [&str; 3] = ["codel", "fq-codel", "pie"];

/// Behind these each departure is an event of its own.
const POLICY_PACKETS: f64 = PACKETS / 2.0;

pub(super) struct Around {
    pub(super) sensitivity: Vec<Variant>,
    pub(super) pareto: Vec<Policy>,
}

/// Simulates what is around the answer, all at once.
pub(super) fn around(
    question: &Question,
    bench: &Bench<'_, '_>,
    chosen: &Choice,
) -> Result<Around, ExperimentError> {
    let variants = variants(question);
    let mut cases: Vec<(Case, u64, &str)> = Vec::new();
    for (_, other) in &variants {
        cases.push((
            Case::Twin(Twin::of(other, other.flows.least, PACKETS)),
            chosen.recommended,
            &question.queue,
        ));
    }
    // Room for what a policy lets pass for a while: its own rule ends it, not the limit.
    let room = chosen.most.max(question.bdp_packets().ceil() as u64);
    let others: Vec<&str> = POLICIES.into_iter().filter(|policy| *policy != question.queue).collect();
    for policy in &others {
        cases.push((Case::Twin(Twin::of(question, question.flows.least, POLICY_PACKETS)), room, policy));
    }
    let runs: Vec<Run<'_>> =
        cases.iter().map(|(case, packets, queue)| Run { case, packets: *packets, queue }).collect();
    let mut points = bench.simulate(&runs)?;
    let policies = points.split_off(variants.len());
    let sensitivity =
        variants.into_iter().zip(points).map(|((what, _), point)| Variant { what, point }).collect();
    let mut limits = vec![chosen.least, chosen.recommended, chosen.most];
    limits.dedup();
    let own = limits.into_iter().map(|limit| (question.queue.as_str(), bench.at(limit)));
    Ok(Around { sensitivity, pareto: pareto(own.chain(others.into_iter().zip(policies)).collect()) })
}

/// What may be otherwise than was asked.
fn variants(question: &Question) -> Vec<(String, Question)> {
    let mut variants = Vec::new();
    let flows = question.flows.least;
    if flows > 1 {
        let half = Question { flows: Ends::at(flows / 2), ..question.clone() };
        variants.push((format!("half the flows ({})", flows / 2), half));
    }
    let rtt = Ends { least: question.rtt.least * 2, most: question.rtt.most * 2 };
    variants.push((format!("double the RTT ({rtt})"), Question { rtt, ..question.clone() }));
    let first =
        question.mix.shares().iter().map(|(control, _)| control.as_str()).find(|control| *control != "bbr");
    let (old, new) = first.map_or(("bbr", "cubic"), |first| (first, "bbr"));
    let mix = question.mix.instead(old, new);
    let names = |name: &str| if name.len() < 6 { name.to_uppercase() } else { name.to_owned() };
    variants
        .push((format!("{} instead of {}", names(new), names(old)), Question { mix, ..question.clone() }));
    variants
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
        best: !all.iter().any(|other| better(other, &point)),
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
        let found =
            pareto(vec![("a", point(0.9, 0.01)), ("b", point(0.95, 0.005)), ("c", point(0.99, 0.02))]);
        let best: Vec<bool> = found.iter().map(|policy| policy.best).collect();
        assert_eq!(best, [false, true, true]);
    }

    #[test]
    fn what_may_be_otherwise_is_half_double_and_another_control() {
        let mut question = Question::of(Rate::from_bps(10_000_000));
        question.flows = Ends::at(7);
        let told: Vec<String> = variants(&question).into_iter().map(|(what, _)| what).collect();
        assert_eq!(told, ["half the flows (3)", "double the RTT (100ms)", "BBR instead of CUBIC"]);
        question.flows = Ends::at(1);
        question.mix = "bbr".parse().unwrap();
        let told: Vec<String> = variants(&question).into_iter().map(|(what, _)| what).collect();
        assert_eq!(told, ["double the RTT (100ms)", "CUBIC instead of BBR"]);
    }
}

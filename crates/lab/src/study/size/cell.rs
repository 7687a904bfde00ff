//! The queue of a wireless cell's access point. Because a cell has no rate of its own, full utilization is the most
//! that the downloads get behind any fixed limit. Runs of a cell vary, so each number is a mean over seeds.

mod asked;

pub(super) use asked::question;

use super::answer::{Delay, Point, QuestionNumbers, Rule, Sizing, Variant};
use super::choice::{Choice, MARGIN, knee, pareto, trade_off};
use super::question::Question;
use super::trials::{LARGEST, LOOKS, Limits, Testbed, Trials, delay, simulate, spaced};
use crate::run::record::{Engine, Summary};
use crate::run::statistics::{Estimate, estimate};
use crate::study::experiment::ExperimentError;
use crate::study::sweep::Runner;
use crate::study::task::Task;
use asked::{cautions, downloads, lines};
use scenario::{Document, Faults};
use sim::{CellPlan, Direction};
use std::sync::Arc;
use units::Span;

/// The number of runs of each limit.
const SEEDS: u64 = 5;
/// The largest limit of eBDP, packets.
const EBDP_MOST: u64 = 400;
/// The packets that eBDP adds: as P4 prints them, and as the original has them (from memory, not checked).
const EBDP_EXTRA: [u64; 2] = [40, 5];
/// The queue of mac80211: its settings of FQ-CoDel, with a limit for all its queues together.
const MAC80211: &str =
    "kind = 'fq-codel', limit = '8192 packets', target = '20ms', interval = '100ms', quantum = '300B'";
/// The airtime that Linux lets a station and category have pending.
const AQL: Span = Span::from_millis(12);

/// The results of the runs of one setting.
#[derive(Clone, Copy)]
struct Runs {
    packets: u64,
    /// The goodput of the downloads together, bits per second.
    goodput: Estimate,
    /// The throughput of the access point's packets over the air, bits per second.
    air_bps: f64,
    delay: Delay,
    loss: Estimate,
    /// The mean of a limit that moves.
    moving: Option<f64>,
}

/// A setting: keys and their values, and the limit that they give.
type Setting = (Vec<(String, String)>, u64);

/// The cell of a scenario.
struct Cell<'a> {
    question: &'a Question,
    document: Arc<Document>,
    base: Task,
    seed: u64,
}

impl Cell<'_> {
    fn set(key: &str, value: String) -> (String, String) {
        (key.to_owned(), value)
    }

    /// Returns the setting of a fixed limit for the scenario's own queue.
    fn fixed(&self, packets: u64) -> Setting {
        let mut keys = vec![Self::set("wlan.queue.limit", format!("{packets} packets"))];
        let plan = self.base.resolved.cell.as_ref();
        if plan.is_some_and(|plan| plan.access_point[plan.watched].moving.is_some()) {
            keys.push(Self::set("wlan.queue.sizing.rule", "fixed".into()));
        }
        (keys, packets)
    }

    /// Returns the runs with these keys, one for each seed.
    fn seeded(&self, keys: &[(String, String)]) -> Result<Vec<Task>, Faults> {
        let task = |nth: u64| {
            let mut point = keys.to_vec();
            point.push(Self::set("seed", self.seed.wrapping_add(nth).to_string()));
            Task::at(&self.document, point)
        };
        (0..SEEDS).map(task).collect()
    }

    /// Runs each setting with every seed.
    fn run(&self, settings: &[Setting], runner: &Runner<'_, '_>) -> Result<Vec<Runs>, ExperimentError> {
        let jobs = settings.iter().map(|(keys, _)| self.seeded(keys)).collect::<Result<Vec<_>, Faults>>()?;
        simulate(runner, &jobs, |place, runs| self.measured(settings[place].1, runs))
    }

    fn measured(&self, packets: u64, runs: &[Summary]) -> Runs {
        let of = |value: &dyn Fn(&Summary) -> f64| estimate(&runs.iter().map(value).collect::<Vec<f64>>());
        let resolved = &self.base.resolved;
        let plan = resolved.cell.as_ref().expect("a cell");
        let names: Vec<&str> = downloads(resolved, plan).map(|(_, flow)| flow.name.as_str()).collect();
        let category = plan.access_point[plan.watched].category.name();
        let goodput = |run: &Summary| {
            let down = run.flows.iter().filter(|flow| names.contains(&flow.name.as_str()));
            down.map(|flow| flow.goodput_bps).sum()
        };
        let air = |run: &Summary| {
            let stations = run.wlan.iter().flat_map(|wlan| &wlan.stations);
            let own = stations.filter(|one| one.name == CellPlan::ACCESS_POINT && one.category == category);
            own.map(|one| one.throughput_bps).sum()
        };
        let limit = |run: &Summary| run.wlan.as_ref().and_then(|wlan| wlan.mean_limit_packets);
        let moving = limit(&runs[0]).map(|_| of(&|run| limit(run).unwrap_or_default()).mean);
        Runs {
            packets,
            goodput: of(&goodput),
            air_bps: of(&air).mean,
            delay: Delay { mean: of(&|run| delay(run).mean).mean, p95: of(&|run| delay(run).p95).mean },
            loss: of(&|run| run.loss_rate.unwrap_or_default()),
            moving,
        }
    }

    fn point(&self, found: &Runs, best: &FullUtilization) -> Point {
        let packets = found.moving.map_or(found.packets, |mean| mean.round() as u64);
        let point = Point::at(self.question, packets);
        Point {
            ms: packets as f64 * self.question.packet.bits_f64() / best.air_bps * 1e3,
            // `best` is a mean over several limits, so that one of them may have a little more than 100 %.
            utilization: (found.goodput.mean / best.goodput).min(1.0),
            utilization_ci95: Some(found.goodput.half_width / best.goodput),
            queueing_delay_s: found.delay,
            loss_rate: found.loss.mean,
            loss_rate_ci95: Some(found.loss.half_width),
            ..point
        }
    }
}

impl Testbed for Cell<'_> {
    type Runs = Runs;

    fn try_limits(&self, limits: &[u64], runner: &Runner<'_, '_>) -> Result<Vec<Runs>, ExperimentError> {
        let settings: Vec<Setting> = limits.iter().map(|limit| self.fixed(*limit)).collect();
        self.run(&settings, runner)
    }

    fn curve(&self, limits: &Limits<Runs>) -> Vec<Point> {
        let best = FullUtilization::of(limits);
        limits.iter().map(|(_, found)| self.point(found, &best)).collect()
    }

    /// Returns the curve with smoothed goodputs: where the goodput would fall as the limit grows, neighbouring limits
    /// get their common mean (a monotone fit).
    fn chosen_by(&self, limits: &Limits<Runs>) -> Vec<Point> {
        let best = FullUtilization::of(limits);
        let blocks = rising(&goodputs(limits));
        let fits = blocks.into_iter().flat_map(|(mean, count)| std::iter::repeat_n((mean, count), count));
        let fit = |(point, (mean, count)): (Point, (f64, usize))| Point {
            utilization: mean / best.goodput,
            utilization_ci95: point.utilization_ci95.map(|half| half / (count as f64).sqrt()),
            ..point
        };
        self.curve(limits).into_iter().zip(fits).map(fit).collect()
    }

    fn first_reach(&self) -> f64 {
        (self.question.bdp_packets() * LARGEST.0).max(f64::from(LOOKS))
    }

    /// Returns two larger limits while the largest has surely more goodput than the one before.
    fn larger(&self, limits: &Limits<Runs>) -> Vec<u64> {
        let most = (self.question.bdp_packets() * LARGEST.1) as u64;
        let [.., (_, before), (packets, last)] = limits else { return Vec::new() };
        let apart = before.goodput.half_width.max(last.goodput.half_width);
        if last.goodput.mean - before.goodput.mean <= apart || *packets >= most {
            return Vec::new();
        }
        [packets * 3 / 2, packets * 2].map(|limit| limit.min(most)).to_vec()
    }

    fn smaller(&self, _limits: &Limits<Runs>) -> Vec<u64> {
        Vec::new()
    }

    fn between(&self, _limits: &Limits<Runs>) -> Vec<u64> {
        Vec::new()
    }

    /// Returns the limit half-way between the least one and the next smaller one.
    fn also_tried(&self, limits: &Limits<Runs>, least: u64) -> Option<u64> {
        let (below, _) = limits.iter().rev().find(|(packets, _)| *packets < least)?;
        Some(spaced(*below as f64, least as f64, 0.5))
    }
}

/// Full utilization: the goodput behind the largest limits.
struct FullUtilization {
    goodput: f64,
    air_bps: f64,
    /// The smallest of the limits over which `goodput` is the mean.
    from: u64,
}

impl FullUtilization {
    fn of(limits: &Limits<Runs>) -> Self {
        let blocks = rising(&goodputs(limits));
        let (goodput, count) = blocks[blocks.len() - 1];
        let last = &limits[limits.len() - count..];
        let air_bps = last.iter().map(|(_, found)| found.air_bps).sum::<f64>() / last.len() as f64;
        Self { goodput, air_bps, from: last[0].0 }
    }
}

fn goodputs(limits: &Limits<Runs>) -> Vec<f64> {
    limits.iter().map(|(_, found)| found.goodput.mean).collect()
}

/// Averages neighbours so that the means do not fall, and returns each mean with the number of its values (pool
/// adjacent violators).
fn rising(values: &[f64]) -> Vec<(f64, usize)> {
    let mut blocks: Vec<(f64, usize)> = Vec::new();
    for value in values {
        let mut block = (*value, 1);
        while let Some((mean, count)) = blocks.pop_if(|(mean, _)| *mean >= block.0) {
            let all = count + block.1;
            block = ((mean * count as f64 + block.0 * block.1 as f64) / all as f64, all);
        }
        blocks.push(block);
    }
    blocks
}

/// Returns the answer, with every number simulated.
pub(super) fn simulated(
    question: &Question,
    document: &Document,
    seed: u64,
    runner: Runner<'_, '_>,
) -> Result<Sizing, ExperimentError> {
    let document = Arc::new(document.clone());
    let base = Task::at(&document, Vec::new())?;
    let mut trials = Trials::new(question, Cell { question, document, base, seed }, runner);
    let chosen = trials.choose()?;
    let (cell, limits, curve) = (&trials.testbed, trials.limits(), trials.curve());
    let best = FullUtilization::of(limits);
    let at = |packets: u64| {
        let found = trials.found(packets).expect("a limit that was simulated");
        cell.point(found, &best)
    };
    let policies = cell.policies(&trials.runner)?;
    let mut own = vec![chosen.least, chosen.recommended, chosen.most];
    own.dedup();
    let own = own.into_iter().map(|limit| (question.queue.as_str(), at(limit)));
    let others = policies.iter().map(|(name, found)| (name.as_str(), cell.point(found, &best)));
    let recommended = at(chosen.recommended);
    Ok(Sizing {
        asked: QuestionNumbers::of(question),
        advice: None,
        engine: Engine::Sim,
        best_bps: Some(best.goodput),
        least: at(chosen.least),
        recommended,
        most: at(chosen.most),
        rules: cell.rules(&policies, &best),
        knee: knee(&curve),
        sensitivity: cell.variants(&chosen, &trials.runner)?,
        pareto: pareto(own.chain(others).collect()),
        preferred: None,
        trade_off: chosen.conflict.as_ref().map(|conflict| trade_off(question, conflict, &curve, at)),
        remarks: Vec::new(),
        lines: lines(question, &recommended),
        proof: None,
        assumptions: cell.assumptions(&recommended, &best, limits),
        curve,
    })
}

impl Cell<'_> {
    /// Simulates rules that move the limit, and the queue of Linux, in place of the scenario's queue.
    fn policies(&self, runner: &Runner<'_, '_>) -> Result<Vec<(String, Runs)>, ExperimentError> {
        let target = self.question.rtt.mean();
        let queue = |table: String, packets| (vec![Self::set("wlan.queue", table)], packets);
        let mut settings: Vec<(String, Setting)> = Vec::new();
        for extra in EBDP_EXTRA {
            let table = format!(
                "{{ limit = '{EBDP_MOST} packets', sizing = {{ rule = 'ebdp', target = '{target}', extra = {extra} }} }}"
            );
            settings.push((format!("eBDP, a = {extra}"), queue(table, EBDP_MOST)));
        }
        settings.push(("fq-codel".into(), queue(format!("{{ {MAC80211} }}"), 8192)));
        let aql = format!("{{ {MAC80211}, airtime_limits = {{}} }}");
        settings.push(("fq-codel, airtime limits".into(), queue(aql, 8192)));
        let (names, settings): (Vec<String>, Vec<Setting>) = settings.into_iter().unzip();
        Ok(names.into_iter().zip(self.run(&settings, runner)?).collect())
    }

    fn rules(&self, policies: &[(String, Runs)], best: &FullUtilization) -> Vec<Rule> {
        const PAPER: &str = "Li, Leith and Malone 2011";
        let question = self.question;
        let (packet, rtt) = (question.packet.bits_f64(), question.rtt.mean());
        let rule = |name: String, packets: f64, source, fits, because: String| Rule {
            name,
            packets: Some(packets.ceil() as u64),
            source,
            fits,
            because,
        };
        let mut rules = vec![
            rule(
                "bandwidth-delay product of a lone download".into(),
                question.bdp_packets(),
                PAPER,
                false,
                format!(
                    "one download and nothing else in the air: {:.2} Mbit/s for {rtt}",
                    question.rate.as_bps_f64() / 1e6
                ),
            ),
            rule(
                "bandwidth-delay product at this load".into(),
                best.air_bps * rtt.as_secs_f64() / packet,
                PAPER,
                false,
                format!("{:.2} Mbit/s for {rtt}, and service times that do not vary", best.air_bps / 1e6),
            ),
        ];
        for (name, found) in policies {
            if let Some(mean) = found.moving {
                let because = format!(
                    "T/T_serv + a for T = {rtt}, at most {EBDP_MOST}: it follows the load; this is its mean"
                );
                rules.push(rule(name.clone(), mean, PAPER, true, because));
            }
        }
        if let Some(cell) = &question.cell {
            let because = format!(
                "{AQL} of airtime that a station may have pending, without contention; FQ-CoDel above it"
            );
            rules.push(rule(
                "airtime limit".into(),
                AQL.as_secs_f64() / cell.frame_s,
                "Linux, mac80211",
                false,
                because,
            ));
        }
        rules
    }

    /// Simulates the recommended limit at other loads. Full utilization of a load is its goodput behind a large limit.
    fn variants(&self, chosen: &Choice, runner: &Runner<'_, '_>) -> Result<Vec<Variant>, ExperimentError> {
        let question = self.question;
        let resolved = &self.base.resolved;
        let rtt = question.rtt.mean() * 2;
        let delay = Span::from_nanos(rtt.as_nanos() / 2);
        let mut kinds = vec![(
            format!("double the RTT ({rtt})"),
            vec![Self::set("wlan.backhaul.delay", delay.to_string())],
            2.0,
        )];
        let up = resolved
            .flows
            .iter()
            .filter(|flow| flow.place.is_some_and(|place| place.direction == Direction::Up));
        let mut without: Vec<(String, String)> =
            up.map(|flow| Self::set(&format!("{}.{}.count", flow.section, flow.entry), "0".into())).collect();
        without.dedup();
        if !without.is_empty() {
            kinds.insert(0, ("no uploads".into(), without, 1.0));
        }
        let mut settings: Vec<Setting> = Vec::new();
        for (_, keys, times) in &kinds {
            let large = (question.bdp_packets() * LARGEST.0 * times).ceil() as u64;
            for limit in [chosen.recommended, large.max(chosen.most)] {
                let (mut all, packets) = self.fixed(limit);
                all.extend(keys.iter().cloned());
                settings.push((all, packets));
            }
        }
        let found = self.run(&settings, runner)?;
        let variant = |(what, pair): (&String, &[Runs])| {
            let goodput = pair[0].goodput.mean.max(pair[1].goodput.mean);
            let best = FullUtilization { goodput, air_bps: pair[1].air_bps, from: 0 };
            Variant { what: what.clone(), point: self.point(&pair[0], &best) }
        };
        Ok(kinds.iter().map(|(what, ..)| what).zip(found.chunks(2)).map(variant).collect())
    }

    fn assumptions(&self, recommended: &Point, best: &FullUtilization, limits: &Limits<Runs>) -> Vec<String> {
        let last = limits.last().map_or(0, |(packets, _)| *packets);
        let mut assumptions = cautions(&self.base.resolved, recommended);
        assumptions.extend([
            format!(
                "100 % of utilization are {:.3} Mbit/s of goodput, which is the sum of the downloads behind {} packets",
                best.goodput / 1e6,
                if best.from == last { last.to_string() } else { format!("{} to {last}", best.from) }
            ),
            "the rate of a wireless cell depends on what the other stations send. So there is no bandwidth-delay product (bdp is null), and ms is the time in which the access point sends that number of packets at this load"
                .into(),
            format!(
                "each number is the mean of {SEEDS} runs, of the seeds from {}, and its interval is theirs",
                self.seed
            ),
            format!("more room is taken never to lessen the goodput; the recommended limit is {MARGIN} times the least that surely has the target"),
            "a fixed limit fits the load that it was chosen at".into(),
            "the limit is that of one access category, all stations together".into(),
            "hostapd sets how categories contend, and no queue's length".into(),
        ]);
        assumptions
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_that_fall_are_pooled() {
        assert_eq!(rising(&[1.0, 3.0, 2.0, 4.0]), [(1.0, 1), (2.5, 2), (4.0, 1)]);
        assert_eq!(rising(&[3.0, 2.0, 1.0]), [(2.0, 3)]);
    }
}

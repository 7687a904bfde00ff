//! The shares of the flows: goodput and RTT of a lone flow; for several the sum, each one's share, and the queueing
//! delay.

use super::by_of;
use crate::text::{bit_rate, delay, in_words, short, volume};
use lab::run::record::{Engine, FlowSummary, Summary};
use lab::run::resolve::{Resolved, ResolvedFlow};
use std::cmp::Ordering;

/// The most names that a sentence lists one by one.
pub(super) const MOST_NAMED: usize = 6;

/// The flows of one `[[flow]]` table of the scenario.
pub(super) struct Group<'a> {
    /// The name: "bbr", or "10 bbr flows".
    pub(super) name: String,
    /// The numbers of its flows.
    pub(super) flows: Vec<&'a FlowSummary>,
}

impl Group<'_> {
    /// Returns the goodput of the group, bits per second.
    pub(super) fn goodput_bps(&self) -> f64 {
        self.flows.iter().map(|flow| flow.goodput_bps).sum()
    }

    /// Writes "bbr has", "10 bbr flows have".
    fn has(&self) -> String {
        format!("{} {}", self.name, if self.flows.len() > 1 { "have" } else { "has" })
    }
}

/// Groups the flows of a run by the tables that they are from.
pub(super) fn groups<'a>(resolved: &Resolved, summary: &'a Summary) -> Vec<Group<'a>> {
    let mut tables: Vec<usize> = Vec::new();
    let mut groups: Vec<Group<'a>> = Vec::new();
    for (of, flow) in resolved.flows.iter().zip(&summary.flows) {
        match tables.iter().position(|entry| *entry == of.entry) {
            Some(index) => groups[index].flows.push(flow),
            None => {
                tables.push(of.entry);
                groups.push(Group { name: flow.name.clone(), flows: vec![flow] });
            }
        }
    }
    for group in groups.iter_mut().filter(|group| group.flows.len() > 1) {
        let base = group.name.strip_suffix("-1").unwrap_or(&group.name);
        let noun = if base == "flow" { "" } else { " flows" };
        let plural = if base == "flow" { "flows" } else { base };
        group.name = format!("{} {plural}{noun}", group.flows.len());
    }
    groups
}

/// Describes the results of the flows in `summary`; empty without flows.
pub(super) fn outcome(resolved: &Resolved, summary: &Summary) -> Vec<String> {
    let mut out = match summary.flows.as_slice() {
        [] => return Vec::new(),
        [flow] => lone(resolved, summary, flow).into_iter().collect(),
        _ => several(resolved, summary),
    };
    out.extend(self_inflicted(summary));
    out.extend(completion(resolved, summary));
    out.extend(over_before_measuring(resolved, summary));
    out
}

/// Writes "The kernel gets 18.2 Mbit/s of goodput, 91 % of the available bandwidth, at a mean RTT of 48.6 ms."
fn lone(resolved: &Resolved, summary: &Summary, flow: &FlowSummary) -> Option<String> {
    let rtt = flow.rtt_s?.mean;
    let engine = match summary.engine {
        Engine::Model if !summary.is_exact() => "Theory, whose assumptions the scenario breaks, predicts",
        Engine::Model => "Theory predicts",
        Engine::Sim => "The simulation gives",
        Engine::Live if resolved.flows.iter().any(ResolvedFlow::is_quic) => "QUIC gets",
        Engine::Live => "The kernel gets",
    };
    let base = resolved.flows.first()?.base_rtt.as_secs_f64();
    Some(format!(
        "{engine} {} of goodput{}, at a mean RTT of {} ({} above the base RTT), {}.",
        bit_rate(flow.goodput_bps),
        share_of_available(resolved, summary, flow.goodput_bps),
        delay(rtt),
        delay((rtt - base).max(0.0)),
        losses(flow.retransmits, flow.loss_rate)
    ))
}

fn share_of_available(resolved: &Resolved, summary: &Summary, goodput_bps: f64) -> String {
    let available = resolved.available().as_bps_f64();
    if let Some(offered) = summary.offered_bps.filter(|offered| *offered > 0.0) {
        format!(", {:.0} % of what the link offered", goodput_bps / offered * 100.0)
    } else if available > 0.0 {
        format!(", {:.0} % of the available bandwidth", goodput_bps / available * 100.0)
    } else {
        String::new()
    }
}

/// Describes the delay that senders add to that of a link whose rate changes.
fn self_inflicted(summary: &Summary) -> Option<String> {
    let own = summary.self_inflicted_delay_s?;
    Some(format!(
        "The self-inflicted delay is {}: at the 95th percentile, data arrive that much later than from a sender that \
         knew the capacity in advance.",
        delay(own)
    ))
}

fn losses(retransmits: Option<u64>, loss_rate: Option<f64>) -> String {
    match (retransmits, loss_rate) {
        (Some(0), _) => "without a retransmission".to_owned(),
        (Some(1), _) => "with 1 retransmission".to_owned(),
        (Some(count), _) => format!("with {count} retransmissions"),
        (None, Some(rate)) => format!("with {} % of packets lost", short(rate * 100.0)),
        (None, None) => "with losses that the engine does not know".to_owned(),
    }
}

/// Writes two sentences: one about the sum and the shares, one about the queue.
fn several(resolved: &Resolved, summary: &Summary) -> Vec<String> {
    let by = by_of(resolved, summary.engine);
    let total: f64 = summary.flows.iter().map(|flow| flow.goodput_bps).sum();
    let all_sized = resolved.flows.iter().all(|flow| flow.size.is_some());
    let groups = groups(resolved, summary);
    let mut out = Vec::new();
    // There are no shares if every flow has a size, because transfers may run one after the other.
    if total > 0.0 && !all_sized {
        out.push(if (2..=MOST_NAMED).contains(&groups.len()) {
            format!("{by}, {}.", shares(groups, total))
        } else {
            // The share of the available bandwidth is left out for a network, because its flows need not share a link.
            let share = if resolved.is_network() {
                String::new()
            } else {
                share_of_available(resolved, summary, total)
            };
            let (flows, goodput) = (summary.flows.len(), bit_rate(total));
            format!("{by}, {flows} flows have {goodput} of goodput in all{share}; {}.", range(&summary.flows))
        });
    }
    out.extend(queue(summary));
    out
}

/// Writes "bbr has 88 % of the goodput (41.7 of 47.4 Mbit/s), cubic 12 %".
fn shares(mut groups: Vec<Group<'_>>, total: f64) -> String {
    groups.sort_by(|a, b| b.goodput_bps().partial_cmp(&a.goodput_bps()).unwrap_or(Ordering::Equal));
    let percent = |group: &Group<'_>| format!("{:.0} %", group.goodput_bps() / total * 100.0);
    let first = &groups[0];
    // The unit is written once if both numbers have the same.
    let (own, sum) = (bit_rate(first.goodput_bps()), bit_rate(total));
    let number = match (own.split_once(' '), sum.split_once(' ')) {
        (Some((number, unit)), Some((_, of))) if unit == of => number.to_owned(),
        _ => own,
    };
    let mut text = format!("{} {} of the goodput ({number} of {sum})", first.has(), percent(first));
    let others: Vec<String> =
        groups[1..].iter().map(|group| format!("{} {}", group.name, percent(group))).collect();
    text += ", ";
    text + &in_words(&others)
}

/// Writes "a single flow has 1.1 Mbit/s to 5.4 Mbit/s, the median 3.1 Mbit/s".
fn range(flows: &[FlowSummary]) -> String {
    let mut each: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
    each.sort_by(f64::total_cmp);
    let (least, middle, most) = (each[0], each[(each.len() - 1) / 2], each[each.len() - 1]);
    format!("a single flow has {} to {}, the median {}", bit_rate(least), bit_rate(most), bit_rate(middle))
}

/// Writes "The queueing delay is 22 ms on average and 40 ms at the 95th percentile, with 312 retransmissions."
fn queue(summary: &Summary) -> Option<String> {
    let queueing = summary.queueing_delay_s?;
    let p95 = queueing.percentiles.p95;
    let tail = p95.map_or_else(String::new, |p95| format!(" and {} at the 95th percentile", delay(p95)));
    let losses = losses(summary.retransmits(), summary.loss_rate);
    Some(format!("The queueing delay is {} on average{tail}, {losses}.", delay(queueing.mean)))
}

/// Describes the completion times of sized flows.
fn completion(resolved: &Resolved, summary: &Summary) -> Option<String> {
    let flows = resolved.flows.iter().zip(&summary.flows);
    let mut ended: Vec<(f64, &str, f64)> = flows
        .filter_map(|(of, flow)| {
            let size = of.size?.get() as f64;
            Some((flow.completion_s?, flow.name.as_str(), size))
        })
        .collect();
    ended.sort_by(|a, b| a.0.total_cmp(&b.0));
    let sized = resolved.flows.iter().filter(|flow| flow.size.is_some()).count();
    let by = by_of(resolved, summary.engine);
    match ended.as_slice() {
        [] if sized > 0 => Some(format!("{by}, no transfer of a fixed size ended before the run did.")),
        [] => None,
        [(took, name, size)] if sized == 1 => {
            let name = if resolved.flows.len() == 1 { "the transfer" } else { name };
            Some(format!("{by}, {name} takes {} for its {}.", delay(*took), volume(*size)))
        }
        [first, .., last] if ended.len() == sized => Some(format!(
            "{by}, {sized} transfers of a fixed size take {} ({}) to {} ({}).",
            delay(first.0),
            first.1,
            delay(last.0),
            last.1
        )),
        [first, ..] => Some(format!(
            "{by}, {} of {sized} transfers of a fixed size ended, the first ({}) after {}.",
            ended.len(),
            first.1,
            delay(first.0)
        )),
    }
}

/// Explains a row of zeros by flows that ended during the warm-up.
fn over_before_measuring(resolved: &Resolved, summary: &Summary) -> Option<String> {
    let warmup = resolved.warmup.as_secs_f64();
    let over = resolved.flows.iter().zip(&summary.flows).filter(|(of, flow)| {
        let begun = of.start.as_secs_f64() + flow.handshake_s.unwrap_or(0.0);
        let ended = flow.completion_s.map(|took| begun + took);
        let left = of.stop.map(units::Time::as_secs_f64);
        ended.or(left).is_some_and(|end| end <= warmup)
    });
    let names: Vec<String> = over.map(|(_, flow)| flow.name.clone()).collect();
    match names.len() {
        0 => None,
        n if n > MOST_NAMED => {
            Some(format!("{n} flows ended during the warm-up, so that no measured number counts them."))
        }
        _ => {
            Some(format!("{} ended during the warm-up: the measured numbers leave it out.", in_words(&names)))
        }
    }
}

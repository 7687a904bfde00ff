//! L4S flows among classic ones: their share of the link, and the wait of their packets.

use super::answer::L4s;
use super::question::Question;
use crate::run::record::Summary;
use crate::run::resolve::Resolved;
use cc::registry::is_scalable;
use scenario::FlowDraft;
use std::collections::HashSet;

/// The control whose flows change their ways some hundred round trips after their start. Simulations begin after that.
const PRAGUE: &str = "prague";

/// Reads the share and the wait of L4S flows from runs of one scenario; `None` unless it mixes them with classic flows.
/// Waits are not scaled with a twin's limit, because the queue of L4S packets goes by a time.
pub(super) fn seen(resolved: &Resolved, summaries: &[Summary]) -> Option<L4s> {
    let names = |scalable: bool| -> HashSet<&str> {
        let flows = resolved.greedy().filter(|flow| is_scalable(&flow.control.name) == scalable);
        flows.map(|flow| flow.name.as_str()).collect()
    };
    let (l4s, classic) = (names(true), names(false));
    if l4s.is_empty() || classic.is_empty() {
        return None;
    }
    let even_share = l4s.len() as f64 / (l4s.len() + classic.len()) as f64;
    let one = |summary: &Summary| {
        let of = |names: &HashSet<&str>| -> f64 {
            let flows = summary.flows.iter().filter(|flow| names.contains(flow.name.as_str()));
            flows.map(|flow| flow.goodput_bps).sum()
        };
        let (l4s, classic) = (of(&l4s), of(&classic));
        L4s {
            goodput_share: if l4s > 0.0 { l4s / (l4s + classic) } else { 0.0 },
            even_share,
            queueing_delay_p95_s: summary.l4s_delay_s.and_then(|delay| delay.percentiles.p95),
        }
    };
    L4s::mean(&summaries.iter().map(one).collect::<Vec<L4s>>())
}

/// Describes what L4S flows do behind each kind of queue, if there are some.
pub(super) fn assumption(question: &Question) -> Option<String> {
    let shares = question.mix.shares();
    let share: f64 = shares.iter().filter(|(control, _)| is_scalable(control)).map(|(_, share)| share).sum();
    (share > 0.0).then(|| {
        format!(
            "prague flows ({:.0} % of all) send ECT(1): a queue that marks may mark their packets, and behind one that never does they are \
             as Reno flows",
            share * 100.0
        )
    })
}

/// Gives a flow the age of a long transfer, if its control is Prague.
pub(super) fn aged(flow: FlowDraft, control: &str) -> FlowDraft {
    if control == PRAGUE { flow.set("prague_rtt_transition", 0u64) } else { flow }
}

/// Describes the age of Prague flows in the scenarios that are made of a question, if it has some.
pub(super) fn age(question: &Question) -> Option<&'static str> {
    let says = "prague flows are those of long transfers: with an RTT of up to 25 ms they have one rate from the start";
    question.mix.has(PRAGUE).then_some(says)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worse_of_two_is_the_less_even_share_and_the_longer_wait() {
        let seen = |goodput_share: f64, queueing_delay_p95_s: Option<f64>| L4s {
            goodput_share,
            even_share: 0.5,
            queueing_delay_p95_s,
        };
        let worse = seen(0.4, Some(1e-3)).worse(seen(0.7, None));
        assert_eq!(worse, seen(0.7, Some(1e-3)));
        let worse = seen(0.2, Some(1e-3)).worse(seen(0.7, Some(2e-3)));
        assert_eq!(worse, seen(0.2, Some(2e-3)));
        let mean = L4s::mean(&[seen(0.2, Some(1e-3)), seen(0.4, Some(3e-3))]).unwrap();
        assert!(
            (mean.goodput_share - 0.3).abs() < 1e-12 && mean.queueing_delay_p95_s == Some(2e-3),
            "{mean:?}"
        );
        assert_eq!(L4s::mean(&[]), None);
    }
}

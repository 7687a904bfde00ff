//! The meaning of a picture, in plain sentences.
//!
//! Reading order: [`sentences`] has all sentences about one case. `sentences/outcome.rs` has each flow's share,
//! `agreement.rs` the agreement of the engines, `change.rs` the difference from one case to the next. Numbers are
//! rounded by `text.rs`.

mod agreement;
mod change;
mod outcome;

pub(crate) use change::change;

use crate::cell;
use crate::text::{bit_rate, delay, short, volume};
use lab::run::record::{Engine, SessionsSummary, Summary};
use lab::run::resolve::{Resolved, ResolvedFlow};
use lab::study::task::Answer;

/// Writes sentences for the reader who asks "so what?". They give the outcome of the case and the agreement of the
/// engines, and explain the outcome by the path and the socket buffer.
pub(crate) fn sentences(answer: &Answer) -> Vec<String> {
    let resolved = &answer.task.resolved;
    if resolved.cell.is_some() {
        let records = || answer.records.iter().map(|record| &record.summary);
        return records().filter_map(cell::sentence).chain(records().filter_map(assumed)).collect();
    }
    let records = || answer.records.iter().map(|record| &record.summary);
    let outcomes = records().rev().map(|summary| outcome::outcome(resolved, summary));
    let mut sentences = outcomes.into_iter().find(|outcomes| !outcomes.is_empty()).unwrap_or_default();
    sentences.extend(agreement::agreement(resolved, answer));
    sentences.extend(records().flat_map(|summary| &summary.sessions).map(users));
    sentences.extend(standing(resolved));
    sentences.extend(records().filter_map(assumed));
    sentences.extend(records().filter_map(together));
    sentences
}

/// The beginning of a sentence about real packets that the kernel's TCP did not send.
const REAL_PACKETS: &str = "On real packets";

/// Returns the beginning of a sentence about an engine's result.
fn by(engine: Engine) -> &'static str {
    match engine {
        Engine::Model => "By theory",
        Engine::Sim => "In the simulation",
        Engine::Live => "On the kernel",
    }
}

/// Returns the beginning of a sentence about an engine's result for `resolved`, whose flows may be QUIC's.
fn by_of(resolved: &Resolved, engine: Engine) -> &'static str {
    let quic = engine == Engine::Live && resolved.flows.iter().any(ResolvedFlow::is_quic);
    if quic { REAL_PACKETS } else { by(engine) }
}

/// Describes the assumptions of an answer that the scenario breaks. Each assumption begins with the name of its theory,
/// which the sentence has once.
fn assumed(summary: &Summary) -> Option<String> {
    let (theory, _) = summary.assumptions.first()?.split_once(": ").unwrap_or_default();
    let plain = |text: &String| {
        text.strip_prefix(theory).and_then(|rest| rest.strip_prefix(": ")).unwrap_or(text.as_str()).to_owned()
    };
    let all = summary.assumptions.iter().map(plain).collect::<Vec<_>>().join("; ");
    let theory = if theory.is_empty() { String::new() } else { format!(", theory {theory}") };
    (!summary.is_exact())
        .then(|| format!("The scenario breaks assumptions of {}{theory}: {all}.", summary.engine))
}

/// Describes the share of loss episodes in which most flows lost together.
fn together(summary: &Summary) -> Option<String> {
    let (engine, episodes, share) =
        (summary.engine, summary.loss_episodes?, summary.synchronized_loss_share? * 100.0);
    Some(format!(
        "In {engine}, more than half of the flows lost packets in {share:.0} % of {episodes} loss episodes."
    ))
}

/// Describes the data that the path holds, and the effect of the socket buffer and the queue.
fn standing(resolved: &Resolved) -> Option<String> {
    let first = resolved.flows.first()?;
    let loss = resolved.link.loss.get();
    if loss > 0.0 {
        return Some(format!(
            "The path loses {} % of packets at random, so congestion control should be the limit and not the socket buffer.",
            short(loss * 100.0)
        ));
    }
    let rtts: Vec<f64> = resolved.flows.iter().map(|flow| flow.base_rtt.as_secs_f64()).collect();
    let rtt = rtts.iter().sum::<f64>() / rtts.len() as f64;
    let available = resolved.available().as_bps_f64();
    let mean = if rtts.len() > 1 { "a mean base RTT" } else { "a base RTT" };
    let (holds, room) = (available * rtt / 8.0, resolved.limit_bytes().get() as f64);
    let need = format!(
        "The path holds {} in flight ({} at {mean} of {})",
        volume(holds),
        bit_rate(available),
        delay(rtt)
    );
    Some(if resolved.flows.len() > 1 {
        let full = room * 8.0 / resolved.link.rate.as_bps_f64().max(1.0);
        format!("{need}; the queue has room for {}, {} at full rate.", volume(room), delay(full))
    } else {
        format!("{need}; {}.", limited(first, holds, room))
    })
}

/// Describes the effect of a lone flow's socket buffer, where the path holds `holds` bytes and the queue has `room`.
fn limited(flow: &ResolvedFlow, holds: f64, room: f64) -> String {
    let largest = flow.per_round_trip().map(|bytes| bytes.get() as f64);
    if let Some(sizer) = flow.asked_sizer() {
        let most = largest.map_or_else(String::new, |largest| format!(", up to {}", volume(largest)));
        return format!("{} sizes the receive window while the flow runs{most}", sizer.name);
    }
    let Some(buffer) = largest else {
        return "no socket buffer limits the flow, so congestion control alone sets the window".into();
    };
    let size = volume(buffer);
    if buffer < holds {
        format!("the socket buffer of {size} is less, so the flow cannot fill the link")
    } else if buffer - holds > room {
        let excess = volume(buffer - holds);
        format!(
            "the socket buffer of {size} is {excess} more than that, and the queue has room for only {}",
            volume(room)
        )
    } else {
        let excess = volume(buffer - holds);
        format!("the socket buffer of {size} is {excess} more than that, which waits in the queue")
    }
}

/// Describes the results of a population of users.
fn users(sessions: &SessionsSummary) -> String {
    let took = sessions
        .completion_s
        .map_or_else(String::new, |took| format!(" after {:.2} s on average", took.mean));
    format!(
        "Of {} users {:.0} were active on average; {} sessions ended{took}, with {} of goodput in all.",
        sessions.users,
        sessions.mean_active,
        sessions.completed,
        bit_rate(sessions.goodput_bps)
    )
}

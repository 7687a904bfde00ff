//! What a picture means, in two or three plain sentences.

use crate::cell;
use lab::run::record::{Engine, Record, SessionsSummary, Summary};
use lab::run::resolve::{Resolved, ResolvedFlow};
use lab::study::task::Answer;
use units::{Bytes, Rate, Span};

/// Sentences for the reader who asks "so what?": where the socket buffer stands, what became of it, and whether
/// the engines agree.
pub(crate) fn sentences(answer: &Answer) -> Vec<String> {
    let resolved = &answer.task.resolved;
    if resolved.cell.is_some() {
        let records = || answer.records.iter().map(|record| &record.summary);
        return records().filter_map(cell::sentence).chain(records().filter_map(assumed)).collect();
    }
    let mut sentences: Vec<String> =
        resolved.flows.first().map(|flow| standing(resolved, flow)).into_iter().collect();
    sentences.extend(answer.records.iter().flat_map(|record| &record.summary.sessions).map(users));
    sentences.extend(answer.records.iter().rev().find_map(|record| outcome(resolved, record)));
    sentences.extend(agreement(resolved, answer));
    sentences.extend(answer.records.iter().filter_map(|record| assumed(&record.summary)));
    sentences.extend(answer.records.iter().filter_map(|record| together(&record.summary)));
    sentences
}

/// What an answer assumes and the scenario breaks.
fn assumed(summary: &Summary) -> Option<String> {
    let all = summary.assumptions.join("; ");
    (!summary.is_exact()).then(|| format!("The scenario breaks assumptions of {}: {all}.", summary.engine))
}

/// How often most flows lost together.
fn together(summary: &Summary) -> Option<String> {
    let (engine, episodes, share) =
        (summary.engine, summary.loss_episodes?, summary.synchronized_loss_share? * 100.0);
    Some(format!(
        "In {engine}, more than half of the flows lost packets in {share:.0} % of {episodes} loss episodes."
    ))
}

/// Where the socket buffer stands against A x Te and the queue.
fn standing(resolved: &Resolved, flow: &ResolvedFlow) -> String {
    let available = resolved.available();
    let product = available.volume(flow.base_rtt);
    let loss = resolved.link.loss.get();
    let need = format!(
        "{} of available bandwidth and a base RTT of {} hold {} in flight",
        rate(available.as_bps_f64()),
        flow.base_rtt,
        bytes(product)
    );
    if loss > 0.0 {
        return format!(
            "The path loses {} % of packets by itself, so congestion control, not the socket buffer, should be the limit: \
             the best buffer is the largest.",
            significant(loss * 100.0)
        );
    }
    if let Some(sizer) = &flow.sizer {
        let most =
            flow.socket_buffer.map_or_else(String::new, |largest| format!(", up to {}", bytes(largest)));
        return format!("{need}; the receive window is sized by {sizer} while the flow runs{most}.");
    }
    match flow.socket_buffer {
        None => format!(
            "{need}; the socket buffer is never the limit, so the window grows until the queue overflows."
        ),
        Some(buffer) if buffer < product => {
            format!("{need}; a socket buffer of {} is less, so the link cannot be filled.", bytes(buffer))
        }
        Some(buffer) => {
            let excess = buffer.saturating_sub(product);
            let room = resolved.limit_bytes();
            let fate = if excess > room {
                "more than the queue holds, so it overflows"
            } else {
                "which stands in the queue"
            };
            format!(
                "{need}; a socket buffer of {} is {} more, {fate} ({} of room).",
                bytes(buffer),
                bytes(excess),
                bytes(room)
            )
        }
    }
}

/// What became of a population of users.
fn users(sessions: &SessionsSummary) -> String {
    let took = sessions
        .completion_s
        .map_or_else(String::new, |took| format!(", which took {:.2} s on average", took.mean));
    format!(
        "Of {} users {:.0} had a session under way at a time; {} sessions ended{took}, {} of goodput in all.",
        sessions.users,
        sessions.mean_active,
        sessions.completed,
        rate(sessions.goodput_bps)
    )
}

/// What the most real engine saw.
fn outcome(resolved: &Resolved, record: &Record) -> Option<String> {
    let flow = record.summary.flows.first()?;
    let rtt = flow.rtt_s?;
    let engine = match record.summary.engine {
        Engine::Model if !record.summary.is_exact() => {
            "Theory, under assumptions that the scenario breaks, predicts"
        }
        Engine::Model => "Theory predicts",
        Engine::Sim => "The simulation gives",
        Engine::Live => "The kernel gets",
    };
    let base = resolved.flows.first()?.base_rtt.as_secs_f64();
    let delay = Span::from_secs_f64((rtt.mean - base).max(0.0));
    let share = flow.goodput_bps / resolved.available().as_bps_f64().max(1.0) * 100.0;
    let losses = match flow.retransmits {
        Some(0) => "without a retransmission".to_owned(),
        Some(1) => "with 1 retransmission".to_owned(),
        Some(count) => format!("with {count} retransmissions"),
        None => format!("with {} % of packets lost", significant(flow.loss_rate.unwrap_or(0.0) * 100.0)),
    };
    Some(format!(
        "{engine} {} of goodput, {share:.0} % of the available bandwidth, at a mean RTT of {} ({} above the base RTT), {losses}.",
        rate(flow.goodput_bps),
        Span::from_secs_f64((rtt.mean * 1e5).round() / 1e5),
        Span::from_secs_f64((delay.as_secs_f64() * 1e5).round() / 1e5),
    ))
}

/// How far apart the engines are, of those whose assumptions hold.
fn agreement(resolved: &Resolved, answer: &Answer) -> Option<String> {
    let records = || answer.records.iter().filter(|record| record.summary.is_exact());
    let goodputs: Vec<f64> =
        records().filter_map(|record| record.summary.flows.first().map(|flow| flow.goodput_bps)).collect();
    if goodputs.len() < 2 {
        return None;
    }
    let (low, high) =
        goodputs.iter().fold((f64::MAX, 0.0f64), |(low, high), value| (low.min(*value), high.max(*value)));
    let apart = (high - low) / resolved.link.rate.as_bps_f64() * 100.0;
    let engines: Vec<String> = records().map(|record| record.summary.engine.to_string()).collect();
    let engines = join(&engines);
    Some(if apart <= 4.0 {
        format!("{engines} agree: their goodputs lie within {apart:.1} % of the capacity.")
    } else {
        format!("{engines} differ: their goodputs lie {apart:.1} % of the capacity apart.")
    })
}

fn join(words: &[String]) -> String {
    let text = match words {
        [] => String::new(),
        [one] => one.clone(),
        [most @ .., last] => format!("{} and {last}", most.join(", ")),
    };
    let mut letters = text.chars();
    letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
}

fn rate(bps: f64) -> String {
    let scale = if bps >= 1e9 {
        1e7
    } else if bps >= 1e6 {
        1e5
    } else {
        1e2
    };
    Rate::from_bps_f64((bps / scale).round() * scale).to_string()
}

fn bytes(amount: Bytes) -> String {
    let count = amount.get();
    let scale = if count >= 10_000_000 { 100_000 } else { 1_000 };
    let rounded = if count >= 10_000 { (count + scale / 2) / scale * scale } else { count };
    Bytes::new(rounded).to_string()
}

/// Three significant digits, no trailing zeros.
fn significant(value: f64) -> String {
    if value == 0.0 {
        return "0".into();
    }
    let digits = (2 - value.abs().log10().floor() as i32).clamp(0, 12) as usize;
    let text = format!("{value:.digits$}");
    if text.contains('.') { text.trim_end_matches('0').trim_end_matches('.').to_owned() } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_rounded_for_reading() {
        assert_eq!(rate(79_563_210.0), "79.6Mbit/s");
        assert_eq!(bytes(Bytes::new(399_840)), "400kB");
        assert_eq!(significant(0.034_56), "0.0346");
        assert_eq!(significant(2.0), "2");
        assert_eq!(join(&["model".into(), "sim".into(), "live".into()]), "Model, sim and live");
    }
}

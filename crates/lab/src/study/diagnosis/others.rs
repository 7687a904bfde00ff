//! The proposals where no window limits: the programs at the ends, slow start, the network.

use super::Case;
use super::path::{Limit, Trial};
use super::proposal::Proposal;
use super::words::{delay, rate, set};
use estimate::diagnosis::PathState;
use estimate::limits::slow_start_rounds;
use units::{Bytes, Rate};

/// The ratio of a longer transfer to one that ended in slow start.
const LONGER: u64 = 10;
/// The most connections of others that are simulated.
const MOST_OTHERS: u64 = 30;
/// The share of the bottleneck's rate above which the flow seems to be alone: a socket sees only its own part of a rate.
const ALONE: f64 = 0.7;
/// The control that does not reduce its window for each loss.
const TOLERANT: &str = "bbr";
/// The queue policy that keeps flows apart and the delay short.
const MANAGED: &str = "fq-codel";

/// Says what the path could carry if the programs were faster.
pub(super) fn program(case: &Case<'_>, proposal: &mut Proposal) {
    let Some(link) = known_rate(case, proposal) else {
        proposal.say("Nothing on the path limits it. `tightlink send` to `tightlink receive` shows what the path carries.");
        return;
    };
    proposal.after = case.path.simulate(&case.path.trial(link));
    let nothing = "No buffer and no window helps.";
    match proposal.after {
        Some(after) => proposal.say(format!(
            "{nothing} The path of {} could carry {}, simulated (now {}).",
            case.over(link),
            rate(after.goodput_bps),
            rate(proposal.measured_bps)
        )),
        None => proposal.say(format!("{nothing} The path has {}.", case.over(link))),
    }
}

pub(super) fn slow_start(case: &Case<'_>, proposal: &mut Proposal) {
    let path = &case.path;
    let (moved, segment) = (case.evidence.delivered(), case.evidence.segment);
    let rounds = slow_start_rounds(moved, segment);
    proposal.say(format!(
        "{} take {rounds} round trips of {} from a window of ten segments, whatever the buffers.",
        moved.rounded(),
        path.round_trip.rounded()
    ));
    proposal.say(
        "A connection that stays open, or a larger initial window (`ip route change ... initcwnd`), helps.",
    );
    let Some(link) = known_rate(case, proposal) else { return };
    // Slow start has sent twice a window when the window is full.
    let needed = path.needed(link);
    proposal.needed_bytes = Some(needed.get());
    proposal.now = path.simulate(&Trial { size: Some(moved), ..path.trial(link) });
    proposal.after = path.simulate(&Trial { size: Some(moved * LONGER), ..path.trial(link) });
    let full = slow_start_rounds(needed, segment);
    proposal.say(match proposal.after {
        Some(after) => format!(
            "{} is full after {full} round trips. A transfer of {} has {}, simulated (now {}).",
            case.over(link),
            (moved * LONGER).rounded(),
            rate(after.goodput_bps),
            rate(proposal.measured_bps)
        ),
        None => format!("{} is full after {full} round trips.", case.over(link)),
    });
}

pub(super) fn network(case: &Case<'_>, proposal: &mut Proposal) {
    match case.diagnosis.path {
        Some(PathState::SelfInduced) => self_induced(case, proposal),
        Some(PathState::Congested) => congested(case, proposal),
        Some(PathState::RandomLoss) => random_loss(case, proposal),
        Some(PathState::Managed) => managed(case, proposal),
        Some(PathState::NotCongested | PathState::WindowLimited) => {
            proposal.say("The congestion window limits it, but the path shows neither a queue nor losses.");
            room(case, proposal);
        }
        None => {
            proposal.say("The evidence does not tell its own queue from the traffic of others. A capture at the sender shows more.");
        }
    }
}

/// Says what the path carries while its congestion window still grows.
fn room(case: &Case<'_>, proposal: &mut Proposal) {
    let Some(link) = known_rate(case, proposal) else {
        proposal.say("The window was still growing, so a longer observation shows the next limit.");
        return;
    };
    proposal.after = case.path.simulate(&case.path.trial(link));
    if let Some(after) = proposal.after {
        proposal.say(format!(
            "In the long run {} carries {}, simulated (now {}), with a queueing delay of {}.",
            case.over(link),
            rate(after.goodput_bps),
            rate(proposal.measured_bps),
            delay(after.queueing_delay_s)
        ));
    }
}

/// Proposes the window that fills the path without a standing queue.
fn self_induced(case: &Case<'_>, proposal: &mut Proposal) {
    let path = &case.path;
    proposal.say(match case.evidence.buffer {
        Some(buffer) if !buffer.at_least => "The flow fills the path, and the buffer at its bottleneck.",
        _ => "The flow fills the path, and a queue stands at its bottleneck; no overflow was seen.",
    });
    let Some(link) = known_rate(case, proposal) else { return };
    let needed = path.needed(link);
    proposal.needed_bytes = Some(needed.get());
    proposal.now = path.simulate(&path.trial(link));
    proposal.after = path.simulate(&Trial { limit: Limit::Window(needed), ..path.trial(link) });
    if let Some(after) = proposal.after {
        let waited = queueing(case).map_or_else(String::new, |seconds| format!(" and {}", delay(seconds)));
        proposal.say(format!(
            "Only a faster path carries more, but a shorter queue is possible. {} needs a window of {}; simulated with it: {}, \
             queueing delay {} (now {}{waited}).",
            case.over(link),
            needed.rounded(),
            rate(after.goodput_bps),
            delay(after.queueing_delay_s),
            rate(proposal.measured_bps)
        ));
    }
    proposal.offer(&case.receiver(), case.tune());
    proposal.offer("at the bottleneck", sizing(case, link));
}

/// Returns the mean excess of the round trip over the base RTT, seconds.
fn queueing(case: &Case<'_>) -> Option<f64> {
    let sampled =
        case.evidence.intervals.iter().filter_map(|interval| Some((interval.round_trip?, interval.length)));
    let (sum, time) = sampled.fold((0.0, 0.0), |(sum, time), (round_trip, length)| {
        let excess = round_trip.saturating_sub(case.path.round_trip).as_secs_f64();
        (sum + excess * length.as_secs_f64(), time + length.as_secs_f64())
    });
    (time > 0.0).then(|| sum / time)
}

/// Returns the command that finds the buffer of the bottleneck.
fn sizing(case: &Case<'_>, link: Rate) -> String {
    let digits = |value: u64| {
        let unit = 10_u64.pow(value.max(1).ilog10().saturating_sub(2));
        value / unit * unit
    };
    let (rate, rtt) = (Rate::from_bps(digits(link.as_bps())), case.path.round_trip.as_nanos());
    format!("tightlink size --rate {rate} --rtt {}", units::Span::from_nanos(digits(rtt)))
}

fn congested(case: &Case<'_>, proposal: &mut Proposal) {
    proposal.say("Other flows share the bottleneck.");
    let Some(link) = known_rate(case, proposal) else { return };
    let path = &case.path;
    let own = path.on_the_wire(case.evidence.goodput()).as_bps_f64();
    if own > ALONE * link.as_bps_f64() {
        proposal.say(
            "From here only its own part of the bottleneck's rate is known, so the number of others is not.",
        );
        return;
    }
    let flows = (link.as_bps_f64() / own).round().clamp(2.0, MOST_OTHERS as f64) as u64;
    proposal.say(format!(
        "It has {:.0} % of {}, as one of about {flows} equal flows has. A larger window or buffer does not change its share.",
        100.0 * own / link.as_bps_f64(),
        link.rounded()
    ));
    let shared = |queue| path.simulate(&Trial { connections: flows, queue, ..path.trial(link) });
    proposal.now = shared("drop-tail");
    proposal.after = shared(MANAGED);
    if let (Some(now), Some(after)) = (proposal.now, proposal.after) {
        // The simulated goodput is the sum of all flows.
        let each = |goodput: f64| goodput / flows as f64;
        proposal.say(format!(
            "Simulated, FQ-CoDel at the bottleneck leaves each flow {} with a queueing delay of {}, for {} behind drop-tail.",
            rate(each(after.goodput_bps)),
            delay(after.queueing_delay_s),
            delay(now.queueing_delay_s)
        ));
        for outcome in [&mut proposal.now, &mut proposal.after].into_iter().flatten() {
            outcome.goodput_bps = each(outcome.goodput_bps);
        }
    }
    proposal.offer("at the bottleneck", format!("{} --flows {flows}", sizing(case, link)));
}

fn random_loss(case: &Case<'_>, proposal: &mut Proposal) {
    let path = &case.path;
    let loss = loss(case);
    proposal.say(format!("Packets are lost without a queue: {:.2} % of them.", loss * 100.0));
    let Some(link) = known_rate(case, proposal) else { return };
    if loss == 0.0 {
        return;
    }
    let lossy = |control| path.simulate(&Trial { loss, control, ..path.trial(link) });
    proposal.now = lossy(path.control.as_str());
    if path.control == TOLERANT {
        proposal.say("Its congestion control already does not reduce its window for each loss. The cause of the losses is on the path.");
        return;
    }
    proposal.after = lossy(TOLERANT);
    if let Some(after) = proposal.after {
        let now = proposal
            .now
            .map_or_else(String::new, |now| format!(", for {} with {}", rate(now.goodput_bps), path.control));
        proposal.say(format!(
            "Simulated with these losses, {TOLERANT} has {}{now} (now {}).",
            rate(after.goodput_bps),
            rate(proposal.measured_bps)
        ));
    }
    proposal.offer(&case.sender(), set(&format!("net.ipv4.tcp_congestion_control={TOLERANT}")));
}

/// Returns the share of segments that were lost.
fn loss(case: &Case<'_>) -> f64 {
    let evidence = case.evidence;
    let again: u64 = evidence.intervals.iter().map(|interval| interval.retransmitted).sum();
    let lost: u64 = evidence.episodes.iter().map(|episode| episode.segments).sum();
    let lost = again.saturating_sub(evidence.needless).max(if again == 0 { lost } else { 0 });
    let sent = evidence.intervals.iter().map(|interval| interval.sent.unwrap_or(interval.delivered));
    let sent = sent.fold(Bytes::ZERO, |sum, sent| sum + sent);
    let segments = sent.get() as f64 / evidence.segment.get().max(1) as f64;
    if segments > 0.0 { (lost as f64 / segments).min(0.5) } else { 0.0 }
}

fn managed(case: &Case<'_>, proposal: &mut Proposal) {
    proposal.say("The queue at the bottleneck is managed: marks or early drops keep it short. No buffer needs a change.");
    if let Some(link) = known_rate(case, proposal) {
        let own = case.path.on_the_wire(case.evidence.goodput());
        let share = 100.0 * own.as_bps_f64() / link.as_bps_f64();
        proposal.say(format!("The flow has {share:.0} % of {}.", link.rounded()));
    }
}

/// Returns the bottleneck's rate, and notes it. Without one, says what is known of it.
fn known_rate(case: &Case<'_>, proposal: &mut Proposal) -> Option<Rate> {
    proposal.rate_bps = case.path.rate.map(Rate::as_bps_f64);
    if case.path.rate.is_none() {
        proposal.say(format!(
            "The path was never full, so its rate is unknown: it is at least {}.",
            case.path.on_the_wire(case.evidence.goodput()).rounded()
        ));
    }
    case.path.rate
}

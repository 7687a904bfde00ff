//! One transfer's steady state on one path: the theory of the Maximum Feasible Throughput (`model::mft`).
//!
//! It covers one Reno flow at a drop-tail queue, or one with a fixed window that does not overflow the queue. The flow
//! is alone, or shares the link with unresponsive traffic or with flows of one RTT that their socket buffers limit.
//! Several flows without such a limit are treated as one flow whose segment is the sum of theirs. This is exact for
//! flows of one RTT that all lose at each overflow `[villamizar:ccr94]`.

mod limits;

use super::Theory;
use super::answer::{Answer, elsewhere, shares};
use super::departure::{self, Departure, Severity};
use super::offered::OfferedLoad;
use super::tight::crossing;
use crate::run::record::{DelayStatistics, FlowSummary, Note, Percentiles, RttStatistics};
use crate::run::resolve::{Resolved, ResolvedFlow};
use link::Limit;
use model::mft::{self, CrossTraffic, Path, Prediction, Regime, Room, Target};
use units::{Bytes, Complaint, Span};

/// Congestion controls with a closed form.
pub(super) const CONTROLS: [&str; 2] = ["reno", "fixed"];

/// The queue's room, in segments, below which a window has no sawtooth, because every burst overflows the queue.
const SMALL_QUEUE: u64 = 10;

/// The theory of one transfer's four regimes.
pub(super) struct Mft;

/// Predicts the target's steady state.
fn predicted(resolved: &Resolved, seen: &TheoryInput<'_>) -> Prediction {
    let room = match resolved.limit {
        Limit::Bytes(_) => Room::Bytes,
        Limit::Packets(_) => Room::Packets,
    };
    mft::prediction_with(&seen.path, &seen.target, room)
}

/// The scenario as the theory sees it.
struct TheoryInput<'a> {
    path: Path,
    target: Target,
    /// The flows that [`TheoryInput::target`] stands for: the first, or all that cross the tight link.
    targets: Vec<&'a ResolvedFlow>,
    departures: Vec<Departure>,
}

impl Theory for Mft {
    fn name(&self) -> &'static str {
        "mft"
    }

    fn source(&self) -> &'static str {
        "sobas:mft"
    }

    fn departures(&self, resolved: &Resolved) -> Result<Vec<Departure>, Complaint> {
        let mut seen = seen(resolved)?;
        // This check comes last, because it needs the prediction.
        if let Some(flow) = seen.targets.iter().find(|flow| flow.control.name == "fixed")
            && predicted(resolved, &seen).regime == Regime::SelfInducedLoss
        {
            let complaint = Complaint::new(
                flow.key("socket_buffer"),
                "a fixed window that overflows the queue, again and again: no closed form",
            )
            .accepted("a socket buffer that path and queue hold")
            .help("lower it, or ask the simulator");
            let assumption =
                "a fixed window that overflows the queue is taken to halve at each loss, as Reno's";
            seen.departures.push(Departure::new(Severity::Core, complaint, assumption));
        }
        let found = predicted(resolved, &seen);
        let beyond = limits::limits(resolved, &seen, &found);
        seen.departures.extend(beyond);
        Ok(seen.departures)
    }

    fn answer(&self, resolved: &Resolved) -> Result<Answer, Complaint> {
        let seen = seen(resolved)?;
        let prediction = predicted(resolved, &seen);
        Ok(seen.answer(resolved, &prediction))
    }
}

fn seen(resolved: &Resolved) -> Result<TheoryInput<'_>, Complaint> {
    let crossing = crossing(resolved)?;
    let (first, others) = (crossing[0], &crossing[1..]);
    let offered = OfferedLoad::new(resolved);
    let cross = if others.is_empty() {
        Ok(CrossTraffic::Unresponsive { rate: offered.rate })
    } else {
        buffer_limited(resolved, others)
    };
    let targets = if cross.is_ok() { vec![first] } else { crossing.clone() };
    let policy = departure::not_drop_tail(resolved);
    let known = targets.iter().copied();
    let mut departures = departure::of_links(resolved, known, &CONTROLS, departure::RENO, policy);
    let cross = cross.unwrap_or_else(|complaint| {
        let together = format!(
            "the {} flows are taken to have one RTT and equal shares, and to lose together",
            targets.len()
        );
        departures.push(Departure::new(Severity::Part, complaint, together));
        CrossTraffic::Unresponsive { rate: offered.rate }
    });
    departures.extend(departure::sized(&crossing));
    let sum = |of: fn(&ResolvedFlow) -> Bytes| targets.iter().map(|flow| of(flow)).sum::<Bytes>();
    let round: Span = targets.iter().map(|flow| flow.base_rtt).sum();
    // The segment is that of the only flow, or the largest of several flows.
    let segment = targets.iter().map(|flow| flow.segment()).max().unwrap_or(Bytes::ZERO);
    let base_rtt = round / targets.len() as u64 + resolved.link.rate.serialization(segment);
    let path = Path {
        capacity: resolved.link.rate,
        cross,
        base_rtt,
        buffer: offered.room,
        loss: resolved.link.loss,
    };
    let target = Target {
        window: sum(|flow| flow.per_round_trip().unwrap_or(Bytes::MAX)),
        payload: sum(|flow| flow.payload),
        segment: sum(ResolvedFlow::segment),
        // Simulator and kernel count bytes in congestion avoidance (RFC 5681). However many segments an acknowledgement
        // covers, the window grows by one per round trip, unless acknowledgements are counted.
        delayed_ack: if first.control.tuning.byte_counting == 0 {
            u32::try_from(first.delayed_ack).unwrap_or(u32::MAX)
        } else {
            1
        },
        // RFC 6298 on a steady path gives a little more than the RTT, and at least the floor.
        timeout: first.transport.min_rto.max(base_rtt),
    };
    Ok(TheoryInput { path, target, targets, departures })
}

/// Describes the other flows together as one source of cross traffic that is limited by its window.
fn buffer_limited(resolved: &Resolved, others: &[&ResolvedFlow]) -> Result<CrossTraffic, Complaint> {
    let base_rtt = others[0].base_rtt;
    let misfit = |key: String| {
        Complaint::new(
            key,
            "several flows have a closed form only if all but the first are limited by their socket buffers, \
                at one RTT, without other cross traffic",
        )
        .help("give every other flow a socket_buffer and the same rtt, or use --engine sim")
    };
    if !resolved.traffic.is_empty() {
        return Err(misfit("traffic".into()));
    }
    if let Some(other) = others.iter().find(|flow| flow.base_rtt != base_rtt) {
        return Err(misfit(other.key("rtt")));
    }
    let mut window = Bytes::ZERO;
    for flow in others {
        let buffer = flow.per_round_trip().ok_or_else(|| misfit(flow.key("socket_buffer")))?;
        window += flow.segment() * (buffer / flow.payload);
    }
    // If the windows exceed the room of the path and the queue, they overflow the queue. Then the queue limits them,
    // and not the socket buffers.
    if window > resolved.link.rate.volume(base_rtt) + resolved.limit_bytes() {
        return Err(misfit(others[0].key("socket_buffer")));
    }
    Ok(CrossTraffic::BufferLimited {
        window,
        base_rtt: base_rtt + resolved.link.rate.serialization(resolved.segment()),
    })
}

impl TheoryInput<'_> {
    fn answer(&self, resolved: &Resolved, prediction: &Prediction) -> Answer {
        let Self { path, target, targets, .. } = self;
        let queueing = prediction.rtt.saturating_sub(path.base_rtt);
        let wire = prediction.goodput.scale(target.segment.get() as f64 / target.payload.get() as f64);
        let utilization =
            ((wire + path.cross.rate(queueing)).as_bps_f64() / path.capacity.as_bps_f64()).min(1.0);
        // The predicted loss would exceed 1 for a window of less than a segment per cycle.
        let loss = prediction.loss.min(1.0);
        let count = targets.len() as f64;
        let shares = shares(resolved);
        let (mut flows, mut windows) = (Vec::new(), Vec::new());
        for flow in &resolved.flows {
            let crosses = flow.route.contains(&resolved.tight);
            // If there are several targets, each flow that crosses the tight link is a target.
            let is_target = crosses && (targets.len() > 1 || std::ptr::eq(targets[0], flow));
            windows.push(is_target.then(|| prediction.window.get() as f64 / count));
            flows.push(if is_target {
                self.target(flow, prediction, prediction.goodput.as_bps_f64() / count, loss)
            } else if crosses {
                other_flow(flow, path, queueing)
            } else {
                elsewhere(resolved, flow, &shares)
            });
        }
        // `loss` counts the target's losses only, and random loss strikes all flows alike. So the link's loss rate is
        // given only if the target is alone.
        let is_alone = targets.len() == resolved.flows.len() && resolved.traffic.is_empty();
        Answer {
            utilization,
            loss_rate: is_alone.then_some(loss),
            backlog_bytes: Some(prediction.backlog.get() as f64),
            queueing_delay: Some(DelayStatistics {
                mean: queueing.as_secs_f64(),
                percentiles: Percentiles::default(),
                max: None,
            }),
            flows,
            windows,
            notes: self.notes(prediction),
            ..Answer::default()
        }
    }

    /// Summarizes one of the flows that the prediction is about.
    fn target(&self, flow: &ResolvedFlow, prediction: &Prediction, goodput: f64, loss: f64) -> FlowSummary {
        // For several flows the prediction has the mean RTT.
        let (alone, base) = (self.targets.len() == 1, self.path.base_rtt);
        let (least, mean) = if alone {
            (base, prediction.rtt)
        } else {
            (flow.base_rtt, flow.base_rtt + prediction.rtt.saturating_sub(base))
        };
        FlowSummary {
            name: flow.name.clone(),
            goodput_bps: goodput,
            loss_rate: Some(loss),
            retransmits: if loss == 0.0 { Some(0) } else { None },
            rtt_s: Some(RttStatistics { min: least.as_secs_f64(), mean: mean.as_secs_f64(), p95: None }),
            window_bytes: (alone && flow.asked_sizer().is_some())
                .then(|| mft::saturating_window(&self.path, &self.target).get() as f64),
            ..FlowSummary::default()
        }
    }

    fn notes(&self, prediction: &Prediction) -> Vec<Note> {
        let Self { path, target, targets, .. } = self;
        let mut notes = vec![note(prediction.regime).into()];
        if let Some((sizer, largest)) =
            targets.iter().find_map(|flow| Some((&flow.asked_sizer()?.name, flow.per_round_trip()?)))
        {
            notes.push(
                format!(
                    "sizer {sizer}: taken as a socket buffer of its maximum, {largest}, because in a steady state a smaller \
                     window is not the limit; the way to that window is not part of the model"
                )
                .into(),
            );
        }
        if prediction.regime == Regime::SelfInducedLoss && path.buffer < target.segment * SMALL_QUEUE {
            let whose = if targets.len() > 1 { " for each flow" } else { "" };
            notes.push(
                format!(
                    "a queue of fewer than {SMALL_QUEUE} segments{whose}: bursts overflow it, and timeouts, which the model leaves out, set the goodput; expect far less"
                )
                .into(),
            );
        }
        notes
    }
}

/// Summarizes a flow other than the target, which its socket buffer limits.
fn other_flow(flow: &ResolvedFlow, path: &Path, queueing: Span) -> FlowSummary {
    let rtt = match path.cross {
        CrossTraffic::BufferLimited { base_rtt, .. } => base_rtt + queueing,
        CrossTraffic::Unresponsive { .. } => flow.base_rtt + queueing,
    };
    let window = flow.payload * (flow.per_round_trip().unwrap_or_default() / flow.payload);
    FlowSummary {
        name: flow.name.clone(),
        goodput_bps: window.bits_f64() / rtt.as_secs_f64(),
        rtt_s: Some(RttStatistics { min: flow.base_rtt.as_secs_f64(), mean: rtt.as_secs_f64(), p95: None }),
        ..FlowSummary::default()
    }
}

fn note(regime: Regime) -> &'static str {
    match regime {
        Regime::BufferLimited => {
            "buffer-limited: the socket buffer is below the available bandwidth times the base RTT, so the link idles"
        }
        Regime::Saturated => "saturated: the socket buffer fills the link and its excess stands in the queue",
        Regime::SelfInducedLoss => {
            "self-induced loss: the window overflows the queue, halves and grows again; the start-up is not part of the model"
        }
        Regime::Congested => {
            "congested: the path loses packets by itself, so the best socket buffer is the largest"
        }
    }
}

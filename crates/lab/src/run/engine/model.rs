//! The closed forms as an engine: one transfer's steady state, the picture of the Maximum Feasible Throughput.

use super::{EngineError, Misfit, no_users, one_queue};
use crate::run::fairness;
use crate::run::measure::{Stopwatch, peak_rss_bytes};
use crate::run::record::{
    DelayStatistics, Engine, FlowSeries, FlowSummary, LinkSeries, Percentiles, Record, RttStatistics, Series,
    Summary,
};
use crate::run::resolve::{Resolved, ResolvedFlow};
use crate::run::statistics::jain_index;
use model::mft::{self, CrossTraffic, Path, Prediction, Regime, Target};
use units::{Bytes, Complaint, Span};

/// Congestion controls with a closed form.
const CONTROLS: [&str; 2] = ["reno", "fixed"];

/// Below this many segments of room a window cannot saw: every burst overflows the queue.
const SMALL_QUEUE: u64 = 10;

/// What theory predicts for the first flow of a scenario.
///
/// # Errors
/// [`EngineError::CannotAnswer`] if no closed form covers the scenario.
pub(super) fn run(resolved: &Resolved) -> Result<Record, EngineError> {
    let watch = Stopwatch::start();
    let (path, target) = path(resolved)?;
    let prediction = mft::prediction(&path, &target);
    let mut record = record(resolved, &path, &prediction, watch.seconds());
    if let (Some(sizer), Some(largest)) = (&resolved.flows[0].sizer, resolved.flows[0].socket_buffer) {
        record.notes.push(
            format!(
            "sizer {sizer}: taken as a socket buffer of its maximum, {largest}, since in a steady state it is not the \
             limit before that; how it gets there is not part of the model"
            )
            .into(),
        );
    }
    if prediction.regime == Regime::SelfInducedLoss && path.buffer < target.segment * SMALL_QUEUE {
        record.notes.push(
            format!(
            "a queue of fewer than {SMALL_QUEUE} segments: bursts overflow it and timeouts rule, which the sawtooth \
             leaves out; expect far less"
            )
            .into(),
        );
    }
    Ok(record)
}

/// The scenario as the model sees it.
pub(super) fn path(resolved: &Resolved) -> Result<(Path, Target), Misfit> {
    one_queue(Engine::Model, resolved)?;
    no_users(Engine::Model, resolved, "ask the simulator")?;
    let (flow, others) = (&resolved.flows[0], &resolved.flows[1..]);
    if !CONTROLS.contains(&flow.control.as_str()) {
        return Err(Misfit {
            engine: Engine::Model,
            complaint: Complaint::new(
                flow.key("control"),
                format!("no closed form for control \"{}\" here", flow.control),
            )
            .accepted(CONTROLS.join(", "))
            .help("choose another control or another engine"),
        });
    }
    if resolved.queue.policy != link::queue::DROP_TAIL {
        return Err(Misfit {
            engine: Engine::Model,
            complaint: Complaint::new(
                "link.queue.kind",
                format!("no closed form for queue \"{}\" here", resolved.queue.policy),
            )
            .accepted(link::queue::DROP_TAIL)
            .help("ask the simulator or the kernel"),
        });
    }
    if resolved.queue.settings.mark_above.is_some() && resolved.flows.iter().any(|flow| flow.transport.ecn) {
        return Err(Misfit {
            engine: Engine::Model,
            complaint: Complaint::new(
                "link.queue.mark_above",
                "no closed form for a queue that marks before it drops",
            )
            .accepted("flows without ecn, or a queue that does not mark")
            .help("ask the simulator"),
        });
    }
    if let Some(leaves) = resolved.flows.iter().find(|flow| flow.stop.is_some()) {
        return Err(Misfit {
            engine: Engine::Model,
            complaint: Complaint::new(
                leaves.key("stop"),
                "a flow that leaves: the closed forms are of a steady state",
            )
            .accepted("flows without a stop")
            .help("ask the simulator"),
        });
    }
    let cross = if others.is_empty() {
        CrossTraffic::Unresponsive { rate: resolved.unresponsive() }
    } else {
        buffer_limited(resolved, others)?
    };
    let segment = flow.segment();
    let base_rtt = flow.base_rtt + resolved.link.rate.serialization(segment);
    let path = Path {
        capacity: resolved.link.rate,
        cross,
        base_rtt,
        buffer: resolved.limit_bytes(),
        loss: resolved.link.loss,
    };
    let target = Target {
        window: flow.socket_buffer.unwrap_or(Bytes::MAX),
        payload: flow.payload,
        segment,
        // Simulator and kernel count bytes in congestion avoidance (RFC 5681): however many segments an
        // acknowledgement covers, the window grows by one per round trip. Unless acknowledgements are counted.
        delayed_ack: if flow.tuning.byte_counting == 0 {
            u32::try_from(flow.delayed_ack).unwrap_or(u32::MAX)
        } else {
            1
        },
        // RFC 6298 on a steady path: a little above the RTT, at least the floor.
        timeout: flow.transport.min_rto.max(base_rtt),
    };
    if flow.control == "fixed" && mft::prediction(&path, &target).regime == Regime::SelfInducedLoss {
        return Err(Misfit {
            engine: Engine::Model,
            complaint: Complaint::new(
                flow.key("socket_buffer"),
                "a fixed window that overflows the queue, again and again: no closed form",
            )
            .accepted("a socket buffer that path and queue hold")
            .help("lower it, or ask the simulator"),
        });
    }
    Ok((path, target))
}

/// The other flows as one cross traffic limited by its window.
fn buffer_limited(resolved: &Resolved, others: &[ResolvedFlow]) -> Result<CrossTraffic, Misfit> {
    let base_rtt = others[0].base_rtt;
    let misfit = |key: String| Misfit {
        engine: Engine::Model,
        complaint: Complaint::new(
            key,
            "several flows have a closed form only if all but the first are limited by their socket buffers, \
                at one RTT, without other cross traffic",
        )
        .help("change the scenario so, or choose another engine"),
    };
    if !resolved.traffic.is_empty() {
        return Err(misfit("traffic".into()));
    }
    if let Some(other) = others.iter().find(|flow| flow.base_rtt != base_rtt) {
        return Err(misfit(other.key("rtt")));
    }
    let mut window = Bytes::ZERO;
    for flow in others {
        let buffer = flow.socket_buffer.ok_or_else(|| misfit(flow.key("socket_buffer")))?;
        window += flow.segment() * (buffer / flow.payload);
    }
    Ok(CrossTraffic::BufferLimited {
        window,
        base_rtt: base_rtt + resolved.link.rate.serialization(resolved.segment()),
    })
}

fn record(resolved: &Resolved, path: &Path, prediction: &Prediction, wall_s: f64) -> Record {
    let flow = &resolved.flows[0];
    let queueing = prediction.rtt.saturating_sub(path.base_rtt);
    let wire = prediction.goodput.scale(flow.segment().get() as f64 / flow.payload.get() as f64);
    let utilization = ((wire + path.cross.rate(queueing)).as_bps_f64() / path.capacity.as_bps_f64()).min(1.0);
    let rtt = prediction.rtt.as_secs_f64();
    let own = FlowSummary {
        name: flow.name.clone(),
        goodput_bps: prediction.goodput.as_bps_f64(),
        loss_rate: Some(prediction.loss),
        retransmits: if prediction.loss == 0.0 { Some(0) } else { None },
        marks: None,
        rtt_s: Some(RttStatistics { min: path.base_rtt.as_secs_f64(), mean: rtt, p95: None }),
        completion_s: flow.size.map(|size| size.bits_f64() / prediction.goodput.as_bps_f64().max(1.0)),
        ..FlowSummary::default()
    };
    let mut flows = vec![own];
    flows.extend(resolved.flows[1..].iter().map(|flow| other(flow, path, queueing)));
    fairness::compare(&mut flows, resolved);
    let goodputs: Vec<f64> = flows.iter().map(|flow| flow.goodput_bps).collect();
    let end = resolved.end.map_or_else(|| flows[0].completion_s.unwrap_or(0.0), Span::as_secs_f64);
    let summary = Summary {
        engine: Engine::Model,
        scenario_hash: resolved.hash.clone(),
        seed: resolved.seed,
        measured_s: end - resolved.warmup.as_secs_f64(),
        wall_s,
        peak_rss_bytes: peak_rss_bytes(),
        utilization: Some(utilization),
        idle_fraction: Some(1.0 - utilization),
        // Losses of the target alone; random loss strikes all alike.
        loss_rate: (resolved.flows.len() == 1 && resolved.traffic.is_empty()).then_some(prediction.loss),
        mean_backlog_bytes: Some(prediction.backlog.get() as f64),
        mean_occupancy: Some(prediction.backlog.get() as f64 / path.buffer.get() as f64),
        queueing_delay_s: Some(DelayStatistics {
            mean: queueing.as_secs_f64(),
            percentiles: Percentiles::default(),
            max: None,
        }),
        jain_index: jain_index(&goodputs),
        flows,
        ..Summary::default()
    };
    let series = series(resolved, prediction, &summary, end);
    Record { summary, series, notes: vec![note(prediction.regime).into()] }
}

/// A flow limited by its socket buffer beside the target.
fn other(flow: &ResolvedFlow, path: &Path, queueing: Span) -> FlowSummary {
    let rtt = match path.cross {
        CrossTraffic::BufferLimited { base_rtt, .. } => base_rtt + queueing,
        CrossTraffic::Unresponsive { .. } => flow.base_rtt + queueing,
    };
    let window = flow.payload * (flow.socket_buffer.unwrap_or_default() / flow.payload);
    FlowSummary {
        name: flow.name.clone(),
        goodput_bps: window.bits_f64() / rtt.as_secs_f64(),
        loss_rate: None,
        retransmits: None,
        marks: None,
        rtt_s: Some(RttStatistics { min: flow.base_rtt.as_secs_f64(), mean: rtt.as_secs_f64(), p95: None }),
        ..FlowSummary::default()
    }
}

/// The steady state as two samples, so that a chart can draw it.
fn series(resolved: &Resolved, prediction: &Prediction, summary: &Summary, end: f64) -> Series {
    let t_s = vec![0.0, end];
    let twice = |value: f64| vec![value, value];
    let flow = |flow: &FlowSummary| FlowSeries {
        name: flow.name.clone(),
        t_s: t_s.clone(),
        rate_bps: twice(flow.goodput_bps),
        rtt_s: flow.rtt_s.map_or_else(Vec::new, |rtt| twice(rtt.mean)),
        window_bytes: if flow.name == resolved.flows[0].name {
            twice(prediction.window.get() as f64)
        } else {
            Vec::new()
        },
        ..FlowSeries::default()
    };
    Series {
        flows: summary.flows.iter().map(flow).collect(),
        link: LinkSeries {
            t_s: t_s.clone(),
            backlog_bytes: twice(prediction.backlog.get() as f64),
            drops: Vec::new(),
        },
        ..Series::default()
    }
}

fn note(regime: Regime) -> &'static str {
    match regime {
        Regime::BufferLimited => "buffer-limited: the socket buffer is below A x Te, so the link idles",
        Regime::Saturated => "saturated: the socket buffer fills the link and its excess stands in the queue",
        Regime::SelfInducedLoss => {
            "self-induced loss: the window overflows the queue and saws; the start-up is not part of the model"
        }
        Regime::Congested => {
            "congested: the path loses packets by itself, so the best socket buffer is the largest"
        }
    }
}

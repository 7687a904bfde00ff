//! The simulator as an engine: builds its plan, runs it, and summarizes it. `recorder.rs` records the series, `acks.rs`
//! acknowledgements, and `capture.rs` packets.

mod acks;
mod capture;
mod recorder;
mod spread;

use self::capture::{RunCapture, unwritable};
use self::recorder::SeriesRecorder;
use super::{
    EngineError, Misfit, Progress, ended_early, marked, no_foreign_control, outlasts_warmup, sizer_notes,
    synchronized, unmarked,
};
use crate::run::batches::{Reading, half_widths};
use crate::run::captured::CaptureFile;
use crate::run::cost::{Stopwatch, peak_rss_bytes};
use crate::run::fairness;
use crate::run::memory::{self, ExcessMemory};
use crate::run::record::{
    DelayStatistics, Engine, FlowSummary, LinkSummary, Note, Record, RttStatistics, Series, SessionsSummary,
    StationSummary, Summary, WlanSummary, traffic,
};
use crate::run::resolve::{Resolved, ResolvedFlow, ResolvedLink, ResolvedSessions};
use scenario::Direction;
use sim::{
    AccessReport, CellReport, FlowPlan, FlowReport, LinkPlan, Plan, SessionsPlan, SessionsReport, Simulation,
    Topology,
};
use units::{Bytes, Complaint, Span, Time};

pub(super) fn run(resolved: &Resolved, progress: Progress<'_>) -> Result<Record, EngineError> {
    check(resolved)?;
    let plan = plan(resolved);
    let watch = Stopwatch::start();
    memory::reserve(recorder::size(resolved));
    let file = resolved.capture.as_ref();
    let failed = |file: &CaptureFile, error| EngineError::Capture(unwritable(&file.path, &error));
    let capture = file.map(|file| RunCapture::create(file, resolved).map_err(|error| failed(file, error)));
    let recorder = SeriesRecorder::new(resolved, progress, capture.transpose()?);
    let simulation = Simulation::new(plan, Box::new(recorder));
    let ran = simulation.try_run();
    let mut outcome = ran.map_err(|ended| too_large(ended.at, ended.recorder.was_too_large()))?;
    if let (Some(file), Some(capture)) = (file, outcome.recorder.take_capture()) {
        capture.finish().map_err(|error| failed(file, error))?;
    }
    if outcome.recorder.was_stopped() {
        return Err(EngineError::Stopped);
    }
    outlasts_warmup(outcome.ended, resolved)?;
    let established = outcome.flows.iter().zip(&resolved.flows).filter_map(established).reduce(f64::min);
    let sizing: Vec<String> = outcome.flows.iter().flat_map(sizing_notes).collect();
    // Each report is dropped once it is summarized: with many flows they take much memory.
    let flows = outcome.flows.into_iter().zip(&resolved.flows);
    let mut flows: Vec<FlowSummary> = flows.map(|(flow, of)| flow_summary(flow, of, resolved)).collect();
    fairness::compare(&mut flows, resolved);
    let readings: Vec<Reading> = outcome.batches.iter().map(Reading::from).collect();
    let ci95 = half_widths(&readings);
    let mut summary = Summary {
        wall_s: watch.seconds(),
        peak_rss_bytes: peak_rss_bytes(),
        ..Summary::of(Engine::Sim, resolved, &outcome.link, ci95, flows)
    };
    if resolved.is_network() {
        let links = resolved.links.iter().zip(&outcome.links).enumerate();
        summary.links = links
            .map(|(index, (link, report))| LinkSummary::of(link, index == resolved.tight, report))
            .collect();
    }
    summary.traffic = traffic(resolved, &outcome.traffic, outcome.ended);
    summary.delivers_from(established.into_iter(), resolved);
    summary.wlan = outcome.cell.as_ref().map(wlan_summary);
    let (series, intervals) = outcome.recorder.into_series();
    let fairness = intervals.map(|watch| watch.finish(&mut summary)).unwrap_or_default();
    summary.sessions = outcome.sessions.iter().map(sessions_summary).collect();
    summary.set_losses(outcome.losses, resolved);
    let mut notes = ended_early(&summary, resolved);
    notes.extend(marked(&outcome.link));
    notes.extend(unmarked(&summary, resolved));
    notes.extend(synchronized::note(&summary, resolved));
    if let Some(sample) = &resolved.sample {
        let (some, all) = (sample.len(), resolved.flows.len());
        notes.push(format!(
            "series are of {some} of the {all} flows, with percentiles over all; [record] flows = \"all\" keeps each"
        ));
    }
    if resolved.thinned {
        let every = resolved.every;
        notes.push(format!(
            "series have a sample every {every}, so that they fit into memory; [record] every sets it"
        ));
    }
    if !resolved.unsaturated.is_empty() {
        let names = resolved.unsaturated.join(", ");
        notes.push(format!("{names}: not saturated, because a flow makes it send in the same category"));
    }
    notes.extend(sizing);
    let series = Series { queue_length: outcome.link.queue_length.shares(), fairness, ..series };
    Ok(Record { summary, series, notes: notes.into_iter().map(Note::from).collect() })
}

/// Returns the error of a run that ended at `at` because it took too much memory.
fn too_large(at: Time, exceeded: Option<ExcessMemory>) -> EngineError {
    let megabytes = |bytes: u64| format!("{} MB", bytes / 1_000_000);
    let (taken, allowed) = exceeded.map_or((0, 0), |ExcessMemory { taken, allowed }| (taken, allowed));
    let at = at.since(Time::ZERO).rounded();
    let complaint = Complaint::new("", format!("the run takes {} of memory at {at}", megabytes(taken)))
        .accepted(format!("up to {}, half of what was free", megabytes(allowed)))
        .help("ask for less: a smaller queue, window, rate or RTT, fewer flows, or a longer [record] every");
    EngineError::TooLarge(complaint)
}

/// Lists the changes of a flow's sizer, with their times and reasons.
fn sizing_notes(flow: &FlowReport) -> Vec<String> {
    let changes = flow.sizing.iter().map(|change| (change.at, &change.state, change.window));
    sizer_notes::notes(&flow.name, changes, flow.sized)
}

pub(super) fn plan(resolved: &Resolved) -> Plan {
    let plan = Plan {
        topology: match &resolved.cell {
            Some(cell) => Topology::Cell(cell.clone()),
            None => Topology::Network {
                links: resolved.links.iter().map(link_plan).collect(),
                tight: resolved.tight,
            },
        },
        flows: resolved.flows.iter().map(flow_plan).collect(),
        traffic: resolved.traffic.clone(),
        sessions: resolved.sessions.iter().map(sessions_plan).collect(),
        end: resolved.end.map(|end| Time::ZERO + end),
        warmup: Time::ZERO + resolved.warmup,
        seed: resolved.seed,
    };
    if resolved.cell.is_some() { plan } else { plan.simplified() }
}

fn link_plan(link: &ResolvedLink) -> LinkPlan {
    LinkPlan {
        name: match link.direction {
            Direction::Forward => link.name.clone(),
            Direction::Reverse => format!("{} reverse", link.name),
        },
        config: link.config.clone(),
        queue: link.queue.clone(),
        limit: link.limit,
    }
}

fn sessions_plan(sessions: &ResolvedSessions) -> SessionsPlan {
    SessionsPlan {
        name: sessions.name.clone(),
        connections: sessions.connections.iter().map(flow_plan).collect(),
        size: sessions.size,
        think: sessions.think,
        handshake: sessions.handshake,
    }
}

fn flow_plan(flow: &ResolvedFlow) -> FlowPlan {
    let mut plan = flow.plan();
    if plan.place.is_some() {
        plan.route.clear();
    }
    plan
}

/// Checks that the simulator has the parts that the scenario names.
///
/// # Errors
/// Returns the first part that it does not have.
pub(super) fn check(resolved: &Resolved) -> Result<(), Misfit> {
    no_foreign_control(Engine::Sim, resolved)?;
    let mut checked = None;
    for flow in resolved.connections() {
        // The flows of a table differ in nothing that matters here.
        let table = Some((flow.section, flow.entry));
        if checked != table {
            check_flow(flow)?;
            checked = table;
        }
    }
    Ok(())
}

fn check_flow(flow: &ResolvedFlow) -> Result<(), Misfit> {
    let acknowledgements_wait = !flow.return_route.is_empty() || flow.place.is_some();
    if flow.asked_sizer().is_some() && acknowledgements_wait {
        return Err(Misfit {
            engine: Engine::Sim,
            complaint: Complaint::new(
                flow.key("socket_buffer"),
                "a sizer where acknowledgements cross queues: its round-trip times would be those of one way",
            )
            .accepted("\"max\" or a size")
            .help("give it a size, or write a [link] without reverse"),
        });
    }
    Ok(())
}

fn flow_summary(flow: FlowReport, of: &ResolvedFlow, resolved: &Resolved) -> FlowSummary {
    let rtt = flow.rtt.mean().zip(flow.min_rtt).map(|(mean, min)| RttStatistics {
        min: min.as_secs_f64(),
        mean: mean.as_secs_f64(),
        p95: flow.rtt.quantile(0.95).map(Span::as_secs_f64),
    });
    let segments = |window: Bytes| window.get() as f64 / of.payload.get() as f64;
    FlowSummary {
        goodput_bps: flow.goodput().as_bps_f64(),
        loss_rate: (flow.sent > 0).then(|| flow.dropped as f64 / flow.sent as f64),
        retransmits: Some(flow.retransmits),
        timeouts: Some(flow.timeouts),
        first_loss_window_segments: flow.first_loss_window.map(segments),
        threshold_segments: flow.threshold.map(segments),
        window_bytes: flow.sized.map(|window| window.get() as f64),
        marks: Some(flow.marks),
        rtt_s: rtt,
        completion_s: flow.completion.map(Span::as_secs_f64),
        handshake_s: flow.handshake.map(Span::as_secs_f64),
        size_bytes: of.size.map(|size| size.get() as f64),
        rtt_p99_s: flow.rtt.quantile(0.99).map(Span::as_secs_f64),
        jitter_s: flow.rtt_jitter.map(Span::as_secs_f64),
        delivered_bytes: Some(flow.delivered.get() as f64),
        backlog_packets: backlog_packets(&flow, of, resolved),
        max_smoothed_rtt_s: flow.max_smoothed_rtt.map(Span::as_secs_f64),
        name: flow.name,
        ..FlowSummary::default()
    }
}

/// Returns the time at which a flow could first send data, seconds; `None` if it never could.
fn established((flow, of): (&FlowReport, &ResolvedFlow)) -> Option<f64> {
    let took = if of.handshake { flow.handshake? } else { Span::ZERO };
    Some((of.start + took).as_secs_f64())
}

/// Estimates the mean number of waiting packets by Little's law: packets that got through per second, times the wait of
/// each. Returns `None` if a round trip includes more than one queue, a delay that changes, or an
/// acknowledgement that waits.
fn backlog_packets(flow: &FlowReport, of: &ResolvedFlow, resolved: &Resolved) -> Option<f64> {
    let constant = resolved.link.changes.delay.is_none();
    let alone = !resolved.is_network()
        && resolved.cell.is_none()
        && constant
        && of.delayed_ack == 1
        && of.transport.timestamps;
    let mean = flow.rtt.mean().filter(|_| alone)?;
    let waited = mean.saturating_sub(of.base_rtt + resolved.link.rate.serialization(of.segment()));
    let measured = flow.active.as_secs_f64();
    (measured > 0.0).then(|| (flow.sent - flow.dropped) as f64 / measured * waited.as_secs_f64())
}

fn wlan_summary(cell: &CellReport) -> WlanSummary {
    let station = |function: &AccessReport| StationSummary {
        name: function.station.clone(),
        category: function.category.name().to_owned(),
        throughput_bps: cell.throughput_of(function).as_bps_f64(),
        airtime_share: Some(cell.airtime_share(function)),
        // Each failure that did not end in a drop was followed by another attempt.
        retries: Some(
            (function.access.collisions + function.access.internal_collisions)
                .saturating_sub(function.access.dropped),
        ),
        dropped_at_limit: Some(function.access.dropped),
    };
    let attempted = cell.functions.iter().any(|function| function.access.attempts > 0);
    WlanSummary {
        throughput_bps: cell.throughput().as_bps_f64(),
        collision_probability: attempted.then(|| cell.collision_probability()),
        idle_share: cell.idle_share(),
        mean_limit_packets: cell.mean_moving_limit,
        stations: cell.functions.iter().map(station).collect(),
    }
}

fn sessions_summary(sessions: &SessionsReport) -> SessionsSummary {
    SessionsSummary {
        name: sessions.name.clone(),
        users: sessions.users as u64,
        completed: sessions.completed,
        mean_active: sessions.mean_active,
        goodput_bps: sessions.goodput().as_bps_f64(),
        completion_s: DelayStatistics::of(&sessions.completion),
        retransmits: sessions.retransmits,
        loss_rate: (sessions.sent > 0).then(|| sessions.dropped as f64 / sessions.sent as f64),
    }
}

//! The simulator as an engine: builds its plan, records its series.

use super::{EngineError, Misfit, Progress, ended_early, measured, phases, synchronized};
use crate::batches::{Reading, half_widths};
use crate::fairness::FairnessWatch;
use crate::measure::{Stopwatch, delay_statistics, link_summary, summary, tell_losses};
use crate::record::{
    Engine, FlowSeries, FlowSummary, MeasureSeries, Record, RttStatistics, Series, SessionsSummary,
};
use crate::resolve::{Resolved, ResolvedFlow, ResolvedLink, ResolvedSessions, ResolvedTraffic};
use cc::Start;
use link::LinkState;
use scenario::{Column, Direction};
use sim::{
    FlowPlan, FlowReport, FlowView, LinkPlan, Plan, Recorder, SessionsPlan, SessionsReport, Simulation,
    TrafficPlan,
};
use sizing::SobasConfig;
use units::{Bytes, Span, Time};

pub(super) fn run(resolved: &Resolved, progress: Progress<'_>) -> Result<Record, EngineError> {
    let plan = plan(resolved)?;
    let watch = Stopwatch::start();
    let leaving = resolved.flows.iter().enumerate();
    let leaving = leaving.filter_map(|(index, flow)| Some((index, Time::ZERO + flow.stop?)));
    let outcome = Simulation::new(plan, SeriesRecorder::new(resolved, progress)).leaving(leaving).run();
    measured(outcome.ended, resolved)?;
    let flows = outcome.flows.iter().zip(&resolved.flows);
    let flows = flows.map(|(flow, of)| flow_summary(flow, of, resolved)).collect();
    let readings: Vec<Reading> = outcome.batches.iter().map(Reading::from).collect();
    let ci95 = half_widths(&readings);
    let mut summary = summary(Engine::Sim, resolved, &outcome.link, ci95, flows, watch.seconds());
    if resolved.is_network() {
        let links = resolved.links.iter().zip(&outcome.links).enumerate();
        summary.links = links
            .map(|(index, (link, report))| link_summary(link, index == resolved.tight, report))
            .collect();
    }
    let fairness = outcome.recorder.fairness.map(|watch| watch.tell(&mut summary)).unwrap_or_default();
    summary.sessions = outcome.sessions.iter().map(sessions_summary).collect();
    tell_losses(&mut summary, outcome.losses, resolved);
    let mut notes = ended_early(&summary, resolved);
    notes.extend(synchronized::note(&summary, resolved));
    if resolved.thinned {
        let every = resolved.every;
        notes.push(format!(
            "series have a sample every {every}, so that they fit into memory; [record] every sets it"
        ));
    }
    notes.extend(outcome.flows.iter().flat_map(sizing_notes));
    let series =
        Series { queue_length: outcome.link.queue_length.shares(), fairness, ..outcome.recorder.series };
    Ok(Record { summary, series, notes })
}

/// What a flow's sizer did, when and why.
fn sizing_notes(flow: &FlowReport) -> Vec<String> {
    let changes = flow.sizing.iter().map(|change| (change.at, &change.state, Some(change.window)));
    phases::notes(&flow.name, changes, flow.sized)
}

pub(super) fn plan(resolved: &Resolved) -> Result<Plan, Misfit> {
    Ok(Plan {
        links: resolved.links.iter().map(link_plan).collect(),
        tight: resolved.tight,
        flows: resolved.flows.iter().map(flow_plan).collect::<Result<_, _>>()?,
        traffic: (resolved.traffic.iter())
            .map(|ResolvedTraffic { name, config, route }| TrafficPlan {
                name: name.clone(),
                config: config.clone(),
                route: route.clone(),
            })
            .collect(),
        sessions: resolved.sessions.iter().map(sessions_plan).collect::<Result<_, _>>()?,
        end: resolved.end.map(|end| Time::ZERO + end),
        warmup: Time::ZERO + resolved.warmup,
        seed: resolved.seed,
    })
}

fn link_plan(link: &ResolvedLink) -> LinkPlan {
    LinkPlan {
        name: match link.direction {
            Direction::Forward => link.name.clone(),
            Direction::Reverse => format!("{} reverse", link.name),
        },
        config: link.config,
        queue: link.queue.clone(),
        limit: link.limit,
    }
}

fn sessions_plan(sessions: &ResolvedSessions) -> Result<SessionsPlan, Misfit> {
    // What fits for one fits for all: they differ in their round-trip times and starts only.
    sessions.connections.first().map(flow_plan).transpose()?;
    let connections = sessions.connections.clone();
    let connect = move |user: usize, syn_lost: bool| {
        let mut connection = connections[user].clone();
        if syn_lost {
            connection.initial_window = 1;
        }
        flow_plan(&connection).expect("the first user's was fine")
    };
    Ok(SessionsPlan {
        name: sessions.name.clone(),
        users: sessions.connections.len(),
        connect: Box::new(connect),
        size: sessions.size,
        think: sessions.think,
        handshake: sessions.handshake,
    })
}

fn flow_plan(flow: &ResolvedFlow) -> Result<FlowPlan, Misfit> {
    let start = Start {
        segment: flow.payload,
        window: flow.payload * flow.initial_window,
        threshold: flow.initial_ssthresh.unwrap_or(Bytes::MAX),
    };
    let Some(control) = cc::registry::tuned(&flow.control, &flow.slow_start, start, flow.tuning) else {
        let known: Vec<&str> = cc::registry::CONTROLS.iter().map(|control| control.name).collect();
        return Err(Misfit {
            engine: Engine::Sim,
            key: flow.key("control"),
            found: format!("the simulator does not have control \"{}\"", flow.control),
            accepted: known.join(", "),
            mend: "choose another control, or the kernel: --engine live".into(),
        });
    };
    if flow.sizer.is_some() && !flow.return_route.is_empty() {
        return Err(Misfit {
            engine: Engine::Sim,
            key: flow.key("socket_buffer"),
            found:
                "a sizer where acknowledgements cross queues: its round-trip times would be those of one way"
                    .into(),
            accepted: "\"max\" or a size".into(),
            mend: "give it a size, or leave the links' reverse out".into(),
        });
    }
    let largest = flow.socket_buffer.unwrap_or(Bytes::MAX);
    // What the kernel does unasked is what the sizer of its rules does.
    let sizer = flow.sizer.as_deref().or(flow.autotuned.then_some("drs")).map(|name| {
        // Both ends are ours here.
        let config =
            SobasConfig { header: flow.header, can_pace: true, ..SobasConfig::new(flow.payload, largest) };
        sizing::registry::build_with(name, config).expect("resolving has looked the name up")
    });
    Ok(FlowPlan {
        name: flow.name.clone(),
        control,
        payload: flow.payload,
        header: flow.header,
        base_rtt: flow.base_rtt,
        route: flow.route.clone(),
        return_route: flow.return_route.clone(),
        size: flow.size,
        start: Time::ZERO + flow.start,
        delayed_ack: flow.delayed_ack,
        delayed_ack_timeout: flow.delayed_ack_timeout,
        socket_buffer: largest,
        sizer,
        send_jitter: flow.send_jitter,
        min_rto: flow.min_rto,
        initial_rto: flow.initial_rto,
        timestamps: flow.timestamps,
        sack: flow.sack,
        recovery: match flow.recovery {
            scenario::Recovery::Rfc6675 => sim::Recovery::Rfc6675,
            scenario::Recovery::Prr => sim::Recovery::Prr,
            scenario::Recovery::Sack1 => sim::Recovery::Sack1,
        },
        loss_detection: match flow.loss_detection {
            scenario::LossDetection::DupAck => sim::LossDetection::DupAck,
            scenario::LossDetection::Rack => sim::LossDetection::Rack,
        },
        ecn: flow.ecn,
        pacing: flow.pacing,
        access_rate: flow.access_rate,
        host: flow.host,
    })
}

fn flow_summary(flow: &FlowReport, of: &ResolvedFlow, resolved: &Resolved) -> FlowSummary {
    let rtt = flow.rtt.mean().zip(flow.min_rtt).map(|(mean, min)| RttStatistics {
        min: min.as_secs_f64(),
        mean: mean.as_secs_f64(),
        p95: flow.rtt.quantile(0.95).map(Span::as_secs_f64),
    });
    FlowSummary {
        name: flow.name.clone(),
        goodput_bps: flow.goodput().as_bps_f64(),
        loss_rate: (flow.sent > 0).then(|| flow.dropped as f64 / flow.sent as f64),
        retransmits: Some(flow.retransmits),
        marks: Some(flow.marks),
        rtt_s: rtt,
        completion_s: flow.completion.map(Span::as_secs_f64),
        delivered_bytes: Some(flow.delivered.get() as f64),
        backlog_packets: backlog_packets(flow, of, resolved),
        ..FlowSummary::default()
    }
}

/// By Little's law: packets that got through per second, times how long each waited. `None` where a round trip has more
/// than one queue in it, or an acknowledgement that waits.
fn backlog_packets(flow: &FlowReport, of: &ResolvedFlow, resolved: &Resolved) -> Option<f64> {
    let alone = !resolved.is_network() && of.delayed_ack == 1 && of.timestamps;
    let mean = flow.rtt.mean().filter(|_| alone)?;
    let waited = mean.saturating_sub(of.base_rtt + resolved.link.rate.serialization(of.segment()));
    let measured = flow.active.as_secs_f64();
    (measured > 0.0).then(|| (flow.sent - flow.dropped) as f64 / measured * waited.as_secs_f64())
}

fn sessions_summary(sessions: &SessionsReport) -> SessionsSummary {
    SessionsSummary {
        name: sessions.name.clone(),
        users: sessions.users as u64,
        completed: sessions.completed,
        mean_active: sessions.mean_active,
        goodput_bps: sessions.goodput().as_bps_f64(),
        completion_s: delay_statistics(&sessions.completion),
        retransmits: sessions.retransmits,
        loss_rate: (sessions.sent > 0).then(|| sessions.dropped as f64 / sessions.sent as f64),
    }
}

/// The longest time of which both are multiples.
fn common_measure(one: Span, other: Span) -> Span {
    let (mut larger, mut smaller) = (one.as_nanos(), other.as_nanos());
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    Span::from_nanos(larger)
}

/// Between two words about how far a run is, by the clock.
const PAUSE_S: f64 = 0.1;

/// Turns what the simulator shows into the columns a scenario asks for, and says how far the run is.
struct SeriesRecorder<'a> {
    progress: Progress<'a>,
    end: Option<Span>,
    watch: Stopwatch,
    /// When progress was told last, seconds.
    told: f64,
    every: Span,
    columns: Vec<Column>,
    fairness: Option<FairnessWatch>,
    delivered: Vec<Bytes>,
    drops: u64,
    series: Series,
}

impl<'a> SeriesRecorder<'a> {
    fn new(resolved: &Resolved, progress: Progress<'a>) -> Self {
        let series = |flow: &ResolvedFlow| FlowSeries { name: flow.name.clone(), ..FlowSeries::default() };
        Self {
            progress,
            end: resolved.end,
            watch: Stopwatch::start(),
            told: 0.0,
            every: resolved.every,
            columns: resolved.columns.clone(),
            fairness: FairnessWatch::new(resolved),
            delivered: vec![Bytes::ZERO; resolved.flows.len()],
            drops: 0,
            series: Series { flows: resolved.flows.iter().map(series).collect(), ..Series::default() },
        }
    }

    fn keeps(&self, column: Column) -> bool {
        self.columns.contains(&column)
    }

    /// Whether the series have a sample at this time.
    fn samples(&self, at: Time) -> bool {
        !self.columns.is_empty() && at.as_nanos().is_multiple_of(self.every.as_nanos())
    }
}

impl Recorder for SeriesRecorder<'_> {
    /// Often enough for a smooth bar, seldom enough to cost nothing.
    fn pulse(&self) -> Option<Span> {
        Some(self.end.map_or(Span::from_millis(100), |end| end / 1000))
    }

    fn reached(&mut self, at: Time) {
        let now = self.watch.seconds();
        if now >= self.told + PAUSE_S {
            self.told = now;
            (self.progress)(at.as_secs_f64(), self.end.map(Span::as_secs_f64));
        }
    }

    fn interval(&self) -> Option<Span> {
        let series = (!self.columns.is_empty()).then_some(self.every);
        match (series, self.fairness.as_ref().map(FairnessWatch::interval)) {
            (Some(one), Some(other)) => Some(common_measure(one, other)),
            (one, other) => one.or(other),
        }
    }

    fn link(&mut self, at: Time, state: &LinkState) {
        if let Some(fairness) = &mut self.fairness {
            fairness.link(at, state);
        }
        if !self.samples(at) {
            return;
        }
        let (backlog, drops) = (self.keeps(Column::Backlog), self.keeps(Column::Drops));
        let link = &mut self.series.link;
        if backlog || drops {
            link.t_s.push(at.as_secs_f64());
        }
        if backlog {
            link.backlog_bytes.push(state.backlog.bytes.get() as f64);
        }
        if drops {
            link.drops.push(state.drops - self.drops);
            self.drops = state.drops;
        }
    }

    fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        if let Some(fairness) = &mut self.fairness {
            fairness.flow(at, index, view);
        }
        if !self.samples(at) {
            return;
        }
        let (rate, rtt, window) =
            (self.keeps(Column::Rate), self.keeps(Column::Rtt), self.keeps(Column::Window));
        let data = self.keeps(Column::Data);
        if !(rate || rtt || window || data || self.wants_measures()) {
            return;
        }
        let flow = &mut self.series.flows[index];
        flow.t_s.push(at.as_secs_f64());
        if rate {
            let delivered = view.delivered.saturating_sub(self.delivered[index]);
            self.delivered[index] = view.delivered;
            flow.rate_bps.push(delivered.bits_f64() / self.every.as_secs_f64());
        }
        if rtt {
            flow.rtt_s.push(view.smoothed_rtt.map_or(f64::NAN, Span::as_secs_f64));
        }
        if data {
            flow.data_bytes.push(view.delivered.get() as f64);
        }
        if window {
            flow.window_bytes.push(view.window.get() as f64);
        }
    }

    fn wants_measures(&self) -> bool {
        self.keeps(Column::Measures)
    }

    fn measure(&mut self, _at: Time, index: usize, name: &'static str, value: f64) {
        let flow = &mut self.series.flows[index];
        // A controller shows the same quantities in the same order each time; what comes later has nothing before.
        let place = match flow.measures.iter().position(|measure| measure.name == name) {
            Some(place) => place,
            None => {
                flow.measures.push(MeasureSeries { name: name.into(), values: Vec::new() });
                flow.measures.len() - 1
            }
        };
        let values = &mut flow.measures[place].values;
        values.resize(flow.t_s.len().saturating_sub(1), f64::NAN);
        values.push(value);
    }
}

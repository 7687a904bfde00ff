//! What a theory finds, and the record made of it.

use crate::run::cost::{Stopwatch, peak_rss_bytes};
use crate::run::fairness;
use crate::run::record::{
    DelayStatistics, Engine, FlowSeries, FlowSummary, LinkSeries, Note, QueueLength, Record, RttStatistics,
    Series, Summary, Times, WlanSummary,
};
use crate::run::resolve::{Resolved, ResolvedFlow};
use crate::run::statistics::jain_index;
use units::{Rate, Span};

/// What a theory says of a scenario. Times are in seconds, shares from 0 to 1, everything finite.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// What the tight link sends over what it could.
    pub(super) utilization: f64,
    /// Drops over arrivals at the tight link.
    pub(super) loss_rate: Option<f64>,
    /// Mean of the bytes waiting at the tight link.
    pub(super) backlog_bytes: Option<f64>,
    /// Packets waiting there, where the theory knows their distribution.
    pub(super) queue_length: Option<QueueLength>,
    /// How long packets wait there.
    pub(super) queueing_delay: Option<DelayStatistics>,
    /// One for each flow of the scenario, in its order. Shares and ratios between flows are filled in later.
    pub(super) flows: Vec<FlowSummary>,
    /// Mean send window of the flows, bytes, in the same order; of those that are not there nothing is drawn.
    pub(super) windows: Vec<Option<f64>>,
    /// What the theory knows against time; `None`: it knows a steady state, which is drawn as such.
    pub(super) series: Option<Series>,
    /// What the air does, in a wireless cell.
    pub(super) wlan: Option<WlanSummary>,
    /// Remarks on the answer.
    pub(super) notes: Vec<Note>,
}

impl Answer {
    /// The record of this answer by `theory`, with the assumptions that the scenario breaks.
    pub(super) fn record(
        mut self,
        resolved: &Resolved,
        theory: &str,
        assumptions: Vec<String>,
        watch: Stopwatch,
    ) -> Record {
        fairness::compare(&mut self.flows, resolved);
        let goodputs: Vec<f64> = self.flows.iter().map(|flow| flow.goodput_bps).collect();
        let last = self.flows.iter().filter_map(|flow| flow.completion_s).fold(0.0, f64::max);
        let end = resolved.end.map_or(last, Span::as_secs_f64);
        self.notes.insert(0, format!("answered by the theory {theory}").into());
        let room = resolved.limit_bytes().get() as f64;
        let series = self.series.take().unwrap_or_else(|| self.steady(resolved, end));
        let summary = Summary {
            engine: Engine::Model,
            scenario_hash: resolved.hash.clone(),
            seed: resolved.seed,
            assumptions,
            measured_s: (end - resolved.warmup.as_secs_f64()).max(0.0),
            wall_s: watch.seconds(),
            peak_rss_bytes: peak_rss_bytes(),
            utilization: Some(self.utilization),
            idle_fraction: Some(1.0 - self.utilization),
            loss_rate: self.loss_rate,
            mean_backlog_bytes: self.backlog_bytes,
            mean_occupancy: self.backlog_bytes.filter(|_| room > 0.0).map(|backlog| backlog / room),
            queue_length_packets: self.queue_length,
            queueing_delay_s: self.queueing_delay,
            jain_index: jain_index(&goodputs),
            flows: self.flows,
            wlan: self.wlan,
            ..Summary::default()
        };
        Record { summary, series, notes: self.notes }
    }

    /// The steady state as two samples, so that a chart can draw it.
    fn steady(&self, resolved: &Resolved, end: f64) -> Series {
        let t_s = Times::from(vec![0.0, end]);
        let twice = |value: f64| vec![value, value];
        let flow = |index: usize| {
            let flow = &self.flows[index];
            FlowSeries {
                name: flow.name.clone(),
                t_s: t_s.clone(),
                rate_bps: twice(flow.goodput_bps),
                rtt_s: flow.rtt_s.map_or_else(Vec::new, |rtt| twice(rtt.mean)),
                window_bytes: self.windows.get(index).copied().flatten().map_or_else(Vec::new, twice),
                ..FlowSeries::default()
            }
        };
        let drawn = resolved.sample.clone().unwrap_or_else(|| (0..self.flows.len()).collect());
        Series {
            flows: drawn.into_iter().map(flow).collect(),
            link: LinkSeries {
                t_s: t_s.clone(),
                backlog_bytes: self.backlog_bytes.map_or_else(Vec::new, twice),
                ..LinkSeries::default()
            },
            ..Series::default()
        }
    }
}

/// A flow that a theory leaves out.
pub(super) fn nothing(flow: &ResolvedFlow) -> FlowSummary {
    FlowSummary { name: flow.name.clone(), ..FlowSummary::default() }
}

/// Of each link an equal share for the flows that cross it, bit/s.
pub(super) fn shares(resolved: &Resolved) -> Vec<f64> {
    let mut sharing = vec![0.0_f64; resolved.links.len()];
    resolved.flows.iter().flat_map(|flow| &flow.route).for_each(|link| sharing[*link] += 1.0);
    let rates = resolved.links.iter().map(|link| link.config.rate.as_bps_f64());
    rates.zip(sharing).map(|(rate, sharing)| rate / sharing.max(1.0)).collect()
}

/// A flow that does not cross the tight link: an equal share of the least link on its way, as far as its window carries it.
pub(super) fn elsewhere(resolved: &Resolved, flow: &ResolvedFlow, shares: &[f64]) -> FlowSummary {
    let least = flow.route.iter().map(|link| shares[*link]).reduce(f64::min);
    let wire = least.unwrap_or_else(|| resolved.available().as_bps_f64());
    let goodput = Rate::from_bps_f64(wire * flow.payload.get() as f64 / flow.segment().get() as f64);
    let held = flow.socket_buffer.map_or(goodput, |buffer| goodput.min(Rate::of(buffer, flow.base_rtt)));
    let rtt = flow.base_rtt.as_secs_f64();
    FlowSummary {
        name: flow.name.clone(),
        goodput_bps: held.as_bps_f64(),
        rtt_s: Some(RttStatistics { min: rtt, mean: rtt, p95: None }),
        ..FlowSummary::default()
    }
}

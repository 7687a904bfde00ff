//! The answer of a theory, and the record made from it.

use crate::run::cost::{Stopwatch, peak_rss_bytes};
use crate::run::fairness;
use crate::run::record::{
    DelayStatistics, Engine, FlowSeries, FlowSummary, LinkSeries, LinkSummary, Note, Percentiles,
    QueueLength, Record, RttStatistics, Series, Summary, Times, WlanSummary,
};
use crate::run::resolve::{Resolved, ResolvedFlow, ResolvedLink};
use crate::run::statistics::jain_index;
use units::{Rate, Span, Time};

/// The numbers of packets that the tight link sent and dropped over the whole run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packets {
    pub(super) forwarded: u64,
    pub(super) dropped: u64,
}

/// A theory's answer for a scenario. Times are in seconds, shares from 0 to 1, everything finite.
#[derive(Clone, Debug, Default)]
pub(super) struct Answer {
    /// Bytes that the tight link sends over the bytes that it could send.
    pub(super) utilization: f64,
    /// Drops over arrivals at the tight link.
    pub(super) loss_rate: Option<f64>,
    /// Mean of the bytes waiting at the tight link.
    pub(super) backlog_bytes: Option<f64>,
    /// Packets that the tight link sent and dropped, if the theory counts them; `None`: the counts follow from its
    /// rates over the run.
    pub(super) packets: Option<Packets>,
    /// Share of time in which no packet waits at the tight link.
    pub(super) queue_empty: Option<f64>,
    /// Number of packets waiting at the tight link, if the theory knows its distribution.
    pub(super) queue_length: Option<QueueLength>,
    /// The time for which packets wait at the tight link.
    pub(super) queueing_delay: Option<DelayStatistics>,
    /// The summary of each flow, in the scenario's order. Shares and ratios between flows are filled in later.
    pub(super) flows: Vec<FlowSummary>,
    /// Mean send window of the flows, bytes, in the same order; `None` for absent flows, for which no line is drawn.
    pub(super) windows: Vec<Option<f64>>,
    /// The theory's answer against time; `None` for a steady state, which is drawn as a constant.
    pub(super) series: Option<Series>,
    /// The state of the air, in a wireless cell.
    pub(super) wlan: Option<WlanSummary>,
    /// Remarks on the answer.
    pub(super) notes: Vec<Note>,
}

impl Answer {
    /// Makes the record of this answer by `theory`, with the assumptions that the scenario breaks.
    pub(super) fn record(
        mut self,
        resolved: &Resolved,
        theory: &str,
        assumptions: Vec<String>,
        watch: Stopwatch,
    ) -> Record {
        self.flows.iter_mut().zip(&resolved.flows).for_each(|(flow, of)| as_file(flow, of));
        fairness::compare(&mut self.flows, resolved);
        let goodputs: Vec<f64> = self.flows.iter().map(|flow| flow.goodput_bps).collect();
        let ends = self.flows.iter().zip(&resolved.flows);
        let ends =
            ends.filter_map(|(flow, of)| Some(of.start.as_secs_f64() + handshake(of) + flow.completion_s?));
        let last = ends.fold(0.0, f64::max);
        let end = resolved.end.map_or(last, Span::as_secs_f64);
        self.notes.insert(0, format!("answered by the theory {theory}").into());
        let room = resolved.limit_bytes().get() as f64;
        let measured = (end - resolved.warmup.as_secs_f64()).max(0.0);
        let occupancy = self.backlog_bytes.filter(|_| room > 0.0).map(|backlog| backlog / room);
        // The counts of a cell come from its senders of frames, not from a link.
        let of_links = || resolved.cell.is_none().then(|| self.counted(resolved, end));
        let packets = self.packets.or_else(of_links);
        let links = self.links(resolved, occupancy);
        for (flow, of) in self.flows.iter_mut().zip(&resolved.flows) {
            // A flow that the theory leaves out has no goodput, so nothing counts as delivered.
            let there = there(of, resolved, end);
            let delivered = Some(delivered(flow, of, there)).filter(|delivered| *delivered > 0.0);
            flow.delivered_bytes = flow.delivered_bytes.or(delivered);
            flow.handshake_s = Some(handshake(of)).filter(|took| *took > 0.0 && flow.goodput_bps > 0.0);
            flow.size_bytes = of.size.map(|size| size.get() as f64);
            // Little's law gives the mean number of the flow's packets that wait.
            let waiting = |delay: DelayStatistics| flow.goodput_bps / of.payload.bits_f64() * delay.mean;
            let queued = self.queueing_delay.filter(|_| of.route.contains(&resolved.tight)).map(waiting);
            flow.backlog_packets = flow.backlog_packets.or(queued.filter(|_| flow.goodput_bps > 0.0));
        }
        let series = self.series.take().unwrap_or_else(|| self.steady(resolved, end));
        let mut summary = Summary {
            engine: Engine::Model,
            scenario_hash: resolved.hash.clone(),
            seed: resolved.seed,
            assumptions,
            measured_s: measured,
            packets_forwarded: packets.map(|packets| packets.forwarded),
            packets_dropped: packets.filter(|_| self.loss_rate.is_some()).map(|packets| packets.dropped),
            wall_s: watch.seconds(),
            peak_rss_bytes: peak_rss_bytes(),
            utilization: Some(self.utilization),
            idle_fraction: Some(1.0 - self.utilization),
            queue_empty_fraction: self.queue_empty,
            loss_rate: self.loss_rate,
            mean_backlog_bytes: self.backlog_bytes,
            mean_occupancy: occupancy,
            queue_length_packets: self.queue_length,
            queueing_delay_s: self.queueing_delay,
            jain_index: jain_index(&goodputs),
            flows: self.flows,
            wlan: self.wlan,
            links,
            ..Summary::default()
        };
        let established = resolved.flows.iter().map(|of| of.start.as_secs_f64() + handshake(of));
        summary.delivers_from(established, resolved);
        Record { summary, series, notes: self.notes }
    }

    /// Converts the rates into counts over a run of `seconds`, as if the steady state held from its start.
    fn counted(&self, resolved: &Resolved, seconds: f64) -> Packets {
        let over = |flow: &&(&FlowSummary, &ResolvedFlow)| flow.1.route.contains(&resolved.tight);
        let flows: Vec<(&FlowSummary, &ResolvedFlow)> = self.flows.iter().zip(&resolved.flows).collect();
        let (mut packets, mut bytes) = (0.0, 0.0);
        for (flow, of) in flows.iter().filter(over) {
            let segments = delivered(flow, of, seconds) / of.payload.get() as f64;
            packets += segments;
            bytes += segments * of.segment().get() as f64;
        }
        // The rest that the link sends is cross traffic.
        let sent = self.utilization * resolved.link.rate.as_bps_f64() / 8.0 * seconds;
        let traffic = resolved.traffic.iter().filter(|traffic| traffic.route.contains(&resolved.tight));
        let (rates, counts) = traffic.fold((0.0, 0.0), |(rates, counts), traffic| {
            let rate = traffic.config.rate.as_bps_f64();
            (rates + rate / 8.0, counts + rate / traffic.config.packet.bits_f64().max(8.0))
        });
        if rates > 0.0 {
            packets += (sent - bytes).max(0.0) * counts / rates;
        }
        let loss = self.loss_rate.unwrap_or(0.0).min(1.0 - f64::EPSILON);
        Packets { forwarded: packets.round() as u64, dropped: (packets * loss / (1.0 - loss)).round() as u64 }
    }

    /// Summarizes every direction of every link that has a queue, if there are several. The tight link has the numbers
    /// of the answer. All other queues are taken to be empty, and their links to carry the flows and the cross traffic.
    fn links(&self, resolved: &Resolved, occupancy: Option<f64>) -> Vec<LinkSummary> {
        let links = resolved.links.iter().enumerate().filter(|_| resolved.is_network());
        let one = |(place, link): (usize, &ResolvedLink)| {
            let named = LinkSummary::named(link, place == resolved.tight);
            if place == resolved.tight {
                return LinkSummary {
                    utilization: self.utilization,
                    idle_fraction: 1.0 - self.utilization,
                    loss_rate: self.loss_rate,
                    mean_backlog_bytes: self.backlog_bytes,
                    mean_occupancy: occupancy,
                    queueing_delay_s: self.queueing_delay,
                    ..named
                };
            }
            let flow = |(flow, of): (&FlowSummary, &ResolvedFlow)| {
                let segments = flow.goodput_bps / of.payload.bits_f64();
                let data = if of.route.contains(&place) { of.segment().bits_f64() } else { 0.0 };
                let back = if of.return_route.contains(&place) { of.header.bits_f64() } else { 0.0 };
                segments * (data + back / of.delayed_ack.max(1) as f64)
            };
            let flows: f64 = self.flows.iter().zip(&resolved.flows).map(flow).sum();
            let traffic = resolved.traffic.iter().filter(|traffic| traffic.route.contains(&place));
            let traffic: f64 = traffic.map(|traffic| traffic.config.rate.as_bps_f64()).sum();
            let utilization = ((flows + traffic) / link.config.rate.as_bps_f64()).min(1.0);
            let none = DelayStatistics { mean: 0.0, percentiles: Percentiles::default(), max: None };
            LinkSummary {
                utilization,
                idle_fraction: 1.0 - utilization,
                loss_rate: Some(link.config.loss.get()),
                mean_backlog_bytes: Some(0.0),
                mean_occupancy: Some(0.0),
                queueing_delay_s: Some(none),
                ..named
            }
        };
        links.map(one).collect()
    }

    /// Writes the steady state as two samples, so that a chart can draw it.
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

/// Returns the summary of a flow that a theory leaves out.
pub(super) fn nothing(flow: &ResolvedFlow) -> FlowSummary {
    FlowSummary { name: flow.name.clone(), ..FlowSummary::default() }
}

/// Returns the seconds from a flow's start to its stop, as far as they lie in the measured interval. A sized flow may
/// end sooner.
fn there(of: &ResolvedFlow, resolved: &Resolved, end: f64) -> f64 {
    let stop = of.stop.map_or(end, |stop| stop.as_secs_f64().min(end));
    (stop - of.start.max(Time::ZERO + resolved.warmup).as_secs_f64()).max(0.0)
}

/// Returns the seconds that the handshake of a flow takes over an empty path; zero without a handshake.
pub(super) fn handshake(of: &ResolvedFlow) -> f64 {
    if of.handshake { of.base_rtt.as_secs_f64() } else { 0.0 }
}

/// Sets the duration of a flow that has a size, and its goodput over that time. No file is quicker than a slow start
/// whose window doubles in each round trip.
fn as_file(flow: &mut FlowSummary, of: &ResolvedFlow) {
    let Some(size) = of.size.filter(|_| flow.goodput_bps > 0.0) else { return };
    let segments = size.get().div_ceil(of.payload.get().max(1)).max(1) as f64;
    let rounds = libm::log2(segments / of.initial_window().max(1) as f64 + 1.0).ceil().max(1.0);
    let seconds = flow.completion_s.unwrap_or(size.bits_f64() / flow.goodput_bps);
    let seconds = seconds.max(rounds * of.base_rtt.as_secs_f64());
    (flow.completion_s, flow.goodput_bps) = (Some(seconds), size.bits_f64() / seconds);
}

/// Returns the payload that a flow moves in `seconds`, bytes, at most its size.
fn delivered(flow: &FlowSummary, of: &ResolvedFlow, seconds: f64) -> f64 {
    let most = of.size.map_or(f64::INFINITY, |size| size.get() as f64);
    (flow.goodput_bps / 8.0 * seconds).min(most)
}

/// Returns, for each link, an equal share for the flows that cross it, bit/s.
pub(super) fn shares(resolved: &Resolved) -> Vec<f64> {
    let mut sharing = vec![0.0_f64; resolved.links.len()];
    resolved.flows.iter().flat_map(|flow| &flow.route).for_each(|link| sharing[*link] += 1.0);
    let rates = resolved.links.iter().map(|link| link.config.rate.as_bps_f64());
    rates.zip(sharing).map(|(rate, sharing)| rate / sharing.max(1.0)).collect()
}

/// Summarizes a flow that does not cross the tight link. Its rate is an equal share of the slowest link on its route,
/// unless its window limits it.
pub(super) fn elsewhere(resolved: &Resolved, flow: &ResolvedFlow, shares: &[f64]) -> FlowSummary {
    let least = flow.route.iter().map(|link| shares[*link]).reduce(f64::min);
    let wire = least.unwrap_or_else(|| resolved.available().as_bps_f64());
    let goodput = Rate::from_bps_f64(wire * flow.payload.get() as f64 / flow.segment().get() as f64);
    let held = flow.per_round_trip().map_or(goodput, |buffer| goodput.min(Rate::of(buffer, flow.base_rtt)));
    let rtt = flow.base_rtt.as_secs_f64();
    FlowSummary {
        name: flow.name.clone(),
        goodput_bps: held.as_bps_f64(),
        rtt_s: Some(RttStatistics { min: rtt, mean: rtt, p95: None }),
        ..FlowSummary::default()
    }
}

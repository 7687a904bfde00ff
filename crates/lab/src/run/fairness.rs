//! Fairness: the share that each flow gets next to the others, and the time until it has its fair share.
//!
//! [`compare`] needs a run's goodputs only. [`FairnessWatch`] examines the flows once per interval of
//! `record.fairness`: it records Jain's index against time, and the time that each flow takes to reach its fair share.

use crate::run::record::{FairnessSeries, FlowSummary, Summary};
use crate::run::resolve::{Resolved, ResolvedFlow};
use crate::run::statistics::jain_index;
use link::LinkState;
use sim::FlowView;
use units::{Bytes, Span, Time};

/// A flow counts as having its fair share if its goodput deviates from it by at most this part of the share.
const BAND: f64 = 0.2;
/// The number of consecutive intervals in which a flow must have its share to count as converged.
const STAYS: u32 = 5;

/// Fills in each flow's share of the goodput, and its ratio to the run's other Reno flows.
pub(crate) fn compare(flows: &mut [FlowSummary], resolved: &Resolved) {
    // A share is a part of the payload that all flows delivered, which counts the same time for all of them.
    let delivered = |flow: &FlowSummary| flow.delivered_bytes.unwrap_or(flow.goodput_bps);
    let total: f64 = flows.iter().map(delivered).sum();
    let is_reno = |of: &ResolvedFlow| ["reno", "newreno"].contains(&of.control.name.as_str());
    let reno = flows.iter().zip(&resolved.flows).filter(|(_, of)| is_reno(of));
    let (count, sum) = reno.fold((0u64, 0.0), |(count, sum), (flow, _)| (count + 1, sum + flow.goodput_bps));
    let alone = flows.len() == 1;
    for (flow, of) in flows.iter_mut().zip(&resolved.flows) {
        let own = flow.goodput_bps;
        flow.goodput_share = (!alone && total > 0.0).then(|| delivered(flow) / total);
        let (others, sum) = if is_reno(of) { (count - 1, sum - own) } else { (count, sum) };
        flow.reno_ratio = (others > 0 && sum > 0.0).then(|| own * others as f64 / sum);
    }
}

/// A watch that examines the link and the flows at the end of each interval.
///
/// The fair share of an interval is the capacity less the rate of all other traffic, divided by the number of flows
/// present throughout. A flow converges when its goodput was within 20 % of the fair share in each of five successive
/// intervals. Its time of convergence is the end of the first of them.
pub(crate) struct FairnessWatch {
    interval: Span,
    warmup: Time,
    flows: Vec<FlowRate>,
    /// The bytes that the link can send in an interval; `None` in a wireless cell, whose flows have no defined fair
    /// share.
    capacity: Option<f64>,
    /// The bytes that the link sent in the interval that ends; `None` if the link's counters restarted within it.
    sent: Option<f64>,
    busy: Span,
    series: FairnessSeries,
    /// The sum of Jain's index over intervals within the measured time.
    sum: f64,
    count: u64,
}

/// One flow.
struct FlowRate {
    from: Time,
    until: Time,
    size: Bytes,
    /// True if the flow crosses the tight link.
    crosses: bool,
    /// Bytes on the wire per byte of payload.
    wire: f64,
    delivered: Bytes,
    /// Payload delivered within the interval that ends.
    gained: f64,
    present: bool,
    /// The end of the first of the latest successive intervals in which the flow had its fair share, and the number of
    /// these intervals.
    row: (Time, u32),
    converged: Option<Time>,
}

impl FairnessWatch {
    /// Creates the watch; returns `None` if the scenario does not ask for it.
    pub(crate) fn new(resolved: &Resolved) -> Option<Self> {
        let interval = resolved.fairness?;
        let watched = |flow: &ResolvedFlow| FlowRate {
            from: flow.start,
            until: flow.stop.unwrap_or(Time::NEVER),
            size: flow.size.unwrap_or(Bytes::MAX),
            crosses: flow.route.contains(&resolved.tight),
            wire: flow.segment().get() as f64 / flow.payload.get() as f64,
            delivered: Bytes::ZERO,
            gained: 0.0,
            present: false,
            row: (Time::ZERO, 0),
            converged: None,
        };
        Some(Self {
            interval,
            warmup: Time::ZERO + resolved.warmup,
            flows: resolved.flows.iter().map(watched).collect(),
            capacity: resolved.cell.is_none().then(|| {
                let rate = resolved.link.rate.as_bps_f64();
                rate / 8.0 * interval.as_secs_f64()
            }),
            sent: None,
            busy: Span::ZERO,
            series: FairnessSeries::default(),
            sum: 0.0,
            count: 0,
        })
    }

    pub(crate) fn interval(&self) -> Span {
        self.interval
    }

    /// Returns true if an interval ends at this time.
    pub(crate) fn ends(&self, at: Time) -> bool {
        at.as_nanos().is_multiple_of(self.interval.as_nanos())
    }

    /// Stores the state of the tight link at `at`; called before the flows.
    pub(crate) fn link(&mut self, at: Time, state: &LinkState) {
        if !self.ends(at) {
            return;
        }
        // The link's counters restart at the end of the warm-up. An interval across that time has no known value.
        let begin = at.since(Time::ZERO).saturating_sub(self.interval);
        let warmup = self.warmup.since(Time::ZERO);
        let before = if begin == warmup { Span::ZERO } else { self.busy };
        let known = begin >= warmup || at <= self.warmup;
        let sent = |busy: Span| busy.as_secs_f64() * state.rate.as_bps_f64() / 8.0;
        self.sent = known.then(|| sent(state.busy.saturating_sub(before)));
        self.busy = state.busy;
    }

    /// Stores the state of flow number `index` at `at`; called for each flow in turn.
    pub(crate) fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        if !self.ends(at) {
            return;
        }
        let begin = at.since(Time::ZERO).saturating_sub(self.interval);
        let flow = &mut self.flows[index];
        flow.gained = view.delivered.saturating_sub(flow.delivered).get() as f64;
        flow.delivered = view.delivered;
        let from = flow.from.since(Time::ZERO);
        flow.present = flow.crosses && from <= begin && at <= flow.until && view.delivered < flow.size;
        if index + 1 == self.flows.len() {
            self.judge(at, begin);
        }
    }

    /// Evaluates the interval that began at `begin` and has ended, once all flows are known.
    fn judge(&mut self, at: Time, begin: Span) {
        let present = || self.flows.iter().filter(|flow| flow.present);
        let gained: Vec<f64> = present().map(|flow| flow.gained).collect();
        let index = jain_index(&gained);
        self.series.t_s.push(at.as_secs_f64());
        self.series.jain_index.push(index.unwrap_or(f64::NAN));
        if let Some(index) = index.filter(|_| begin >= self.warmup.since(Time::ZERO)) {
            self.sum += index;
            self.count += 1;
        }
        let wire: f64 = present().map(|flow| flow.gained * flow.wire).sum();
        let (Some(sent), Some(capacity)) = (self.sent, self.capacity) else { return };
        let others = (sent - wire).max(0.0);
        let share = (capacity - others).max(0.0) / gained.len().max(1) as f64;
        for flow in self.flows.iter_mut().filter(|flow| flow.present && flow.converged.is_none()) {
            let has = (flow.gained * flow.wire - share).abs() <= BAND * share;
            flow.row = match (has, flow.row) {
                (false, _) => (at, 0),
                (true, (_, 0)) => (at, 1),
                (true, (since, count)) => (since, count + 1),
            };
            if flow.row.1 == STAYS {
                flow.converged = Some(flow.row.0);
            }
        }
    }

    /// Puts the results into the summary and returns the series.
    pub(crate) fn finish(self, summary: &mut Summary) -> FairnessSeries {
        summary.jain_index_mean = (self.count > 0).then(|| self.sum / self.count as f64);
        for (shown, flow) in summary.flows.iter_mut().zip(&self.flows) {
            shown.convergence_s = flow.converged.map(|at| at.since(flow.from).as_secs_f64());
        }
        let times = summary.flows.iter().map(|flow| flow.convergence_s);
        summary.convergence_s = times.reduce(|one, other| Some(one?.max(other?))).flatten();
        self.series
    }
}

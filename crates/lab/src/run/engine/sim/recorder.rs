//! Recording of the series of a simulated run, and reports of its progress.

use super::acks::AckRecorder;
use super::capture::RunCapture;
use super::spread::SpreadRecorder;
use crate::run::cost::Stopwatch;
use crate::run::engine::Progress;
use crate::run::fairness::FairnessWatch;
use crate::run::memory::{self, ExcessMemory};
use crate::run::record::{FlowSeries, LinkSeries, MeasureSeries, OfferedRate, Series, Times};
use crate::run::resolve::{Resolved, ResolvedFlow};
use link::LinkState;
use scenario::Column;
use sim::{AckView, FlowView, PacketView, Recorder, Watches};
use std::ops::ControlFlow;
use units::{Bytes, Span, Time};

/// Returns the longest time of which both are multiples.
fn common_measure(one: Span, other: Span) -> Span {
    let (mut larger, mut smaller) = (one.as_nanos(), other.as_nanos());
    while smaller > 0 {
        (larger, smaller) = (smaller, larger % smaller);
    }
    Span::from_nanos(larger)
}

/// The least wall-clock time between two reports of progress.
const PAUSE_S: f64 = 0.1;
/// The least wall-clock time between two looks at the memory, in seconds. A run gets some 10 MB from the system in it.
const WEIGHED_S: f64 = 0.01;
/// The bounds of the simulated time between two looks at the clock.
const PULSES: [Span; 2] = [Span::from_millis(100), Span::from_secs(1)];

/// A recorder of the columns that a scenario asks for. It fills them with the states of flows and link that the
/// simulator shows, and reports the progress of the run.
pub(super) struct SeriesRecorder<'a> {
    progress: Progress<'a>,
    end: Option<Span>,
    watch: Stopwatch,
    /// The time of the last report of progress, seconds.
    last_report: f64,
    /// The time of the last look at the memory, seconds.
    last_weighed: f64,
    stopped: bool,
    too_large: Option<ExcessMemory>,
    every: Span,
    keeps: RecordedColumns,
    /// True if the series have a sample at the time that is shown.
    samples: bool,
    /// True if all flows are shown at this time, and not only those with series of their own.
    shows_all: bool,
    /// The number of series with a value for this time, and the place of the series of the flow that is shown.
    filled: usize,
    shown: Option<usize>,
    /// The times at which the series were sampled.
    times: Vec<f64>,
    fairness: Option<FairnessWatch>,
    /// The flows with series of their own, ascending; `None`: all flows.
    sample: Option<Vec<usize>>,
    /// Percentiles over all flows, if only some have series.
    spread: Option<SpreadRecorder>,
    delivered: Vec<Bytes>,
    drops: u64,
    /// In a wireless cell, the time for which the air had been busy at the previous sample; `None` elsewhere.
    busy: Option<Span>,
    /// The capacity of a link whose rate changes.
    offered: OfferedRate,
    series: Series,
    acks: Option<AckRecorder>,
    capture: Option<RunCapture>,
}

/// The columns that are kept.
#[derive(Clone, Copy, Debug)]
struct RecordedColumns {
    rate: bool,
    rtt: bool,
    window: bool,
    data: bool,
    backlog: bool,
    drops: bool,
    measures: bool,
}

impl RecordedColumns {
    fn new(columns: &[Column]) -> Self {
        let keeps = |column| columns.contains(&column);
        Self {
            rate: keeps(Column::Rate),
            rtt: keeps(Column::Rtt),
            window: keeps(Column::Window),
            data: keeps(Column::Data),
            backlog: keeps(Column::Backlog),
            drops: keeps(Column::Drops),
            measures: keeps(Column::Measures),
        }
    }

    /// Returns true if flows have series.
    const fn flows(self) -> bool {
        self.rate || self.rtt || self.window || self.data || self.measures
    }

    const fn link(self) -> bool {
        self.backlog || self.drops
    }

    const fn any(self) -> bool {
        self.flows() || self.link()
    }
}

impl<'a> SeriesRecorder<'a> {
    pub(super) fn new(resolved: &Resolved, progress: Progress<'a>, capture: Option<RunCapture>) -> Self {
        let keeps = RecordedColumns::new(&resolved.columns);
        let samples = samples(resolved);
        let room = |kept: bool| Vec::with_capacity(if kept { samples as usize } else { 0 });
        let series = |flow: &ResolvedFlow| FlowSeries {
            name: flow.name.clone(),
            rate_bps: room(keeps.rate),
            rtt_s: room(keeps.rtt),
            window_bytes: room(keeps.window),
            data_bytes: room(keeps.data),
            ..FlowSeries::default()
        };
        let flows: Vec<FlowSeries> = match &resolved.sample {
            None => resolved.flows.iter().map(series).collect(),
            Some(sample) => sample.iter().map(|index| series(&resolved.flows[*index])).collect(),
        };
        let link = LinkSeries {
            backlog_bytes: room(keeps.backlog),
            drops: Vec::with_capacity(if keeps.drops { samples as usize } else { 0 }),
            ..LinkSeries::default()
        };
        Self {
            progress,
            end: resolved.end,
            watch: Stopwatch::start(),
            last_report: 0.0,
            last_weighed: 0.0,
            stopped: false,
            too_large: None,
            every: resolved.every,
            keeps,
            samples: false,
            shows_all: false,
            filled: 0,
            shown: None,
            times: room(keeps.any()),
            fairness: FairnessWatch::new(resolved),
            spread: resolved.sample.as_ref().and_then(|_| SpreadRecorder::new(resolved)),
            sample: resolved.sample.clone(),
            delivered: vec![Bytes::ZERO; flows.len()],
            drops: 0,
            busy: resolved.cell.is_some().then_some(Span::ZERO),
            offered: OfferedRate::default(),
            series: Series { flows, link, ..Series::default() },
            acks: AckRecorder::of(resolved),
            capture,
        }
    }

    /// Returns true if [`Progress`] ended the run.
    pub(super) const fn was_stopped(&self) -> bool {
        self.stopped
    }

    /// Takes the capture, to end it.
    pub(super) fn take_capture(&mut self) -> Option<RunCapture> {
        self.capture.take()
    }

    /// Returns the memory that ended the run; `None` if it ended otherwise.
    pub(super) const fn was_too_large(&self) -> Option<ExcessMemory> {
        self.too_large
    }

    /// Returns the series without those of fairness, and the watch from which fairness is computed.
    pub(super) fn into_series(mut self) -> (Series, Option<FairnessWatch>) {
        let times = Times::from(self.times);
        if self.keeps.link() {
            self.series.link.t_s = times.clone();
        }
        if self.keeps.flows() {
            self.series.flows.iter_mut().for_each(|flow| flow.t_s = times.clone());
        }
        let spread = self.spread.map(SpreadRecorder::into_series).unwrap_or_default();
        let acks = self.acks.map(AckRecorder::into_series).unwrap_or_default();
        (Series { spread, acks, ..self.series }, self.fairness)
    }

    /// Returns the index of a flow's series, if it has some. Flows are shown in ascending order.
    fn place(&mut self, index: usize) -> Option<usize> {
        let place = self.filled;
        let has = self.sample.as_ref().is_none_or(|sample| sample.get(place) == Some(&index));
        self.filled += usize::from(has);
        has.then_some(place)
    }
}

/// Returns the number of samples of a run; 0 if its length is not known.
fn samples(resolved: &Resolved) -> u64 {
    resolved.end.map_or(0, |end| end.as_nanos() / resolved.every.as_nanos().max(1))
}

/// Returns the memory that the series of a run will take, bytes, half of it again for encoding them.
pub(super) fn size(resolved: &Resolved) -> u64 {
    let samples = samples(resolved);
    let flows = resolved.sample.as_ref().map_or(resolved.flows.len(), Vec::len) as u64;
    let numbers = samples.saturating_mul((flows + 1).saturating_mul(resolved.columns.len() as u64));
    numbers.saturating_mul(size_of::<f64>() as u64 * 3 / 2)
}

/// The simulation holds its recorder behind a pointer and calls it, so that its own code is that of a simulation without
/// a recorder.
impl Recorder for Box<SeriesRecorder<'_>> {
    #[inline(never)]
    fn pulse(&self) -> Option<Span> {
        (**self).pulse()
    }

    #[inline(never)]
    fn is_too_large(&mut self) -> bool {
        (**self).is_too_large()
    }

    #[inline(never)]
    fn reached(&mut self, at: Time) -> ControlFlow<()> {
        (**self).reached(at)
    }

    #[inline(never)]
    fn interval(&self) -> Option<Span> {
        (**self).interval()
    }

    fn next_flow(&self, at: Time, from: usize) -> usize {
        (**self).next_flow(at, from)
    }

    #[inline(never)]
    fn link(&mut self, at: Time, state: &LinkState) {
        (**self).link(at, state);
    }

    #[inline(never)]
    fn moving_limit(&mut self, at: Time, packets: u64) {
        (**self).moving_limit(at, packets);
    }

    fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        (**self).flow(at, index, view);
    }

    fn wants_measures(&self) -> bool {
        (**self).wants_measures()
    }

    #[inline(never)]
    fn measure(&mut self, at: Time, index: usize, name: &'static str, value: f64) {
        (**self).measure(at, index, name, value);
    }

    #[inline(never)]
    fn watches(&self) -> Watches {
        (**self).watches()
    }

    fn acknowledged(&mut self, ack: &AckView) {
        (**self).acknowledged(ack);
    }

    fn packet(&mut self, now: Time, packet: PacketView) {
        (**self).packet(now, packet);
    }

    fn connection(&mut self, at: Time, index: usize) {
        (**self).connection(at, index);
    }
}

impl Recorder for SeriesRecorder<'_> {
    /// Returns an interval short enough for a smooth bar and a quick stop, and long enough to cost nothing.
    fn pulse(&self) -> Option<Span> {
        let [least, most] = PULSES;
        Some(self.end.map_or(least, |end| (end / 1000).clamp(least, most)))
    }

    fn is_too_large(&mut self) -> bool {
        let now = self.watch.seconds();
        if now < self.last_weighed + WEIGHED_S {
            return false;
        }
        self.last_weighed = now;
        self.too_large = memory::exceeded();
        self.too_large.is_some()
    }

    fn reached(&mut self, at: Time) -> ControlFlow<()> {
        let now = self.watch.seconds();
        if now >= self.last_report + PAUSE_S {
            self.last_report = now;
            self.stopped = (self.progress)(at.as_secs_f64(), self.end.map(Span::as_secs_f64)).is_break();
        }
        let failed = self.capture.as_ref().is_some_and(RunCapture::has_failed);
        if self.stopped || failed { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn interval(&self) -> Option<Span> {
        let series = self.keeps.any().then_some(self.every);
        match (series, self.fairness.as_ref().map(FairnessWatch::interval)) {
            (Some(one), Some(other)) => Some(common_measure(one, other)),
            (one, other) => one.or(other),
        }
    }

    fn next_flow(&self, _at: Time, from: usize) -> usize {
        match &self.sample {
            Some(sample) if !self.shows_all => {
                let place = sample.partition_point(|index| *index < from);
                sample.get(place).copied().unwrap_or(usize::MAX)
            }
            _ => from,
        }
    }

    fn link(&mut self, at: Time, state: &LinkState) {
        if let Some(fairness) = &mut self.fairness {
            fairness.link(at, state);
        }
        let in_spread = self.spread.as_mut().is_some_and(|spread| spread.begin(at));
        let in_fairness = self.fairness.as_ref().is_some_and(|fairness| fairness.ends(at));
        self.shows_all = self.sample.is_none() || in_spread || in_fairness;
        self.filled = 0;
        self.samples = self.keeps.any() && at.as_nanos().is_multiple_of(self.every.as_nanos());
        if !self.samples {
            return;
        }
        self.times.push(at.as_secs_f64());
        if self.keeps.backlog {
            self.series.link.backlog_bytes.push(state.backlog.bytes.get() as f64);
        }
        if self.keeps.drops {
            self.series.link.drops.push(state.drops - self.drops);
            self.drops = state.drops;
        }
        if let Some(changing) = state.changing.filter(|_| self.keeps.backlog) {
            self.series.link.capacity_bps.push(self.offered.next(at, changing.offered));
        }
        if let Some(before) = self.busy.filter(|_| self.keeps.backlog) {
            // The medium's counters restart at the end of the warm-up, so an interval that contains this time has no
            // value.
            let busy = state.busy.as_secs_f64() - before.as_secs_f64();
            self.series.link.busy_share.push(if busy < 0.0 {
                f64::NAN
            } else {
                busy / self.every.as_secs_f64()
            });
            self.busy = Some(state.busy);
        }
    }

    fn moving_limit(&mut self, _at: Time, packets: u64) {
        if self.samples && self.keeps.backlog {
            self.series.link.limit_packets.push(packets);
        }
    }

    fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        if let Some(fairness) = &mut self.fairness {
            fairness.flow(at, index, view);
        }
        if let Some(spread) = &mut self.spread {
            spread.flow(at, index, view);
        }
        self.shown = self.place(index);
        let Some(place) = self.shown.filter(|_| self.samples) else { return };
        let flow = &mut self.series.flows[place];
        if self.keeps.rate {
            let delivered = view.delivered.saturating_sub(self.delivered[place]);
            self.delivered[place] = view.delivered;
            flow.rate_bps.push(delivered.bits_f64() / self.every.as_secs_f64());
        }
        if self.keeps.rtt {
            flow.rtt_s.push(view.smoothed_rtt.map_or(f64::NAN, Span::as_secs_f64));
        }
        if self.keeps.data {
            flow.data_bytes.push(view.delivered.get() as f64);
        }
        if self.keeps.window {
            flow.window_bytes.push(view.window.get() as f64);
        }
    }

    fn wants_measures(&self) -> bool {
        self.keeps.measures
    }

    fn watches(&self) -> Watches {
        Watches { acknowledgements: self.acks.is_some(), packets: self.capture.is_some() }
    }

    fn acknowledged(&mut self, ack: &AckView) {
        if let Some(acks) = &mut self.acks {
            acks.take(ack);
        }
    }

    fn packet(&mut self, now: Time, packet: PacketView) {
        if let Some(capture) = &mut self.capture {
            capture.packet(now, &packet);
        }
    }

    fn connection(&mut self, at: Time, index: usize) {
        if let Some(capture) = &mut self.capture {
            capture.connection(at, index);
        }
    }

    fn measure(&mut self, _at: Time, _index: usize, name: &'static str, value: f64) {
        let Some(place) = self.shown else { return };
        let flow = &mut self.series.flows[place];
        // A controller shows the same quantities in the same order each time. A quantity that appears later has no
        // values before.
        let place = match flow.measures.iter().position(|measure| measure.name == name) {
            Some(place) => place,
            None => {
                flow.measures.push(MeasureSeries { name: name.into(), values: Vec::new() });
                flow.measures.len() - 1
            }
        };
        let values = &mut flow.measures[place].values;
        values.resize(self.times.len().saturating_sub(1), f64::NAN);
        values.push(value);
    }
}

//! Mean and percentiles over all flows against time, for runs in which only a sample of the flows has its own series.

use crate::run::record::{Percentiles, Spread, SpreadSeries};
use crate::run::resolve::{Resolved, ResolvedFlow};
use scenario::Column;
use sim::FlowView;
use units::{Bytes, Span, Time};

/// The largest number of visits to flows in a run, unless this leaves fewer than [`FEWEST`] samples. A visit to every
/// flow costs as much as some packets.
const MOST_LOOKS: u64 = 200_000;
/// The least number of samples of a run, if the flows' series have that many.
const FEWEST: u64 = 100;
/// The most ranges into which the values of a sample are divided.
const MOST_RANGES: usize = 4096;
/// The assumed length of a run without a duration.
const USUAL: Span = Span::from_secs(60);

/// A recorder that visits all flows at intervals.
pub(super) struct SpreadRecorder {
    every: Span,
    every_s: f64,
    /// True if there is a sample at the time that is shown.
    samples: bool,
    flows: Vec<FlowProgress>,
    rate: Option<Sample>,
    rtt: Option<Sample>,
    window: Option<Sample>,
    data: Option<Sample>,
    /// The number of flows in the current sample.
    present: u64,
    series: SpreadSeries,
}

/// One flow.
struct FlowProgress {
    start: Time,
    stop: Time,
    size: Bytes,
    delivered: Bytes,
}

/// One quantity of all flows at one time, in nanoseconds or bytes: whole numbers are ranked faster than fractions.
#[derive(Default)]
struct Sample {
    values: Vec<u64>,
    /// The sum of the values in the unit of the series.
    sum: f64,
}

impl SpreadRecorder {
    /// Creates the recorder; returns `None` if the scenario asks for none of the flows' columns.
    pub(super) fn new(resolved: &Resolved) -> Option<Self> {
        let asked = |column| resolved.columns.contains(&column).then(Sample::default);
        let [rate, rtt, window, data] = [Column::Rate, Column::Rtt, Column::Window, Column::Data].map(asked);
        rate.as_ref().or(rtt.as_ref()).or(window.as_ref()).or(data.as_ref())?;
        let watched = |flow: &ResolvedFlow| FlowProgress {
            start: flow.start,
            stop: flow.stop.unwrap_or(Time::NEVER),
            size: flow.size.unwrap_or(Bytes::MAX),
            delivered: Bytes::ZERO,
        };
        let samples = resolved.end.unwrap_or(USUAL).as_nanos() / resolved.every.as_nanos();
        let looks = samples.saturating_mul(resolved.flows.len() as u64);
        let times = looks.div_ceil(MOST_LOOKS).min(samples / FEWEST).max(1);
        let every = resolved.every * times;
        Some(Self {
            every,
            every_s: every.as_secs_f64(),
            samples: false,
            flows: resolved.flows.iter().map(watched).collect(),
            rate,
            rtt,
            window,
            data,
            present: 0,
            series: SpreadSeries::default(),
        })
    }

    /// Stores the time at which flows are shown next. Returns true if there is a sample then.
    pub(super) fn begin(&mut self, at: Time) -> bool {
        self.samples = at.as_nanos().is_multiple_of(self.every.as_nanos());
        self.samples
    }

    /// Adds flow number `index` at `at` to the sample; the last flow ends the sample.
    pub(super) fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        if !self.samples {
            return;
        }
        let begin = Time::ZERO + at.since(Time::ZERO).saturating_sub(self.every);
        let flow = &mut self.flows[index];
        if flow.start < at && flow.stop > begin && flow.delivered < flow.size {
            self.present += 1;
            let gained = view.delivered.saturating_sub(flow.delivered);
            flow.delivered = view.delivered;
            if let Some(rate) = &mut self.rate {
                rate.add(gained.get(), bit_rate(self.every_s));
            }
            if let (Some(rtt), Some(smoothed)) = (&mut self.rtt, view.smoothed_rtt) {
                rtt.add(smoothed.as_nanos(), seconds);
            }
            if let Some(window) = &mut self.window {
                window.add(view.window.get(), bytes);
            }
            if let Some(data) = &mut self.data {
                data.add(view.delivered.get(), bytes);
            }
        }
        if index + 1 == self.flows.len() {
            self.end_sample(at);
        }
    }

    fn end_sample(&mut self, at: Time) {
        let series = &mut self.series;
        series.t_s.push(at.as_secs_f64());
        series.flows.push(std::mem::take(&mut self.present));
        series.rate_bps.extend(self.rate.as_mut().map(|rate| rate.end(bit_rate(self.every_s))));
        series.rtt_s.extend(self.rtt.as_mut().map(|rtt| rtt.end(seconds)));
        series.window_bytes.extend(self.window.as_mut().map(|window| window.end(bytes)));
        series.data_bytes.extend(self.data.as_mut().map(|data| data.end(bytes)));
    }

    pub(super) fn into_series(self) -> SpreadSeries {
        self.series
    }
}

/// Returns the conversion of the bytes of an interval of so many seconds into bits per second.
fn bit_rate(interval_s: f64) -> impl Fn(u64) -> f64 {
    move |bytes| Bytes::new(bytes).bits_f64() / interval_s
}

fn seconds(nanos: u64) -> f64 {
    Span::from_nanos(nanos).as_secs_f64()
}

const fn bytes(bytes: u64) -> f64 {
    bytes as f64
}

impl Sample {
    /// Adds a value; `unit` converts it into the unit of the series.
    fn add(&mut self, value: u64, unit: impl Fn(u64) -> f64) {
        self.values.push(value);
        self.sum += unit(value);
    }

    /// Returns the mean and percentiles by nearest rank, and begins anew. `unit` keeps the order of the values.
    fn end(&mut self, unit: impl Fn(u64) -> f64) -> Spread {
        let count = self.values.len();
        if count == 0 {
            return Spread { mean: f64::NAN, percentiles: Percentiles::of(|_| f64::NAN) };
        }
        let mean = std::mem::take(&mut self.sum) / count as f64;
        let rank = |share: f64| ((share * count as f64).ceil() as usize).clamp(1, count) - 1;
        let mut found = select(&self.values, &Percentiles::of(rank).values()).into_iter().map(unit);
        self.values.clear();
        Spread { mean, percentiles: Percentiles::of(|_| found.next().unwrap_or(f64::NAN)) }
    }
}

/// Returns the values with these ranks, which are below the number of values.
// Values are counted in ranges of equal width, so that only those in a range with a rank are ordered.
fn select(values: &[u64], ranks: &[usize]) -> Vec<u64> {
    let least = values.iter().copied().min().unwrap_or_default();
    let width = values.iter().copied().max().unwrap_or_default() - least;
    let ranges = (values.len() / 4).next_power_of_two().clamp(2, MOST_RANGES);
    let shift = (u64::BITS - width.leading_zeros()).saturating_sub(ranges.trailing_zeros());
    let range = |value: u64| ((value - least) >> shift) as usize;
    let mut counts = vec![0_u32; ranges];
    values.iter().for_each(|value| counts[range(*value)] += 1);
    // The range of each rank, and the rank within it.
    let places: Vec<(usize, usize)> = ranks.iter().map(|rank| place(&counts, *rank)).collect();
    if shift == 0 {
        return places.iter().map(|(range, _)| least + *range as u64).collect();
    }
    let mut wanted = vec![None; ranges];
    places.iter().enumerate().for_each(|(group, (range, _))| wanted[*range] = Some(group));
    let mut groups = vec![Vec::new(); ranks.len()];
    for value in values {
        if let Some(group) = wanted[range(*value)] {
            groups[group].push(*value);
        }
    }
    let value = |(range, rank): &(usize, usize)| {
        let group = &mut groups[wanted[*range].unwrap_or_default()];
        *group.select_nth_unstable(*rank).1
    };
    places.iter().map(value).collect()
}

/// Returns the range in which the value with this rank lies, and its rank there.
fn place(counts: &[u32], mut rank: usize) -> (usize, usize) {
    for (range, count) in counts.iter().enumerate() {
        let count = *count as usize;
        if rank < count {
            return (range, rank);
        }
        rank -= count;
    }
    (0, 0)
}

#[cfg(test)]
#[path = "../../../../tests/within/spread.rs"]
mod tests;

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
/// The assumed length of a run without a duration.
const USUAL: Span = Span::from_secs(60);

/// A recorder that visits all flows at intervals.
pub(super) struct SpreadRecorder {
    every: Span,
    flows: Vec<FlowProgress>,
    rate: Option<Vec<f64>>,
    rtt: Option<Vec<f64>>,
    window: Option<Vec<f64>>,
    data: Option<Vec<f64>>,
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

impl SpreadRecorder {
    /// Creates the recorder; returns `None` if the scenario asks for none of the flows' columns.
    pub(super) fn new(resolved: &Resolved) -> Option<Self> {
        let asked = |column| resolved.columns.contains(&column).then(Vec::new);
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
        Some(Self {
            every: resolved.every * times,
            flows: resolved.flows.iter().map(watched).collect(),
            rate,
            rtt,
            window,
            data,
            present: 0,
            series: SpreadSeries::default(),
        })
    }

    /// Returns true if there is a sample at this time.
    pub(super) fn samples(&self, at: Time) -> bool {
        at.as_nanos().is_multiple_of(self.every.as_nanos())
    }

    /// Adds flow number `index` at `at` to the sample; the last flow ends the sample.
    pub(super) fn flow(&mut self, at: Time, index: usize, view: &FlowView) {
        if !self.samples(at) {
            return;
        }
        let begin = Time::ZERO + at.since(Time::ZERO).saturating_sub(self.every);
        let flow = &mut self.flows[index];
        if flow.start < at && flow.stop > begin && flow.delivered < flow.size {
            self.present += 1;
            let gained = view.delivered.saturating_sub(flow.delivered);
            flow.delivered = view.delivered;
            let values = [
                (&mut self.rate, Some(gained.bits_f64() / self.every.as_secs_f64())),
                (&mut self.rtt, view.smoothed_rtt.map(Span::as_secs_f64)),
                (&mut self.window, Some(view.window.get() as f64)),
                (&mut self.data, Some(view.delivered.get() as f64)),
            ];
            for (column, value) in values {
                if let Some(column) = column {
                    column.extend(value);
                }
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
        let columns = [
            (&mut self.rate, &mut series.rate_bps),
            (&mut self.rtt, &mut series.rtt_s),
            (&mut self.window, &mut series.window_bytes),
            (&mut self.data, &mut series.data_bytes),
        ];
        for (values, column) in columns {
            if let Some(values) = values {
                column.push(spread(values));
                values.clear();
            }
        }
    }

    pub(super) fn into_series(self) -> SpreadSeries {
        self.series
    }
}

/// Computes the mean and percentiles by nearest rank; changes the order of the values.
fn spread(values: &mut [f64]) -> Spread {
    let count = values.len();
    if count == 0 {
        return Spread { mean: f64::NAN, percentiles: Percentiles::of(|_| f64::NAN) };
    }
    let mean = values.iter().sum::<f64>() / count as f64;
    let mut from = 0;
    let percentiles = Percentiles::of(|share| {
        let rank = ((share * count as f64).ceil() as usize).clamp(from + 1, count) - 1;
        let (_, value, _) = values[from..].select_nth_unstable_by(rank - from, f64::total_cmp);
        from = rank;
        *value
    });
    Spread { mean, percentiles }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_by_nearest_rank() {
        // 1 to 200, mixed: 77 and 201 have no common divisor.
        let mut values: Vec<f64> = (1..=200).map(|k| f64::from(k * 77 % 201)).collect();
        let found = spread(&mut values);
        assert_eq!(found.percentiles.values(), [2.0, 10.0, 100.0, 190.0, 198.0]);
        assert!((found.mean - 100.5).abs() < 1e-12);
        let one = spread(&mut [7.0]);
        assert_eq!((one.mean, one.percentiles.values()), (7.0, vec![7.0; 5]));
        assert!(spread(&mut []).mean.is_nan());
    }
}

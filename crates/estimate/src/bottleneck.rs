//! The bottleneck as probes see it: round-trip times show its backlog, packet pairs its capacity `[madison:3.3]`,
//! `[madison:4]`.

mod windows;

pub use windows::ProbeWindows;

use crate::statistics::median;
use model::bottleneck::{Measures, share, waiting};
use units::Span;

/// The number of samples of the average RTT `[madison:4.3]`.
const SAMPLES: usize = 6;
/// The number of packet pairs to send; their median dispersion is the service time `[madison:4.2]`, `[D]`.
pub const PAIRS: usize = 20;

/// An estimator that learns from packet pairs, and from probes: packets well apart whose round-trip times are nearly
/// independent.
#[derive(Clone, Debug, Default)]
pub struct Bottleneck {
    /// The last samples in seconds; a ring.
    samples: [f64; SAMPLES],
    taken: usize,
    /// The least round-trip time ever, in seconds.
    least: Option<f64>,
    /// Dispersions in seconds; a ring.
    pairs: Vec<f64>,
    taken_pairs: usize,
    service: Option<f64>,
    largest: f64,
}

impl Bottleneck {
    /// Adds a probe's round-trip time.
    pub fn observe(&mut self, rtt: Span) {
        self.observe_least(rtt);
        self.samples[self.taken % SAMPLES] = rtt.as_secs_f64();
        self.taken += 1;
    }

    /// Adds a round-trip time that counts for the least, and not for the average.
    pub fn observe_least(&mut self, rtt: Span) {
        let rtt = rtt.as_secs_f64();
        self.least = Some(self.least.map_or(rtt, |least| least.min(rtt)));
    }

    /// Adds the dispersion of a packet pair; a pair that arrived together is ignored.
    pub fn observe_pair(&mut self, dispersion: Span) {
        if dispersion == Span::ZERO {
            return;
        }
        let seconds = dispersion.as_secs_f64();
        if self.pairs.len() < PAIRS {
            self.pairs.push(seconds);
        } else {
            self.pairs[self.taken_pairs % PAIRS] = seconds;
        }
        self.taken_pairs += 1;
        self.service = median(&mut self.pairs.clone());
    }

    /// Returns the number of packet pairs that were added.
    #[must_use]
    pub fn pairs(&self) -> usize {
        self.taken_pairs
    }

    /// Returns the service time of a packet in seconds (`12/C`); `None` before the first pair.
    #[must_use]
    pub fn service(&self) -> Option<f64> {
        self.service
    }

    /// Returns the least round-trip time in seconds (`RTTmin`).
    #[must_use]
    pub fn least_rtt(&self) -> Option<f64> {
        self.least
    }

    /// Returns the mean of the last six samples, or of fewer if there are fewer, in seconds (`RTTavg`).
    #[must_use]
    pub fn average_rtt(&self) -> Option<f64> {
        let count = self.taken.min(SAMPLES);
        (count > 0).then(|| self.samples[..count].iter().sum::<f64>() / count as f64)
    }

    /// Computes the measures of the bottleneck for a flow that sends `rate` packets per second; a queueing delay below
    /// `noise` counts as zero. `None` before the first pair and the first probe.
    #[must_use]
    pub fn measures(&self, rate: f64, noise: Span) -> Option<Measures> {
        let service = self.service?;
        let delay = (self.average_rtt()? - self.least?).max(0.0);
        let noise = waiting(noise.as_secs_f64(), service);
        Some(Measures::new(waiting(delay, service), share(rate, service), noise))
    }

    /// Keeps the total backlog of `measures` if it is the largest.
    pub fn note(&mut self, measures: &Measures) {
        self.largest = self.largest.max(measures.total_backlog);
    }

    /// Returns the largest total backlog that was kept, in packets: the bottleneck's buffer, if it has overflowed
    /// (`Bsize`).
    #[must_use]
    pub fn largest_backlog(&self) -> f64 {
        self.largest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backlog_and_utilization_come_from_six_probes_and_the_pairs() {
        let mut path = Bottleneck::default();
        assert_eq!(path.measures(1000.0, Span::ZERO), None);
        for micros in [120, 120, 480, 120, 120] {
            path.observe_pair(Span::from_micros(micros));
        }
        path.observe(Span::from_millis(50));
        for _ in 0..6 {
            path.observe(Span::from_micros(50_600));
        }
        // 0.6 ms are five packets of 0.12 ms; half of the capacity is the flow's.
        let measures = path.measures(0.5 / 120e-6, Span::ZERO).unwrap();
        assert!((measures.total_backlog - 5.0).abs() < 1e-6, "{measures:?}");
        assert!((measures.backlog - 2.5).abs() < 1e-6);
        assert!((measures.utilization - 10.0 / 11.0).abs() < 1e-6);
        assert_eq!(path.least_rtt(), Some(0.05));
    }

    #[test]
    fn the_largest_backlog_noted_stays_when_the_queue_drains() {
        let mut path = Bottleneck::default();
        path.observe_pair(Span::from_micros(120));
        path.observe(Span::from_millis(50));
        assert_eq!(path.largest_backlog(), 0.0);
        // Means over six probes: 0.6 ms are five packets, a delay of zero is an empty queue.
        for (micros, largest) in [(50_600, 5.0), (50_000, 5.0), (51_200, 10.0), (50_600, 10.0)] {
            (0..6).for_each(|_| path.observe(Span::from_micros(micros)));
            let measures = path.measures(1000.0, Span::ZERO).unwrap();
            path.note(&measures);
            assert!((path.largest_backlog() - largest).abs() < 1e-6, "{}", path.largest_backlog());
        }
    }
}

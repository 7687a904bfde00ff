//! [`Responsiveness`]: round trips per minute under load, by draft-ietf-ippm-responsiveness-09.
//!
//! The draft's probes are requests on connections of their own (`tcp_f`, `tls_f`, `http_f`) and on the connections that
//! carry the load (`http_l`). Its trimmed means, its weights and its moving window of four intervals are here. The
//! caller makes the load and the probes. The draft ends a test when the result is steady. Here the caller chooses the
//! time, so an interval is a tenth of the load, and at least one second.

use units::Span;

/// The number of intervals of a result: the draft's MAD.
const INTERVALS: usize = 4;
/// The share of the samples that count, the smallest first: the draft's TMP.
const KEPT: f64 = 0.95;
/// The standard deviation of steady results, as a share of the last one: the draft's SDT.
const STEADY: f64 = 0.05;
/// The number of intervals in a load.
const PARTS: u64 = 10;
/// The least length of an interval.
const LEAST: Span = Span::from_secs(1);

/// Latencies of probes, each with the time since the load began at which the probe ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LatencySamples {
    /// TCP handshakes on connections of their own.
    pub tcp: Vec<(Span, Span)>,
    /// TLS handshakes on these, per round trip.
    pub tls: Vec<(Span, Span)>,
    /// Requests on these.
    pub request: Vec<(Span, Span)>,
    /// Requests on the connections that carry the load.
    pub loaded: Vec<(Span, Span)>,
}

/// The trimmed means of latencies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Latencies {
    /// The TCP handshake on a connection of its own.
    pub tcp: Span,
    /// The TLS handshake on it, per round trip.
    pub tls: Span,
    /// The request on it.
    pub request: Span,
    /// The request on a connection that carries the load.
    pub loaded: Span,
}

impl Latencies {
    /// Returns the mean latency on a connection of its own: the three parts count equally.
    #[must_use]
    pub fn foreign(&self) -> Span {
        (self.tcp + self.tls + self.request) / 3
    }

    /// Returns the responsiveness in round trips per minute: the mean of those on either kind of connection.
    #[must_use]
    pub fn round_trips_per_minute(&self) -> f64 {
        let per_minute = |latency: Span| 60.0 / latency.as_secs_f64().max(1e-6);
        f64::midpoint(per_minute(self.foreign()), per_minute(self.loaded))
    }
}

/// The draft's confidence in a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Steadiness {
    /// The load was shorter than four intervals.
    Short,
    /// The results of the last intervals differ.
    Varying,
    /// The results of the last four intervals agree.
    Steady,
}

/// Responsiveness under load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Responsiveness {
    /// The trimmed means over the last four intervals.
    pub latencies: Latencies,
    /// The confidence in them.
    pub steadiness: Steadiness,
}

/// Computes the responsiveness at the end of a load. `None` if one kind of probe has no sample in the last intervals.
#[must_use]
pub fn responsiveness(samples: &LatencySamples, load: Span) -> Option<Responsiveness> {
    let interval = (load / PARTS).max(LEAST);
    let intervals = (load.as_nanos() / interval.as_nanos()) as usize;
    let until = |back: usize| load.saturating_sub(interval * back as u64);
    let last = within(samples, until(INTERVALS), load)?;
    let steadiness = if intervals < INTERVALS {
        Steadiness::Short
    } else {
        let back = (0..INTERVALS).filter(|back| back + INTERVALS <= intervals);
        let results: Vec<f64> = back
            .filter_map(|back| within(samples, until(back + INTERVALS), until(back)))
            .map(|latencies| latencies.round_trips_per_minute())
            .collect();
        let steady =
            results.len() == INTERVALS && deviation(&results) <= STEADY * last.round_trips_per_minute();
        if steady { Steadiness::Steady } else { Steadiness::Varying }
    };
    Some(Responsiveness { latencies: last, steadiness })
}

fn within(samples: &LatencySamples, from: Span, to: Span) -> Option<Latencies> {
    let mean = |samples: &[(Span, Span)]| {
        let within = samples.iter().filter(|(at, _)| (from..=to).contains(at));
        trimmed_mean(within.map(|&(_, latency)| latency).collect())
    };
    Some(Latencies {
        tcp: mean(&samples.tcp)?,
        tls: mean(&samples.tls)?,
        request: mean(&samples.request)?,
        loaded: mean(&samples.loaded)?,
    })
}

/// Returns the mean of the values up to the 95th percentile; `None` without values.
fn trimmed_mean(mut values: Vec<Span>) -> Option<Span> {
    values.sort_unstable();
    let kept = (values.len() as f64 * KEPT).ceil() as usize;
    values.truncate(kept);
    let count = values.len() as u64;
    (count > 0).then(|| values.into_iter().sum::<Span>() / count)
}

/// Returns the standard deviation.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    libm::sqrt(values.iter().map(|value| (value - mean) * (value - mean)).sum::<f64>() / count)
}

#[cfg(test)]
#[path = "../tests/within/responsiveness.rs"]
mod tests;

//! [`PathReport`]: the properties of a path that a test has found, of the same form at both ends.

use crate::wire::observation::Observation;
use crate::wire::test::{LatencyResults, Results, WayResults};
use estimate::diagnosis::{BufferEstimate, Evidence};
use estimate::{Latencies, Steadiness};
use serde::Serialize;
use std::fmt;
use units::{Bytes, Rate, Span};

/// The headers of a segment: IPv4, TCP and its time stamps.
const HEADERS: u64 = 20 + 20 + 12;
/// The distance of two estimates of the bottleneck's rate, as a share, up to which they mean the same.
const SAME: f64 = 0.15;

/// The report on a tested path.
#[derive(Clone, Debug, Serialize)]
pub struct PathReport {
    /// From the sender to the receiver.
    pub up: Option<WayReport>,
    /// From the receiver to the sender.
    pub down: Option<WayReport>,
    /// Both directions at once.
    pub together: Option<TogetherReport>,
}

/// The report on both directions of a path with a load at once.
#[derive(Clone, Debug, Serialize)]
pub struct TogetherReport {
    /// From the sender to the receiver.
    pub up: WayReport,
    /// From the receiver to the sender.
    pub down: WayReport,
    /// The share of its goodput alone that the direction up loses; negative if it gains.
    pub up_loses: Option<f64>,
    /// The same of the direction down.
    pub down_loses: Option<f64>,
}

/// The report on one direction of a path.
#[derive(Clone, Debug, Serialize)]
pub struct WayReport {
    /// The number of connections with a load.
    pub streams: u16,
    /// The time of the load, in seconds.
    pub load_s: f64,
    /// The rate of the path in bits per second, IP headers included; `None` if nothing arrived.
    pub capacity_bps: Option<u64>,
    /// True if packet trains gave that rate; otherwise it is the rate at which the load arrived.
    pub by_trains: bool,
    /// The number of trains that arrived whole.
    pub trains: u16,
    /// The rate at which the load arrived, in bits per second of payload.
    pub goodput_bps: u64,
    /// That rate in the second half of the time.
    pub late_goodput_bps: u64,
    /// The bandwidth that the load found available: the late goodput with its headers, in bits per second.
    pub available_bps: u64,
    /// The base RTT in seconds; `None` if no probe came back.
    pub base_rtt_s: Option<f64>,
    /// The mean round trip of probes before the load, in seconds.
    pub idle_rtt_s: Option<f64>,
    /// The mean round trip of probes under load, in seconds.
    pub loaded_rtt_s: Option<f64>,
    /// The largest round trip of probes under load, in seconds.
    pub largest_rtt_s: Option<f64>,
    /// The buffer in front of the bottleneck, in bytes.
    pub buffer_bytes: Option<u64>,
    /// True if that buffer never overflowed, so that it may be larger.
    pub buffer_at_least: bool,
    /// Probes sent before the load.
    pub idle_probes: u64,
    /// The number of these that were lost in the direction of the load.
    pub idle_lost: u64,
    /// Probes sent under load.
    pub loaded_probes: u64,
    /// The number of these that were lost in the direction of the load.
    pub loaded_lost: u64,
    /// Segments sent, those sent again included.
    pub segments: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Responsiveness under load.
    pub responsiveness: Option<ResponsivenessReport>,
    /// The capacity times the base RTT, in bytes.
    pub window_needed_bytes: Option<u64>,
    /// The largest receive window that was offered, in bytes.
    pub window_offered_bytes: u64,
    /// The mean of the bytes in flight.
    pub in_flight_bytes: u64,
    /// The send buffer at the end, in bytes.
    pub send_buffer_bytes: u64,
    /// The TCP efficiency of RFC 6349: the share of the segments that were not sent again.
    pub tcp_efficiency: f64,
    /// The buffer delay of RFC 6349: the growth of the mean round trip under load, as a share of the base RTT.
    pub buffer_delay: Option<f64>,
    /// The evidence of what limited the connection that moved the most data; `None` if neither kernel showed it.
    #[serde(skip)]
    pub evidence: Option<Evidence>,
    /// The number of connections with the same first limit as that one.
    pub alike: u16,
}

/// Responsiveness under load, by draft-ietf-ippm-responsiveness-09.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct ResponsivenessReport {
    /// Round trips per minute.
    pub rpm: f64,
    /// The mean latency of the parts of a request on a connection of its own, in seconds.
    pub separate_s: f64,
    /// The latency of a TCP handshake, in seconds.
    pub tcp_s: f64,
    /// The latency of a TLS handshake, in seconds.
    pub tls_s: f64,
    /// The latency of the request after these, in seconds.
    pub request_s: f64,
    /// The latency of a request on a connection that carries the load, in seconds.
    pub loaded_s: f64,
    /// The draft's confidence: low, medium or high.
    pub confidence: &'static str,
}

impl PathReport {
    /// Makes the report on these measurements.
    pub(crate) fn new(results: &Results) -> Self {
        let [up, down] = [&results.up, &results.down].map(|way| way.as_ref().map(WayReport::new));
        let loses = |alone: &Option<WayReport>, both: &WayReport| {
            let before = alone.as_ref().map(|way| way.late_goodput_bps as f64).filter(|&bps| bps > 0.0)?;
            Some(1.0 - both.late_goodput_bps as f64 / before)
        };
        let together = results.together.as_ref().map(|ways| {
            let (both_up, both_down) = (WayReport::new(&ways.0), WayReport::new(&ways.1));
            TogetherReport {
                up_loses: loses(&up, &both_up),
                down_loses: loses(&down, &both_down),
                up: both_up,
                down: both_down,
            }
        });
        Self { up, down, together }
    }
}

impl WayReport {
    fn new(results: &WayResults) -> Self {
        let &WayResults { trains, idle, loaded, sender, .. } = results;
        let goodput = |bytes, nanos| Rate::of(Bytes::new(bytes), Span::from_nanos(nanos));
        let late = goodput(results.received_late, results.late);
        let available = with_headers(late, sender.segment);
        let base = [idle.least, loaded.least].into_iter().filter(|&rtt| rtt > 0).min();
        let seconds = |nanos: u64| Span::from_nanos(nanos).as_secs_f64();
        let known = |nanos: u64| (nanos > 0).then(|| seconds(nanos));
        let capacity = capacity(trains.bps, available);
        let delay = |base: u64| (seconds(loaded.mean) - seconds(base)) / seconds(base);
        Self {
            streams: results.streams,
            load_s: seconds(results.elapsed),
            capacity_bps: capacity.map(Rate::as_bps),
            by_trains: trains.bps.is_some(),
            trains: trains.whole,
            goodput_bps: goodput(results.received, results.elapsed).as_bps(),
            late_goodput_bps: late.as_bps(),
            available_bps: available.as_bps(),
            base_rtt_s: base.map(seconds),
            idle_rtt_s: known(idle.mean),
            loaded_rtt_s: known(loaded.mean),
            largest_rtt_s: known(loaded.most),
            buffer_bytes: results.buffer.map(|(bytes, _)| bytes),
            buffer_at_least: results.buffer.is_some_and(|(_, at_least)| at_least),
            idle_probes: idle.sent,
            idle_lost: idle.lost,
            loaded_probes: loaded.sent,
            loaded_lost: loaded.lost,
            segments: sender.segments,
            retransmits: sender.retransmits,
            responsiveness: results.latencies.as_ref().map(ResponsivenessReport::new),
            window_needed_bytes: capacity
                .zip(base)
                .map(|(rate, base)| rate.volume(Span::from_nanos(base)).get()),
            window_offered_bytes: sender.receive_window,
            in_flight_bytes: sender.in_flight,
            send_buffer_bytes: sender.send_buffer,
            tcp_efficiency: 1.0 - sender.retransmits as f64 / sender.segments.max(1) as f64,
            buffer_delay: base.filter(|_| loaded.mean > 0).map(delay),
            evidence: results.evidence.as_ref().map(|observation| evidence(observation, results)),
            alike: results.evidence.as_ref().map_or(0, |found| found.alike.min(found.connections)),
        }
    }
}

/// Returns the evidence about a load, with what probes and packet trains know better than sockets.
fn evidence(observation: &Observation, results: &WayResults) -> Evidence {
    let mut evidence = observation.evidence();
    let own = evidence.capacity.map(Rate::as_bps_f64);
    let trains = results.trains.bps.map(Rate::from_bps);
    // Several connections share the path, so each has only a part of its rate.
    let fits = |trains: Rate| {
        results.streams > 1 || own.is_some_and(|own| (trains.as_bps_f64() / own - 1.0).abs() <= SAME)
    };
    if let Some(trains) = trains.filter(|&trains| fits(trains)) {
        evidence.capacity = Some(trains);
        let probed =
            results.buffer.map(|(size, at_least)| BufferEstimate { size: Bytes::new(size), at_least });
        evidence.buffer = probed.or(evidence.buffer);
    }
    evidence
}

/// Returns the rate by trains, or that of the load where no train arrived.
pub(crate) fn capacity(trains: Option<u64>, available: Rate) -> Option<Rate> {
    trains.map(Rate::from_bps).or_else(|| (available > Rate::ZERO).then_some(available))
}

/// Returns a rate of payload as the rate of its packets.
pub(crate) fn with_headers(rate: Rate, segment: u64) -> Rate {
    if segment == 0 { rate } else { rate.scale((segment.saturating_add(HEADERS)) as f64 / segment as f64) }
}

impl ResponsivenessReport {
    fn new(results: &LatencyResults) -> Self {
        let span = Span::from_nanos;
        let latencies = Latencies {
            tcp: span(results.tcp),
            tls: span(results.tls),
            request: span(results.request),
            loaded: span(results.loaded),
        };
        Self {
            rpm: latencies.round_trips_per_minute(),
            separate_s: latencies.foreign().as_secs_f64(),
            tcp_s: latencies.tcp.as_secs_f64(),
            tls_s: latencies.tls.as_secs_f64(),
            request_s: latencies.request.as_secs_f64(),
            loaded_s: latencies.loaded.as_secs_f64(),
            confidence: match results.steadiness {
                0 => "low",
                1 => "medium",
                _ => "high",
            },
        }
    }
}

/// Returns the number by which the confidence travels.
pub(crate) const fn steadiness(steadiness: Steadiness) -> u8 {
    match steadiness {
        Steadiness::Short => 0,
        Steadiness::Varying => 1,
        Steadiness::Steady => 2,
    }
}

impl WayReport {
    /// Returns the names and values of the report's lines.
    #[must_use]
    pub fn lines(&self) -> Vec<(&'static str, String)> {
        let rate = |bps: u64| Rate::from_bps(bps).rounded();
        let bytes = |count: u64| Bytes::new(count).rounded();
        let unknown = || "not known".to_owned();
        let ms = |seconds: Option<f64>| {
            seconds.map_or_else(unknown, |seconds| Span::from_secs_f64(seconds).rounded())
        };
        let percent = |share: f64| format!("{:.1} %", share * 100.0);
        let lost = |lost: u64, all: u64| match (lost, all) {
            (_, 0) => "no probe was sent".to_owned(),
            (0, all) => format!("none of {all} probes"),
            (lost, all) => format!("{} of {all} probes", percent(lost as f64 / all as f64)),
        };
        let source = if self.by_trains {
            format!("{} packet trains", self.trains)
        } else {
            "at least: the load arrived so fast, and no packet train did".to_owned()
        };
        let least = if self.buffer_at_least { "at least " } else { "" };
        let overflow = if self.buffer_at_least { "it never overflowed" } else { "it overflowed" };
        let again = self.retransmits as f64 / self.segments.max(1) as f64;
        vec![
            ("capacity", self.capacity_bps.map_or_else(unknown, |bps| format!("{} ({source})", rate(bps)))),
            (
                "goodput",
                format!(
                    "{}, in the second half {}: {} of the path with headers",
                    rate(self.goodput_bps),
                    rate(self.late_goodput_bps),
                    rate(self.available_bps)
                ),
            ),
            (
                "round trip",
                format!(
                    "{} at least; under load {} in the mean, {} at most",
                    ms(self.base_rtt_s),
                    ms(self.loaded_rtt_s),
                    ms(self.largest_rtt_s)
                ),
            ),
            (
                "buffer",
                self.buffer_bytes.map_or_else(unknown, |size| format!("{least}{} ({overflow})", bytes(size))),
            ),
            (
                "loss",
                format!(
                    "without load {}; under load {} of the segments, {}",
                    lost(self.idle_lost, self.idle_probes),
                    percent(again),
                    lost(self.loaded_lost, self.loaded_probes)
                ),
            ),
            ("responsiveness", self.responsiveness.map_or_else(unknown, |found| found.to_string())),
            (
                "window",
                format!(
                    "{} needed, {} offered; {} in flight in the mean",
                    self.window_needed_bytes.map_or_else(unknown, bytes),
                    bytes(self.window_offered_bytes),
                    bytes(self.in_flight_bytes)
                ),
            ),
            (
                "RFC 6349",
                format!(
                    "TCP efficiency {}, buffer delay {}",
                    percent(self.tcp_efficiency),
                    self.buffer_delay.map_or_else(unknown, percent)
                ),
            ),
        ]
    }
}

impl fmt::Display for ResponsivenessReport {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ms = |seconds: f64| Span::from_secs_f64(seconds).rounded();
        write!(
            formatter,
            "{:.0} RPM, {} a round trip: {} on a new connection, {} under the load's data (confidence {})",
            self.rpm,
            ms(60.0 / self.rpm),
            ms(self.separate_s),
            ms(self.loaded_s),
            self.confidence
        )
    }
}

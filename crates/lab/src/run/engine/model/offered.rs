//! The load that unresponsive traffic offers to the tight link in the measured time, and its evenness.
//!
//! The measured time is cut into [`PARTS`]. In each part, the traffic that is present takes its rate from the link, and
//! a limit in packets counts packets of the mean size at that time. Theories use the means over the parts for the whole
//! measured time. [`OfferedLoad::departure`] is set if the parts differ so much that no steady state stands for them.

use super::departure::{Departure, Severity};
use crate::run::resolve::{Resolved, packet_bits};
use link::Limit;
use link::traffic::{Pattern, Source, TrafficConfig};
use sim::TrafficPlan;
use units::random::Stream;
use units::{Bytes, Complaint, Rate, Span, Time};

/// The number of parts into which the measured time is cut.
const PARTS: u32 = 20;

/// The mean deviation of the parts from their mean, relative to that mean, up to which the mean stands for all parts.
const EVEN: f64 = 0.1;

/// The traffic at the tight link as a steady state.
#[derive(Clone, Debug)]
pub(super) struct OfferedLoad {
    /// The mean rate that the traffic takes from the link's capacity.
    pub(super) rate: Rate,
    /// The mean room of the queue; a limit in packets counts packets of the mean size.
    pub(super) room: Bytes,
    /// The departure for traffic that comes and goes.
    pub(super) departure: Option<Departure>,
}

/// The available rate and the room in a part of the measured time.
#[derive(Clone, Copy)]
struct Part {
    available: f64,
    room: f64,
}

impl OfferedLoad {
    /// Measures the traffic of `resolved` at its tight link.
    pub(super) fn new(resolved: &Resolved) -> Self {
        let crossing: Vec<&TrafficPlan> =
            resolved.traffic.iter().filter(|traffic| traffic.route.contains(&resolved.tight)).collect();
        let steady = Self { rate: resolved.unresponsive(), room: resolved.limit_bytes(), departure: None };
        if crossing.iter().all(|traffic| lasts(&traffic.config)) {
            return steady;
        }
        let Some(end) = resolved.end.filter(|end| *end > resolved.warmup) else {
            // Without a known end, the measured time cannot be cut into parts.
            return Self { departure: Some(departure(&crossing)), ..steady };
        };
        let cuts: Vec<Vec<f64>> =
            crossing.iter().map(|traffic| rates(&traffic.config, resolved.warmup, end)).collect();
        let parts: Vec<Part> = (0..PARTS as usize)
            .map(|part| {
                let now: Vec<(f64, f64)> = crossing
                    .iter()
                    .zip(&cuts)
                    .map(|(traffic, rates)| (rates[part], packet_bits(&traffic.config)))
                    .collect();
                of_part(resolved, &now)
            })
            .collect();
        let (available, uneven) = mean(&parts, |part| part.available);
        let (room, varies) = mean(&parts, |part| part.room);
        let rate = (resolved.link.rate.as_bps_f64() - available).max(0.0);
        Self {
            rate: Rate::from_bps_f64(rate),
            room: Bytes::new(room.round() as u64),
            departure: (uneven.max(varies) > EVEN).then(|| departure(&crossing)),
        }
    }

    /// Returns the room in segments of the flows, for theories that know one kind of packet.
    pub(super) fn segments(&self, resolved: &Resolved) -> f64 {
        if resolved.traffic.is_empty() {
            resolved.limit.in_packets(resolved.queue.mean_packet)
        } else {
            self.room.get() as f64 * 8.0 / mean_segment(resolved)
        }
    }
}

/// Computes the available rate and the room while traffic of these rates and packets, in bits, is present.
fn of_part(resolved: &Resolved, now: &[(f64, f64)]) -> Part {
    let capacity = resolved.link.rate.as_bps_f64();
    let rate: f64 = now.iter().map(|(rate, _)| rate).sum();
    let count: f64 = now.iter().map(|(rate, packet)| rate / packet.max(1.0)).sum();
    let room = match resolved.limit {
        Limit::Bytes(bytes) => bytes.get() as f64,
        Limit::Packets(packets) => {
            let segment = mean_segment(resolved);
            // As in `mean_packet`, flows take the rest of the capacity.
            let rest = (capacity - rate).max(0.01 * capacity);
            let mean = (rate + rest) / (count + rest / segment);
            packets as f64 * mean / 8.0
        }
    };
    Part { available: (capacity - rate).max(0.0), room }
}

/// Returns the mean bits of a flow's segment, over all packets, if flows have equal parts of the capacity.
fn mean_segment(resolved: &Resolved) -> f64 {
    let segments = resolved.flows.iter().filter(|flow| flow.route.contains(&resolved.tight));
    let (flows, packets) = segments.fold((0.0, 0.0), |(flows, packets), flow| {
        (flows + 1.0, packets + 1.0 / flow.segment().bits_f64().max(1.0))
    });
    if flows > 0.0 { flows / packets } else { resolved.segment().bits_f64() }
}

/// Returns the mean over the parts, and their mean deviation relative to that mean.
fn mean(parts: &[Part], of: fn(&Part) -> f64) -> (f64, f64) {
    let count = parts.len() as f64;
    let mean = parts.iter().map(of).sum::<f64>() / count;
    let away = parts.iter().map(|part| (of(part) - mean).abs()).sum::<f64>() / count;
    (mean, if away > 0.0 { away / mean.max(f64::MIN_POSITIVE) } else { 0.0 })
}

/// Returns true if the traffic is present from the start of the run and forever.
fn lasts(traffic: &TrafficConfig) -> bool {
    let for_ever = traffic.start == Time::ZERO && traffic.stop == Time::NEVER;
    for_ever && !matches!(traffic.pattern, Pattern::Replay { .. })
}

/// Computes the mean rate of `traffic` in each part of the time from `warmup` to `end`, bit/s.
fn rates(traffic: &TrafficConfig, warmup: Span, end: Span) -> Vec<f64> {
    let (from, whole) = (warmup.as_secs_f64(), (end - warmup).as_secs_f64());
    let long = whole / f64::from(PARTS);
    if matches!(traffic.pattern, Pattern::Replay { .. }) {
        return replayed(traffic, from, long, end);
    }
    let (start, stop) = (seconds(traffic.start), seconds(traffic.stop));
    let there = |part: u32| {
        let begin = from + long * f64::from(part);
        (stop.min(begin + long) - start.max(begin)).max(0.0) / long
    };
    (0..PARTS).map(|part| traffic.rate.as_bps_f64() * there(part)).collect()
}

/// Computes the same rates for a trace, from its packets within the run. Of a trace that repeats, only one pass is
/// read.
fn replayed(traffic: &TrafficConfig, from: f64, long: f64, end: Span) -> Vec<f64> {
    let mut bits = vec![0.0; PARTS as usize];
    let mut source = Source::new(traffic.clone(), Stream::new(0, "offered"));
    let most = match &traffic.pattern {
        Pattern::Replay { trace, repeat: true } => trace.len(),
        _ => usize::MAX,
    };
    let mut last = seconds(traffic.start);
    for _ in 0..most {
        let Some(at) = source.wakeup().filter(|at| *at < Time::ZERO + end) else { return scaled(bits, long) };
        last = seconds(at);
        let packet = source.emit().bits_f64();
        if last >= from {
            // At the very end, rounding may reach beyond the last part.
            bits[(((last - from) / long) as usize).min(PARTS as usize - 1)] += packet;
        }
    }
    // After one pass of the trace, its mean rate stands for the rest.
    let stop = seconds(traffic.stop);
    for (part, bits) in bits.iter_mut().enumerate() {
        let begin = from + long * part as f64;
        *bits += traffic.rate.as_bps_f64() * (stop.min(begin + long) - last.max(begin)).max(0.0);
    }
    scaled(bits, long)
}

fn scaled(bits: Vec<f64>, long: f64) -> Vec<f64> {
    bits.into_iter().map(|bits| bits / long).collect()
}

fn seconds(time: Time) -> f64 {
    if time == Time::NEVER { f64::INFINITY } else { time.since(Time::ZERO).as_secs_f64() }
}

fn departure(crossing: &[&TrafficPlan]) -> Departure {
    let names: Vec<&str> = crossing
        .iter()
        .filter(|traffic| !lasts(&traffic.config))
        .map(|traffic| traffic.name.as_str())
        .collect();
    let names = names.join(", ");
    let complaint = Complaint::new("traffic", format!("cross traffic that comes and goes ({names})"))
        .accepted("cross traffic whose rate is the same all the time")
        .help("ask the simulator");
    let assumption =
        format!("cross traffic ({names}) is taken to last, at its mean rate in the measured time");
    Departure::new(Severity::Part, complaint, assumption)
}

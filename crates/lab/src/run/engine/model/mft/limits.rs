//! The limits beyond which the theory of one transfer's steady state departs from the behaviour of packets. They were
//! found by simulation of drawn scenarios (`lab/tests/bands.rs`).
//!
//! No departure here applies to a published result, because its claims judge it and state the error of the theory.

use super::super::departure::{Departure, Severity};
use super::{SMALL_QUEUE, TheoryInput};
use crate::run::resolve::{Resolved, ResolvedFlow};
use link::traffic::Pattern;
use model::mft::{Prediction, Regime, available_bandwidth};
use units::{Bytes, Complaint, Span};

/// The least number of segments of path and queue with which a window has a sawtooth.
const SMALL_PATH: f64 = 12.0;

/// The number of segments of a socket buffer below which a flow stops at times if its hosts gather segments.
const GATHERED: u64 = 20;
/// The same number for hosts that delay acknowledgements.
const DELAYED: u64 = 10;

/// The occupancy above which a standing queue overflows at times.
const FULL: f64 = 0.9;

/// The number of sawtooth cycles below which a mean depends on the phase at which it begins.
const CYCLES: f64 = 3.0;

/// The largest part of the measured time that the start of the flows may take.
const START: f64 = 0.05;

/// The share of the link beyond which random traffic overflows the queue by itself.
const MOST_RANDOM: f64 = 0.6;

/// The mean wait behind random cross traffic, in seconds, up to which the theory may leave it out.
const NO_DELAY: f64 = 0.5e-3;

/// Lists the parts of `resolved` that are beyond the limits of the theory, whose prediction is `found`.
pub(super) fn limits(resolved: &Resolved, seen: &TheoryInput<'_>, found: &Prediction) -> Vec<Departure> {
    if resolved.source.is_some() {
        return Vec::new();
    }
    let saws = found.regime == Regime::SelfInducedLoss;
    let mut departures = Vec::new();
    let mut depart = |is_so: bool, place: String, found: String, accepted: &str, assumption: &str| {
        if is_so {
            let complaint = Complaint::new(place, found).accepted(accepted).help("ask the simulator");
            departures.push(Departure::new(Severity::Part, complaint, assumption));
        }
    };
    let flow = seen.targets[0];
    let measured = resolved.end.unwrap_or(Span::MAX).saturating_sub(resolved.warmup).as_secs_f64();
    let cycle = cycle(seen, found);
    depart(
        saws && measured < CYCLES * cycle,
        "duration".into(),
        format!("a sawtooth of {cycle:.1} s, of which fewer than {CYCLES} are measured"),
        "a longer run",
        "the run is long enough for the mean of the window's sawtooth",
    );
    let start = start(seen, found) + flow.start.as_secs_f64();
    depart(
        start - resolved.warmup.as_secs_f64() > START * measured,
        "warmup".into(),
        format!("a slow start of {start:.1} s, which is measured"),
        "a longer warm-up",
        "the start of the flows is not measured",
    );
    let few = seen.path.buffer < seen.target.segment * SMALL_QUEUE || path_and_queue(seen) < SMALL_PATH;
    depart(
        saws && few,
        "link.queue.limit".into(),
        format!("room for fewer than {SMALL_QUEUE} segments"),
        "more room",
        "bursts do not overflow the queue, and no timer expires",
    );
    let most = seen.path.buffer.get() as f64 * FULL;
    depart(
        found.regime == Regime::Saturated && found.backlog.get() as f64 > most,
        flow.key("socket_buffer"),
        "a standing queue that leaves no room for bursts".into(),
        "a smaller one, or more room in the queue",
        "bursts do not overflow the queue",
    );
    if let Some(held) = resolved.flows.iter().find(|flow| is_small(flow)) {
        depart(
            true,
            held.key("socket_buffer"),
            "so few segments that the sender waits for delayed acknowledgements".into(),
            "a larger one",
            "no acknowledgement is held up",
        );
    }
    depart(
        found.regime == Regime::Congested,
        "link.loss".into(),
        "losses that the queue does not cause, of which hosts make more or less".into(),
        "0",
        "the formula for random loss is as good as the host's recovery",
    );
    let bursts =
        resolved.traffic.iter().any(|traffic| matches!(traffic.config.pattern, Pattern::OnOff { .. }));
    depart(
        bursts,
        "traffic".into(),
        "cross traffic in bursts".into(),
        "cbr, or poisson",
        "cross traffic is taken to come evenly, at its mean rate",
    );
    depart(
        saws && flow.transport.pacing,
        flow.key("pacing"),
        "a sender that spaces its packets, and so overflows the queue later or sooner".into(),
        "false",
        "packets leave as acknowledgements come",
    );
    let random = resolved.traffic.iter().filter(|traffic| traffic.config.pattern == Pattern::Poisson);
    let rate: f64 = random.map(|traffic| traffic.config.rate.as_bps_f64()).sum();
    depart(
        saws && rate > MOST_RANDOM * resolved.link.rate.as_bps_f64(),
        "traffic".into(),
        "random cross traffic that takes most of the link".into(),
        "less of it",
        "cross traffic leaves the queue to the target",
    );
    let wait = random_wait(resolved, seen, found);
    depart(
        wait > NO_DELAY,
        "traffic".into(),
        "packets at random times, for which others wait".into(),
        "cbr, or less of it",
        "cross traffic is taken to come evenly",
    );
    departures
}

/// Returns the time from one loss to the next, seconds.
fn cycle(seen: &TheoryInput<'_>, found: &Prediction) -> f64 {
    let packets = 1.0 / found.loss.max(f64::MIN_POSITIVE);
    packets * seen.target.payload.bits_f64() / found.goodput.as_bps_f64().max(1.0)
}

/// Returns the seconds that a slow start takes, with the repair of its losses and the growth of the window after the
/// repair.
fn start(seen: &TheoryInput<'_>, found: &Prediction) -> f64 {
    let segments = |bytes: Bytes| bytes.get() as f64 / seen.target.segment.get().max(1) as f64;
    let window = found.window.get() as f64 / seen.target.payload.get().max(1) as f64;
    let (room, all) = (segments(seen.path.buffer), path_and_queue(seen));
    let base = seen.path.base_rtt.as_secs_f64();
    let full = base + seen.path.buffer.bits_f64() / seen.path.capacity.as_bps_f64().max(1.0);
    let doubling = libm::log2(window.max(1.0)) * found.rtt.as_secs_f64();
    // A burst of a slow start enters the queue twice as fast as it leaves (`model::slow_start`, Theorem 1).
    let overflow = (2.0 * room).min(all);
    if found.regime != Regime::SelfInducedLoss && window < overflow {
        return doubling;
    }
    let turns = (window - overflow / 2.0).max(0.0) * f64::from(seen.target.delayed_ack);
    let growth = turns * found.rtt.as_secs_f64();
    // A sawtooth window always needs half of its cycle to grow to its mean.
    let usual = if found.regime == Regime::SelfInducedLoss { cycle(seen, found) / 2.0 } else { 0.0 };
    doubling + 4.0 * full + (growth - usual).max(0.0)
}

/// Returns the number of segments that the path and its queue hold.
fn path_and_queue(seen: &TheoryInput<'_>) -> f64 {
    let held = available_bandwidth(&seen.path).volume(seen.path.base_rtt) + seen.path.buffer;
    held.get() as f64 / seen.target.segment.get().max(1) as f64
}

/// Returns true if the socket buffer of `flow` has so few segments that its acknowledgements are held up.
fn is_small(flow: &ResolvedFlow) -> bool {
    let segments = flow.per_round_trip().map_or(u64::MAX, |buffer| buffer / flow.payload);
    let least = match (flow.transport.host.gathers(), flow.delayed_ack > 1) {
        (true, _) => GATHERED,
        (false, true) => DELAYED,
        (false, false) => 0,
    };
    segments < least
}

/// Returns the mean wait of M/D/1, in seconds, for a queue that would be empty if cross traffic came evenly.
fn random_wait(resolved: &Resolved, seen: &TheoryInput<'_>, found: &Prediction) -> f64 {
    let capacity = resolved.link.rate.as_bps_f64();
    let random = resolved.traffic.iter().filter(|traffic| traffic.config.pattern == Pattern::Poisson);
    let (rate, work) = random.fold((0.0, 0.0), |(rate, work), traffic| {
        let one = traffic.config.rate.as_bps_f64();
        (rate + one, work + one * traffic.config.packet.bits_f64() / capacity)
    });
    if found.regime != Regime::BufferLimited || rate == 0.0 {
        return 0.0;
    }
    let own = found.goodput.as_bps_f64() * seen.target.segment.bits_f64() / seen.target.payload.bits_f64();
    let load = ((own + resolved.unresponsive().as_bps_f64()) / capacity).min(0.999);
    work / capacity / (2.0 * (1.0 - load))
}

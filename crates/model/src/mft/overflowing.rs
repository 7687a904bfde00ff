//! The regime of self-induced loss: Reno's window grows until the path and its buffer do not hold it, is reduced, and
//! grows again.
//!
//! Against unresponsive cross traffic the prediction is the closed form of [`crate::sawtooth`] at the available
//! bandwidth, with `B A/C` of the buffer as the target's room. Against cross traffic limited by its own window the same
//! integrals over the window, `goodput = int W dW / int T dW`, are summed numerically. Such cross traffic also loses
//! packets at each overflow, and then slows further. That effect is left out.

use super::{CrossTraffic, Path, Prediction, Regime, Room, Target, backlog, window_bits};
use crate::root::decreasing_root;
use crate::sawtooth::sawtooth;
use units::{Bytes, Rate, Span};

/// Steps of the trapezium rule over one cycle: its error is below 1e-6 of the result.
const STEPS: u32 = 1000;

/// The most round trips at a full queue that are summed. A target that could stay there for longer has a negligible
/// share.
const MOST_TURNS: u32 = 200;

/// The rounding error of the difference of two rates, as a share of the capacity.
const ROUNDING: f64 = 1e-12;

pub(super) fn prediction(path: &Path, target: &Target, room: Room) -> Prediction {
    match path.cross {
        CrossTraffic::Unresponsive { .. } => against_unresponsive(path, target, room),
        CrossTraffic::BufferLimited { .. } => against_buffer_limited(path, target),
    }
}

fn against_unresponsive(path: &Path, target: &Target, counts: Room) -> Prediction {
    let available = super::available_bandwidth(path);
    let room = path.buffer.scale(available.as_bps_f64() / path.capacity.as_bps_f64());
    let Some(cycle) = sawtooth(available, path.base_rtt, room, target.segment, target.delayed_ack) else {
        return shut_out(path);
    };
    // The window at the full queue, and the time for which it stays there.
    let (base, full) = (path.base_rtt.as_secs_f64(), path.base_rtt.as_secs_f64() + path.drain());
    let top = available.as_bps_f64() * base + room.bits_f64();
    let turns = if counts == Room::Packets { turns_at_full(path, available) } else { 0.0 };
    let period = cycle.period.as_secs_f64();
    let (stays, packets) = (turns * full, turns * top / target.segment.bits_f64());
    let mean = |of: f64, at_full: f64| (of * period + at_full * stays) / (period + stays);
    let rtt = mean(cycle.rtt.as_secs_f64(), full);
    Prediction {
        goodput: available.scale(mean(cycle.utilization, 1.0) * target.efficiency()),
        rtt: if turns > 0.0 { Span::from_secs_f64(rtt) } else { cycle.rtt },
        backlog: backlog(path, rtt - base),
        window: Bytes::new((mean(cycle.window.bits_f64(), top) / 8.0).round() as u64)
            .scale(target.efficiency()),
        loss: 1.0 / (cycle.packets_per_cycle + packets),
        regime: Regime::SelfInducedLoss,
    }
}

/// Returns the number of round trips for which the target's window stays at the full queue, because the packets
/// dropped there belong to the cross traffic.
///
/// In the n-th of these the target sends n segments more than leave. So n packets are dropped, of any sender. Because
/// the target has the share `a = A/C` of the bytes, it loses none of its own with the probability `exp(-n a)`.
///
/// ```text
/// turns = sum over n >= 1 of exp(-a n (n+1)/2)
/// ```
/// Without cross traffic every drop is the target's own, and the result is zero.
fn turns_at_full(path: &Path, available: Rate) -> f64 {
    let share = available.as_bps_f64() / path.capacity.as_bps_f64();
    if share >= 1.0 || share <= 0.0 {
        return 0.0;
    }
    let survives = |n: u32| libm::exp(-share * f64::from(n) * f64::from(n + 1) / 2.0);
    (1..=MOST_TURNS).map(survives).sum()
}

fn against_buffer_limited(path: &Path, target: &Target) -> Prediction {
    let (base, full) = (path.base_rtt.as_secs_f64(), path.drain());
    let top = window_bits(path, full);
    // The window is a difference of large numbers, and counts as zero if it is below their rounding error.
    if top <= path.capacity.as_bps_f64() * (base + full) * ROUNDING {
        return shut_out(path);
    }
    let bottom = 0.5 * top;
    let knee = window_bits(path, 0.0);
    // Integrals over W of T, T^2 and W T. Up to the knee the RTT is the base RTT.
    let below = (knee - bottom).max(0.0);
    let mut time = base * below;
    let mut squares = base * base * below;
    let mut windows = base * 0.5 * (knee * knee - bottom * bottom).max(0.0);
    // Above the knee (or from the bottom on, if the queue never empties) the window is a function of the queueing
    // delay.
    let start = decreasing_root(0.0, full, |queueing| bottom - window_bits(path, queueing));
    let step = (full - start) / f64::from(STEPS);
    let (mut rtt, mut window) = (base + start, window_bits(path, start));
    for index in 1..=STEPS {
        let queueing = start + step * f64::from(index);
        let (next_rtt, next_window) = (base + queueing, window_bits(path, queueing));
        let (mean_rtt, mean_window, grown) =
            (0.5 * (rtt + next_rtt), 0.5 * (window + next_window), next_window - window);
        time += mean_rtt * grown;
        squares += mean_rtt * mean_rtt * grown;
        windows += mean_window * mean_rtt * grown;
        (rtt, window) = (next_rtt, next_window);
    }
    let data = 0.5 * (top * top - bottom * bottom);
    let mean_rtt = squares / time;
    let segment = target.segment.bits_f64();
    Prediction {
        goodput: Rate::from_bps_f64(data / time * target.efficiency()),
        rtt: Span::from_secs_f64(mean_rtt),
        backlog: backlog(path, mean_rtt - base),
        window: Bytes::new((windows / time / 8.0 * target.efficiency()) as u64),
        loss: segment * segment / (f64::from(target.delayed_ack) * data),
        regime: Regime::SelfInducedLoss,
    }
}

/// Predicts the result if the cross traffic alone keeps the buffer full.
fn shut_out(path: &Path) -> Prediction {
    Prediction {
        goodput: Rate::ZERO,
        rtt: path.base_rtt + Span::from_secs_f64(path.drain()),
        backlog: path.buffer,
        window: Bytes::ZERO,
        loss: 1.0,
        regime: Regime::SelfInducedLoss,
    }
}

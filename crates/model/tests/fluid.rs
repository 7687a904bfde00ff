//! The fluid model: its fixed points by hand, what is conserved, and that the step does not show.

use testkit::close;
use tightlink_model::fluid::{AveragedRed, Bottleneck, Class, Trajectory, trajectory};
use tightlink_model::red::Red;
use tightlink_model::response::{Protocol, cubic, highspeed};

/// 100 Mbit/s in packets of 1250 bytes.
const CAPACITY: f64 = 10_000.0;

/// So flat that the loop is stable: the loss rises by 1e-6 with each packet that waits.
const RED: AveragedRed = AveragedRed {
    curve: Red { min_threshold: 0.0, max_threshold: 4000.0, max_probability: 4e-3 },
    weight: 1e-2,
    gentle: true,
};

/// Flows that fill the link at the start.
fn class(protocol: Protocol, flows: f64, base_rtt: f64) -> Class {
    Class { protocol, flows, base_rtt, window: (CAPACITY * base_rtt / flows).max(1.0) }
}

/// Behind [`RED`], once nothing moves; the last sample's place.
fn settled(classes: &[Class]) -> (Trajectory, usize) {
    let bottleneck = Bottleneck { capacity: CAPACITY, buffer: 4000.0, red: Some(RED) };
    let found = trajectory(&bottleneck, classes, 300.0, 0.5).unwrap();
    let last = found.t.len() - 1;
    let (before, after) = (found.backlog[last - 40], found.backlog[last]);
    assert!((before / after - 1.0).abs() < 1e-4, "it has not settled: {before}, {after}");
    (found, last)
}

/// Reductions per round trip where the window is `window` and the loss rate `loss`.
fn reductions(window: f64, loss: f64) -> f64 {
    1.0 - libm::exp(-window * loss)
}

#[test]
fn behind_red_reno_settles_at_the_square_root_law() {
    let (found, last) = settled(&[class(Protocol::Reno, 20.0, 0.05)]);
    let (window, loss) = (found.windows[0][last], found.loss[last]);
    // A segment per round trip against half the window per reduction.
    close(0.5 * window * reductions(window, loss), 1.0, 1e-4);
    // Each loss a reduction would be the square-root law: sqrt(2/p).
    close(window, (2.0 / loss).sqrt(), 0.02);
    close(loss, RED.probability(found.backlog[last]), 1e-3);
    close(20.0 * found.rates[0][last] * (1.0 - loss), CAPACITY, 1e-4);
    assert_eq!(found.utilization[last], 1.0);
}

#[test]
fn highspeed_tcp_settles_where_it_gains_what_it_loses() {
    let (found, last) = settled(&[class(Protocol::HighSpeed, 20.0, 0.05)]);
    let (w, loss) = (found.windows[0][last], found.loss[last]);
    assert!(w > highspeed::LOW_WINDOW, "{w}");
    close(highspeed::increment(w), highspeed::decrease(w) * w * reductions(w, loss), 1e-4);
}

#[test]
fn cubic_settles_at_the_larger_of_its_two_windows() {
    let (found, last) = settled(&[class(Protocol::Cubic, 20.0, 0.05)]);
    let (w, loss) = (found.windows[0][last], found.loss[last]);
    let rtt = w / found.rates[0][last];
    // The window before a loss is the window itself there, and the time since then that between two reductions.
    let since = rtt / reductions(w, loss);
    let plateau = libm::cbrt(w * (1.0 - cubic::BETA) / cubic::C);
    let growth = cubic::C * (since - plateau).powi(3) + w;
    let friendly = cubic::BETA * w + cubic::ALPHA * since / rtt;
    close(w, growth.max(friendly), 1e-3);
}

#[test]
fn the_throughput_of_reno_goes_by_one_over_the_round_trip() {
    let (found, last) = settled(&[class(Protocol::Reno, 10.0, 0.04), class(Protocol::Reno, 10.0, 0.06)]);
    close(found.windows[0][last], found.windows[1][last], 1e-3);
    let queueing = found.backlog[last] / CAPACITY;
    close(found.rates[0][last] / found.rates[1][last], (0.06 + queueing) / (0.04 + queueing), 1e-3);
}

#[test]
fn a_full_drop_tail_queue_loses_what_does_not_fit_and_no_more() {
    let bottleneck = Bottleneck { capacity: CAPACITY, buffer: 200.0, red: None };
    let every = 0.05 / 16.0;
    let found = trajectory(&bottleneck, &[class(Protocol::Reno, 50.0, 0.05)], 60.0, every).unwrap();
    let (mut sent, mut taken) = (0.0, 0.0);
    for sample in 1..found.t.len() {
        let mean = |column: &[f64]| 0.5 * (column[sample - 1] + column[sample]);
        let step = found.t[sample] - found.t[sample - 1];
        let accepted = |at: usize| 50.0 * found.rates[0][at] * (1.0 - found.loss[at]);
        taken += 0.5 * (accepted(sample - 1) + accepted(sample)) * step;
        sent += mean(&found.utilization) * CAPACITY * step;
    }
    let waiting = found.backlog.last().unwrap() - found.backlog[0];
    assert!((taken - sent - waiting).abs() < 2e-3 * sent, "{taken} in, {sent} out, {waiting} waiting");
    let most = found.backlog.iter().copied().fold(0.0, f64::max);
    assert_eq!(most, 200.0, "it fills");
    assert!(found.loss.iter().any(|loss| *loss > 0.0) && found.loss.iter().all(|loss| *loss < 0.2));
    assert!(found.utilization.iter().all(|part| (0.0..=1.0).contains(part)));
}

#[test]
fn a_larger_buffer_is_used_no_less() {
    let mean = |buffer: f64, protocol| {
        let bottleneck = Bottleneck { capacity: CAPACITY, buffer, red: None };
        let found = trajectory(&bottleneck, &[class(protocol, 20.0, 0.1)], 100.0, 0.01).unwrap();
        let late = &found.utilization[found.t.len() / 2..];
        late.iter().sum::<f64>() / late.len() as f64
    };
    for protocol in [Protocol::Reno, Protocol::HighSpeed, Protocol::Cubic] {
        let found: Vec<f64> = [10.0, 100.0, 500.0, 1000.0].map(|buffer| mean(buffer, protocol)).into();
        assert!(found.windows(2).all(|pair| pair[1] > pair[0] - 0.01), "{protocol:?} {found:?}");
        assert!(found[3] > 0.97, "{protocol:?} {found:?}");
    }
}

#[test]
fn without_loss_a_reno_window_grows_by_a_segment_per_round_trip() {
    let bottleneck = Bottleneck { capacity: CAPACITY, buffer: 1e6, red: None };
    let found =
        trajectory(&bottleneck, &[Class { window: 20.0, ..class(Protocol::Reno, 1.0, 0.1) }], 10.0, 1.0)
            .unwrap();
    close(*found.windows[0].last().unwrap(), 120.0, 1e-6);
    assert!(found.backlog.iter().all(|backlog| *backlog == 0.0));
}

#[test]
fn what_is_out_of_range_is_told_with_the_range() {
    let bottleneck = Bottleneck { capacity: CAPACITY, buffer: 100.0, red: None };
    let reno = class(Protocol::Reno, 1.0, 0.1);
    let told = |bottleneck: &Bottleneck, classes: &[Class], end: f64, every: f64| {
        trajectory(bottleneck, classes, end, every).unwrap_err().to_string()
    };
    assert_eq!(told(&bottleneck, &[], 1.0, 0.1), "classes of flows is 0; it must be from 1 to 8");
    assert_eq!(
        told(&bottleneck, &[class(Protocol::Bbr, 1.0, 0.1)], 1.0, 0.1),
        "protocol is bbr; it must be reno, highspeed or cubic"
    );
    assert_eq!(
        told(&Bottleneck { buffer: 0.0, ..bottleneck }, &[reno], 1.0, 0.1),
        "buffer is 0; it must be above zero"
    );
    assert!(told(&bottleneck, &[class(Protocol::Reno, 1.0, 1e-6)], 100.0, 0.1).contains("at most 2e6"));
    let endless = Bottleneck { buffer: 1e9, ..bottleneck };
    assert!(told(&endless, &[reno], 1000.0, 0.1).contains("steps of the longest delay"));
    assert!(told(&bottleneck, &[reno], 1.0, f64::NAN).contains("sampling interval is NaN"));
}

/// The average of a fast link follows its queue within microseconds, of which a step of the equations has thousands.
#[test]
fn an_average_that_follows_at_once_is_the_queue_itself() {
    let fast = 800_000.0;
    let reno = Class { protocol: Protocol::Reno, flows: 40.0, base_rtt: 0.6, window: 12_000.0 };
    let curve = Red { min_threshold: 0.0, max_threshold: 400_000.0, max_probability: 4e-6 };
    let by = |weight: f64| {
        let red = Some(AveragedRed { curve, weight, gentle: true });
        trajectory(&Bottleneck { capacity: fast, buffer: 400_000.0, red }, &[reno], 600.0, 1.0).unwrap()
    };
    let (quick, quicker) = (by(2e-3), by(0.5));
    assert_eq!(quick, quicker);
    let last = quick.t.len() - 1;
    let loss = curve.probability(quick.backlog[last]);
    assert!(
        quick.backlog[last] > 0.0 && (quick.loss[last] / loss - 1.0).abs() < 0.05,
        "{}",
        quick.loss[last]
    );
}

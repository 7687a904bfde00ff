//! RFC 9438: W(t), K, and the average windows of its section 5.

use crate::path::{SEGMENT, Sender, agrees, named, of, periodic, periodic_from_loss};
use tightlink_cc::growth::Cubic;
use tightlink_cc::growth::cubic::{ALPHA, BETA, C, time_to_plateau, window_at};
use units::{Bytes, Span};

/// Section 5.1, equation 5: the cubic region.
fn cubic(p: f64, rtt: f64) -> f64 {
    (C * (3.0 + BETA) / (4.0 * (1.0 - BETA))).powf(0.25) * rtt.powf(0.75) / p.powf(0.75)
}

/// The window at each loss, where it comes back to just there: W(t) averages (3 + beta) / 4 of it.
fn maximum(average: f64) -> f64 {
    4.0 * average / (3.0 + BETA)
}

/// Section 4.3, equation 3 of an AIMD: the Reno-friendly region.
fn friendly(p: f64) -> f64 {
    (ALPHA * (1.0 + BETA) / (2.0 * (1.0 - BETA) * p)).sqrt()
}

fn sender(window: f64, rtt: Span) -> Sender {
    Sender::new(of(Cubic::new(Bytes::new(SEGMENT)).without_fast_convergence(), window), rtt)
}

/// Section 5.1 prints 1.054 for the constant and table values for RTT = 0.1 s.
#[test]
fn the_constants_are_those_the_rfc_prints() {
    agrees("constant of the cubic region", cubic(1.0, 1.0), 1.054, 0.001);
    agrees("friendly as Reno", friendly(1e-4), (1.5f64 / 1e-4).sqrt(), 1e-9);
    agrees("K for 1000 segments", time_to_plateau(700.0, 1000.0), (300.0f64 / 0.4).cbrt(), 1e-12);
}

#[test]
fn cubic_has_the_average_window_of_the_cubic_region() {
    for (p, millis) in [(1e-4, 100), (1e-5, 100), (1e-6, 100), (1e-6, 40), (1e-5, 200)] {
        let rtt = Span::from_millis(millis);
        let published = cubic(p, rtt.as_secs_f64());
        assert!(published > 1.5 * friendly(p), "not in the cubic region");
        let growth = Cubic::new(Bytes::new(SEGMENT)).without_fast_convergence();
        let ours = periodic_from_loss(of(growth, maximum(published)), rtt, p, 10);
        agrees(&format!("cubic, p = {p:e}, {rtt}"), ours, published, 0.05);
    }
}

#[test]
fn cubic_has_the_average_window_of_reno_in_the_reno_friendly_region() {
    for (p, millis) in [(1e-2, 10), (1e-3, 10), (1e-4, 10), (1e-4, 1)] {
        let rtt = Span::from_millis(millis);
        let published = friendly(p);
        assert!(published > 1.5 * cubic(p, rtt.as_secs_f64()), "not in the Reno-friendly region");
        agrees(
            &format!("friendly, p = {p:e}, {rtt}"),
            periodic(sender(published, rtt), p, 10),
            published,
            0.05,
        );
    }
}

/// The RFC's averages leave fast convergence out. Alone, a loss a little below the last one's window sets the plateau
/// 15 % lower for an epoch.
#[test]
fn fast_convergence_costs_a_lone_cubic_less_than_a_seventh() {
    for p in [1e-4, 1e-5, 1e-6] {
        let published = cubic(p, 0.1);
        let control = named("cubic", maximum(published));
        let ours = periodic_from_loss(control, Span::from_millis(100), p, 40);
        agrees(&format!("cubic with fast convergence, p = {p:e}"), ours, published, 0.14);
    }
}

/// From a loss at 1000 segments: 700, and back after K seconds, along W(t).
#[test]
fn the_window_follows_w_of_t_and_is_back_after_k_seconds() {
    let mut sender = sender(1000.0, Span::from_millis(50));
    sender.lose(sender.now);
    let (began, k) = (sender.now, time_to_plateau(700.0, 1000.0));
    let mut regained = None;
    while sender.now.since(began).as_secs_f64() < 1.5 * k {
        sender.round(|| false);
        let t = sender.now.since(began).as_secs_f64();
        let expected = window_at(t - k, 1000.0);
        assert!(
            (sender.segments() / expected - 1.0).abs() < 0.01,
            "t = {t}: {} ({expected})",
            sender.segments()
        );
        // The plateau is flat: what lies within a segment of it is there.
        if regained.is_none() && sender.segments() >= 999.0 {
            regained = Some(t);
        }
    }
    agrees("seconds to W_max - 1", regained.expect("it comes back"), k - (1.0 / C).cbrt(), 0.02);
}

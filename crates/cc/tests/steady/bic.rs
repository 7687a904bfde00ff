//! BIC: the response function of Xu, Harfoush and Rhee 2004, section IV.

use crate::path::{Losses, SEGMENT, Sender, agrees, named, of, periodic, periodic_from_loss};
use tightlink_cc::controls::Bic;
use tightlink_cc::controls::bic::{BETA, S_MAX, S_MIN};
use units::{Bytes, Span};

/// Packets and round trips between two losses at `maximum`: N1 rounds of Smax, N2 of binary search.
fn epoch(maximum: f64) -> (f64, f64) {
    let lost = BETA * maximum;
    let additive = ((lost / S_MAX).ceil() - 2.0).max(0.0);
    let searched = lost - additive * S_MAX;
    let search = libm::log2(searched / S_MIN) + 2.0;
    let packets = (2.0 * (1.0 - BETA) * maximum + (additive - 1.0) * S_MAX) / 2.0 * additive
        + maximum * search
        - 2.0 * searched
        + S_MIN;
    (packets, additive + search)
}

/// The window at each loss and the average one, where one packet in 1 / p is lost.
fn response(p: f64) -> (f64, f64) {
    let (mut low, mut high) = (1.0f64, 1e7);
    while high / low > 1.0 + 1e-9 {
        let middle = (low * high).sqrt();
        if epoch(middle).0 < 1.0 / p { low = middle } else { high = middle }
    }
    let (packets, rounds) = epoch(low);
    (low, packets / rounds)
}

#[test]
fn bic_has_the_average_window_of_its_response_function() {
    for p in [1e-4, 1e-5, 1e-6] {
        let (maximum, published) = response(p);
        let growth = Bic::new(Bytes::new(SEGMENT)).without_fast_convergence();
        let ours = periodic_from_loss(of(growth, maximum), Span::from_millis(100), p, 20);
        agrees(&format!("bic, p = {p:e}"), ours, published, 0.05);
    }
}

/// From a smaller window. From a larger one it falls by a fraction of a segment per loss: the search is over before the loss
/// comes, and so the window is back where the last one was.
#[test]
fn bic_comes_to_the_average_window_from_below() {
    for p in [1e-4, 1e-5] {
        let (maximum, published) = response(p);
        for part in [0.5, 0.8] {
            let growth = Bic::new(Bytes::new(SEGMENT)).without_fast_convergence();
            let mut sender = Sender::new(of(growth, part * maximum), Span::from_millis(100));
            sender.lose(sender.now);
            let interval = (1.0 / p).round() as u64;
            let ours = sender.average(Losses::Every(interval), 300 * interval, 50 * interval).window;
            agrees(&format!("bic from {part} of the window, p = {p:e}"), ours, published, 0.05);
        }
    }
}

#[test]
fn a_window_above_bic_s_response_function_falls_ever_so_slowly_towards_it() {
    let p = 1e-4;
    let (maximum, published) = response(p);
    let growth = Bic::new(Bytes::new(SEGMENT)).without_fast_convergence();
    let mut sender = Sender::new(of(growth, 1.3 * maximum), Span::from_millis(100));
    sender.lose(sender.now);
    let mut sent = 0u64;
    let mut at_loss = Vec::new();
    while at_loss.len() < 3000 {
        let mut lost = false;
        sender.round(|| {
            sent += 1;
            lost = sent.is_multiple_of(10_000);
            lost
        });
        if lost {
            at_loss.push(sender.segments() / (1.0 - BETA));
        }
    }
    let fell = (at_loss[0] - at_loss[2999]) / 2999.0;
    println!("bic from above: {:.1} to {:.1}, {fell:.3} segments a loss", at_loss[0], at_loss[2999]);
    assert!(fell > 0.0 && fell < 0.5, "{fell}");
    assert!(at_loss[2999] > published, "{}", at_loss[2999]);
}

/// The paper's analysis leaves fast convergence out; to a flow alone it makes little difference.
#[test]
fn fast_convergence_hardly_moves_the_average_window_of_bic() {
    for p in [1e-4, 1e-5, 1e-6] {
        let (maximum, published) = response(p);
        let ours = periodic_from_loss(named("bic", maximum), Span::from_millis(100), p, 40);
        agrees(&format!("bic with fast convergence, p = {p:e}"), ours, published, 0.05);
    }
}

#[test]
fn bic_does_not_depend_on_the_round_trip_time() {
    let of_rtt = |rtt| periodic(Sender::new(named("bic", 500.0), Span::from_millis(rtt)), 1e-5, 6);
    agrees("bic at 10 ms against 200 ms", of_rtt(10), of_rtt(200), 0.001);
}

/// Beyond the window of the last loss: 1, 2, 4 ... Smax segments per round trip.
#[test]
fn bic_probes_beyond_the_last_maximum_in_doubling_steps() {
    let mut sender = Sender::new(named("bic", 1000.0), Span::from_millis(100));
    sender.lose(sender.now);
    while sender.segments() < 1000.0 {
        sender.round(|| false);
    }
    for step in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 32.0] {
        let before = sender.segments();
        sender.round(|| false);
        let grown = sender.segments() - before;
        // A round of whole segments ends a fraction of one before the window's last byte is acknowledged.
        assert!((grown - step).abs() < 0.02 * step + 0.05, "{grown} where it should be {step}");
    }
}

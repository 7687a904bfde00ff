//! Controls that answer the share of marks, at a share that does not answer to them.
//!
//! A reduction takes `p W / 2` segments, and a round trip adds one. If each round trip had a reduction, `p W` would be 2.
//! But the round trip that a mark begins ends before the next mark counts, for which 1/p segments pass on average, or
//! `1 / (p W)` round trips. So `p W / 2 = 1 + 1 / (p W)`, whose solution is `1 + sqrt(3)`.

use crate::path::{SEGMENT, Sender, agrees, named};
use tightlink_cc::{Ack, Congestion, CongestionKind, Marks, RttView};
use units::random::Stream;
use units::{Bytes, Span};

/// Returns the product of the marked share and the average window.
fn product(control: &str, p: f64, rtt: Span, packets: u64) -> f64 {
    let mut sender = Sender::new(named(control, 2.0 / p), rtt);
    let mut stream = Stream::new(7, "marks");
    let (segment, mut round, mut ends) = (Bytes::new(SEGMENT), 0u64, 0.0);
    let (mut answered, mut position, mut weighted, mut counted) = (0.0, 0.0, 0.0, 0u64);
    for packet in 0..packets {
        let window = sender.segments();
        sender.now += sender.rtt.scale(1.0 / window);
        // The position counts round trips.
        position += 1.0 / window;
        let round_ends = position >= ends;
        if round_ends {
            (round, ends) = (round + 1, position + 1.0);
        }
        let marked = stream.uniform() < p;
        let now = sender.now;
        let amount = if marked { segment } else { Bytes::ZERO };
        sender.control.on_marks(&Marks { now, delivered: segment, marked: amount, round_ends });
        if marked && position >= answered {
            answered = position + 1.0;
            let in_flight = sender.control.allowance().window;
            let kind = CongestionKind::EcnMark;
            sender.control.on_congestion(&Congestion { now, kind, lost: Bytes::ZERO, in_flight });
        }
        sender.control.on_ack(&Ack {
            now,
            acked: segment,
            delivered: segment,
            newest_sent: now - rtt,
            in_flight: sender.control.allowance().window,
            rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt },
            rate: None,
            window_limited: true,
            paced: false,
            recovering: false,
            round,
        });
        if packet >= packets / 5 {
            (weighted, counted) = (weighted + 1.0 / window, counted + 1);
        }
    }
    p * counted as f64 / weighted
}

#[test]
fn the_window_is_inverse_to_the_share_of_marks() {
    for control in ["dctcp", "prague"] {
        for p in [0.02, 0.05, 0.1] {
            let found = product(control, p, Span::from_millis(40), 400_000);
            // RFC 9332 has 2/p, for a reduction in every round trip. One that waits for a mark after each round trip
            // gives (1 + sqrt(3))/p.
            assert!(
                (2.0..1.02 * (1.0 + 3.0f64.sqrt())).contains(&found),
                "{control}, p = {p}: p W = {found}"
            );
        }
    }
}

/// Below 25 ms the rate of Prague does not depend on the round-trip time: the window is in proportion to it.
#[test]
fn flows_of_prague_with_short_round_trips_have_one_rate() {
    let rate = |rtt: u64| product("prague", 0.02, Span::from_millis(rtt), 1_200_000) / rtt as f64;
    let (short, long) = (rate(8), rate(20));
    agrees("rate at 8 ms against 20 ms", short, long, 0.15);
}

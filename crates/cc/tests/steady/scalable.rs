//! Scalable TCP: response function and recovery time of Kelly 2003.

use crate::path::{Losses, Sender, agrees, named};
use model::response::scalable::{DECREASE, INCREASE};
use units::Span;
use units::random::Stream;

/// a (1 - p) / (b p): where gains and losses of the window balance, packet by packet.
#[test]
fn scalable_has_the_average_window_of_its_response_function() {
    for p in [1e-3f64, 1e-4] {
        let published = INCREASE / DECREASE * (1.0 - p) / p;
        let sender = Sender::new(named("scalable", published), Span::from_millis(100));
        let packets = (2000.0 / p) as u64;
        let losses = Losses::Random(p, Stream::new(1, "losses"));
        agrees(
            &format!("scalable, p = {p:e}"),
            sender.average(losses, packets / 10, packets).per_packet,
            published,
            0.05,
        );
    }
}

/// ln(1 - b) / ln(1 + a) = 13.4 round trips, for any window and any round-trip time.
#[test]
fn scalable_recovers_in_thirteen_round_trips_at_any_window_and_any_rtt() {
    let published = -libm::log(1.0 - DECREASE) / libm::log(1.0 + INCREASE);
    for window in [200.0, 2_000.0, 20_000.0] {
        for rtt in [10, 200] {
            let mut sender = Sender::new(named("scalable", window), Span::from_millis(rtt));
            sender.lose(sender.now);
            let mut rounds = 0.0;
            while sender.segments() < window {
                let before = sender.segments();
                sender.round(|| false);
                rounds += ((window - before) / (sender.segments() - before)).min(1.0);
            }
            agrees(&format!("round trips from {window} segments, {rtt} ms"), rounds, published, 0.03);
        }
    }
}

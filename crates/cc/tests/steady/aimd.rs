//! Reno, and what is Reno where nothing makes it something else.

use crate::path::{Sender, agrees, named, periodic};
use units::Span;

/// sqrt(3 / 2p): Mathis et al. 1997 with every packet acknowledged.
fn reno(p: f64) -> f64 {
    (1.5 / p).sqrt()
}

#[test]
fn reno_has_the_average_window_of_the_square_root_law() {
    for control in ["reno", "newreno", "lp"] {
        for p in [1e-3, 1e-4, 1e-5] {
            let sender = Sender::new(named(control, reno(p)), Span::from_millis(100));
            agrees(&format!("{control}, p = {p:e}"), periodic(sender, p, 10), reno(p), 0.05);
        }
    }
}

/// The slow mode: a queue of its own of more than alpha segments stands.
#[test]
fn africa_is_reno_where_it_has_a_queue_and_highspeed_where_it_has_none() {
    for p in [1e-4, 1e-5, 1e-6] {
        let (rtt, queue) = (Span::from_millis(100), Span::from_millis(20));
        let slow = Sender::with_queue(named("africa", reno(p)), rtt, queue);
        agrees(&format!("africa with a queue, p = {p:e}"), periodic(slow, p, 10), reno(p), 0.05);
        let fast = periodic(Sender::new(named("africa", 100.0), rtt), p, 10);
        let highspeed = periodic(Sender::new(named("highspeed", 100.0), rtt), p, 10);
        assert_eq!(fast.to_bits(), highspeed.to_bits());
    }
}

/// Low priority: a standing queue keeps it down, whatever the loss.
#[test]
fn lp_gives_way_where_the_delay_says_that_others_wait() {
    let rtt = Span::from_millis(100);
    let mut sender = Sender::new(named("lp", 100.0), rtt);
    sender.round(|| false);
    sender.lose(sender.now);
    let before = sender.window();
    sender.rtt = Span::from_millis(150);
    for _ in 0..50 {
        sender.round(|| false);
    }
    assert!(before == 50 && sender.window() <= 2, "{before} then {}", sender.window());
}

//! Bulk over loopback: the payload per second with single datagrams and with batches, a window of 1 MB, one flow.
//!
//! `cargo bench -p tightlink-quic [-- SECONDS]`

use cc::Start;
use cc::registry::Tuning;
use host::Clock;
use live::Window;
use std::sync::atomic::AtomicBool;
use tightlink_quic::{
    ControlChoice, FlowConfig, Keys, MOST_TOGETHER, Receiver, SessionConfig, receive, send,
};
use units::{Bytes, Span};

fn main() {
    let seconds = std::env::args().filter_map(|argument| argument.parse().ok()).next().unwrap_or(3);
    for most_together in [1, 4, 16, MOST_TOGETHER] {
        let start = Start { segment: Bytes::new(1472), window: Bytes::new(1_000_000), threshold: Bytes::MAX };
        let mut common = live::FlowConfig::greedy("bulk", "fixed");
        common.window = Window::AtMost(Bytes::new(1_000_000));
        let control = ControlChoice {
            name: "fixed".into(),
            slow_start: "standard".into(),
            start,
            tuning: Tuning::default(),
        };
        let delayed_ack_timeout = Span::from_millis(25);
        let flow = FlowConfig {
            common,
            control,
            delayed_ack: 10,
            delayed_ack_timeout,
            most_together,
            probe_port: None,
        };
        let every = Span::from_millis(100);
        let config = SessionConfig {
            flows: vec![flow],
            warmup: Span::ZERO,
            end: Some(Span::from_secs(seconds)),
            every,
        };
        let keys = Keys::random().expect("keys");
        let receiver = Receiver::bind(&config, [127, 0, 0, 1].into(), &keys).expect("a socket");
        let (servers, clock, stop) = (receiver.addresses(), Clock::start(), AtomicBool::new(false));
        let received = std::thread::scope(|threads| {
            let receiving = threads.spawn(|| receive(&config, receiver, clock, &stop, None));
            send(&config, &servers, &keys, clock, &stop, None).expect("sent");
            receiving.join().expect("no panic").expect("received")
        });
        println!("{most_together:2} datagrams together: {}", received[0].measured.goodput());
    }
}

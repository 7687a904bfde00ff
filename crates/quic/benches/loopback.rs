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
        let (name, slow_start, tuning) = ("fixed".into(), "standard".into(), Tuning::default());
        let mut flow = FlowConfig::greedy("bulk", ControlChoice { name, slow_start, start, tuning });
        flow.common.window = Window::AtMost(Bytes::new(1_000_000));
        (flow.delayed_ack, flow.most_together) = (10, most_together);
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

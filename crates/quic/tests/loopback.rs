//! Both ends over sockets of this machine.

use cc::Start;
use cc::registry::Tuning;
use host::Clock;
use live::{ReceivedFlow, SentFlow, Window};
use std::sync::atomic::AtomicBool;
use tightlink_quic::{
    ControlChoice, FlowConfig, Keys, MOST_TOGETHER, Receiver, SessionConfig, receive, send,
};
use units::{Bytes, Span};

const PAYLOAD: Bytes = Bytes::new(1472);

fn flow(name: &str, control: &str, window: Bytes) -> FlowConfig {
    let start = Start { segment: PAYLOAD, window, threshold: Bytes::MAX };
    FlowConfig {
        common: live::FlowConfig::greedy(name, control),
        control: ControlChoice {
            name: control.into(),
            slow_start: "standard".into(),
            start,
            tuning: Tuning::default(),
        },
        delayed_ack: 2,
        delayed_ack_timeout: Span::from_millis(25),
        most_together: MOST_TOGETHER,
        probe_port: None,
    }
}

fn session(flows: Vec<FlowConfig>, end: Option<Span>) -> SessionConfig {
    SessionConfig { flows, warmup: Span::ZERO, end, every: Span::from_millis(20) }
}

fn run(config: &SessionConfig) -> (Vec<SentFlow>, Vec<ReceivedFlow>) {
    let keys = Keys::random().unwrap();
    let receiver = Receiver::bind(config, [127, 0, 0, 1].into(), &keys).unwrap();
    let (servers, clock, stop) = (receiver.addresses(), Clock::start(), AtomicBool::new(false));
    std::thread::scope(|threads| {
        let receiving = threads.spawn(|| receive(config, receiver, clock, &stop, None));
        let sent = send(config, &servers, &keys, clock, &stop, None).unwrap();
        (sent, receiving.join().unwrap().unwrap())
    })
}

#[test]
fn a_transfer_with_a_size_arrives_whole_and_ends() {
    let mut one = flow("one", "cubic", PAYLOAD * 10);
    one.common.size = Some(Bytes::new(5_000_001));
    let mut two = flow("two", "bbr3", PAYLOAD * 10);
    two.common.size = Some(Bytes::new(1));
    two.common.start = Span::from_millis(100);
    two.common.window = Window::AtMost(Bytes::new(100_000));
    let (sent, received) = run(&session(vec![one, two], None));
    for (flow, size) in [(0, 5_000_001), (1, 1)] {
        assert_eq!(received[flow].payload, Bytes::new(size));
        assert!(sent[flow].completion.is_some() && received[flow].ended.is_some(), "{sent:?}");
    }
    assert!(sent[1].connected.unwrap().since(units::Time::ZERO) >= Span::from_millis(100));
}

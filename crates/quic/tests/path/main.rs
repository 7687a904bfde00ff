//! Both ends across the emulated tight link. Needs root.

#[expect(dead_code, reason = "the emulator's own tests use all of it")]
#[path = "../../../emu/tests/path/endpoints.rs"]
mod endpoints;

use cc::Start;
use cc::registry::Tuning;
use endpoints::alone;
use host::Clock;
use link::Limit;
use live::{ReceivedFlow, SentFlow};
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tightlink_emu::{Path, PathConfig, PathReport};
use tightlink_quic::{
    ControlChoice, FlowConfig, Keys, MOST_TOGETHER, Receiver, SessionConfig, receive, send,
};
use units::{Bytes, Rate, Span, Time};

/// The payload of a full datagram.
const PAYLOAD: Bytes = Bytes::new(1472);

/// A greedy flow whose packets are acknowledged one by one.
fn flow(control: &str) -> FlowConfig {
    let start = Start { segment: PAYLOAD, window: PAYLOAD * 10, threshold: Bytes::MAX };
    let mut common = live::FlowConfig::greedy("flow", control);
    common.port = Some(1024);
    FlowConfig {
        common,
        control: ControlChoice {
            name: control.into(),
            slow_start: "standard".into(),
            start,
            tuning: Tuning::default(),
        },
        delayed_ack: 1,
        delayed_ack_timeout: Span::from_millis(25),
        most_together: MOST_TOGETHER,
        probe_port: None,
    }
}

/// Runs `flow` for `end` across `path`, measured after `warmup`.
fn run(path: PathConfig, flow: FlowConfig, warmup: Span, end: Span) -> (SentFlow, ReceivedFlow, PathReport) {
    let mut path = Path::start(path).expect("the path starts");
    let config =
        Arc::new(SessionConfig { flows: vec![flow], warmup, end: Some(end), every: Span::from_millis(20) });
    let (keys, address) = (Keys::random().expect("keys"), IpAddr::V4(path.receiver_address()));
    let (theirs, key) = (Arc::clone(&config), keys.clone());
    let bind = move || Receiver::bind(&theirs, address, &key);
    let receiver = path.receiver().run(bind).expect("inside").expect("a free port");
    let servers = receiver.addresses();
    let begun = path.begin_until(warmup, end).expect("begun");
    let (clock, stop) = (Clock::following(begun, path.lag()), Arc::new(AtomicBool::new(false)));
    let (theirs, halt) = (Arc::clone(&config), Arc::clone(&stop));
    let receiving = path
        .receiver()
        .spawn("receiver", move || receive(&theirs, receiver, clock, &halt, None))
        .expect("a thread");
    let sending = path
        .sender()
        .spawn("sender", move || send(&config, &servers, &keys, clock, &stop, None))
        .expect("a thread");
    let sent = sending.join().expect("no panic").expect("sent").remove(0);
    let received = receiving.join().expect("no panic").expect("received").remove(0);
    (sent, received, path.stop().expect("stopped"))
}

#[test]
fn explore() {
    let Some(_alone) = alone() else { return };
    for control in ["madison", "reno", "cubic", "fast", "bbr3", "bbr"] {
        let limit = Limit::Bytes(Bytes::new(140_000));
        let path = PathConfig::new(Rate::from_bps(100_000_000), Span::from_millis(20), limit);
        let (sent, received, report) = run(path, flow(control), Span::from_secs(5), Span::from_secs(15));
        println!(
            "{control}: goodput {} rtt {:?} late {:?} link wait {:?} drops {} of {} backlog {} notes {:?} {:?} measures {:?} rcvbuf {}",
            received.measured.goodput(),
            sent.rtt.map(|rtt| (rtt.mean, rtt.p99)),
            sent.lateness,
            report.link.queueing_delay.mean(),
            report.link.queue_drops,
            report.link.arrivals,
            report.link.mean_waiting_bytes,
            sent.notes,
            received.notes,
            sent.measures,
            report.hosts[1].losses.udp_rcvbuf_errors,
        );
        let _ = Time::ZERO;
    }
}

//! Both ends across the emulated tight link. Needs root.

#[expect(dead_code, reason = "the emulator's own tests use all of it")]
#[path = "../../../emu/tests/path/endpoints.rs"]
mod endpoints;

use cc::Start;
use cc::registry::Tuning;
use endpoints::{alone, settled};
use host::Clock;
use link::Limit;
use live::{ReceivedFlow, SentFlow, SideChannel, SizerChoice, Window};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use tightlink_emu::{Path, PathConfig, PathReport};
use tightlink_quic::{ControlChoice, FlowConfig, Keys, Receiver, SessionConfig, receive, send};
use units::{Bytes, Rate, Span};

/// The payload of a full datagram.
const PAYLOAD: Bytes = Bytes::new(1472);

/// A greedy flow whose packets are acknowledged one by one.
fn flow(control: &str) -> FlowConfig {
    let start = Start { segment: PAYLOAD, window: PAYLOAD * 10, threshold: Bytes::MAX };
    let (name, slow_start, tuning) = (control.into(), "standard".into(), Tuning::default());
    let mut flow = FlowConfig::greedy("flow", ControlChoice { name, slow_start, start, tuning });
    flow.common.port = Some(1024);
    flow.delayed_ack = 1;
    flow
}

const fn seconds(seconds: u64) -> Span {
    Span::from_secs(seconds)
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
    let echo = SocketAddr::new(IpAddr::V4(path.sender_address()), 0);
    let side_channel =
        path.sender().run(move || SideChannel::with_echoer(1, echo)).expect("inside").expect("bound");
    let side_channel = Arc::new(side_channel);
    let word = Arc::clone(&side_channel);
    let begun = path.begin_until(warmup, end).expect("begun");
    let (clock, stop) = (Clock::following(begun, path.lag()), Arc::new(AtomicBool::new(false)));
    let (theirs, halt) = (Arc::clone(&config), Arc::clone(&stop));
    let receiving = path
        .receiver()
        .spawn("receiver", move || receive(&theirs, receiver, clock, &halt, Some(&word)))
        .expect("a thread");
    let sending = path
        .sender()
        .spawn("sender", move || send(&config, &servers, &keys, clock, &stop, Some(&side_channel)))
        .expect("a thread");
    let sent = sending.join().expect("no panic").expect("sent").remove(0);
    let received = receiving.join().expect("no panic").expect("received").remove(0);
    (sent, received, path.stop().expect("stopped"))
}

/// 40 ms there and back, and a queue of `limit` bytes.
fn path(rate: u64, limit: u64) -> PathConfig {
    PathConfig::new(Rate::from_bps(rate), Span::from_millis(20), Limit::Bytes(Bytes::new(limit)))
}

fn mbps(received: &ReceivedFlow) -> f64 {
    received.measured.goodput().as_bps_f64() / 1e6
}

#[test]
fn a_fixed_pace_below_the_rate_leaves_no_queue() {
    let Some(_alone) = alone() else { return };
    let measure = || {
        let mut flow = flow("fixed");
        flow.common.pacing = Some(Rate::from_bps(90_000_000));
        let (sent, received, report) = run(path(100_000_000, 500_000), flow, seconds(1), seconds(4));
        let lateness = sent.lateness.expect("paced");
        println!("{} Mbit/s, {} waiting, {lateness:?}", mbps(&received), report.link.mean_waiting_bytes);
        assert_eq!(report.link.queue_drops, 0);
        (mbps(&received), report.link.mean_waiting_bytes, lateness.p99)
    };
    // 90 Mbit/s of datagrams of 1472 bytes carry 87.7 Mbit/s of data.
    settled(measure, |(mbps, waiting, p99)| {
        (86.5..88.5).contains(mbps) && *waiting < 3000.0 && *p99 < Span::from_micros(100)
    });
}

#[test]
fn madison_alone_takes_its_share_and_loses_nothing() {
    let Some(_alone) = alone() else { return };
    let measure = || {
        let (sent, received, report) =
            run(path(100_000_000, 500_000), flow("madison"), seconds(4), seconds(9));
        println!("{} Mbit/s, {} waiting", mbps(&received), report.link.mean_waiting_bytes);
        assert_eq!(sent.notes, [] as [&str; 0]);
        (mbps(&received), report.link.mean_waiting_bytes, sent.whole.retransmits, report.link.queue_drops)
    };
    settled(measure, |(mbps, waiting, lost, drops)| {
        *mbps > 80.0 && *waiting < 15_000.0 && (*lost, *drops) == (0, 0)
    });
}

#[test]
fn sobas_sizes_a_connection_so_that_the_queue_stays_short() {
    let Some(_alone) = alone() else { return };
    let measure = || {
        let mut flow = flow("cubic");
        flow.delayed_ack = 2;
        flow.common.sizer = Some(SizerChoice {
            name: "sobas".into(),
            maximum: Bytes::new(32_000_000),
            pace: true,
            regret: None,
        });
        let (sent, received, report) = run(path(97_000_000, 120_000), flow, seconds(2), seconds(7));
        let rtt = sent.rtt.expect("sampled").mean.as_secs_f64();
        println!("{} Mbit/s, {rtt} s, {:?}", mbps(&received), received.final_window);
        assert!(received.probes.echoed > 0 && received.phases.len() > 1, "{received:?}");
        (mbps(&received), rtt, report.link.queue_drops)
    };
    settled(measure, |(mbps, rtt, drops)| *mbps > 0.9 * 97.0 && *rtt < 0.044 && *drops == 0);
}

#[test]
fn a_window_limits_the_rate_to_one_of_it_in_each_round_trip() {
    let Some(_alone) = alone() else { return };
    let measure = || {
        let mut flow = flow("fixed");
        flow.common.window = Window::AtMost(Bytes::new(400_000));
        let (_, received, report) = run(path(97_000_000, 120_000), flow, seconds(2), seconds(5));
        println!("{} Mbit/s", mbps(&received));
        (mbps(&received), report.link.queue_drops)
    };
    settled(measure, |(mbps, drops)| (76.0..81.0).contains(mbps) && *drops == 0);
}

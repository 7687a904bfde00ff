//! A receive window that follows the flow: dynamic right-sizing in the simulator's receiver.

use crate::common::plan;
use link::LinkState;
use tightlink_sim::{FlowPlan, FlowView, NoRecorder, Outcome, Recorder, Simulation, SizerPlan, Transport};
use units::{Bytes, Span, Time};

const RTT: Span = Span::from_millis(100);
const RATE: u64 = 100_000_000;
/// Payload in flight that fills 100 Mbit/s x 100 ms: 833 segments of 1500 bytes.
const FILLING: u64 = 833 * 1448;

/// The send window every 10 ms.
#[derive(Default)]
struct Windows(Vec<(Time, Bytes)>);

impl Recorder for Windows {
    fn interval(&self) -> Option<Span> {
        Some(Span::from_millis(10))
    }
    fn link(&mut self, _at: Time, _state: &LinkState) {}
    fn flow(&mut self, at: Time, _index: usize, view: &FlowView) {
        self.0.push((at, view.window));
    }
}

/// One flow on a long fat path whose queue never overflows within the run.
fn run<R: Recorder>(target: FlowPlan, seconds: u64, recorder: R) -> Outcome<R> {
    let mut plan = plan(RATE, 1_000_000);
    plan.end = Some(Time::ZERO + Span::from_secs(seconds));
    plan.flows = vec![target];
    Simulation::new(plan, recorder).run()
}

fn sized(maximum: u64) -> FlowPlan {
    let target = FlowPlan::greedy("target", "reno", RTT);
    let sizer = SizerPlan { name: "drs".into(), can_pace: false, regret: None };
    FlowPlan { sizer: Some(sizer), socket_buffer: Bytes::new(maximum), ..target }
}

fn first_filling(outcome: &Outcome<Windows>) -> Time {
    outcome.recorder.0.iter().find(|(_, window)| window.get() >= FILLING).expect("the path is filled").0
}

/// Slow start doubles ten segments to 833 in seven round trips. The window doubles alongside and must not be
/// more than a few round trips late.
#[test]
fn the_window_reaches_the_bandwidth_delay_product_as_slow_start_does() {
    let unlimited = first_filling(&run(FlowPlan::greedy("target", "reno", RTT), 10, Windows::default()));
    let right_sized = first_filling(&run(sized(6_000_000), 10, Windows::default()));
    assert!(unlimited >= Time::ZERO + RTT * 6 && unlimited <= Time::ZERO + RTT * 8, "{unlimited:?}");
    assert!(right_sized <= unlimited + RTT * 3, "{unlimited:?}, {right_sized:?}");
}

#[test]
fn a_bulk_transfer_loses_little_goodput_to_right_sizing() {
    let goodput = |target| run(target, 10, NoRecorder).flows[0].goodput().as_bps_f64();
    let (unlimited, right_sized) =
        (goodput(FlowPlan::greedy("target", "reno", RTT)), goodput(sized(6_000_000)));
    let lost = 1.0 - right_sized / unlimited;
    assert!((0.0..0.02).contains(&lost), "{lost}: {right_sized} of {unlimited} bit/s");
}

/// The initial window and no more would leave 5 % of the path's rate.
#[test]
fn the_maximum_holds_and_the_window_never_shrinks() {
    let outcome = run(sized(200_000), 10, Windows::default());
    let windows: Vec<u64> = outcome.recorder.0.iter().map(|(_, window)| window.get()).collect();
    assert!(windows.is_sorted(), "no loss, so no reason to shrink");
    assert_eq!(windows.last(), Some(&(200_000 / 1448 * 1448)));
    let expected = 138.0 * 1448.0 * 8.0 / 0.1;
    let goodput = outcome.flows[0].goodput().as_bps_f64();
    assert!((goodput / expected - 1.0).abs() < 0.05, "{goodput} of {expected} bit/s");
}

/// Without time stamps the receiver times whole windows, which takes it longer to know the round trip.
#[test]
fn without_time_stamps_it_fills_the_path_too() {
    let transport = Transport { timestamps: false, ..Transport::default() };
    let target = FlowPlan { transport, ..sized(6_000_000) };
    let right_sized = first_filling(&run(target, 10, Windows::default()));
    assert!(right_sized < Time::ZERO + RTT * 20, "{right_sized:?}");
}

/// A sizer that never moves is the same as a socket buffer, packet for packet.
#[test]
fn a_fixed_sizer_is_a_socket_buffer() {
    let buffer = Bytes::new(400_000);
    let plain = FlowPlan { socket_buffer: buffer, ..FlowPlan::greedy("target", "reno", RTT) };
    let sizer = SizerPlan { name: "maximum".into(), can_pace: false, regret: None };
    let sizer = FlowPlan { sizer: Some(sizer), ..plain.clone() };
    let (plain, sizer) = (run(plain, 5, Windows::default()), run(sizer, 5, Windows::default()));
    assert_eq!(plain.recorder.0, sizer.recorder.0);
    assert_eq!(plain.flows[0].delivered, sizer.flows[0].delivered);
    assert_eq!((plain.events, plain.flows[0].sent), (sizer.events, sizer.flows[0].sent));
}

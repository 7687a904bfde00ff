//! Sizers at the window of real connections.

use crate::namespace;
use crate::transfer::{loopback, run};
use host::{Clock, TcpInfo, options};
use sizing::{Action, BufferSizer, Demands, Drs, Fixed, Input, SenderReport, SizerState};
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use testkit::tries::{Late, in_one_of_five, in_time};
use tightlink_live::{
    FlowConfig, LiveError, ReceivedFlow, Receiver, SentFlow, SessionConfig, SideChannel, SizedGroup,
    SizerChoice, receive_with, send_with,
};
use units::{Bytes, Rate, Span, Time};

/// A sizer of the tests may ask for so much.
const MAXIMUM: Bytes = Bytes::new(8_000_000);

/// A sizer that writes down what it is told and does what the test says.
#[derive(Debug, Default)]
pub struct Scribe {
    pub told: Arc<Mutex<Vec<(Time, Input)>>>,
    pub actions: Vec<Action>,
    pub phase: &'static str,
}

impl BufferSizer for Scribe {
    fn handle(&mut self, now: Time, input: Input) {
        self.told.lock().unwrap().push((now, input));
    }
    fn poll(&mut self, _now: Time) -> Option<Action> {
        self.actions.pop()
    }
    fn state(&self) -> SizerState {
        SizerState { phase: self.phase, reason: "the test says so".to_owned() }
    }
}

/// A connected pair with segments as on Ethernet: who sends, who receives.
pub fn pair() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind(loopback(0)).unwrap();
    let sender = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
    options::set_max_segment(&sender, Bytes::new(1460)).unwrap();
    sender.connect(&listener.local_addr().unwrap().into()).unwrap();
    (sender.into(), listener.accept().unwrap().0)
}

/// Lets `sizer` take over the window of `receiver` alone.
fn take(receiver: &TcpStream, sizer: impl BufferSizer + 'static, maximum: Bytes, now: Time) -> SizedGroup {
    let mut sized = SizedGroup::new(Box::new(sizer), Bytes::new(1448), maximum, now);
    sized.join(&[receiver]).unwrap();
    sized
}

/// Sends until `stop`, receives and polls `sized` as it wants to be, for `span`.
fn drive(sized: &mut SizedGroup, sender: TcpStream, receiver: &mut TcpStream, clock: Clock, span: Span) {
    receiver.set_nonblocking(true).unwrap();
    let stop = AtomicBool::new(false);
    thread::scope(|threads| {
        threads.spawn(|| {
            let mut sender = sender;
            sender.set_write_timeout(Some(std::time::Duration::from_millis(100))).unwrap();
            while !stop.load(Ordering::Relaxed) {
                let _ = sender.write(&[0; 50_000]);
            }
        });
        let (end, mut buffer) = (clock.now() + span, vec![0; 1 << 20]);
        while clock.now() < end {
            let _ = receiver.read(&mut buffer);
            sized.poll(&[&*receiver], clock.now()).unwrap();
            thread::park_timeout(std::time::Duration::from_micros(300));
        }
        stop.store(true, Ordering::Relaxed);
    });
}

#[test]
fn a_sizer_is_told_every_byte_and_round_trips() {
    namespace::enter();
    in_one_of_five(|| {
        let (sender, mut receiver) = pair();
        let (clock, scribe) = (Clock::start(), Scribe::default());
        let told = Arc::clone(&scribe.told);
        let mut sized = take(&receiver, scribe, MAXIMUM, clock.now());
        drive(&mut sized, sender, &mut receiver, clock, Span::from_millis(300));
        receiver.set_nonblocking(false).unwrap();
        receiver.read_to_end(&mut Vec::new()).unwrap();
        sized.poll(&[&receiver], clock.now() + Span::from_millis(20)).unwrap();
        let told = told.lock().unwrap();
        let delivered: Bytes = told
            .iter()
            .filter_map(|(_, input)| match input {
                Input::Delivered(bytes) => Some(*bytes),
                _ => None,
            })
            .sum();
        assert_eq!(delivered, TcpInfo::of(&receiver).unwrap().stream_received());
        in_time(delivered > Bytes::new(1_000_000), delivered)?;
        let short = |input: &Input| matches!(input, Input::RoundTrip(span) if *span < Span::from_millis(200));
        in_time(told.iter().any(|(_, input)| short(input)), "no short round trip")?;
        assert!(told.windows(2).all(|pair| pair[0].0 <= pair[1].0), "in order");
        let deliveries = told.iter().filter(|(_, input)| matches!(input, Input::Delivered(_))).count();
        // One each millisecond to ten.
        in_time(deliveries > 20, format!("{deliveries} measurements in 300 ms"))?;
        Ok(())
    });
}

#[test]
fn a_connection_taken_over_late_counts_from_then() {
    namespace::enter();
    let (mut sender, mut receiver) = pair();
    sender.write_all(&[0; 10_000]).unwrap();
    receiver.read_exact(&mut [0; 10_000]).unwrap();
    let (clock, scribe) = (Clock::start(), Scribe::default());
    let told = Arc::clone(&scribe.told);
    let mut sized = take(&receiver, scribe, MAXIMUM, clock.now());
    sender.write_all(&[0; 700]).unwrap();
    receiver.read_exact(&mut [0; 700]).unwrap();
    sized.poll(&[&receiver], clock.now() + Span::from_millis(20)).unwrap();
    let delivered = told.lock().unwrap().iter().any(|(_, input)| *input == Input::Delivered(Bytes::new(700)));
    assert!(delivered, "{:?}", told.lock().unwrap());
}

#[test]
fn its_window_is_the_kernels_and_what_a_socket_cannot_do_is_asked_for() {
    namespace::enter();
    let (_sender, receiver) = pair();
    let window = Bytes::new(77_000);
    let pace = Some(Rate::from_bps(1_000_000));
    let actions = vec![Action::Train(20), Action::Window(window), Action::Pace(pace)];
    let scribe = Scribe { actions, phase: "ramp", ..Scribe::default() };
    let mut sized = take(&receiver, scribe, MAXIMUM, Time::ZERO);
    assert_eq!(sized.take_demands(), Demands { trains: 1, packets: 20, pace: Some(pace) });
    assert_eq!(sized.take_demands(), Demands::default());
    assert_eq!(sized.requested(), Some(window));
    assert_eq!(options::window_clamp(&receiver).unwrap(), window);
    assert_eq!(sized.changes().len(), 1);
    assert_eq!((sized.changes()[0].state.phase, sized.changes()[0].window), ("ramp", Some(window)));
    // As autotuning would.
    options::set_window_clamp(&receiver, Bytes::new(1 << 20)).unwrap();
    sized.poll(&[&receiver], sized.wakeup()).unwrap();
    assert_eq!(options::window_clamp(&receiver).unwrap(), window, "set again");
    assert_eq!(sized.control(0).overwritten(), 1);
}

#[test]
fn the_window_of_a_fixed_sizer_holds_while_data_flows() {
    namespace::enter();
    in_one_of_five(|| {
        let (sender, mut receiver) = pair();
        let (clock, window) = (Clock::start(), Bytes::new(40_000));
        let mut sized = take(&receiver, Fixed::new(window), MAXIMUM, clock.now());
        drive(&mut sized, sender, &mut receiver, clock, Span::from_millis(300));
        let info = TcpInfo::of(&receiver).unwrap();
        let reading = sized.control(0).read(&receiver, &info).unwrap();
        assert_eq!(reading.requested, Some(window));
        // The kernel forgets the window once, at the first packets, and is told again as soon as we run.
        let observed = reading.observed.unwrap().max(reading.granted);
        in_time(observed <= window + Bytes::new(1 << info.rcv_wscale), format!("{reading:?}"))
    });
}

#[test]
fn right_sizing_grows_the_window_of_a_real_connection() {
    namespace::enter();
    in_one_of_five(|| {
        let (sender, mut receiver) = pair();
        let (clock, maximum) = (Clock::start(), Bytes::new(3_000_000));
        let drs = Drs::new(Bytes::new(1448), maximum);
        let mut sized = take(&receiver, drs, maximum, clock.now());
        assert_eq!(sized.requested(), Some(sizing::INITIAL_WINDOW));
        drive(&mut sized, sender, &mut receiver, clock, Span::from_millis(500));
        let grown = sized.requested().unwrap();
        assert!(grown >= sizing::INITIAL_WINDOW && grown <= maximum, "{grown}");
        in_time(grown > sizing::INITIAL_WINDOW, "it has not grown yet")?;
        assert_eq!(options::window_clamp(&receiver).unwrap(), grown);
        Ok(())
    });
}

/// A session of one greedy flow with a sizer called `name`.
fn sized_session(name: &str, maximum: u64) -> SessionConfig {
    let sizer = SizerChoice { name: name.to_owned(), maximum: Bytes::new(maximum), pace: true, regret: None };
    let flow = FlowConfig { sizer: Some(sizer), ..FlowConfig::greedy("target", "reno") };
    SessionConfig { end: Some(Span::from_millis(600)), ..SessionConfig::new(vec![flow]) }
}

#[test]
fn a_session_runs_under_a_sizer_and_records_its_window() {
    namespace::enter();
    in_one_of_five(|| {
        let (received, _) = run(&sized_session("drs", 500_000), &AtomicBool::new(false));
        let last = received[0].samples.last().unwrap().window;
        assert_eq!(last.requested, received[0].final_window);
        assert_eq!(last.requested, Some(last.granted));
        assert!(last.granted <= Bytes::new(500_000), "{last:?}");
        in_time(last.granted > sizing::INITIAL_WINDOW, format!("{last:?}"))?;
        assert_eq!(received[0].samples[0].window.requested.map(|window| window <= last.granted), Some(true));
        assert_eq!(received[0].phases.len(), 1, "drs has one phase");
        Ok(())
    });
}

#[test]
fn a_session_with_a_sizer_nobody_knows_lists_those_there_are() {
    let error = sized_session("drx", 1).check().unwrap_err();
    assert!(matches!(error, LiveError::Config(_)));
    let text = error.to_string();
    assert!(text.contains("\"drx\"") && text.contains("drs"), "{text}");
}

#[test]
fn a_sender_reports_what_it_knows() {
    reported(None, |_, report, _| {
        assert!(report.window_limited < report.busy, "{report:?}");
        in_time(report.busy > Span::from_millis(300), format!("{report:?}"))
    });
}

/// Between two writes nothing is on its way here: it is not busy for most of the time.
#[test]
fn a_sender_paces_as_it_is_asked_to_and_reports_its_retransmits() {
    reported(Some(Rate::from_bps(40_000_000)), |received, report, sent| {
        // Some may have come after the last report.
        let retransmits = sent.whole.retransmits;
        assert!(report.retransmits <= retransmits, "{report:?}");
        in_time(report.retransmits == retransmits, format!("{retransmits} retransmits, {report:?}"))?;
        let goodput = received.measured.goodput().as_bps_f64();
        // A late first report leaves the sender free for longer.
        in_time(goodput < 42e6, format!("asked for 40 Mbit/s, got {goodput}"))?;
        in_time(goodput > 36e6, format!("asked for 40 Mbit/s, got {goodput}"))
    });
}

/// A session of half a second over loopback with this pace: what the receiver has, the last report, what the sender has.
fn reported(pace: Option<Rate>, judge: impl Fn(&ReceivedFlow, SenderReport, &SentFlow) -> Result<(), Late>) {
    namespace::enter();
    in_one_of_five(|| {
        // Until the first report the sender runs free, which on loopback is much.
        let config = SessionConfig { warmup: Span::from_millis(200), ..sized_session("drs", 500_000) };
        let side_channel = SideChannel::new(1);
        side_channel.pace(0, pace);
        side_channel.release(0);
        let receiver = Receiver::bind(loopback(0)).unwrap();
        let (server, clock, stop) = (receiver.address(), Clock::start(), AtomicBool::new(false));
        let (received, sent) = thread::scope(|threads| {
            // The receiver leaves the reports to the test.
            let receiving = threads.spawn(|| receive_with(&config, receiver, clock, &stop, None));
            let sent = send_with(&config, server, clock, &stop, Some(&side_channel));
            (receiving.join().unwrap().unwrap(), sent.unwrap())
        });
        let report = side_channel.take_report(0).expect("the sender reports");
        judge(&received[0], report, &sent[0])
    });
}

#[test]
fn the_data_waits_while_a_sizer_measures_the_path_without_it() {
    namespace::enter();
    in_one_of_five(|| {
        let config = SessionConfig { end: Some(Span::from_secs(1)), ..sized_session("sobas", 500_000) };
        let side_channel = SideChannel::with_echoer(1, loopback(0)).unwrap();
        let receiver = Receiver::bind(loopback(0)).unwrap();
        let (server, clock, stop) = (receiver.address(), Clock::start(), AtomicBool::new(false));
        let (received, sent) = thread::scope(|threads| {
            let receiving =
                threads.spawn(|| receive_with(&config, receiver, clock, &stop, Some(&side_channel)));
            let sent = send_with(&config, server, clock, &stop, Some(&side_channel));
            (receiving.join().unwrap().unwrap(), sent.unwrap())
        });
        assert_eq!(received[0].phases[0].state.phase, "measure");
        // The measurement ends.
        let over = side_channel.is_released(0) && received[0].phases.len() > 1;
        in_time(over && received[0].payload > Bytes::new(1_000_000), format!("{:?}", received[0].phases))?;
        let probes = received[0].probes;
        assert_eq!(probes.lost_with_data + probes.lost_with_acks, 0, "{probes:?}");
        in_time(probes.echoed > 20, format!("{probes:?}"))?;
        let first = sent[0].samples.iter().find(|sample| sample.acked > Bytes::ZERO).unwrap();
        assert!(first.at >= received[0].phases[1].at, "payload at {}, {:?}", first.at, received[0].phases[1]);
        Ok(())
    });
}

#[test]
fn a_receiver_that_never_lets_the_data_begin_is_waited_for_three_seconds() {
    namespace::enter();
    in_one_of_five(|| {
        let (config, side_channel) = (sized_session("drs", 500_000), SideChannel::new(1));
        let config = SessionConfig { end: Some(Span::from_secs(4)), ..config };
        let receiver = Receiver::bind(loopback(0)).unwrap();
        let (server, clock, stop) = (receiver.address(), Clock::start(), AtomicBool::new(false));
        let received = thread::scope(|threads| {
            let receiving = threads.spawn(|| receive_with(&config, receiver, clock, &stop, None));
            send_with(&config, server, clock, &stop, Some(&side_channel)).unwrap();
            receiving.join().unwrap().unwrap()
        });
        let began = received[0].samples.iter().find(|sample| sample.payload > Bytes::ZERO).unwrap().at;
        assert!(began > Time::ZERO + Span::from_millis(2900), "{began}");
        in_time(began < Time::ZERO + Span::from_millis(3500), began)?;
        Ok(())
    });
}

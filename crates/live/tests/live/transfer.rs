//! Sessions: bytes, times, windows, ends.

use crate::namespace;
use host::Clock;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use testkit::tries::{in_one_of_five, in_time};
use tightlink_live::{
    FlowConfig, LiveError, ReceivedFlow, Receiver, SentFlow, SessionConfig, Window, receive, send,
};
use units::{Bytes, Rate, Span, Time};

const MB: u64 = 1_000_000;

/// Runs both sides on loopback; the calling thread's namespace is both sides'.
pub fn run(config: &SessionConfig, stop: &AtomicBool) -> (Vec<ReceivedFlow>, Vec<SentFlow>) {
    let receiver = Receiver::bind(loopback(0)).unwrap();
    let (server, clock) = (receiver.address(), Clock::start());
    let (received, sent) = thread::scope(|threads| {
        let receiving = threads.spawn(move || receive(config, receiver, clock, stop));
        let sent = send(config, server, clock, stop);
        (receiving.join().unwrap(), sent)
    });
    (received.unwrap(), sent.unwrap())
}

pub fn loopback(port: u16) -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], port))
}

fn millis(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// A session of one greedy flow until `end`.
fn greedy(window: Window, end: Span) -> SessionConfig {
    let flow = FlowConfig { window, ..FlowConfig::greedy("target", "reno") };
    SessionConfig { end: Some(end), ..SessionConfig::new(vec![flow]) }
}

#[test]
fn a_sized_transfer_delivers_exactly_its_bytes_and_completes() {
    namespace::enter();
    in_one_of_five(|| {
        for size in [1, 1447, 1448, 65_537, 20 * MB + 1].map(Bytes::new) {
            let config = SessionConfig::new(vec![FlowConfig::sized("one", "reno", size)]);
            let (received, sent) = run(&config, &AtomicBool::new(false));
            assert_eq!(received[0].payload, size);
            assert_eq!(received[0].measured.payload, size);
            assert_eq!(received[0].samples.last().unwrap().payload, size);
            assert!(received[0].ended.is_some() && received[0].notes.is_empty(), "{:?}", received[0].notes);
            assert_eq!(sent[0].acked, size);
            let completion = sent[0].completion.expect("it completes");
            in_time(completion < millis(2000), completion)?;
            assert_eq!(
                sent[0].segment_payload,
                Bytes::new(1448),
                "1500 less 40 of headers and 12 of time stamps"
            );
        }
        Ok(())
    });
}

#[test]
fn two_flows_keep_their_own_byte_counts() {
    namespace::enter();
    in_one_of_five(|| {
        let sizes = [3 * MB, 5 * MB].map(Bytes::new);
        let late = FlowConfig { start: millis(100), ..FlowConfig::sized("b", "cubic", sizes[1]) };
        let config = SessionConfig::new(vec![FlowConfig::sized("a", "reno", sizes[0]), late]);
        let (received, sent) = run(&config, &AtomicBool::new(false));
        for (flow, size) in sizes.into_iter().enumerate() {
            assert_eq!((received[flow].payload, sent[flow].acked), (size, size));
            assert_eq!((&*received[flow].name, &*sent[flow].name), (["a", "b"][flow], ["a", "b"][flow]));
        }
        assert!(sent[1].connected.unwrap() >= Time::ZERO + millis(100));
        // Counted from the flow's own start.
        let completion = sent[1].completion.unwrap();
        in_time(completion < millis(1000), completion)?;
        Ok(())
    });
}

#[test]
fn a_hundred_flows_at_once_complete() {
    namespace::enter();
    let flow = |id: u64| FlowConfig::sized(format!("flow {id}"), "reno", Bytes::new(100_000 + id));
    let config = SessionConfig::new((0..100).map(flow).collect());
    let (received, sent) = run(&config, &AtomicBool::new(false));
    for id in 0..100 {
        assert_eq!(received[id].payload, Bytes::new(100_000 + id as u64));
        assert!(sent[id].completion.is_some());
    }
}

#[test]
fn a_paced_flow_is_measured_at_its_pace() {
    namespace::enter();
    in_one_of_five(|| {
        let pace = Rate::from_bps(40_000_000);
        let flow = FlowConfig { pacing: Some(pace), ..FlowConfig::greedy("paced", "reno") };
        let config =
            SessionConfig { warmup: millis(300), end: Some(millis(1000)), ..SessionConfig::new(vec![flow]) };
        let (received, sent) = run(&config, &AtomicBool::new(false));
        let measured = received[0].measured;
        assert!(
            measured.from >= Time::ZERO + millis(300) && measured.to >= Time::ZERO + millis(1000),
            "{measured:?}"
        );
        let late = measured.from.max(measured.to - millis(700)).since(Time::ZERO + millis(300));
        in_time(late < millis(50), format!("{measured:?}"))?;
        // Never faster, from the beginning on; the first ten segments are not paced.
        let allowed = pace.volume(measured.to.since(Time::ZERO)) + Bytes::new(30_000);
        assert!(received[0].payload <= allowed, "{} of {allowed}", received[0].payload);
        // What a late beginning finds waiting counts as fast. The pacing rate counts segments with their headers: payload is
        // 1448 of 1500 and some.
        let goodput = measured.goodput().as_bps_f64();
        in_time((36e6..41e6).contains(&goodput), measured.goodput())?;
        let rtt = sent[0].rtt.unwrap();
        assert!(rtt.min <= rtt.mean, "{rtt:?}");
        in_time(rtt.count >= 30 && rtt.mean < millis(50), format!("{rtt:?}"))?;
        assert!(sent[0].measured.segments < sent[0].whole.segments);
        Ok(())
    });
}

#[test]
fn a_window_is_granted_observed_and_limits_the_sender() {
    namespace::enter();
    in_one_of_five(|| {
        let (stop, limit) = (AtomicBool::new(false), Bytes::new(16_000));
        let (narrow, sent) = run(&greedy(Window::AtMost(limit), millis(500)), &stop);
        let settled = Time::ZERO + millis(100);
        let last = |sample: &&tightlink_live::ReceiverSample| sample.at > settled;
        in_time(narrow[0].samples.iter().filter(last).count() > 10, "few samples")?;
        for sample in narrow[0].samples.iter().filter(last) {
            assert_eq!((sample.window.requested, sample.window.granted), (Some(limit), limit));
            let observed = sample.window.observed.unwrap();
            // Rounded up to a multiple of the window scale's step; less while a read is pending.
            let step = Bytes::new(1 << narrow[0].window_scale);
            // The kernel forgets the window once, at the first packets, and is told again as soon as we run.
            in_time(observed <= limit + step && observed.get() * 2 > limit.get(), observed)?;
        }
        for sample in sent[0].samples.iter().filter(|sample| sample.at > settled) {
            assert!(sample.send_window <= sample.congestion_window);
            let most = sample.peer_window.unwrap().max(sample.in_flight);
            in_time(most <= limit + Bytes::new(2048), format!("{sample:?}"))?;
        }
        // Nearly all of the 500 ms where nobody else has the processor, and none if the window did not hold.
        let limited = sent[0].samples.last().unwrap().rwnd_limited.unwrap();
        in_time(limited > millis(10), format!("limited by the window for {limited}"))?;

        let (wide, _) = run(&greedy(Window::Max, millis(500)), &stop);
        assert_eq!(wide[0].samples.last().unwrap().window.requested, None);
        let observed = wide[0].samples.last().unwrap().window.observed.unwrap();
        assert!(observed <= Bytes::new(65_535 << wide[0].window_scale), "{observed}");
        in_time(observed > Bytes::new(MB), observed)?;
        let (slow, fast) = (narrow[0].measured.goodput(), wide[0].measured.goodput());
        in_time(fast > slow, format!("narrow {slow}, wide {fast}"))?;
        Ok(())
    });
}

#[test]
fn stop_ends_both_sides_of_a_greedy_transfer_within_100_ms() {
    namespace::enter();
    in_one_of_five(|| {
        let stop = AtomicBool::new(false);
        let config = greedy(Window::Max, Span::from_secs(60));
        let clock = Clock::start();
        let (stopped, (received, sent)) = thread::scope(|threads| {
            let stopping = threads.spawn(|| {
                thread::park_timeout(std::time::Duration::from_millis(300));
                stop.store(true, Ordering::Relaxed);
                clock.now()
            });
            let results = run(&config, &stop);
            (stopping.join().unwrap(), results)
        });
        let took = clock.now().since(stopped);
        in_time(took < millis(100), took)?;
        assert!(received[0].payload > Bytes::ZERO && sent[0].acked > Bytes::ZERO, "partial results");
        assert_eq!(sent[0].completion, None);
        Ok(())
    });
}

#[test]
fn a_greedy_flow_stops_at_its_own_time_and_lets_the_session_end() {
    namespace::enter();
    in_one_of_five(|| {
        let short = FlowConfig { stop: Some(millis(200)), ..FlowConfig::greedy("short", "reno") };
        let config = SessionConfig::new(vec![short, FlowConfig::sized("sized", "reno", Bytes::new(MB))]);
        let clock = Clock::start();
        let (received, sent) = run(&config, &AtomicBool::new(false));
        in_time(clock.now() < Time::ZERO + millis(600), clock.now())?;
        assert!(received[0].ended.unwrap() >= Time::ZERO + millis(195), "{:?}", received[0].ended);
        assert!(received[0].payload <= sent[0].acked + Bytes::new(64 * MB) && sent[0].completion.is_none());
        Ok(())
    });
}

#[test]
fn an_unknown_congestion_control_lists_the_available_ones() {
    namespace::enter();
    let config = SessionConfig::new(vec![FlowConfig::sized("one", "rneo", Bytes::new(1))]);
    let stop = AtomicBool::new(false);
    let error = send(&config, loopback(9), Clock::start(), &stop).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("\"rneo\"") && text.contains("reno") && text.contains("cubic"), "{text}");
    assert!(stop.load(Ordering::Relaxed), "the other side is told");
}

#[test]
fn nobody_listening_is_an_error_naming_the_flow() {
    namespace::enter();
    let config = SessionConfig::new(vec![FlowConfig::sized("target", "reno", Bytes::new(1))]);
    let error = send(&config, loopback(9), Clock::start(), &AtomicBool::new(false)).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, LiveError::Connect { .. }) && text.contains("target"), "{text}");
    assert!(text.contains("127.0.0.1:9") && text.contains("refused"), "{text}");
}

#[test]
fn an_address_without_answer_gives_up_after_twenty_seconds() {
    namespace::enter();
    in_one_of_five(|| {
        // Accepted by nobody: the queue of one listener that never accepts fills up, and further SYNs are dropped.
        let socket = socket2::Socket::new(socket2::Domain::IPV4, socket2::Type::STREAM, None).unwrap();
        socket.bind(&loopback(0).into()).unwrap();
        socket.listen(0).unwrap();
        let server = socket.local_addr().unwrap().as_socket().unwrap();
        let _first = std::net::TcpStream::connect(server).unwrap();
        let config = SessionConfig::new(vec![FlowConfig::sized("target", "reno", Bytes::new(1))]);
        let clock = Clock::start();
        let error = send(&config, server, clock, &AtomicBool::new(false)).unwrap_err();
        assert!(matches!(error, LiveError::Connect { .. }), "{error}");
        let took = clock.now().since(Time::ZERO);
        assert!(took >= millis(19_900), "{took}");
        in_time(took < millis(20_500), took)?;
        Ok(())
    });
}

#[test]
fn a_port_in_use_names_its_holder_and_the_remedy() {
    namespace::enter();
    let first = Receiver::bind(loopback(0)).unwrap();
    let error = Receiver::bind(first.address()).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, LiveError::PortInUse { .. }), "{text}");
    assert!(text.contains(&format!("process {}", std::process::id())) && text.contains("port 0"), "{text}");
}

#[test]
fn a_foreign_address_is_refused_in_words() {
    namespace::enter();
    let error = Receiver::bind(SocketAddr::from(([192, 0, 2, 1], 0))).unwrap_err();
    assert!(error.to_string().contains("accepted: an address of this network namespace"), "{error}");
}

#[test]
fn a_stranger_is_turned_away_and_noted() {
    namespace::enter();
    in_one_of_five(|| {
        let config = greedy(Window::Max, millis(400));
        let receiver = Receiver::bind(loopback(0)).unwrap();
        let (server, clock, stop) = (receiver.address(), Clock::start(), AtomicBool::new(false));
        let received = thread::scope(|threads| {
            let receiving = threads.spawn(|| receive(&config, receiver, clock, &stop));
            let mut stranger = std::net::TcpStream::connect(server).unwrap();
            std::io::Write::write_all(&mut stranger, b"GET / HTTP/1.1\r\n\r\n").unwrap();
            send(&config, server, clock, &stop).unwrap();
            receiving.join().unwrap().unwrap()
        });
        in_time(received[0].payload > Bytes::ZERO && !received[0].notes.is_empty(), "nobody came")?;
        assert!(received[0].notes[0].contains("not a flow of this session"), "{:?}", received[0].notes);
        Ok(())
    });
}

#[test]
fn a_session_that_makes_no_sense_is_refused_before_it_starts() {
    let refuse = |change: &dyn Fn(&mut SessionConfig), words: &str| {
        let mut config = greedy(Window::Max, millis(400));
        change(&mut config);
        let text = config.check().unwrap_err().to_string();
        assert!(text.contains(words), "{text}");
    };
    refuse(&|config| config.flows.clear(), "0 flows");
    refuse(&|config| config.end = None, "neither a stop nor an end");
    refuse(&|config| config.every = Span::ZERO, "1ms");
    refuse(&|config| config.warmup = millis(400), "within its warm-up");
    refuse(&|config| config.flows[0].start = millis(500), "before it starts");
    refuse(&|config| config.flows[0].segment = Bytes::new(64), "segments of 64B");
}

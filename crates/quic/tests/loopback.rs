//! Both ends over sockets of this machine.

use cc::Start;
use cc::registry::Tuning;
use host::Clock;
use live::{ReceivedFlow, SentFlow, Window};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tightlink_quic::{
    ControlChoice, FlowConfig, Keys, MOST_TOGETHER, Receiver, SessionConfig, receive, send,
};
use units::random::Stream;
use units::{Bytes, Span, Time};

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
    assert!(sent[1].connected.unwrap().since(Time::ZERO) >= Span::from_millis(100));
}

/// An attacker through whom all datagrams pass, and who sends forged ones to both ends, from the true address and from
/// another one.
struct Attacker {
    front: UdpSocket,
    back: UdpSocket,
    stranger: UdpSocket,
    receiver: SocketAddr,
    sender: Mutex<Option<SocketAddr>>,
}

impl Attacker {
    fn new(receiver: SocketAddr) -> Self {
        let bind = || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            socket.set_read_timeout(Some(Duration::from_millis(20))).unwrap();
            socket
        };
        Self { front: bind(), back: bind(), stranger: bind(), receiver, sender: Mutex::new(None) }
    }

    /// Carries datagrams one way until `stop`, and forges some.
    fn carry(&self, forth: bool, stop: &AtomicBool) {
        let mut stream = Stream::new(u64::from(forth), "attacker");
        let (from, through) = if forth { (&self.front, &self.back) } else { (&self.back, &self.front) };
        let (mut buffer, mut seen) = ([0; 2000], Vec::<Vec<u8>>::new());
        while !stop.load(Ordering::Relaxed) {
            let Ok((length, address)) = from.recv_from(&mut buffer) else { continue };
            if forth {
                *self.sender.lock().unwrap() = Some(address);
            }
            let to = if forth { Some(self.receiver) } else { *self.sender.lock().unwrap() };
            let Some(to) = to else { continue };
            // A full buffer drops a datagram, as a path does.
            let _ = through.send_to(&buffer[..length], to);
            if seen.len() < 200 {
                seen.push(buffer[..length].to_vec());
            }
            if stream.chance(0.3) {
                let mut forged = seen[stream.integer(0, seen.len() as u64 - 1) as usize].clone();
                let place = stream.integer(0, forged.len() as u64 - 1) as usize;
                match stream.integer(0, 4) {
                    0 => forged.truncate(place),
                    1 => forged[place] ^= 1 << stream.integer(0, 7),
                    2 => forged[1..5].copy_from_slice(&[0xde, 0xad, 0xbe, 0xef]),
                    3 => forged.iter_mut().for_each(|byte| *byte = stream.integer(0, 255) as u8),
                    _ => {}
                }
                let socket = if stream.chance(0.5) { through } else { &self.stranger };
                let _ = socket.send_to(&forged, to);
            }
        }
    }
}

#[test]
fn forged_datagrams_at_both_sockets_stop_nothing_and_change_no_byte() {
    let size = Bytes::new(5_000_000);
    let mut flow = flow("one", "cubic", PAYLOAD * 10);
    flow.common.size = Some(size);
    flow.common.window = Window::AtMost(Bytes::new(100_000));
    let config = session(vec![flow], Some(Span::from_secs(20)));
    let keys = Keys::random().unwrap();
    let receiver = Receiver::bind(&config, [127, 0, 0, 1].into(), &keys).unwrap();
    let (attacker, clock) = (Attacker::new(receiver.addresses()[0]), Clock::start());
    let (stop, over) = (AtomicBool::new(false), AtomicBool::new(false));
    let (sent, received) = std::thread::scope(|threads| {
        let receiving = threads.spawn(|| receive(&config, receiver, clock, &stop, None));
        // Before anybody sends: a version that nobody speaks. The answer is short, and lists version 1.
        let mut question = vec![0x55; 1200];
        question[..6].copy_from_slice(&[0xc0, 0xde, 0xad, 0xbe, 0xef, 8]);
        question[14] = 8;
        attacker.stranger.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
        attacker.stranger.send_to(&question, attacker.receiver).unwrap();
        let mut answer = [0; 2000];
        let (length, from) = attacker.stranger.recv_from(&mut answer).unwrap();
        assert_eq!((from, &answer[1..5]), (attacker.receiver, &[0; 4][..]));
        assert!(length < 100 && answer[..length].windows(4).any(|version| version == [0, 0, 0, 1]));
        for forth in [true, false] {
            let (attacker, over) = (&attacker, &over);
            threads.spawn(move || attacker.carry(forth, over));
        }
        let server = attacker.front.local_addr().unwrap();
        let sent = send(&config, &[server], &keys, clock, &stop, None);
        let received = receiving.join().unwrap();
        over.store(true, Ordering::Relaxed);
        (sent.unwrap(), received.unwrap())
    });
    assert_eq!(received[0].payload, size);
    assert!(sent[0].completion.is_some() && received[0].ended.is_some(), "{sent:?}");
}

/// A socket that answers nothing holds the place of a receiver.
#[test]
fn a_session_ends_at_its_end_and_upon_a_stop_though_no_handshake_is_done() {
    let silent = UdpSocket::bind("127.0.0.1:0").unwrap();
    let (servers, keys) = ([silent.local_addr().unwrap()], Keys::random().unwrap());
    let short = session(vec![flow("one", "cubic", PAYLOAD * 10)], Some(Span::from_millis(150)));
    let (clock, stop) = (Clock::start(), AtomicBool::new(false));
    let sent = send(&short, &servers, &keys, clock, &stop, None).unwrap();
    assert_eq!((sent[0].connected, sent[0].acked), (None, Bytes::ZERO));
    assert!(clock.now() >= Time::ZERO + Span::from_millis(150));
    // A receiver whom nobody calls ends as well.
    let receiver = Receiver::bind(&short, [127, 0, 0, 1].into(), &keys).unwrap();
    let received = receive(&short, receiver, Clock::start(), &stop, None).unwrap();
    assert_eq!((received[0].accepted, received[0].payload), (None, Bytes::ZERO));
    // The flow's own stop comes while it connects.
    let mut stopped = flow("one", "cubic", PAYLOAD * 10);
    stopped.common.stop = Some(Span::from_millis(100));
    let long = session(vec![stopped], Some(Span::from_secs(60)));
    let sent = send(&long, &servers, &keys, Clock::start(), &stop, None).unwrap();
    assert_eq!((sent[0].connected, sent[0].completion), (None, None));
    // Somebody stops the session while it connects.
    let endless = session(vec![flow("one", "cubic", PAYLOAD * 10)], Some(Span::from_secs(60)));
    let clock = Clock::start();
    std::thread::scope(|threads| {
        let sending = threads.spawn(|| send(&endless, &servers, &keys, clock, &stop, None));
        silent.recv_from(&mut [0; 2000]).unwrap();
        stop.store(true, Ordering::Relaxed);
        assert_eq!(sending.join().unwrap().unwrap()[0].connected, None);
    });
}

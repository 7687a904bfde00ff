//! Tests of the echoer: which requests it answers, and with how many trains.

use super::*;
use std::net::{Ipv4Addr, UdpSocket};

const SESSION: u64 = 3;

/// An echoer, and a prober that has the key but keeps no rules.
struct TestEchoer {
    echoer: Echoer,
    key: ProbeKey,
    clock: Clock,
    socket: UdpSocket,
    asked: u64,
    cookie: u64,
}

impl TestEchoer {
    /// Makes a bench: the prober is at `from`, the echoer at `address`.
    fn new(from: Ipv4Addr, address: &str, set_up: impl FnOnce(Echoer) -> Echoer) -> Self {
        let key = ProbeKey::random().unwrap();
        let limits = TrainLimits::default();
        let echoer = Echoer::bind(address.parse().unwrap(), &key, [SESSION], limits).unwrap();
        let echoer = set_up(echoer);
        let socket = UdpSocket::bind((from, 0)).unwrap();
        socket.connect((Ipv4Addr::LOCALHOST, echoer.address().unwrap().port())).unwrap();
        socket.set_nonblocking(true).unwrap();
        Self { echoer, key, clock: Clock::start(), socket, asked: 0, cookie: 0 }
    }

    fn send(&mut self, message: Message) {
        self.socket.send(&message.encode(&self.key, SESSION)).unwrap();
        self.echoer.poll(&self.clock);
    }

    /// Sends a probe, and keeps the cookie of its echo. Returns true if the probe is echoed.
    fn probe(&mut self) -> bool {
        self.asked += 1;
        self.send(Message::Probe { number: self.asked });
        let mut room = [0; 2000];
        let Ok(length) = self.socket.recv(&mut room) else { return false };
        match Message::decode(&self.key, &room[..length]) {
            Some((SESSION, Message::Echo { cookie, .. })) => self.cookie = cookie,
            other => panic!("{other:?} for an echo"),
        }
        true
    }

    /// Requests a train of `packets` of `length`. Returns true if it is sent.
    fn train(&mut self, packets: u16, length: u16) -> bool {
        let before = self.echoer.counts();
        self.asked += 1;
        self.send(Message::TrainRequest { number: self.asked, packets, length, cookie: self.cookie });
        let after = self.echoer.counts();
        assert_eq!(after.trains + after.trains_refused, before.trains + before.trains_refused + 1);
        after.trains > before.trains
    }
}

fn here() -> TestEchoer {
    TestEchoer::new(Ipv4Addr::LOCALHOST, "127.0.0.1:0", |echoer| echoer)
}

#[test]
fn no_train_is_larger_than_what_a_prober_asks_for() {
    let mut bench = here();
    assert!(bench.probe());
    for (packets, length) in [
        (PACKETS, 8972),
        (PACKETS + 1, 1472),
        (PACKETS, 1473),
        (0, 1472),
        (PACKETS, 71),
        (u16::MAX, u16::MAX),
    ] {
        assert!(!bench.train(packets, length), "{packets} of {length} bytes");
    }
    assert!(bench.train(PACKETS, 1472) && bench.train(20, 1472));
}

#[test]
fn what_a_prober_asks_for_is_sent_though_it_was_held_up_and_no_more() {
    let limits = TrainLimits::default();
    let apart = |count: u64| Time::ZERO + Span::from_secs(1) + limits.apart * count;
    let mut session = Session::default();
    let mut ask = |at: Time| match session.train(at, &limits) {
        Some(full) => {
            session.full = full;
            true
        }
        None => false,
    };
    // Five at once, as if the machine had stood still, then one each 15 ms.
    assert!((0..5).all(|_| ask(apart(0))) && !ask(apart(0)), "a sixth at once is too much");
    assert!((1..100).all(|count| ask(apart(count)) && !ask(apart(count))));
    // As many requests as possible for a second more get as many trains as a second at the prober's own rate.
    let flood = (0..100_000).filter(|step| ask(apart(100) + Span::from_micros(*step * 10))).count();
    assert!((66..=67).contains(&flood), "{flood}");
}

#[test]
fn a_flood_of_requests_gets_five_trains_and_one_each_fifteen_milliseconds() {
    let mut bench = here();
    assert!(bench.probe());
    let began = bench.clock.real();
    while bench.clock.real().since(began) < Span::from_millis(200) {
        bench.train(PACKETS, 1472);
    }
    let most = 5 + bench.clock.real().since(began).as_nanos() / 15_000_000;
    let counts = bench.echoer.counts();
    assert!(counts.trains <= most && counts.trains_refused > 0, "{counts:?}, at most {most}");
}

#[test]
fn only_the_address_that_is_heard_gets_an_answer() {
    let localhost = IpAddr::V4(Ipv4Addr::LOCALHOST);
    let stranger = Ipv4Addr::new(127, 0, 0, 2);
    // The second echoer sees IPv4 addresses in their IPv6 form.
    for address in ["127.0.0.1:0", "[::]:0"] {
        let mut heard = TestEchoer::new(Ipv4Addr::LOCALHOST, address, |echoer| echoer.only_from(localhost));
        assert!(heard.probe() && heard.train(PACKETS, 1472), "{address}");
        let mut other = TestEchoer::new(stranger, address, |echoer| echoer.only_from(localhost));
        assert!(!other.probe(), "{address}");
        let counts = other.echoer.counts();
        assert_eq!(counts, EchoCounts { ignored: 1, ..EchoCounts::default() }, "{address}");
    }
}

#[test]
fn a_train_that_its_sender_does_not_allow_is_refused_and_may_be_asked_for_again() {
    let mut bench = here();
    assert!(bench.probe());
    for (allowed, sent) in [(false, 0), (false, 0), (true, 1)] {
        bench.asked += 1;
        let (number, cookie) = (bench.asked, bench.cookie);
        let request = Message::TrainRequest { number, packets: PACKETS, length: 1472, cookie };
        bench.socket.send(&request.encode(&bench.key, SESSION)).unwrap();
        let mut asked = Vec::new();
        bench.echoer.poll_allowing(&bench.clock, |bytes| {
            asked.push(bytes);
            allowed
        });
        assert_eq!(asked, [Bytes::new(1472 * u64::from(PACKETS))]);
        assert_eq!(bench.echoer.counts().trains, sent);
    }
}

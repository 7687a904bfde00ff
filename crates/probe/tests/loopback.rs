//! Probes over loopback: what they measure, and what strangers get.

use estimate::TRAIN_PACKETS;
use host::Clock;
use std::net::{SocketAddr, UdpSocket};
use std::thread;
use std::time::Duration;
use testkit::could_not_judge;
use testkit::tries::{in_one_of_five, in_time};
use tightlink_probe::{EchoCounts, Echoer, ProbeEvent, ProbeKey, Prober, TrainArrivals, TrainLimits};
use units::{Bytes, Span, Time};

const SESSION: u64 = 7;
const PACKETS: u16 = TRAIN_PACKETS as u16;
const INTERVAL: Span = Span::from_millis(2);

fn key() -> ProbeKey {
    ProbeKey::from_secret(&[42; 32])
}

fn loopback() -> SocketAddr {
    SocketAddr::from(([127, 0, 0, 1], 0))
}

fn echoer(limits: TrainLimits) -> Echoer {
    Echoer::bind(loopback(), &key(), [SESSION], limits).unwrap()
}

/// Both ends and a relay between them that the test may tamper with. `front` stands where the prober thinks the echoer
/// is, `back` where the echoer thinks the prober is.
struct TestEchoer {
    clock: Clock,
    prober: Prober,
    echoer: Echoer,
    front: UdpSocket,
    back: UdpSocket,
    prober_at: Option<SocketAddr>,
    /// Every datagram so far, to the echoer and from it.
    to_echoer: Vec<Vec<u8>>,
    to_prober: Vec<Vec<u8>>,
}

impl TestEchoer {
    fn new(limits: TrainLimits) -> Self {
        let relay = || {
            let socket = UdpSocket::bind(loopback()).unwrap();
            socket.set_nonblocking(true).unwrap();
            socket
        };
        let (front, back, echoer) = (relay(), relay(), echoer(limits));
        let prober = Prober::connect(front.local_addr().unwrap(), &key(), SESSION).unwrap();
        let clock = Clock::start();
        Self {
            clock,
            prober,
            echoer,
            front,
            back,
            prober_at: None,
            to_echoer: Vec::new(),
            to_prober: Vec::new(),
        }
    }

    /// Moves datagrams until `done`, two seconds at most. `passes` is asked about each, by its direction (true: to the
    /// echoer) and its number in that direction.
    fn run(
        &mut self,
        mut passes: impl FnMut(bool, usize) -> bool,
        done: impl Fn(&[ProbeEvent]) -> bool,
    ) -> Vec<ProbeEvent> {
        let (mut events, end, mut buffer) = (Vec::new(), self.clock.now() + Span::from_secs(2), [0; 2000]);
        let echoer_at = self.echoer.address().unwrap();
        while !done(&events) && self.clock.now() < end {
            events.extend(self.prober.poll(&self.clock));
            while let Ok((length, from)) = self.front.recv_from(&mut buffer) {
                self.prober_at = Some(from);
                self.to_echoer.push(buffer[..length].to_vec());
                if passes(true, self.to_echoer.len() - 1) {
                    self.back.send_to(&buffer[..length], echoer_at).unwrap();
                }
            }
            self.echoer.poll(&self.clock);
            while let Ok((length, _)) = self.back.recv_from(&mut buffer) {
                self.to_prober.push(buffer[..length].to_vec());
                if passes(false, self.to_prober.len() - 1) {
                    self.front.send_to(&buffer[..length], self.prober_at.unwrap()).unwrap();
                }
            }
            thread::park_timeout(Duration::from_micros(200));
        }
        events
    }

    /// Sends `datagram` to the echoer from `socket`, and says how many bytes come back within 50 ms.
    fn answer(&mut self, socket: &UdpSocket, datagram: &[u8]) -> usize {
        socket.send_to(datagram, self.echoer.address().unwrap()).unwrap();
        let (mut answered, mut buffer) = (0, [0; 2000]);
        for _ in 0..10 {
            thread::park_timeout(Duration::from_millis(5));
            self.echoer.poll(&self.clock);
            while let Ok((length, _)) = socket.recv_from(&mut buffer) {
                answered += length;
            }
        }
        answered
    }
}

fn echoes(events: &[ProbeEvent]) -> Vec<Span> {
    let echo = |event: &ProbeEvent| match event {
        ProbeEvent::Echo(round_trip) => Some(*round_trip),
        _ => None,
    };
    events.iter().filter_map(echo).collect()
}

fn lost(events: &[ProbeEvent]) -> usize {
    events.iter().filter(|event| **event == ProbeEvent::Lost).count()
}

fn train(events: &[ProbeEvent]) -> Option<&TrainArrivals> {
    events.iter().find_map(|event| match event {
        ProbeEvent::Train(train) => Some(train),
        _ => None,
    })
}

#[test]
fn probes_give_round_trips_and_echoes_are_as_long_as_probes() {
    in_one_of_five(|| {
        let mut bench = TestEchoer::new(TrainLimits::default());
        bench.prober.set_interval(Some(INTERVAL), bench.clock.now());
        let events = bench.run(|_, _| true, |events| echoes(events).len() >= 30);
        let mut round_trips = echoes(&events);
        round_trips.sort_unstable();
        in_time(round_trips.len() >= 30, format!("{} echoes", round_trips.len()))?;
        assert!(round_trips[0] > Span::ZERO, "{round_trips:?}");
        // The relay looks every 0.2 ms or so.
        in_time(round_trips[15] < Span::from_millis(20), format!("{round_trips:?}"))?;
        assert!(bench.to_echoer.iter().chain(&bench.to_prober).all(|datagram| datagram.len() == 72));
        let counts = bench.prober.counts();
        assert_eq!(
            (counts.lost_with_data, counts.lost_with_acks, counts.ignored, counts.refused),
            (0, 0, 0, 0)
        );
        assert_eq!(bench.echoer.counts().echoed, bench.to_prober.len() as u64);
        Ok(())
    });
}

#[test]
fn the_time_an_echoer_holds_a_probe_is_no_part_of_the_round_trip() {
    in_one_of_five(|| {
        let (clock, mut echoer) = (Clock::start(), echoer(TrainLimits::default()));
        let mut prober = Prober::connect(echoer.address().unwrap(), &key(), SESSION).unwrap();
        prober.set_interval(Some(Span::from_secs(60)), clock.now());
        prober.poll(&clock);
        thread::park_timeout(Duration::from_millis(80));
        echoer.poll(&clock);
        thread::park_timeout(Duration::from_millis(40));
        let round_trips = echoes(&prober.poll(&clock));
        assert_eq!(round_trips.len(), 1);
        in_time(round_trips[0] < Span::from_millis(30), format!("{} of more than 120ms", round_trips[0]))?;
        Ok(())
    });
}

#[test]
fn a_loss_on_the_datas_way_is_told_and_one_on_the_other_way_is_not() {
    let mut bench = TestEchoer::new(TrainLimits::default());
    bench.prober.set_interval(Some(INTERVAL), bench.clock.now());
    let passes =
        |to_echoer: bool, number: usize| if to_echoer { number != 3 && number != 4 } else { number != 10 };
    let events = bench.run(passes, |events| echoes(events).len() >= 20);
    assert_eq!(lost(&events), 1, "{events:?}");
    let counts = bench.prober.counts();
    assert_eq!((counts.lost_with_data, counts.lost_with_acks), (1, 2));
}

#[test]
fn what_comes_again_is_ignored_on_both_sides() {
    let mut bench = TestEchoer::new(TrainLimits::default());
    bench.prober.set_interval(Some(INTERVAL), bench.clock.now());
    bench.run(|_, _| true, |events| echoes(events).len() >= 5);
    bench.prober.set_interval(None, bench.clock.now());
    // One more echo may have come.
    bench.prober.poll(&bench.clock);
    let (probe, echo) = (bench.to_echoer[2].clone(), bench.to_prober[2].clone());
    let before = bench.echoer.counts();
    let back = bench.back.try_clone().unwrap();
    while back.recv_from(&mut [0; 100]).is_ok() {}
    assert_eq!(bench.answer(&back, &probe), 0);
    assert_eq!(bench.echoer.counts(), EchoCounts { ignored: before.ignored + 1, ..before });
    bench.front.send_to(&echo, bench.prober_at.unwrap()).unwrap();
    thread::park_timeout(Duration::from_millis(20));
    let counts = bench.prober.counts();
    let events = bench.prober.poll(&bench.clock);
    assert_eq!(events, []);
    assert_eq!(bench.prober.counts().ignored, counts.ignored + 1);
    // Nor does a probe that comes back to where it was sent from pass for an echo.
    bench.front.send_to(&probe, bench.prober_at.unwrap()).unwrap();
    thread::park_timeout(Duration::from_millis(20));
    assert_eq!(bench.prober.poll(&bench.clock), []);
}

#[test]
fn strangers_get_no_answer() {
    let mut bench = TestEchoer::new(TrainLimits::default());
    let stranger = UdpSocket::bind(loopback()).unwrap();
    stranger.set_nonblocking(true).unwrap();
    for length in [0, 1, 71, 72, 73, 1472, 60_000] {
        assert_eq!(bench.answer(&stranger, &vec![0x74; length]), 0, "{length} bytes of noise");
    }
    // The right session with another key; the right key with another session.
    for (key, session) in [(ProbeKey::from_secret(&[43; 32]), SESSION), (key(), SESSION + 1)] {
        let mut prober = Prober::connect(bench.echoer.address().unwrap(), &key, session).unwrap();
        prober.set_interval(Some(INTERVAL), bench.clock.now());
        for _ in 0..10 {
            prober.poll(&bench.clock);
            thread::park_timeout(Duration::from_millis(3));
            bench.echoer.poll(&bench.clock);
        }
        let counts = prober.counts();
        assert!(counts.sent >= 5 && counts.echoed + counts.ignored == 0, "{counts:?}");
    }
    let counts = bench.echoer.counts();
    assert!(counts.echoed == 0 && counts.ignored >= 17, "{counts:?}");
}

#[test]
fn a_train_comes_whole_and_in_order() {
    let mut bench = TestEchoer::new(TrainLimits::default());
    bench.prober.ask_train(TRAIN_PACKETS);
    let events = bench.run(|_, _| true, |events| train(events).is_some());
    let train = train(&events).expect("within two seconds");
    assert_eq!((train.packets, train.packet, train.is_whole()), (PACKETS, Bytes::new(1500), true));
    assert!(train.arrivals.windows(2).all(|pair| pair[0].1 <= pair[1].1), "stamps rise");
    assert!(bench.to_prober.iter().filter(|datagram| datagram.len() == 1472).count() == usize::from(PACKETS));
    assert_eq!(bench.prober.wakeup(), Time::NEVER, "silent again");
}

#[test]
fn a_train_with_a_hole_is_told_as_such_and_one_that_never_comes_too() {
    let mut bench = TestEchoer::new(TrainLimits::default());
    bench.prober.ask_train(TRAIN_PACKETS);
    bench.prober.ask_train(TRAIN_PACKETS);
    let trains =
        |events: &[ProbeEvent]| events.iter().filter(|event| matches!(event, ProbeEvent::Train(_))).count();
    // Datagram 0 is the echo that brings the cookie; the second train is lost whole.
    let events = bench.run(
        |back, number| back || (number != 10 && number <= usize::from(PACKETS) + 1),
        |events| trains(events) == 2,
    );
    let arrived: Vec<usize> = events
        .iter()
        .filter_map(|event| match event {
            ProbeEvent::Train(train) => {
                assert!(!train.is_whole() && train.rate().is_none());
                Some(train.arrivals.len())
            }
            _ => None,
        })
        .collect();
    assert_eq!(arrived.len(), 2, "{events:?}");
    assert!(arrived[0] + 1 == usize::from(PACKETS) && arrived[1] <= 1, "{arrived:?}");
}

#[test]
fn a_train_does_not_wait_for_the_one_before_it() {
    let mut bench = TestEchoer::new(TrainLimits::default());
    bench.prober.ask_train(TRAIN_PACKETS);
    bench.prober.ask_train(TRAIN_PACKETS);
    let whole = |events: &[ProbeEvent]| train(events).map(TrainArrivals::is_whole);
    // Nothing of the first train comes through; it is given up after a second.
    let lost = 1..=usize::from(PACKETS);
    let events = bench.run(|back, number| back || !lost.contains(&number), |events| whole(events).is_some());
    assert_eq!(whole(&events), Some(true), "{events:?}");
    let events = bench.run(|_, _| true, |events| whole(events).is_some());
    assert_eq!(whole(&events), Some(false), "{events:?}");
}

#[test]
fn a_train_goes_to_no_address_but_the_one_that_has_its_cookie_and_only_once() {
    let mut bench = TestEchoer::new(TrainLimits::default());
    bench.prober.ask_train(TRAIN_PACKETS);
    // The request is held back by someone on the way, who would like the train to go elsewhere.
    bench.run(|back, number| !back || number == 0, |_| false);
    let request = bench.to_echoer[1].clone();
    let victim = UdpSocket::bind(loopback()).unwrap();
    victim.set_nonblocking(true).unwrap();
    assert_eq!(bench.answer(&victim, &request), 0);
    let counts = bench.echoer.counts();
    assert_eq!((counts.trains, counts.trains_refused), (0, 1));
    // It was used up by that, wherever it comes from now.
    let back = bench.back.try_clone().unwrap();
    assert_eq!(bench.answer(&back, &request), 0);
    assert_eq!(bench.echoer.counts().trains, 0);
}

#[test]
fn trains_are_limited_in_number_and_in_time() {
    let limits = TrainLimits { apart: Span::from_millis(1), total: 2, ..TrainLimits::default() };
    let mut bench = TestEchoer::new(limits);
    for _ in 0..3 {
        bench.prober.ask_train(TRAIN_PACKETS);
    }
    let whole = |events: &[ProbeEvent]| {
        events.iter().filter(|event| matches!(event, ProbeEvent::Train(train) if train.is_whole())).count()
    };
    let events = bench.run(
        |_, _| true,
        |events| events.iter().filter(|event| matches!(event, ProbeEvent::Train(_))).count() == 3,
    );
    assert_eq!(whole(&events), 2);
    let counts = bench.echoer.counts();
    assert_eq!((counts.trains, counts.trains_refused), (2, 1));

    let mut bench =
        TestEchoer::new(TrainLimits { apart: Span::from_secs(5), at_once: 1, ..TrainLimits::default() });
    bench.prober.ask_train(TRAIN_PACKETS);
    bench.prober.ask_train(TRAIN_PACKETS);
    bench.run(|_, _| true, |_| false);
    let counts = bench.echoer.counts();
    assert_eq!((counts.trains, counts.trains_refused), (1, 1), "too soon");
    let mut bench = TestEchoer::new(TrainLimits { packets: PACKETS - 1, ..TrainLimits::default() });
    bench.prober.ask_train(TRAIN_PACKETS);
    bench.run(|_, _| true, |_| false);
    assert_eq!(bench.echoer.counts().trains_refused, 1, "too long");
}

#[test]
fn an_echoer_that_is_not_there_stops_nothing() {
    let gone = UdpSocket::bind(loopback()).unwrap().local_addr().unwrap();
    let (clock, mut prober) = (Clock::start(), Prober::connect(gone, &key(), SESSION).unwrap());
    prober.set_interval(Some(INTERVAL), clock.now());
    prober.ask_train(TRAIN_PACKETS);
    for _ in 0..20 {
        assert_eq!(prober.poll(&clock), []);
        thread::park_timeout(Duration::from_millis(3));
    }
    let counts = prober.counts();
    assert!(counts.sent >= 10 && counts.refused > 0 && counts.echoed == 0, "{counts:?}");
}

#[test]
fn probes_work_over_ipv6() {
    if let Err(error) = UdpSocket::bind("[::1]:0") {
        return could_not_judge(format!("no loopback of IPv6: {error}"));
    }
    let clock = Clock::start();
    let mut echoer =
        Echoer::bind("[::1]:0".parse().unwrap(), &key(), [SESSION], TrainLimits::default()).unwrap();
    let mut prober = Prober::connect(echoer.address().unwrap(), &key(), SESSION).unwrap();
    prober.set_interval(Some(INTERVAL), clock.now());
    prober.ask_train(TRAIN_PACKETS);
    let mut events = Vec::new();
    while train(&events).is_none() && clock.now() < Time::ZERO + Span::from_secs(2) {
        events.extend(prober.poll(&clock));
        echoer.poll(&clock);
        thread::park_timeout(Duration::from_millis(1));
    }
    assert!(!echoes(&events).is_empty());
    assert!(
        train(&events).is_some_and(|train| train.is_whole() && train.packet == Bytes::new(1500)),
        "{events:?}"
    );
}

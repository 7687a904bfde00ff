//! Probes and trains across the emulated tight link: how exact they are. Needs root.

#[expect(dead_code, reason = "the emulator's own tests use all of it")]
#[path = "../../../emu/tests/path/endpoints.rs"]
mod endpoints;
mod watch;

use endpoints::{alone, settled, settled_unless};
use estimate::LONG_TRAIN_PACKETS;
use host::Clock;
use link::Limit;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use probe::{Echoer, ProbeCounts, ProbeEvent, ProbeKey, Prober, TrainLimits};
use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::AsFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tightlink_emu::{Path, PathConfig};
use tightlink_live::{FlowConfig, Receiver, SessionConfig, receive, send};
use units::{Bytes, Fraction, Rate, Span};

/// The ports of flows, of which the other may have a delay of its own.
const PORT: u16 = 1024;
const OTHER: u16 = 1025;

/// 20 ms there and back, a queue that holds a few trains.
fn config(rate: u64) -> PathConfig {
    PathConfig::new(Rate::from_bps(rate), Span::from_millis(10), Limit::Bytes(Bytes::new(400_000)))
}

/// Waits until `socket` is readable, a millisecond at most.
fn pause(socket: &impl AsFd) {
    let _ = poll(&mut [PollFd::new(socket.as_fd(), PollFlags::POLLIN)], PollTimeout::from(1u8));
}

/// Probes from the link's far end, as a receiver does, for `span`, with `trains` trains.
fn probe(config: PathConfig, interval: Span, trains: u32, span: Span) -> (Vec<ProbeEvent>, ProbeCounts) {
    let path = Path::start(config).expect("the path starts");
    let (key, clock) = (ProbeKey::random().expect("random numbers"), Clock::start());
    let (theirs, at) = (key.clone(), SocketAddr::new(IpAddr::V4(path.sender_address()), 0));
    let bind = move || Echoer::bind(at, &theirs, [1], TrainLimits::default()).expect("a free port");
    let mut echoer = path.sender().run(bind).expect("inside");
    let (address, over) = (echoer.address().expect("bound"), Arc::new(AtomicBool::new(false)));
    let stop = Arc::clone(&over);
    let answering = std::thread::spawn(move || {
        host::run_ahead();
        while !stop.load(Ordering::Relaxed) {
            pause(&echoer);
            echoer.poll(&clock);
        }
    });
    let local = (Ipv4Addr::UNSPECIFIED, OTHER).into();
    let connect = move || Prober::connect_from(local, address, &key, 1).expect("there is a route");
    let mut prober = path.receiver().run(connect).expect("inside");
    let asking = std::thread::spawn(move || {
        host::run_ahead();
        prober.set_interval(Some(interval), clock.now());
        (0..trains).for_each(|_| prober.ask_train(LONG_TRAIN_PACKETS));
        let (mut events, end) = (Vec::new(), clock.now() + span);
        while clock.now() < end {
            pause(&prober);
            events.extend(prober.poll(&clock));
        }
        (events, prober.counts())
    });
    let result = asking.join().expect("the prober does not panic");
    over.store(true, Ordering::Relaxed);
    answering.join().expect("the echoer does not panic");
    result
}

#[test]
fn round_trips_are_those_of_the_path() {
    let Some(_alone) = alone() else { return };
    let median = |extra: f64| {
        let extra_delays = HashMap::from([(OTHER, Span::from_millis(extra as u64))]);
        let config = PathConfig { extra_delays, ..config(97_000_000) };
        let (events, _) = probe(config, Span::from_millis(5), 0, Span::from_millis(400));
        let mut round_trips: Vec<f64> = events
            .iter()
            .filter_map(|event| match event {
                ProbeEvent::Echo(round_trip) => Some(round_trip.as_secs_f64() * 1e3),
                _ => None,
            })
            .collect();
        assert!(round_trips.len() > 40, "{} echoes", round_trips.len());
        round_trips.sort_by(f64::total_cmp);
        // The path regains what it stood still by running 0.5 % fast, and may be 50 us early each way: 19.8 ms.
        let (least, median) = (round_trips[0], round_trips[round_trips.len() / 2]);
        assert!(least > 0.995 * (20.0 + extra) - 0.15, "nothing overtakes the delay: {least} ms");
        println!("round trip: least {least:.3} ms, median {median:.3} ms");
        median
    };
    for extra in [0.0, 40.0] {
        settled(|| median(extra), |median| (median - 20.0 - extra).abs() < 0.5);
    }
}

#[test]
fn each_transfer_has_the_round_trip_of_its_own_port() {
    let Some(_alone) = alone() else { return };
    let measure = || {
        let extra_delays = HashMap::from([(OTHER, Span::from_millis(40))]);
        let path = Path::start(PathConfig { extra_delays, ..config(97_000_000) }).expect("the path starts");
        let flows = [PORT, OTHER].map(|port| FlowConfig {
            port: Some(port),
            ..FlowConfig::sized(port.to_string(), "reno", Bytes::new(300_000))
        });
        let session = Arc::new(SessionConfig::new(flows.into()));
        let (clock, stop) = (Clock::start(), Arc::new(AtomicBool::new(false)));
        let at = SocketAddr::new(IpAddr::V4(path.receiver_address()), 0);
        let receiver = path.receiver().run(move || Receiver::bind(at).expect("a free port")).expect("inside");
        let server = receiver.address();
        let (theirs, halt) = (Arc::clone(&session), Arc::clone(&stop));
        let receiving = path.receiver().spawn("receiver", move || receive(&theirs, receiver, clock, &halt));
        let sending = path.sender().spawn("sender", move || send(&session, server, clock, &stop));
        let sent = sending.expect("started").join().expect("no panic").expect("both are sent");
        receiving.expect("started").join().expect("no panic").expect("both are received");
        let least =
            [&sent[0], &sent[1]].map(|flow| flow.min_rtt.expect("this kernel knows it").as_secs_f64() * 1e3);
        assert!(least[0] > 19.75 && least[1] > 59.55, "nothing overtakes the delay: {least:?} ms");
        println!("least round trips: {:.3} and {:.3} ms", least[0], least[1]);
        least
    };
    settled(measure, |least| least[0] < 20.8 && least[1] < 61.2);
}

#[test]
fn trains_tell_the_capacity_within_two_percent() {
    let Some(_alone) = alone() else { return };
    // At 622 Mbit/s a train passes in a millisecond: what a host adds to a packet, tens of microseconds, is some percent of it,
    // and the median takes more trains.
    for (rate, trains) in [(97_000_000, 5), (622_000_000, 15)] {
        let capacity = || {
            let (events, _) = probe(
                config(rate),
                Span::from_millis(10),
                trains,
                Span::from_millis(100 * u64::from(trains)),
            );
            let mut rates: Vec<f64> = events
                .iter()
                .filter_map(|event| match event {
                    ProbeEvent::Train(train) => train.rate(),
                    _ => None,
                })
                .map(Rate::as_bps_f64)
                .collect();
            rates.sort_by(f64::total_cmp);
            let quantile =
                |share: f64| rates.get((rates.len() as f64 * share) as usize).copied().unwrap_or(0.0);
            (quantile(0.5), quantile(0.75) - quantile(0.25))
        };
        // The path spaces the packets of every train alike. Trains that differ were moved by stalls too short for a nap to see.
        let good = |(median, _): &(f64, f64)| (median / rate as f64 - 1.0).abs() < 0.02;
        let noisy = |(median, spread): &(f64, f64)| *spread > 0.03 * median;
        let Some((measured, _)) = settled_unless(capacity, good, noisy) else { return };
        println!("trains: {:.2} Mbit/s of {} Mbit/s", measured / 1e6, rate / 1_000_000);
    }
}

#[test]
fn losses_on_the_datas_way_are_found_and_told_from_the_others() {
    let Some(_alone) = alone() else { return };
    let mut lossy = config(97_000_000);
    lossy.link.loss = Fraction::new(0.1).expect("a share");
    let measure = || probe(lossy.clone(), Span::from_millis(1), 0, Span::from_millis(1500));
    // A thousand probes or more, and few of them still on their way at the end.
    let many = |(_, counts): &(Vec<ProbeEvent>, ProbeCounts)| {
        counts.echoed > 800 && counts.sent - counts.echoed - counts.lost_with_data < 40
    };
    let Some((events, counts)) = settled(measure, many) else { return };
    let told = events.iter().filter(|event| **event == ProbeEvent::Lost).count() as u64;
    assert_eq!(told, counts.lost_with_data);
    assert_eq!(counts.lost_with_acks, 0, "nothing is lost on the way back: {counts:?}");
    let share = counts.lost_with_data as f64 / (counts.lost_with_data + counts.echoed) as f64;
    // Four standard deviations.
    assert!((share - 0.1).abs() < 0.04, "{share}, {counts:?}");
}

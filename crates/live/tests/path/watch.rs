//! Readings of connections whose limit is known, at both ends of an emulated path. Needs root.

use crate::endpoints::{alone, settled};
use estimate::diagnosis::{Evidence, Interval, Vantage, WindowSizing};
use host::Clock;
use link::Limit;
use socket2::SockRef;
use std::io::{Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::Duration;
use tightlink_emu::{Path, PathConfig};
use tightlink_live::watch::{WatchConfig, Watched, Watcher};
use units::{Bytes, Rate, Span};

/// The program at each end of a connection.
#[derive(Clone, Copy, Debug)]
struct Programs {
    /// `SO_RCVBUF` of the receiver, set before the connection.
    receive_buffer: Option<usize>,
    /// `SO_SNDBUF` of the sender.
    send_buffer: Option<usize>,
    /// The bytes of each write, and the pause after it.
    writes: (usize, Duration),
    /// The bytes of each read, and the pause after it.
    reads: (usize, Duration),
}

const GREEDY: Programs = Programs {
    receive_buffer: None,
    send_buffer: None,
    writes: (1 << 16, Duration::ZERO),
    reads: (1 << 18, Duration::ZERO),
};

/// The time of watching, which begins a second after the connection.
const WATCHED: Span = Span::from_millis(1500);

/// Watches the connection between two programs at both ends: 40 ms, 20 Mbit/s, and a queue of one product.
fn watched(programs: Programs) -> [Evidence; 2] {
    let rate = Rate::from_bps(20_000_000);
    let config = PathConfig::new(rate, Span::from_millis(20), Limit::Bytes(Bytes::new(100_000)));
    let path = Path::start(config).expect("the path starts");
    assert!(path.set_control("cubic").expect("it can be set"), "the kernel has CUBIC");
    let (opened, streams) = channel::<TcpStream>();
    let at = SocketAddr::new(IpAddr::V4(path.receiver_address()), 0);
    let listener = path.receiver().run(move || TcpListener::bind(at).expect("a free port")).expect("inside");
    let server = listener.local_addr().expect("bound");
    if let Some(size) = programs.receive_buffer {
        SockRef::from(&listener).set_recv_buffer_size(size).expect("a size");
    }
    let tell = opened.clone();
    let reading = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().expect("a connection");
        tell.send(stream.try_clone().expect("a descriptor")).expect("the test waits");
        let mut buffer = vec![0; programs.reads.0];
        while stream.read(&mut buffer).is_ok_and(|length| length > 0) {
            testkit::wait_until(testkit::now() + programs.reads.1);
        }
    });
    let writing = path.sender().spawn("writer", move || {
        let mut stream = TcpStream::connect(server).expect("it listens");
        if let Some(size) = programs.send_buffer {
            SockRef::from(&stream).set_send_buffer_size(size).expect("a size");
        }
        opened.send(stream.try_clone().expect("a descriptor")).expect("the test waits");
        let data = vec![7; programs.writes.0];
        while stream.write_all(&data).is_ok() {
            testkit::wait_until(testkit::now() + programs.writes.1);
        }
    });
    testkit::wait_until(testkit::now() + Duration::from_secs(1));
    let ends = [("there", path.receiver()), ("here", path.sender())];
    let watching = ends.map(|(name, end)| end.spawn(name, watch).expect("started"));
    let [theirs, ours] = watching.map(|thread| thread.join().expect("no panic"));
    for stream in streams.try_iter() {
        stream.shutdown(Shutdown::Both).expect("it is open");
    }
    writing.expect("started").join().expect("no panic");
    reading.join().expect("no panic");
    [ours, theirs].map(|watched| {
        assert_eq!((watched.connections.len(), watched.idle), (1, 0));
        let connection = &watched.connections[0];
        assert_eq!(connection.evidence.len(), 1, "data moves in one direction");
        connection.evidence[0].clone()
    })
}

fn watch() -> Watched {
    let clock = Clock::start();
    let mut watcher = Watcher::begin(WatchConfig::default(), &clock).expect("sock_diag");
    while clock.now().since(units::Time::ZERO) < WATCHED {
        watcher.poll(&clock).expect("sock_diag");
        host::wait(&mut [], Some(watcher.wakeup().since(clock.now()))).expect("it waits");
    }
    watcher.finish(&clock).expect("data moved")
}

/// Returns the share of the time for which `of` holds.
fn share(evidence: &Evidence, of: impl Fn(&Interval) -> Span) -> f64 {
    let sum = evidence.intervals.iter().fold(Span::ZERO, |sum, interval| sum + of(interval));
    sum.as_secs_f64() / evidence.observed().as_secs_f64()
}

/// Returns the time in which the kernel's clock of the receive window ran.
fn window_limited(interval: &Interval) -> Span {
    interval.kernel.expect("Linux 4.10").window_limited
}

/// Returns the length of the interval if `holds`.
fn time_if(interval: &Interval, holds: bool) -> Span {
    if holds { interval.length } else { Span::ZERO }
}

fn send_buffer_full(interval: &Interval) -> Span {
    time_if(interval, interval.buffer_full == Some(true))
}

fn near(found: f64, wanted: f64, tolerance: f64) -> bool {
    (found - wanted).abs() <= tolerance * wanted
}

#[test]
fn both_ends_know_the_rate_of_a_path_that_is_full() {
    let Some(_alone) = alone() else { return };
    settled(
        || {
            let [ours, theirs] = watched(GREEDY);
            assert_eq!([ours.vantage, theirs.vantage], [Vantage::SenderSocket, Vantage::ReceiverSocket]);
            assert_eq!(ours.direction, theirs.direction, "the direction of the data");
            assert_eq!(ours.control.as_deref(), Some("cubic"));
            for evidence in [&ours, &theirs] {
                let base = evidence.base_round_trip.expect("the handshake").as_millis_f64();
                assert!(base > 39.5, "nothing overtakes the delay: {base} ms");
                // The buffer holds 100 kB; the largest reading may lie before or behind the largest queue.
                let buffer = evidence.buffer.map_or(0, |buffer| buffer.size.get());
                assert!(buffer < 115_000, "{buffer}");
            }
            [ours, theirs]
        },
        |both| {
            let rates = both.each_ref().map(|evidence| evidence.capacity.map_or(0.0, Rate::as_bps_f64));
            let held = share(&both[0], |interval| window_limited(interval) + interval.idle);
            rates.iter().all(|&rate| near(rate, 20e6, 0.05)) && held < 0.05
        },
    );
}

#[test]
fn a_receive_window_that_the_program_fixed_is_full_and_known_as_fixed() {
    let Some(_alone) = alone() else { return };
    let programs = Programs { receive_buffer: Some(32_768), ..GREEDY };
    settled(
        || {
            let [ours, theirs] = watched(programs);
            assert_eq!((ours.window_scale, theirs.window_scale), (Some(0), Some(0)));
            assert_eq!(theirs.sizing, Some(WindowSizing::Program));
            [ours, theirs]
        },
        |[ours, theirs]| {
            let full = |interval: &Interval| time_if(interval, interval.flight == interval.receive_window);
            let mean = |evidence: &Evidence, of: fn(&Interval) -> Option<Bytes>| {
                let found: Vec<Bytes> = evidence.intervals.iter().filter_map(of).collect();
                found.iter().map(|bytes| bytes.get() as f64).sum::<f64>() / found.len().max(1) as f64
            };
            // The receiver sees data per round trip, and the window.
            let (flight, window) =
                (mean(theirs, |interval| interval.flight), mean(theirs, |interval| interval.receive_window));
            share(ours, window_limited) > 0.9
                && share(ours, full) > 0.7
                && near(flight, window, 0.15)
                && ours.capacity.is_none()
        },
    );
}

#[test]
fn a_full_send_buffer_is_seen_where_the_kernels_clock_misses_it() {
    let Some(_alone) = alone() else { return };
    let programs = Programs { send_buffer: Some(16_384), writes: (1448, Duration::ZERO), ..GREEDY };
    settled(
        || watched(programs),
        |[ours, _]| {
            let empty = |interval: &Interval| time_if(interval, interval.unsent == Some(Bytes::ZERO));
            share(ours, send_buffer_full) > 0.9
                && share(ours, empty) > 0.9
                && share(ours, window_limited) < 0.1
                && share(ours, |interval| interval.idle) < 0.1
        },
    );
}

#[test]
fn pauses_of_the_sending_program_are_idle_at_both_ends() {
    let Some(_alone) = alone() else { return };
    // 20 kB take a round trip of 40 ms and 8 ms on the link, every 100 ms.
    let programs = Programs { writes: (20_000, Duration::from_millis(100)), ..GREEDY };
    settled(
        || watched(programs),
        |[ours, theirs]| {
            let idle = |evidence: &Evidence| share(evidence, |interval| interval.idle);
            near(idle(ours), 0.52, 0.2)
                && near(idle(theirs), 0.52, 0.3)
                && share(ours, send_buffer_full) < 0.1
                && ours.capacity.is_none()
        },
    );
}

#[test]
fn a_program_that_reads_slowly_leaves_unread_data_and_a_small_window() {
    let Some(_alone) = alone() else { return };
    let programs = Programs { reads: (10_000, Duration::from_millis(20)), ..GREEDY };
    settled(
        || watched(programs),
        |[ours, theirs]| {
            let unread = |interval: &Interval| time_if(interval, interval.unread > Some(Bytes::new(10_000)));
            share(ours, window_limited) > 0.9 && share(theirs, unread) > 0.9 && ours.capacity.is_none()
        },
    );
}

//! Readings of connections whose limit is known, at both ends of an emulated path. Needs root.

use crate::endpoints::{alone, settled};
use estimate::diagnosis::{Evidence, Interval, Vantage};
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
            std::thread::sleep(programs.reads.1);
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
            std::thread::sleep(programs.writes.1);
        }
    });
    std::thread::sleep(Duration::from_secs(1));
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

fn kernel(interval: &Interval) -> estimate::diagnosis::KernelClocks {
    interval.kernel.expect("Linux 4.10")
}

#[test]
fn show() {
    let Some(_alone) = alone() else { return };
    let slow = Programs { reads: (10_000, Duration::from_millis(20)), ..GREEDY };
    let cases = [
        ("network", GREEDY),
        ("window", Programs { receive_buffer: Some(32_768), ..GREEDY }),
        ("sndbuf", Programs { send_buffer: Some(16_384), writes: (1448, Duration::ZERO), ..GREEDY }),
        ("app", Programs { writes: (20_000, Duration::from_millis(100)), ..GREEDY }),
        ("reader", slow),
    ];
    for (name, programs) in cases {
        let [ours, theirs] = watched(programs);
        for evidence in [ours, theirs] {
            println!(
                "{name}: {:?} {} base {:?} scale {:?} seg {} auto {:?} control {:?} cap {:?} buf {:?} eps {} timeouts {} n {} full {:.2} busy {:.2} rwnd {:.2} sndbuf {:.2} idle {:.2}",
                evidence.vantage,
                evidence.goodput().rounded(),
                evidence.base_round_trip,
                evidence.window_scale,
                evidence.segment,
                evidence.autotuned,
                evidence.control,
                evidence.capacity,
                evidence.buffer,
                evidence.episodes.len(),
                evidence.timeouts,
                evidence.intervals.len(),
                share(&evidence, |i| if i.buffer_full == Some(true) { i.length } else { Span::ZERO }),
                share(&evidence, |i| i.kernel.unwrap_or_default().busy),
                share(&evidence, |i| i.kernel.unwrap_or_default().window_limited),
                share(&evidence, |i| i.kernel.unwrap_or_default().buffer_limited),
                share(&evidence, |i| i.idle),
            );
            for interval in evidence.intervals.iter().skip(20).take(8) {
                println!("   {interval:?}");
            }
        }
    }
}

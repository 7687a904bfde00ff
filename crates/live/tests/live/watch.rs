//! Watching connections over loopback: which are found, and what is said where there is nothing to see.

use crate::namespace;
use estimate::diagnosis::{Vantage, WindowSizing};
use host::Clock;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;
use tightlink_live::ProcessError;
use tightlink_live::watch::{Instead, WatchConfig, WatchError, Watched, Watcher};
use units::{Bytes, Span, Time};

/// A connection over loopback.
fn pair(address: &str) -> (TcpStream, TcpStream, TcpListener) {
    let listener = TcpListener::bind(address).expect("a free port");
    let stream = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
    let (accepted, _) = listener.accept().expect("a connection");
    (stream, accepted, listener)
}

/// Moves 4 kB every 10 ms over a connection for `time`, and closes it.
fn move_data(mut sender: TcpStream, mut receiver: TcpStream, time: Duration) -> JoinHandle<()> {
    std::thread::spawn(move || {
        let mut buffer = [0; 4096];
        for _ in 0..time.as_millis() / 10 {
            sender.write_all(&buffer).expect("the connection stands");
            receiver.read_exact(&mut buffer).expect("the connection stands");
            testkit::wait_until(testkit::now() + Duration::from_millis(10));
        }
    })
}

fn watch(config: WatchConfig, time: Span) -> Result<Watched, WatchError> {
    let clock = Clock::start();
    let mut watcher = Watcher::begin(config, &clock)?;
    while clock.now() < Time::ZERO + time {
        watcher.poll(&clock)?;
        host::wait(&mut [], Some(watcher.wakeup().since(clock.now()))).expect("it waits");
    }
    watcher.finish(&clock)
}

const SHORT: Span = Span::from_millis(400);

#[test]
fn a_connection_with_both_ends_here_is_reported_once_with_what_both_know() {
    namespace::enter();
    let (mut sender, receiver, _listener) = pair("127.0.0.1:0");
    // 60 kB stay unread.
    sender.write_all(&[0; 60_000]).expect("room");
    let ends = (sender.local_addr().expect("bound"), sender.peer_addr().expect("connected"));
    let moving = std::thread::spawn(move || {
        for _ in 0..40 {
            sender.write_all(&[0; 1000]).expect("room");
            testkit::wait_until(testkit::now() + Duration::from_millis(10));
        }
        drop(receiver);
    });
    let watched = watch(WatchConfig::default(), SHORT.scale(0.75)).expect("data moved");
    moving.join().expect("no panic");
    assert_eq!((watched.connections.len(), watched.idle), (1, 0));
    let evidence = &watched.connections[0].evidence;
    assert_eq!(evidence.len(), 1);
    assert_eq!((evidence[0].direction.source, evidence[0].direction.destination), ends);
    assert_eq!(evidence[0].vantage, Vantage::SenderSocket);
    let unread = evidence[0].intervals.last().and_then(|interval| interval.unread);
    assert!(unread > Some(Bytes::new(60_000)), "{unread:?}");
    let (sent, moved) = (watched.connections[0].sent, evidence[0].delivered());
    assert_eq!(sent, moved, "each byte is in one interval");
    assert!(evidence[0].intervals.windows(2).all(|pair| pair[0].from + pair[0].length == pair[1].from));
}

#[test]
fn connections_of_both_families_come_and_go_while_the_others_stay() {
    namespace::enter();
    let idle = pair("127.0.0.1:0");
    let long = pair("[::1]:0");
    let mapped = pair("[::]:0");
    let peer = long.0.peer_addr().expect("connected");
    let threads = [
        move_data(long.0, long.1, Duration::from_millis(4800)),
        move_data(mapped.0, mapped.1, Duration::from_millis(200)),
    ];
    let later = std::thread::spawn(|| {
        testkit::wait_until(testkit::now() + Duration::from_millis(300));
        let (sender, receiver, _listener) = pair("127.0.0.2:0");
        move_data(sender, receiver, Duration::from_millis(3700)).join().expect("no panic");
    });
    // A scan that costs 5 ms comes only every 2 s.
    let watched = watch(WatchConfig::default(), Span::from_millis(4500)).expect("data moved");
    assert_eq!(watched.idle, 2, "both ends of the idle one");
    let found = |text: &str| {
        let is_it = |connection: &&tightlink_live::watch::WatchedConnection| {
            connection.evidence[0].direction.destination.ip().to_string() == text
        };
        watched.connections.iter().find(is_it).unwrap_or_else(|| panic!("{text}: {watched:?}"))
    };
    assert!(!found("::1").closed && found("::1").evidence[0].direction.destination == peer);
    assert!(found("127.0.0.2").seen > Span::from_millis(200), "it came later");
    let mapped = found("::1").moved() > found("127.0.0.2").moved();
    assert!(mapped, "the one with most data comes first");
    assert_eq!(watched.connections[0].peer, peer);
    let only = |config: WatchConfig| watch(config, SHORT);
    let port = only(WatchConfig { port: Some(peer.port()), ..WatchConfig::default() }).expect("it moves");
    assert_eq!((port.connections.len(), port.idle), (1, 0));
    drop(idle);
    for thread in threads {
        thread.join().expect("no panic");
    }
    later.join().expect("no panic");
}

#[test]
fn only_connections_to_the_host_are_watched() {
    namespace::enter();
    let (one, other) = (pair("127.0.0.1:0"), pair("127.0.0.3:0"));
    let threads =
        [one, other].map(|(sender, receiver, _)| move_data(sender, receiver, Duration::from_millis(700)));
    let hosts = vec!["127.0.0.3".parse().expect("an address")];
    let watched = watch(WatchConfig { hosts, ..WatchConfig::default() }, SHORT).expect("data moved");
    assert_eq!(watched.connections.len(), 1);
    assert_eq!(watched.connections[0].peer.ip().to_string(), "127.0.0.3");
    for thread in threads {
        thread.join().expect("no panic");
    }
}

#[test]
fn the_reason_is_said_where_there_is_nothing_to_see() {
    namespace::enter();
    let nothing = |config: &WatchConfig| match watch(config.clone(), SHORT.scale(0.1)) {
        Err(WatchError::NoConnection { instead, .. }) => instead,
        other => panic!("{other:?}"),
    };
    let port = |port: u16| WatchConfig { port: Some(port), ..WatchConfig::default() };
    assert_eq!(nothing(&WatchConfig::default()), Instead::Nothing);
    let udp = UdpSocket::bind("127.0.0.1:4433").expect("free");
    assert_eq!(nothing(&port(4433)), Instead::Udp);
    let own = WatchConfig { pid: Some(std::process::id()), ..WatchConfig::default() };
    // The process itself is elsewhere: only this thread has entered the namespace.
    assert!(matches!(watch(own, SHORT), Err(WatchError::OtherNamespace { .. })));
    drop(udp);
    let listener = TcpListener::bind("127.0.0.1:4434").expect("free");
    assert_eq!(nothing(&port(4434)), Instead::Listening);
    let _idle = TcpStream::connect(listener.local_addr().expect("bound")).expect("it listens");
    match watch(port(4434), SHORT) {
        Err(WatchError::NothingMoved { connections: 2, whose, .. }) => assert_eq!(whose, "port 4434"),
        other => panic!("{other:?}"),
    }
    let gone = WatchConfig { pid: Some(u32::MAX >> 2), ..WatchConfig::default() };
    assert!(matches!(watch(gone, SHORT), Err(WatchError::Process(ProcessError::NoProcess { .. }))));
}

#[test]
fn connections_of_a_program_and_of_its_children_are_found_and_no_others() {
    namespace::enter();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let server = listener.local_addr().expect("bound");
    // The shell starts the program that sends.
    let script = format!("exec 3<>/dev/tcp/127.0.0.1/{}; cat /dev/zero >&3; true", server.port());
    let mut bash = Command::new("bash");
    let mut child: Child = bash.args(["-c", &script]).stdout(Stdio::null()).spawn().expect("bash");
    let (mut receiver, _) = listener.accept().expect("bash connects");
    let over = Arc::new(AtomicBool::new(false));
    let stop = Arc::clone(&over);
    // The programs end when the connection is closed.
    let reading = std::thread::spawn(move || {
        let mut buffer = vec![0; 1 << 16];
        while !stop.load(Ordering::Relaxed) && receiver.read(&mut buffer).is_ok_and(|length| length > 0) {
            testkit::wait_until(testkit::now() + Duration::from_millis(1));
        }
    });
    let (sender, other, _listener) = pair("127.0.0.1:0");
    let moving = move_data(sender, other, Duration::from_millis(600));
    let config = WatchConfig { pid: Some(child.id()), ..WatchConfig::default() };
    let watched = watch(config, SHORT).expect("data moved");
    over.store(true, Ordering::Relaxed);
    reading.join().expect("no panic");
    child.wait().expect("it ends");
    moving.join().expect("no panic");
    assert_eq!(watched.connections.len(), 1);
    assert_eq!(watched.connections[0].peer, server);
    assert!(watched.connections[0].inode > 0 && watched.connections[0].received == Bytes::ZERO);
}

#[test]
fn a_connection_that_begins_meanwhile_has_its_program_and_others_are_left_out() {
    namespace::enter();
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let port = listener.local_addr().expect("bound").port();
    // Some data at a time on a first connection, and then on a second one of a child.
    let script = format!(
        "write() {{ for n in $(seq $1); do head -c 20000 /dev/zero; read -t 0.1 <&3; done >&3; }}; \
         exec 3<>/dev/tcp/127.0.0.1/{port}; write 5; (exec 3<>/dev/tcp/127.0.0.1/{port}; write 35); true"
    );
    let mut bash = Command::new("bash");
    let mut child: Child = bash.args(["-c", &script]).stdout(Stdio::null()).spawn().expect("bash");
    let reading = std::thread::spawn(move || {
        let drain = |stream: TcpStream| {
            std::thread::spawn(move || std::io::copy(&mut &stream, &mut std::io::sink()).is_ok())
        };
        let both = [(); 2].map(|()| drain(listener.accept().expect("bash connects").0));
        both.map(|thread| thread.join().expect("no panic"))
    });
    let (sender, other, _listener) = pair("127.0.0.1:0");
    let moving = move_data(sender, other, Duration::from_millis(4500));
    let config = WatchConfig { pid: Some(child.id()), ..WatchConfig::default() };
    // A scan that costs 5 ms comes only every 2 s.
    let watched = watch(config, Span::from_millis(4500)).expect("data moved");
    child.wait().expect("it ends");
    assert_eq!(reading.join().expect("no panic"), [true; 2]);
    moving.join().expect("no panic");
    let named = |connection: &tightlink_live::watch::WatchedConnection| {
        connection.peer.port() == port && connection.owner.as_ref().is_some_and(|(_, name)| name == "bash")
    };
    let all = watched.connections.len() + watched.idle;
    assert!(watched.connections.iter().all(named) && all == 2, "{watched:?}");
    assert!(watched.cut_short.is_none());
}

#[test]
fn settings_that_bound_windows_are_read_from_the_namespace_of_the_connection() {
    namespace::enter();
    for name in ["tcp_moderate_rcvbuf", "tcp_window_scaling"] {
        std::fs::write(format!("/proc/sys/net/ipv4/{name}"), "0").expect("the namespace is the test's own");
    }
    let (sender, receiver, _listener) = pair("127.0.0.1:0");
    let moving = move_data(sender, receiver, Duration::from_millis(600));
    let watched = watch(WatchConfig::default(), SHORT).expect("data moved");
    moving.join().expect("no panic");
    assert!(!watched.settings.autotunes && !watched.settings.scales);
    let evidence = &watched.connections[0].evidence[0];
    assert_eq!((evidence.sizing, evidence.host), (Some(WindowSizing::AutotuningOff), Some(watched.settings)));
    assert!(evidence.scaling_off && evidence.window_scale.is_none());
    let (mut sender, receiver, _listener) = pair("127.0.0.1:0");
    socket2::SockRef::from(&receiver).set_recv_buffer_size(50_000).expect("a size");
    sender.write_all(&[0; 5000]).expect("room");
    let port = Some(receiver.local_addr().expect("bound").port());
    let own = watch(WatchConfig { port, ..WatchConfig::default() }, SHORT).expect("data waits");
    assert_eq!(own.connections[0].evidence[0].sizing, Some(WindowSizing::Program));
}

//! Who is not let in: strangers, wrong tickets, replayed ones. The receiver goes on listening.

use crate::bench::{Ear, TestTransfer, noise};
use socket2::{Domain, Socket, Type};
use std::fs;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use tightlink_transfer::{SendOptions, SilentObserver, Ticket, TransferError, send};

/// Waits until `ear` has heard `words`.
#[track_caller]
fn hears(ear: &Ear, words: &str) {
    for _ in 0..1000 {
        if ear.heard().contains(words) {
            return;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    panic!("not heard: {words:?}, but: {}", ear.heard());
}

/// `act` while a receiver listens; then the right sender comes, and is let in.
fn in_spite_of(act: impl FnOnce(&Ticket, SocketAddr, &Ear)) -> Arc<Ear> {
    in_spite_of_with(1, act)
}

/// The same, with so many data connections.
fn in_spite_of_with(streams: u16, act: impl FnOnce(&Ticket, SocketAddr, &Ear)) -> Arc<Ear> {
    let bench = TestTransfer::new();
    let path = bench.write("file", noise(200_000, 5));
    let receiver = bench.receiver();
    let ticket = receiver.ticket().clone();
    let ear = Arc::new(Ear::default());
    // Not in a scope: a test that fails must not wait for a receiver that nobody comes to.
    let listener = Arc::clone(&ear);
    let receiving = std::thread::spawn(move || receiver.run(&*listener));
    act(&ticket, ticket.sockets().next().unwrap(), &ear);
    let options = SendOptions { streams, ..SendOptions::default() };
    send(&[path], &ticket, &options, &bench.clock, &SilentObserver).unwrap();
    receiving.join().unwrap().unwrap();
    assert!(fs::read(bench.to().join("file")).unwrap() == noise(200_000, 5));
    assert_eq!(fs::read_dir(bench.to()).unwrap().count(), 1, "nothing else came in");
    ear
}

fn attempt(ticket: &Ticket) -> TransferError {
    let bench = TestTransfer::new();
    let path = bench.write("intruder", "content");
    send(&[path], ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap_err()
}

#[test]
fn a_port_scan_leaves_a_line_and_changes_nothing() {
    in_spite_of(|_, address, ear| {
        for _ in 0..3 {
            drop(TcpStream::connect(address).unwrap());
        }
        hears(ear, "turned away 127.0.0.1:");
    });
}

#[test]
fn random_bytes_are_turned_away() {
    in_spite_of(|_, address, ear| {
        for seed in 0..20 {
            let mut socket = TcpStream::connect(address).unwrap();
            let _ = socket.write_all(&noise(1 + seed as usize * 997, seed));
            let _ = socket.shutdown(std::net::Shutdown::Write);
            let _ = socket.read_to_end(&mut Vec::new());
        }
        // What looks like the beginning of a handshake, and goes on as noise.
        let mut socket = TcpStream::connect(address).unwrap();
        let _ = socket.write_all(&[&[0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3][..], &noise(5000, 1)].concat());
        let _ = socket.read_to_end(&mut Vec::new());
        hears(ear, "it does not follow tightlink's protocol");
    });
}

/// Keeps `count` connections from `source` to `to` open, each with `says` sent, and opens those again that are closed,
/// until `over`.
fn flood(source: &str, to: SocketAddr, count: usize, says: &[u8], over: &AtomicBool) {
    // None once the receiver has ended.
    let connect = || {
        let socket = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        socket.bind(&SocketAddr::new(source.parse().unwrap(), 0).into()).unwrap();
        socket.connect(&to.into()).ok()?;
        let mut socket = TcpStream::from(socket);
        socket.set_nonblocking(true).unwrap();
        let _ = socket.write_all(says);
        Some(socket)
    };
    let is_open = |mut socket: &TcpStream| match socket.read(&mut [0; 100]) {
        Ok(length) => length > 0,
        Err(error) => error.kind() == ErrorKind::WouldBlock,
    };
    let mut sockets = Vec::new();
    while !over.load(Ordering::Relaxed) {
        sockets.retain(is_open);
        while sockets.len() < count
            && let Some(socket) = connect()
        {
            sockets.push(socket);
        }
        std::thread::park_timeout(Duration::from_millis(20));
    }
}

/// `senders` one after the other, each with `streams`, get in while `count` connections are held against each receiver.
fn get_in_spite_of_a_flood(source: &str, count: usize, says: &[u8], senders: usize, streams: u16) {
    for _ in 0..senders {
        let over = AtomicBool::new(false);
        std::thread::scope(|threads| {
            let mut flooding = None;
            let ear = in_spite_of_with(streams, |_, address, ear| {
                flooding = Some(threads.spawn({
                    let over = &over;
                    move || flood(source, address, count, says, over)
                }));
                hears(ear, "too many connections are trying at once");
            });
            over.store(true, Ordering::Relaxed);
            flooding.unwrap().join().unwrap();
            assert!(ear.0.lock().unwrap().len() < 100, "the log is not flooded");
        });
    }
}

#[test]
fn silent_connections_do_not_keep_the_sender_out() {
    get_in_spite_of_a_flood("127.0.0.1", 40, b"", 3, 1);
}

#[test]
fn silent_connections_of_another_address_do_not_keep_the_sender_out() {
    get_in_spite_of_a_flood("127.0.0.2", 100, b"", 3, 8);
}

#[test]
fn connections_that_begin_a_handshake_and_go_silent_do_not_keep_the_sender_out() {
    // The head of a record whose rest does not come.
    get_in_spite_of_a_flood("127.0.0.1", 40, &[0x16, 3, 1, 2, 0, 1], 2, 4);
    get_in_spite_of_a_flood("127.0.0.2", 40, &[0x16, 3, 1, 2, 0, 1], 2, 4);
}

#[test]
fn a_ticket_with_another_secret_is_refused_by_the_receiver() {
    in_spite_of(|ticket, _, ear| {
        // Another session's secret.
        let other = TestTransfer::new().receiver().ticket().secret.clone();
        let error = attempt(&Ticket { secret: other, ..ticket.clone() });
        assert!(matches!(error, TransferError::TicketRefused { .. }), "{error}");
        assert_eq!(error.ending(), tightlink_transfer::Ending::Usage);
        hears(ear, "it does not hold this session's ticket");
    });
}

#[test]
fn a_ticket_for_another_receiver_is_refused_by_the_sender() {
    in_spite_of(|ticket, _, ear| {
        let other = TestTransfer::new().receiver().ticket().fingerprint;
        let error = attempt(&Ticket { fingerprint: other, ..ticket.clone() });
        assert!(matches!(error, TransferError::OtherReceiver { .. }), "{error}");
        assert!(error.to_string().contains("a finished session's ticket is not accepted again"));
        hears(ear, "turned away");
    });
}

#[test]
fn a_finished_sessions_ticket_is_refused_by_the_next_session_on_the_same_port() {
    let bench = TestTransfer::new();
    let path = bench.write("file", "content");
    let first = bench.transfer(std::slice::from_ref(&path), &SendOptions::default());
    first.received.unwrap();
    // Nobody listens any more.
    let error = send(
        std::slice::from_ref(&path),
        &first.ticket,
        &SendOptions::default(),
        &bench.clock,
        &SilentObserver,
    )
    .unwrap_err();
    assert!(matches!(error, TransferError::Unreachable { .. }), "{error}");
    // The next session in the same folder, on the same port.
    let mut options = TestTransfer::options();
    options.listen = first.ticket.sockets().next();
    let next = tightlink_transfer::Receiver::open(&bench.to(), &options, &bench.clock).unwrap();
    let ticket = next.ticket().clone();
    let receiving = std::thread::spawn(move || next.run(&SilentObserver));
    let error = send(
        std::slice::from_ref(&path),
        &first.ticket,
        &SendOptions::default(),
        &bench.clock,
        &SilentObserver,
    )
    .unwrap_err();
    assert!(matches!(error, TransferError::OtherReceiver { .. }), "{error}");
    send(&[path], &ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap();
    receiving.join().unwrap().unwrap();
}

#[test]
fn a_second_sender_waits_its_turn_and_is_told() {
    let bench = TestTransfer::new();
    let path = bench.write("large", noise(16_000_000, 6));
    let other = bench.write("other", "content");
    let receiver = bench.receiver();
    let ticket = receiver.ticket().clone();
    let ear = Ear::default();
    let slow = SendOptions { limit: Some(units::Rate::from_bps(20_000_000)), ..SendOptions::default() };
    std::thread::scope(|threads| {
        let receiving = threads.spawn(|| receiver.run(&ear));
        let first = threads.spawn(|| send(&[path], &ticket, &slow, &bench.clock, &SilentObserver));
        hears(&ear, "begins");
        let error =
            send(&[other], &ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap_err();
        assert!(error.to_string().contains("another sender is using this ticket"), "{error}");
        first.join().unwrap().unwrap();
        receiving.join().unwrap().unwrap();
    });
    assert!(!bench.to().join("other").exists());
}

/// A process that ends with its test.
struct Child(std::process::Child);

impl Drop for Child {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The processor time that process `pid` has taken, in seconds.
fn processor_seconds(pid: u32) -> f64 {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
    fields[11..13].iter().map(|ticks| ticks.parse::<f64>().unwrap()).sum::<f64>() / 100.0
}

#[test]
fn a_receiver_that_can_open_no_more_sockets_neither_spins_nor_ends() {
    const FOLDER: &str = "TIGHTLINK_TEST_FOLDER";
    // This test in a process of its own is the receiver.
    if let Some(folder) = std::env::var_os(FOLDER).map(std::path::PathBuf::from) {
        let clock = tightlink_transfer::Clock::start();
        let receiver = tightlink_transfer::Receiver::open(&folder, &TestTransfer::options(), &clock).unwrap();
        fs::write(folder.with_extension("writing"), receiver.ticket().to_string()).unwrap();
        fs::rename(folder.with_extension("writing"), folder.with_extension("ticket")).unwrap();
        receiver.run(&SilentObserver).unwrap();
        return;
    }
    let bench = TestTransfer::new();
    let path = bench.write("file", "content");
    let child = std::process::Command::new("sh")
        .args(["-c", "ulimit -n 20; exec \"$0\" \"$@\""])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "unauthenticated::a_receiver_that_can_open_no_more_sockets_neither_spins_nor_ends"])
        .env(FOLDER, bench.to())
        .stdout(std::process::Stdio::null())
        .spawn();
    let mut child = Child(child.unwrap());
    let ticket = bench.to().with_extension("ticket");
    while !ticket.exists() {
        assert!(child.0.try_wait().unwrap().is_none(), "the receiver has ended");
        std::thread::park_timeout(Duration::from_millis(10));
    }
    let ticket: Ticket = fs::read_to_string(ticket).unwrap().parse().unwrap();
    let address = ticket.sockets().next().unwrap();
    // They say something, so they are not silent, and are too many.
    let sockets: Vec<TcpStream> = (0..60)
        .map(|_| {
            let mut socket = TcpStream::connect(address).unwrap();
            let _ = socket.write_all(&[0x16, 3, 1, 2, 0]);
            socket
        })
        .collect();
    let before = processor_seconds(child.0.id());
    std::thread::park_timeout(Duration::from_millis(1500));
    let took = processor_seconds(child.0.id()) - before;
    assert!(took < 0.4, "{took} s of 1.5");
    send(&[path], &ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap();
    assert!(child.0.wait().unwrap().success());
    drop(sockets);
    assert!(bench.to().join("file").exists());
}

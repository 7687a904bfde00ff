//! Interruptions: what was checkpointed is not sent again, and what arrives is whole.

use crate::bench::{TestTransfer, no_session_in, noise};
use crate::proxy::Proxy;
use std::fs;
use tightlink_transfer::{ReceiveOptions, Receiver, SendOptions, SilentObserver, TransferError, send};
use units::Span;

const MIB: u64 = 1 << 20;

/// The journal's checkpoint: a chunk per connection, or so much of small files as comes in 200 ms.
const CHECKPOINT: u64 = MIB;

#[test]
fn a_path_that_breaks_costs_a_chunk_each_time_and_no_more() {
    for streams in [1, 2] {
        let bench = TestTransfer::new();
        let large = bench.write("x/large", noise(20 << 20, 7));
        for index in 0..300 {
            bench.write(&format!("x/small/{index}"), noise(10_000, index));
        }
        let total = (20 << 20) + 300 * 10_000;
        let receiver = bench.receiver();
        let mut ticket = receiver.ticket().clone();
        let proxy = Proxy::new(ticket.sockets().next().unwrap());
        ticket.port = proxy.port;
        let options = SendOptions { streams, ..SendOptions::default() };
        let receiving = std::thread::spawn(move || receiver.run(&SilentObserver));
        let cuts = [300_000, 5_000_001, 7_000_000, 3_333_333];
        for allowed in cuts {
            proxy.allow(allowed);
            let error = send(&[bench.from().join("x")], &ticket, &options, &bench.clock, &SilentObserver)
                .unwrap_err();
            assert!(matches!(error, TransferError::PeerGone { .. }), "{error}");
            assert!(error.to_string().contains("run the same `tightlink send` again"), "{error}");
        }
        proxy.allow(u64::MAX);
        let sent = send(&[bench.from().join("x")], &ticket, &options, &bench.clock, &SilentObserver).unwrap();
        let received = receiving.join().unwrap().unwrap();
        assert_eq!((sent.bytes, received.bytes), (total, total));
        assert!(sent.sent < Some(total * 2 / 3), "{:?} of {total} in the last run", sent.sent);
        // Frames, TLS and offers are a few per cent.
        let most = total + total / 20 + cuts.len() as u64 * u64::from(streams) * CHECKPOINT * 5 / 4;
        assert!(proxy.passed() < most, "{} bytes passed, {most} would do", proxy.passed());
        assert!(fs::read(bench.to().join("x/large")).unwrap() == fs::read(&large).unwrap());
        for index in 0..300 {
            assert!(fs::read(bench.to().join(format!("x/small/{index}"))).unwrap() == noise(10_000, index));
        }
        no_session_in(&bench.to());
    }
}

/// Interrupts a transfer of `path` after `bytes`, by the path, and ends the receiver: its session is left on disk.
fn interrupted(bench: &TestTransfer, path: &std::path::Path, bytes: u64) {
    let options = ReceiveOptions { wait: Some(Span::from_millis(300)), ..TestTransfer::options() };
    let receiver = Receiver::open(&bench.to(), &options, &bench.clock).unwrap();
    let mut ticket = receiver.ticket().clone();
    let proxy = Proxy::new(ticket.sockets().next().unwrap());
    ticket.port = proxy.port;
    proxy.allow(bytes);
    let receiving = std::thread::spawn(move || receiver.run(&SilentObserver));
    send(&[path.to_owned()], &ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap_err();
    let error = receiving.join().unwrap().unwrap_err();
    assert!(matches!(error, TransferError::NobodyCame { .. }), "{error}");
}

#[test]
fn a_file_that_changed_between_two_runs_is_sent_anew() {
    let bench = TestTransfer::new();
    let path = bench.write("file", noise(8 << 20, 8));
    interrupted(&bench, &path, 5 * MIB);
    fs::write(&path, noise(8 << 20, 9)).unwrap();
    let receiver = bench.receiver();
    assert!(receiver.resumed());
    let ticket = receiver.ticket().clone();
    let receiving = std::thread::spawn(move || receiver.run(&SilentObserver));
    let sent = send(&[path], &ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap();
    receiving.join().unwrap().unwrap();
    assert_eq!(sent.sent, Some(8 * MIB), "nothing of the old one is of use");
    assert!(fs::read(bench.to().join("file")).unwrap() == noise(8 << 20, 9));
    no_session_in(&bench.to());
}

#[test]
fn what_was_damaged_between_two_runs_is_sent_again_in_the_same_boot_too() {
    let bench = TestTransfer::new();
    let path = bench.write("file", noise(8 << 20, 8));
    interrupted(&bench, &path, 5 * MIB);
    let partial =
        fs::read_dir(bench.to().join(".tightlink/partial")).unwrap().next().unwrap().unwrap().path();
    let mut content = fs::read(&partial).unwrap();
    content[MIB as usize..2 * MIB as usize].fill(0);
    fs::write(&partial, content).unwrap();
    let receiver = bench.receiver();
    let ticket = receiver.ticket().clone();
    let receiving = std::thread::spawn(move || receiver.run(&SilentObserver));
    let sent = send(&[path], &ticket, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap();
    receiving.join().unwrap().unwrap();
    assert!((3 * MIB..=6 * MIB).contains(&sent.sent.unwrap()), "{:?} bytes were sent", sent.sent);
    assert!(fs::read(bench.to().join("file")).unwrap() == noise(8 << 20, 8));
}

#[test]
fn an_expired_ticket_lets_nobody_in_and_what_has_arrived_is_kept() {
    let bench = TestTransfer::new();
    let path = bench.write("file", noise(8 << 20, 8));
    let brief = ReceiveOptions { expire: Span::from_secs(2), ..TestTransfer::options() };
    let receiver = Receiver::open(&bench.to(), &brief, &bench.clock).unwrap();
    let ticket = receiver.ticket().clone();
    let mut through = ticket.clone();
    let proxy = Proxy::new(ticket.sockets().next().unwrap());
    through.port = proxy.port;
    proxy.allow(5 * MIB);
    let receiving = std::thread::spawn(move || receiver.run(&SilentObserver));
    send(std::slice::from_ref(&path), &through, &SendOptions::default(), &bench.clock, &SilentObserver)
        .unwrap_err();
    let error = receiving.join().unwrap().unwrap_err();
    assert!(matches!(error, TransferError::Expired(_)), "{error}");
    let again = bench.receiver();
    assert!(again.renewed() && again.ticket().secret != ticket.secret);
    let renewed = again.ticket().clone();
    let receiving = std::thread::spawn(move || again.run(&SilentObserver));
    send(std::slice::from_ref(&path), &ticket, &SendOptions::default(), &bench.clock, &SilentObserver)
        .unwrap_err();
    let sent = send(&[path], &renewed, &SendOptions::default(), &bench.clock, &SilentObserver).unwrap();
    receiving.join().unwrap().unwrap();
    assert!(sent.sent.unwrap() <= 5 * MIB, "{:?} bytes were sent", sent.sent);
}

#[test]
fn a_file_that_changes_while_it_is_sent_is_sent_again() {
    let bench = TestTransfer::new();
    let path = bench.write("file", noise(8 << 20, 10));
    let slow = SendOptions { limit: Some(units::Rate::from_bps(40_000_000)), ..SendOptions::default() };
    let ended = std::sync::atomic::AtomicBool::new(false);
    let transfer = std::thread::scope(|threads| {
        threads.spawn(|| {
            // It is under way when a file lies where files grow.
            let begun = || {
                fs::read_dir(bench.to().join(".tightlink/partial"))
                    .is_ok_and(|mut files| files.next().is_some())
            };
            while !begun() && !ended.load(std::sync::atomic::Ordering::Relaxed) {
                std::thread::park_timeout(std::time::Duration::from_millis(20));
            }
            fs::write(bench.from().join("file"), noise(3 << 20, 11)).unwrap();
        });
        let transfer = bench.transfer(&[path], &slow);
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
        transfer
    });
    assert_eq!(transfer.sent.unwrap().bytes, 3 * MIB);
    transfer.received.unwrap();
    assert!(fs::read(bench.to().join("file")).unwrap() == noise(3 << 20, 11));
}

#[test]
fn a_file_that_does_not_come_to_rest_is_given_up_and_told() {
    let bench = TestTransfer::new();
    let path = bench.write("log", noise(2 << 20, 12));
    bench.write("other", "stays");
    let slow = SendOptions { limit: Some(units::Rate::from_bps(40_000_000)), ..SendOptions::default() };
    let ended = std::sync::atomic::AtomicBool::new(false);
    let transfer = std::thread::scope(|threads| {
        threads.spawn(|| {
            use std::io::Write;
            let mut log = fs::OpenOptions::new().append(true).open(bench.from().join("log")).unwrap();
            while !ended.load(std::sync::atomic::Ordering::Relaxed) {
                log.write_all(b"one more line\n").unwrap();
                std::thread::park_timeout(std::time::Duration::from_millis(20));
            }
        });
        let transfer = bench.transfer(&[path, bench.from().join("other")], &slow);
        ended.store(true, std::sync::atomic::Ordering::Relaxed);
        transfer
    });
    let error = transfer.sent.unwrap_err().to_string();
    assert!(error.contains("1 of 2") && error.contains("log: it kept changing while it was sent"), "{error}");
    assert!(transfer.received.is_err());
    assert!(!bench.to().join("log").exists(), "nothing torn under its name");
    assert_eq!(fs::read(bench.to().join("other")).unwrap(), b"stays");
}

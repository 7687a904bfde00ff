//! Interruptions: what was checkpointed is not sent again, and what arrives is whole.

use crate::bench::{Bench, no_session_in, noise};
use crate::proxy::Proxy;
use std::fs;
use tightlink_transfer::{Receiver, SendOptions, Silent, TransferError, send};

const MIB: u64 = 1 << 20;

/// The journal's checkpoint: a chunk per connection, or so much of small files as comes in 200 ms.
const CHECKPOINT: u64 = MIB;

#[test]
fn a_path_that_breaks_costs_a_chunk_each_time_and_no_more() {
    for streams in [1, 2] {
        let bench = Bench::new();
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
        let receiving = std::thread::spawn(move || receiver.run(&Silent));
        let cuts = [300_000, 5_000_001, 7_000_000, 3_333_333];
        for allowed in cuts {
            proxy.allow(allowed);
            let error =
                send(&[bench.from().join("x")], &ticket, &options, &bench.clock, &Silent).unwrap_err();
            assert!(matches!(error, TransferError::PeerGone { .. }), "{error}");
            assert!(error.to_string().contains("run the same `tightlink send` again"), "{error}");
        }
        proxy.allow(u64::MAX);
        let sent = send(&[bench.from().join("x")], &ticket, &options, &bench.clock, &Silent).unwrap();
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

/// Interrupts a transfer of `path` after `bytes`, by the path; the receiver's session is left as it is on disk.
fn interrupted(bench: &Bench, path: &std::path::Path, bytes: u64) {
    let receiver = bench.receiver();
    let mut ticket = receiver.ticket().clone();
    let proxy = Proxy::new(ticket.sockets().next().unwrap());
    ticket.port = proxy.port;
    proxy.allow(bytes);
    // It never ends: its thread stays behind, waiting, with its folder's lock. A copy of the folder has none.
    std::thread::spawn(move || receiver.run(&Silent));
    send(&[path.to_owned()], &ticket, &SendOptions::default(), &bench.clock, &Silent).unwrap_err();
    comes_to_rest(&bench.to().join(".tightlink/journal"));
    let copy = bench.to().with_extension("copy");
    let copied = std::process::Command::new("cp").arg("-a").arg(bench.to()).arg(&copy).status().unwrap();
    assert!(copied.success());
}

/// Waits until `file` has not grown for 300 ms: what the path let through has been stored.
fn comes_to_rest(file: &std::path::Path) {
    let size = || fs::metadata(file).unwrap().len();
    let (mut before, mut same) = (size(), 0);
    while same < 6 {
        std::thread::park_timeout(std::time::Duration::from_millis(50));
        same = if size() == before { same + 1 } else { 0 };
        before = size();
    }
}

/// Lets the session in `state` be listened on anywhere.
fn anywhere(state: &std::path::Path) {
    let session = fs::read_to_string(state.join("session")).unwrap();
    let (before, rest) = session.split_once("\"listen\":\"").unwrap();
    let (_, after) = rest.split_once('"').unwrap();
    fs::write(state.join("session"), format!("{before}\"listen\":null{after}")).unwrap();
}

#[test]
fn a_file_that_changed_between_two_runs_is_sent_anew() {
    let bench = Bench::new();
    let path = bench.write("file", noise(8 << 20, 8));
    interrupted(&bench, &path, 5 * MIB);
    let (folder, options) = (bench.to().with_extension("copy"), Bench::options());
    fs::write(&path, noise(8 << 20, 9)).unwrap();
    // The interrupted session's port is still listened on by the first one.
    anywhere(&folder.join(".tightlink"));
    let receiver = Receiver::open(&folder, &options, &bench.clock).unwrap();
    assert!(receiver.resumed());
    let ticket = receiver.ticket().clone();
    let receiving = std::thread::spawn(move || receiver.run(&Silent));
    let sent = send(&[path], &ticket, &SendOptions::default(), &bench.clock, &Silent).unwrap();
    receiving.join().unwrap().unwrap();
    assert_eq!(sent.sent, Some(8 * MIB), "nothing of the old one is of use");
    assert!(fs::read(folder.join("file")).unwrap() == noise(8 << 20, 9));
    no_session_in(&folder);
}

#[test]
fn after_a_reboot_what_does_not_hash_right_is_sent_again() {
    let bench = Bench::new();
    let path = bench.write("file", noise(8 << 20, 8));
    interrupted(&bench, &path, 5 * MIB);
    let folder = bench.to().with_extension("copy");
    let state = folder.join(".tightlink");
    anywhere(&state);
    // Another boot: the first record of the journal says which it was made in. A power cut ate half of what the
    // journal claims.
    let journal = fs::read(state.join("journal")).unwrap();
    let body = [&[0][..], &[9; 16]].concat();
    let boot = [&17u32.to_le_bytes()[..], &blake3::hash(&body).as_bytes()[..4], &body].concat();
    assert_eq!(journal[8], 0, "a record of a boot");
    fs::write(state.join("journal"), [&boot, &journal[25..]].concat()).unwrap();
    let partial = fs::read_dir(state.join("partial")).unwrap().next().unwrap().unwrap().path();
    let mut content = fs::read(&partial).unwrap();
    content[MIB as usize..2 * MIB as usize].fill(0);
    fs::write(&partial, content).unwrap();
    let receiver = Receiver::open(&folder, &Bench::options(), &bench.clock).unwrap();
    let ticket = receiver.ticket().clone();
    let receiving = std::thread::spawn(move || receiver.run(&Silent));
    let sent = send(&[path], &ticket, &SendOptions::default(), &bench.clock, &Silent).unwrap();
    receiving.join().unwrap().unwrap();
    assert!((3 * MIB..=6 * MIB).contains(&sent.sent.unwrap()), "{:?} bytes were sent", sent.sent);
    assert!(fs::read(folder.join("file")).unwrap() == noise(8 << 20, 8));
}

#[test]
fn a_file_that_changes_while_it_is_sent_is_sent_again() {
    let bench = Bench::new();
    let path = bench.write("file", noise(8 << 20, 10));
    let slow = SendOptions { limit: Some(units::Rate::from_bps(40_000_000)), ..SendOptions::default() };
    let transfer = std::thread::scope(|threads| {
        threads.spawn(|| {
            // It is under way when a file lies where files grow.
            let begun = || {
                fs::read_dir(bench.to().join(".tightlink/partial"))
                    .is_ok_and(|mut files| files.next().is_some())
            };
            while !begun() {
                std::thread::park_timeout(std::time::Duration::from_millis(20));
            }
            fs::write(bench.from().join("file"), noise(3 << 20, 11)).unwrap();
        });
        bench.transfer(&[path], &slow)
    });
    assert_eq!(transfer.sent.unwrap().bytes, 3 * MIB);
    transfer.received.unwrap();
    assert!(fs::read(bench.to().join("file")).unwrap() == noise(3 << 20, 11));
}

#[test]
fn a_file_that_does_not_come_to_rest_is_given_up_and_told() {
    let bench = Bench::new();
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

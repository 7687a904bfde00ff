//! A path that breaks while one `send` is at work: it connects again by itself.

use crate::bench::{Ear, TestTransfer, noise};
use crate::proxy::Proxy;
use std::fs;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;
use testkit::tries::{in_one_of_five, in_time};
use tightlink_transfer::{
    Accept, Observer, Question, ReceiveOptions, Receiver, SendOptions, SilentObserver, Snapshot,
    TransferError, send,
};
use units::{Rate, Span};

const AGAIN: &str = "connecting again";

/// Waits until `ear` has heard of more new attempts than `before`.
#[track_caller]
fn more_attempts(ear: &Ear, before: usize) -> usize {
    for _ in 0..2000 {
        let attempts = ear.heard().matches(AGAIN).count();
        if attempts > before {
            return attempts;
        }
        std::thread::park_timeout(Duration::from_millis(10));
    }
    panic!("no new attempt: {}", ear.heard());
}

#[test]
fn one_call_gets_through_a_path_that_breaks_several_times() {
    for streams in [1, 3] {
        let bench = TestTransfer::new();
        let path = bench.write("file", noise(12 << 20, 21));
        let receiver = bench.receiver();
        let mut ticket = receiver.ticket().clone();
        let proxy = Proxy::new(ticket.sockets().next().unwrap());
        ticket.port = proxy.port;
        let (ear, there) = (Ear::default(), Ear::default());
        let limit = Some(Rate::from_bps(50_000_000));
        let options = SendOptions { streams, limit, retry: Span::from_secs(60), ..SendOptions::default() };
        let began = bench.clock.now();
        let sent = std::thread::scope(|threads| {
            let receiving = threads.spawn(|| receiver.run(&there));
            proxy.allow(3_000_000);
            let sending = threads.spawn(|| send(&[path], &ticket, &options, &bench.clock, &ear));
            let attempts = more_attempts(&ear, 0);
            proxy.allow(4_000_000);
            more_attempts(&ear, attempts);
            proxy.allow(u64::MAX);
            let sent = sending.join().unwrap().unwrap();
            receiving.join().unwrap().unwrap();
            sent
        });
        let all = 12 << 20;
        assert!(fs::read(bench.to().join("file")).unwrap() == noise(12 << 20, 21));
        assert_eq!(sent.bytes, all);
        // All attempts count; each break costs a chunk per connection, and what buffers held.
        let most = all + 2 * (u64::from(streams) + 2) * (1 << 20);
        assert!((all..=most).contains(&sent.sent.unwrap()), "{:?} of {all}", sent.sent);
        let elapsed = bench.clock.now().since(began);
        assert!(sent.elapsed <= elapsed && sent.elapsed * 10 > elapsed * 8, "{} of {elapsed}", sent.elapsed);
    }
}

/// Answers yes when it is asked again, after the data connection has died.
struct Slow<'a>(&'a Proxy, AtomicBool);

impl Observer for Slow<'_> {
    fn say(&self, _line: &str) {}
    fn progress(&self, _snapshot: &Snapshot) {}
    fn accept(&self, _question: &Question, is_over: &dyn Fn() -> bool) -> bool {
        if !self.1.swap(true, Ordering::Relaxed) {
            self.0.cut(1);
            while !is_over() {
                std::thread::park_timeout(Duration::from_millis(10));
            }
        }
        true
    }
}

#[test]
fn a_data_connection_that_dies_alone_is_made_again_with_the_session() {
    // Without a limit all has been handed to the kernel when it dies, and the sender has nothing to write any more.
    let limit = Some(Rate::from_bps(40_000_000));
    for (asks, limit, length) in [(true, None, 1000), (false, None, 3 << 20), (false, limit, 3 << 20)] {
        let bench = TestTransfer::new();
        let path = bench.write("file", noise(length, 23));
        let accept = Accept { ask: asks, ..Accept::default() };
        let options = ReceiveOptions { accept, ..TestTransfer::options() };
        let receiver = Receiver::open(&bench.to(), &options, &bench.clock).unwrap();
        let mut ticket = receiver.ticket().clone();
        let proxy = Proxy::new(ticket.sockets().next().unwrap());
        ticket.port = proxy.port;
        proxy.allow(u64::MAX);
        let ear = Ear::default();
        let options = SendOptions { limit, retry: Span::from_secs(60), ..SendOptions::default() };
        let began = bench.clock.now();
        std::thread::scope(|threads| {
            let person = Slow(&proxy, AtomicBool::new(false));
            if !asks {
                proxy.cut_one_after(length as u64 / 3);
            }
            let receiving = threads.spawn(move || receiver.run(&person));
            let sending = threads.spawn(|| send(&[path], &ticket, &options, &bench.clock, &ear));
            sending.join().unwrap().unwrap();
            receiving.join().unwrap().unwrap();
        });
        assert!(fs::read(bench.to().join("file")).unwrap() == noise(length, 23));
        assert!(ear.heard().contains(AGAIN), "{}", ear.heard());
        assert!(bench.clock.now().since(began) < Span::from_secs(30), "asks: {asks}, {limit:?}");
    }
}

#[test]
fn a_sender_gives_up_when_the_receiver_does_not_come_back() {
    in_one_of_five(|| {
        let bench = TestTransfer::new();
        let path = bench.write("file", noise(8 << 20, 22));
        let receiver = bench.receiver();
        let mut ticket = receiver.ticket().clone();
        let proxy = Proxy::new(ticket.sockets().next().unwrap());
        ticket.port = proxy.port;
        // It never ends: its thread stays behind.
        std::thread::spawn(move || receiver.run(&SilentObserver));
        proxy.allow(2_000_000);
        let retry = Span::from_secs(2);
        let (ear, options) = (Ear::default(), SendOptions { retry, ..SendOptions::default() });
        let began = bench.clock.now();
        let error = send(&[path], &ticket, &options, &bench.clock, &ear).unwrap_err();
        let took = bench.clock.now().since(began);
        assert!(
            matches!(error, TransferError::PeerGone { .. } | TransferError::Unreachable { .. }),
            "{error}"
        );
        assert!(took >= retry, "{took}");
        // A slow machine has used up the two seconds after fewer attempts.
        in_time(took < Span::from_secs(15) && ear.heard().matches(AGAIN).count() >= 2, ear.heard())
    });
}

#[test]
fn a_sender_that_never_reached_a_receiver_ends_at_once() {
    let bench = TestTransfer::new();
    let path = bench.write("file", "content");
    let ticket = bench.receiver().ticket().clone();
    let options = SendOptions { retry: Span::from_secs(60), ..SendOptions::default() };
    let began = bench.clock.now();
    let error = send(&[path], &ticket, &options, &bench.clock, &SilentObserver).unwrap_err();
    assert!(matches!(error, TransferError::Unreachable { .. }), "{error}");
    assert!(bench.clock.now().since(began) < Span::from_secs(5));
}

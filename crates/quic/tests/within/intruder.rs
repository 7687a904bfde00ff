//! Senders that know the receiver's public key, and lack the sender's private one.

use super::Keys;
use crate::batch::Batch;
use crate::receiving_end::ReceivingEnd;
use crate::sending_end::{SendingEnd, SendingPhase};
use crate::session::{ControlChoice, FlowConfig, MOST_TOGETHER};
use cc::Start;
use cc::registry::Tuning;
use live::LiveError;
use std::net::SocketAddr;
use std::time::Instant;
use units::{Bytes, Span, Time};

const SEGMENT: Bytes = Bytes::new(1472);
const SIZE: Bytes = Bytes::new(50_000);

fn flow() -> FlowConfig {
    let start = Start { segment: SEGMENT, window: SEGMENT * 10, threshold: Bytes::MAX };
    FlowConfig {
        common: live::FlowConfig::sized("flow", "reno", SIZE),
        control: ControlChoice {
            name: "reno".into(),
            slow_start: "standard".into(),
            start,
            tuning: Tuning::default(),
        },
        delayed_ack: 2,
        delayed_ack_timeout: Span::from_millis(25),
        most_together: MOST_TOGETHER,
        probe_port: None,
    }
}

fn address(host: u8) -> SocketAddr {
    SocketAddr::from(([10, 0, 0, host], 1))
}

/// A sender, its address, and the number of datagrams after which it is silent.
struct Caller {
    from: SocketAddr,
    end: SendingEnd,
    most: usize,
    failed: Option<LiveError>,
}

/// A receiver and those who call it; a datagram takes no time.
struct Scene {
    now: Time,
    epoch: Instant,
    receiver: ReceivingEnd,
    callers: Vec<Caller>,
    batch: Batch,
}

impl Scene {
    fn new(keys: &Keys) -> Self {
        let epoch = host::clock::now();
        let receiver = ReceivingEnd::listen(&flow(), keys, epoch, None).unwrap();
        Self { now: Time::ZERO, epoch, receiver, callers: Vec::new(), batch: Batch::new() }
    }

    /// Adds a caller, which sends at most `most` datagrams.
    fn call(&mut self, keys: &Keys, host: u8, most: usize) {
        let begin = (self.epoch, self.now);
        let mut end = SendingEnd::connect(&flow(), keys, address(0), begin, None).unwrap();
        end.release();
        self.callers.push(Caller { from: address(host), end, most, failed: None });
    }

    /// Lets all send to each other for `millis`.
    fn run(&mut self, millis: u64) {
        for _ in 0..millis {
            let now = self.now;
            for caller in self.callers.iter_mut().filter(|caller| caller.failed.is_none()) {
                caller.failed = caller.end.turn(now).err();
                caller.end.output(now, &mut self.batch);
                for datagram in self.batch.datagrams().take(caller.most) {
                    caller.most -= 1;
                    self.receiver.handle(now, caller.from, datagram);
                }
            }
            self.receiver.turn(now);
            loop {
                self.receiver.output(now, &mut self.batch);
                if self.batch.is_empty() {
                    break;
                }
                let to = self.batch.to;
                let called = self.callers.iter_mut().find(|caller| caller.from == to);
                let caller = called.filter(|caller| caller.failed.is_none());
                if let Some(caller) = caller {
                    caller.failed = caller.end.handle(now, address(0), self.batch.bytes()).err();
                }
            }
            self.now += Span::from_millis(1);
        }
    }

    /// Asserts that the last caller sends everything, and becomes the flow.
    fn the_last_gets_through(&mut self) {
        self.run(1000);
        let last = self.callers.last().unwrap();
        assert!(last.failed.is_none(), "{:?}", last.failed);
        assert_eq!((last.end.phase(), self.receiver.payload()), (SendingPhase::Done, SIZE));
        assert_eq!(self.receiver.peer(), Some(last.from));
    }
}

/// Returns the keys of an intruder into the run of `keys`.
fn forged(keys: &Keys) -> Keys {
    Keys { sender: Keys::random().unwrap().sender, receiver: keys.receiver.clone() }
}

#[test]
fn a_sender_without_the_private_key_does_not_become_the_flow() {
    let keys = Keys::random().unwrap();
    let mut scene = Scene::new(&keys);
    scene.call(&forged(&keys), 1, usize::MAX);
    scene.run(500);
    let error = scene.callers[0].failed.as_ref().expect("an error at the intruder");
    assert!(error.to_string().contains("another key"), "{error}");
    assert_eq!((scene.receiver.peer(), scene.receiver.payload()), (None, Bytes::ZERO));
    assert!(!scene.receiver.has_ended());
    scene.call(&keys, 2, usize::MAX);
    scene.the_last_gets_through();
}

/// Intruders with addresses of their own prove these, and then leave their handshakes unfinished.
#[test]
fn unfinished_handshakes_do_not_keep_the_sender_out() {
    let keys = Keys::random().unwrap();
    let mut scene = Scene::new(&keys);
    for host in 1..=60 {
        // The first packet, and again with the proof of the address.
        scene.call(&forged(&keys), host, 2);
    }
    scene.run(10);
    scene.call(&keys, 100, usize::MAX);
    scene.the_last_gets_through();
}

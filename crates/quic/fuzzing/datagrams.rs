//! Forged datagrams at both ends of a flow, between the true ones: random bytes, and real datagrams that are changed,
//! cut, extended or repeated. The flow goes on, and its data arrive.

use super::Script;
use crate::batch::Batch;
use crate::keys::Keys;
use crate::receiving_end::ReceivingEnd;
use crate::sending_end::{SendingEnd, SendingPhase};
use crate::session::{ControlChoice, FlowConfig, MOST_TOGETHER};
use cc::Start;
use cc::registry::Tuning;
use std::net::SocketAddr;
use std::sync::OnceLock;
use units::{Bytes, Span, Time};

const SEGMENT: Bytes = Bytes::new(1472);
/// The payload of the flow.
const SIZE: Bytes = Bytes::new(30_000);
/// The most bytes in a forged datagram.
const LONGEST: u64 = 1500;
/// The most turns of a flow that nobody disturbs any more.
const MOST_TURNS: u32 = 1000;

struct Flow {
    now: Time,
    sender: SendingEnd,
    receiver: ReceivingEnd,
    batch: Batch,
    /// The datagrams that have arrived, of both ways.
    seen: Vec<Vec<u8>>,
}

const fn address(last: u8) -> SocketAddr {
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::new(10, 0, 0, last)), 1)
}

/// The addresses of the sender, the receiver, and a stranger.
const NEAR: SocketAddr = address(1);
const FAR: SocketAddr = address(2);
const STRANGER: SocketAddr = address(3);

impl Flow {
    fn new() -> Self {
        static KEYS: OnceLock<Keys> = OnceLock::new();
        let keys = KEYS.get_or_init(|| Keys::random().expect("random numbers"));
        let start = Start { segment: SEGMENT, window: SEGMENT * 10, threshold: Bytes::MAX };
        let config = FlowConfig {
            common: live::FlowConfig::sized("flow", "cubic", SIZE),
            control: ControlChoice {
                name: "cubic".into(),
                slow_start: "standard".into(),
                start,
                tuning: Tuning::default(),
            },
            delayed_ack: 2,
            delayed_ack_timeout: Span::from_millis(25),
            most_together: MOST_TOGETHER,
            probe_port: None,
        };
        let begin = (host::clock::now(), Time::ZERO);
        let mut sender = SendingEnd::connect(&config, keys, FAR, begin, Some(1)).expect("settings");
        sender.release();
        let receiver = ReceivingEnd::listen(&config, keys, begin.0, Some(2)).expect("settings");
        Self { now: Time::ZERO, sender, receiver, batch: Batch::new(), seen: Vec::new() }
    }

    /// Lets each end send once to the other. Then a millisecond passes, or the time until a timer.
    fn turn(&mut self) {
        let (now, mut is_idle) = (self.now, true);
        self.sender.turn(now).expect("the connection goes on");
        self.receiver.turn(now);
        self.sender.output(now, &mut self.batch);
        for datagram in self.batch.datagrams() {
            is_idle = false;
            self.receiver.handle(now, NEAR, datagram);
            self.seen.push(datagram.to_vec());
        }
        loop {
            self.receiver.output(now, &mut self.batch);
            if self.batch.is_empty() {
                break;
            }
            if self.batch.to == NEAR {
                is_idle = false;
                self.sender.handle(now, FAR, self.batch.bytes()).expect("the connection goes on");
                self.seen.push(self.batch.bytes().to_vec());
            }
        }
        let timer = self.sender.wakeup().at.min(self.receiver.wakeup());
        let next = now + Span::from_millis(1);
        self.now = if is_idle { next.max(timer.min(now + Span::from_secs(1))) } else { next };
    }

    fn is_done(&self) -> bool {
        self.sender.phase() == SendingPhase::Done && self.receiver.has_ended()
    }

    fn forge(&mut self, script: &mut Script<'_>) {
        let kind = script.byte();
        let mut datagram = if kind & 3 == 0 || self.seen.is_empty() {
            let length = script.number() % (LONGEST + 1);
            let filling = script.byte();
            (0..length).map(|place| if place < 40 { script.byte() } else { filling }).collect()
        } else {
            self.seen[script.number() as usize % self.seen.len()].clone()
        };
        let place = script.number() as usize % datagram.len().max(1);
        match kind & 3 {
            1 => datagram.truncate(place),
            2 => datagram.iter_mut().skip(place).take(1).for_each(|byte| *byte ^= script.byte()),
            3 if kind & 4 != 0 => datagram.extend(std::iter::repeat_n(script.byte(), 1 + place % 50)),
            _ => {}
        }
        if kind & 8 == 0 {
            self.receiver.handle(self.now, if kind & 16 == 0 { NEAR } else { STRANGER }, &datagram);
        } else {
            let from = if kind & 16 == 0 { FAR } else { STRANGER };
            self.sender.handle(self.now, from, &datagram).expect("the connection goes on");
        }
    }
}

/// Plays `script`: turns of the flow, and forged datagrams between them.
///
/// # Panics
/// If the flow does not arrive whole; that is the purpose of the test.
pub fn datagrams(script: &[u8]) {
    let (mut script, mut flow) = (Script(script), Flow::new());
    while !script.is_over() {
        if script.byte() % 4 == 0 {
            flow.turn();
        } else {
            flow.forge(&mut script);
        }
    }
    let mut turns = 0;
    while !flow.is_done() {
        flow.turn();
        turns += 1;
        assert!(turns < MOST_TURNS, "{} of {SIZE} have arrived", flow.receiver.payload());
    }
    assert_eq!((flow.receiver.payload(), flow.receiver.peer()), (SIZE, Some(NEAR)));
    assert_eq!(flow.sender.counts().differences, 0);
}

//! Two ends without IO, a [`Link`] from the sender to the receiver, and a delay back.

use cc::Start;
use cc::registry::Tuning;
use link::{Datagram, DropReason, Limit, Link, LinkConfig, LinkReport};
use std::collections::VecDeque;
use std::net::SocketAddr;
use std::time::Instant;
use tightlink_quic::{
    Batch, ControlChoice, FlowConfig, HEADERS, Keys, LedgerCounts, MOST_TOGETHER, ReceivingEnd, SendingEnd,
    SendingPhase,
};
use units::random::Stream;
use units::{Bytes, Fraction, Rate, Span, Time};

/// The payload of a full datagram in packets of 1500 bytes.
pub const PAYLOAD: Bytes = Bytes::new(1472);

/// A datagram on the link.
#[derive(Clone, Debug)]
pub struct Packet(Vec<u8>);

impl Datagram for Packet {
    fn wire_len(&self) -> Bytes {
        Bytes::new(self.0.len() as u64) + HEADERS
    }
}

/// A path and the flow over it.
#[derive(Clone, Debug)]
pub struct Course {
    pub rate: Rate,
    pub rtt: Span,
    pub limit: Limit,
    pub loss: Fraction,
    pub length: Span,
    pub flow: FlowConfig,
    /// The windows that the receiver sets, with their times.
    pub windows: Vec<(Time, Bytes)>,
}

impl Course {
    /// Makes a course of `mbps`, `rtt_ms`, a queue of `limit` bytes and `control`, with every packet acknowledged.
    pub fn new(mbps: u64, rtt_ms: u64, limit: u64, control: &str, seconds: u64) -> Self {
        let start = Start { segment: PAYLOAD, window: PAYLOAD * 10, threshold: Bytes::MAX };
        let slow_start = "standard".to_owned();
        let control = ControlChoice { name: control.into(), slow_start, start, tuning: Tuning::default() };
        Self {
            rate: Rate::from_bps(mbps * 1_000_000),
            rtt: Span::from_millis(rtt_ms),
            limit: Limit::Bytes(Bytes::new(limit)),
            loss: Fraction::ZERO,
            length: Span::from_secs(seconds),
            flow: FlowConfig {
                common: live::FlowConfig::greedy("flow", &control.name),
                control,
                delayed_ack: 1,
                delayed_ack_timeout: Span::from_millis(25),
                most_together: MOST_TOGETHER,
                probe_port: None,
            },
            windows: Vec::new(),
        }
    }
}

/// The outcome of a course.
#[derive(Debug)]
pub struct Run {
    /// Payload of the stream over the course's length.
    pub goodput: Rate,
    pub link: LinkReport,
    pub counts: LedgerCounts,
    /// A hash of every datagram's time, length and direction.
    pub hash: u64,
    /// The payload that had arrived at each tenth of a second.
    pub arrived: Vec<u64>,
    pub phase: SendingPhase,
    pub least_rtt: Option<Span>,
    /// The controller's window at the end.
    pub window: Bytes,
    pub mean_rtt: f64,
}

fn mix(hash: &mut u64, words: [u64; 3]) {
    for word in words {
        *hash = (*hash ^ word).wrapping_mul(0x0100_0000_01b3);
    }
}

/// Runs `course` from `epoch`.
pub fn run(course: &Course, epoch: Instant) -> Run {
    let keys = Keys::random().unwrap();
    let [near, far] = ["10.0.0.1:1", "10.0.0.2:2"].map(|address| address.parse::<SocketAddr>().unwrap());
    let begin = (epoch, Time::ZERO);
    let mut sender = SendingEnd::connect(&course.flow, &keys, far, begin, Some(1)).unwrap();
    let mut receiver = ReceivingEnd::listen(&course.flow, &keys, epoch, Some(2)).unwrap();
    sender.release();
    let config =
        LinkConfig { rate: course.rate, delay: course.rtt / 2, loss: course.loss, jitter: Span::ZERO };
    let mut link = Link::drop_tail(config, course.limit, Stream::new(7, "link"));
    link.begin_measuring(Time::ZERO);
    let mut back = VecDeque::<(Time, Vec<u8>)>::new();
    let (mut now, end) = (Time::ZERO, Time::ZERO + course.length);
    let (mut hash, mut batch) = (0xcbf2_9ce4_8422_2325, Batch::new());
    let mut windows = course.windows.iter().copied().peekable();
    let (mut arrived, tenth) = (Vec::new(), Span::from_millis(100));
    let (mut rtts, mut samples) = (0.0, 0_u64);
    let ignore = &mut |_: Packet, _: DropReason| ();
    while now < end {
        while let Some(packet) = link.poll(now, ignore) {
            receiver.handle(now, near, &packet.0);
        }
        while back.front().is_some_and(|(at, _)| *at <= now) {
            let (_, datagram) = back.pop_front().unwrap();
            sender.handle(now, far, &datagram).unwrap();
            if let Some(rtt) = sender.with_ledger(|ledger| ledger.take_latest()) {
                (rtts, samples) = (rtts + rtt.as_secs_f64(), samples + 1);
            }
        }
        while let Some((_, window)) = windows.next_if(|(at, _)| *at <= now) {
            receiver.set_window(window);
        }
        sender.turn(now).unwrap();
        receiver.turn(now);
        loop {
            sender.output(now, &mut batch);
            for datagram in batch.datagrams() {
                mix(&mut hash, [now.as_nanos(), datagram.len() as u64, 1]);
                link.push(now, Packet(datagram.to_vec()), ignore);
            }
            if batch.is_empty() {
                break;
            }
        }
        loop {
            receiver.output(now, &mut batch);
            for datagram in batch.datagrams() {
                mix(&mut hash, [now.as_nanos(), datagram.len() as u64, 0]);
                back.push_back((now + course.rtt / 2, datagram.to_vec()));
            }
            if batch.is_empty() {
                break;
            }
        }
        while arrived.len() as u64 <= now.since(Time::ZERO).as_nanos() / tenth.as_nanos() {
            arrived.push(receiver.payload().get());
        }
        let next = [
            link.wakeup().unwrap_or(Time::NEVER),
            back.front().map_or(Time::NEVER, |(at, _)| *at),
            sender.wakeup().at,
            receiver.wakeup(),
            windows.peek().map_or(Time::NEVER, |(at, _)| *at),
        ];
        now = next.into_iter().min().unwrap().max(now + Span::from_nanos(1));
    }
    link.poll(end, ignore);
    Run {
        goodput: Rate::of(receiver.payload(), course.length),
        link: link.report(end),
        counts: sender.counts(),
        hash,
        arrived,
        phase: sender.phase(),
        least_rtt: sender.with_ledger(|ledger| ledger.rtt()).map(|(_, least)| least),
        window: sender.with_ledger(|ledger| ledger.control().allowance().window),
        mean_rtt: rtts / samples.max(1) as f64,
    }
}

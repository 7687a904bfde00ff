//! Two ends without IO, a [`Link`] from the sender to the receiver, and a delay back.

use cc::Start;
use cc::registry::Tuning;
use link::{Datagram, DropReason, Limit, Link, LinkConfig, LinkReport};
use live::LiveError;
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
    /// The share of packets that the link loses.
    pub loss: Fraction,
    /// The share of acknowledgements that the way back loses.
    pub loss_back: Fraction,
    pub jitter: Span,
    /// The seed of random losses.
    pub seed: u64,
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
            loss_back: Fraction::ZERO,
            jitter: Span::ZERO,
            seed: 1,
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
    pub phase: SendingPhase,
}

/// The direction of a datagram.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// From the sender to the receiver.
    Forth,
    /// From the receiver to the sender.
    Back,
}

/// A datagram from the receiver to an address that is not the sender's.
pub type Stray = (Time, SocketAddr, Vec<u8>);

/// A tap on the path, which sees each datagram that an end sends to the other, and returns false to swallow it.
pub type Tap = Box<dyn FnMut(Time, Way, &[u8]) -> bool>;

/// Both ends and the path between them at a time.
pub struct World {
    pub now: Time,
    pub sender: SendingEnd,
    pub receiver: ReceivingEnd,
    pub link: Link<Packet>,
    pub tap: Option<Tap>,
    /// The datagrams to other addresses than the sender's, until somebody takes them.
    pub strays: Vec<Stray>,
    back: VecDeque<(Time, Vec<u8>)>,
    back_losses: (Fraction, Stream),
    rtt: Span,
    windows: VecDeque<(Time, Bytes)>,
    hash: u64,
    batch: Batch,
}

/// The sender's address.
pub fn near() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 1], 1))
}

/// The receiver's address.
pub fn far() -> SocketAddr {
    SocketAddr::from(([10, 0, 0, 2], 2))
}

fn mix(hash: &mut u64, words: [u64; 3]) {
    for word in words {
        *hash = (*hash ^ word).wrapping_mul(0x0100_0000_01b3);
    }
}

/// Ignores a packet that the link dropped.
fn ignore(_: Packet, _: DropReason) {}

impl World {
    /// Makes both ends of `course` at time zero, which is `epoch`. The sender has `theirs`, and the receiver `ours`.
    pub fn with_keys(course: &Course, epoch: Instant, theirs: &Keys, ours: &Keys) -> Self {
        let mut sender =
            SendingEnd::connect(&course.flow, theirs, far(), (epoch, Time::ZERO), Some(1)).unwrap();
        let receiver = ReceivingEnd::listen(&course.flow, ours, epoch, Some(2)).unwrap();
        sender.release();
        let config = LinkConfig {
            loss: course.loss,
            jitter: course.jitter,
            ..LinkConfig::constant(course.rate, course.rtt / 2)
        };
        // The simulator's link has this name, so that both lose the same packets as far as they send alike.
        let mut link = Link::drop_tail(&config, course.limit, Stream::new(course.seed, "link loss"));
        link.begin_measuring(Time::ZERO);
        Self {
            now: Time::ZERO,
            sender,
            receiver,
            link,
            tap: None,
            strays: Vec::new(),
            back: VecDeque::new(),
            back_losses: (course.loss_back, Stream::new(course.seed, "way back")),
            rtt: course.rtt,
            windows: course.windows.iter().copied().collect(),
            hash: 0xcbf2_9ce4_8422_2325,
            batch: Batch::new(),
        }
    }

    /// Makes both ends of `course` with the same keys.
    pub fn new(course: &Course) -> Self {
        let keys = Keys::random().unwrap();
        Self::with_keys(course, host::clock::now(), &keys, &keys)
    }

    /// Delivers what has arrived, lets both ends work, and goes on to the next event, or to `until`.
    fn step(&mut self, until: Time) -> Result<(), LiveError> {
        let now = self.now;
        while let Some(packet) = self.link.poll(now, &mut ignore) {
            self.receiver.handle(now, near(), &packet.0);
        }
        while self.back.front().is_some_and(|(at, _)| *at <= now) {
            let (_, datagram) = self.back.pop_front().expect("looked at");
            self.sender.handle(now, far(), &datagram)?;
        }
        while let Some(&(_, window)) = self.windows.front().filter(|(at, _)| *at <= now) {
            self.windows.pop_front();
            self.receiver.set_window(window);
        }
        self.sender.turn(now)?;
        self.receiver.turn(now);
        self.send();
        let next = [
            self.link.wakeup().unwrap_or(Time::NEVER),
            self.back.front().map_or(Time::NEVER, |(at, _)| *at),
            self.sender.wakeup().at,
            self.receiver.wakeup(),
            self.windows.front().map_or(Time::NEVER, |(at, _)| *at),
            until,
        ];
        self.now = next.into_iter().min().unwrap().max(now + Span::from_nanos(1));
        Ok(())
    }

    /// Puts on the path all that both ends send now.
    pub fn send(&mut self) {
        let now = self.now;
        let mut passes = |way, datagram: &[u8]| self.tap.as_mut().is_none_or(|tap| tap(now, way, datagram));
        loop {
            self.sender.output(now, &mut self.batch);
            for datagram in self.batch.datagrams() {
                mix(&mut self.hash, [now.as_nanos(), datagram.len() as u64, 1]);
                if passes(Way::Forth, datagram) {
                    self.link.push(now, Packet(datagram.to_vec()), &mut ignore);
                }
            }
            if self.batch.is_empty() {
                break;
            }
        }
        loop {
            self.receiver.output(now, &mut self.batch);
            for datagram in self.batch.datagrams() {
                if self.batch.to != near() {
                    self.strays.push((now, self.batch.to, datagram.to_vec()));
                    continue;
                }
                mix(&mut self.hash, [now.as_nanos(), datagram.len() as u64, 0]);
                let (share, stream) = &mut self.back_losses;
                if passes(Way::Back, datagram) && !stream.chance(share.get()) {
                    self.back.push_back((now + self.rtt / 2, datagram.to_vec()));
                }
            }
            if self.batch.is_empty() {
                break;
            }
        }
    }

    /// Runs until `until`.
    ///
    /// # Errors
    /// The sender's.
    pub fn run_until(&mut self, until: Time) -> Result<(), LiveError> {
        while self.now < until {
            self.step(until)?;
        }
        Ok(())
    }

    /// Runs until `done`, at most until `until`; returns true if it is done.
    ///
    /// # Errors
    /// The sender's.
    pub fn run_while(&mut self, until: Time, goes_on: impl Fn(&Self) -> bool) -> Result<bool, LiveError> {
        while goes_on(self) && self.now < until {
            self.step(until)?;
        }
        Ok(!goes_on(self))
    }

    /// Returns the controller's window.
    pub fn congestion_window(&self) -> Bytes {
        self.sender.with_ledger(|ledger| ledger.control().allowance().window)
    }

    /// Returns the rate of the payload that arrives in the next `span`.
    pub fn rate_over(&mut self, span: Span) -> Rate {
        let before = self.receiver.payload();
        self.run_until(self.now + span).unwrap();
        Rate::of(self.receiver.payload().saturating_sub(before), span)
    }
}

/// Runs `course`.
///
/// # Panics
/// If the connection ends.
pub fn run(course: &Course) -> Run {
    let mut world = World::new(course);
    let end = Time::ZERO + course.length;
    world.run_until(end).unwrap_or_else(|error| {
        panic!("{} over {} {}: {error}", course.flow.control.name, course.rate, course.rtt)
    });
    world.link.poll(end, &mut ignore);
    Run {
        goodput: Rate::of(world.receiver.payload(), course.length),
        link: world.link.report(end),
        counts: world.sender.counts(),
        hash: world.hash,
        phase: world.sender.phase(),
    }
}

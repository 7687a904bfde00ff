//! COBALT: CoDel for flows that answer, and BLUE for those that do not. The [`Control`] here is the state of one queue;
//! `cake.rs` keeps one per flow.
//!
//! Source: Linux `sch_cake`, `cobalt_should_drop` and the two functions before it, with the parameters of
//! `cake_set_rate` (Palmei and others, "Design and evaluation of COBALT queue discipline", LANMAN 2019). It differs
//! from the CoDel of RFC 8289 in these points:
//!
//! - A packet is late if it has waited for longer than the target and than four packets take. So a slow link needs no
//!   rule for the last packet in the queue.
//! - The time to the next drop counts down as well as up. While packets are on time, each interval that passes takes
//!   one drop back, so that a queue that fills again goes on near its last drop rate.
//! - The last packet in the queue may be marked, but is not dropped.
//! - BLUE: each time the room is full, at most once per target, the probability to drop a packet rises by 1/256. Each
//!   time that the queue is empty, it falls by 1/4096. These drops strike packets with ECN, too.

use super::store::Store;
use super::{Context, Limit, Queue};
use crate::{Backlog, Datagram, DropReason, Ecn};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

/// The steps of BLUE's probability, as shares of 2^32: 1/256 up, 1/4096 down.
const STEP_UP: u32 = 1 << 24;
const STEP_DOWN: u32 = 1 << 20;

/// The settings of [`Cobalt`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CobaltParameters {
    /// The queueing delay that may persist.
    pub target: Span,
    /// The time for which the delay may exceed the target.
    pub interval: Span,
    /// The time that the longest packet takes.
    pub packet_time: Span,
    /// True if capable packets are marked.
    pub ecn: bool,
}

impl CobaltParameters {
    /// The target and the interval of Linux `sch_cake`.
    pub const TARGET: Span = Span::from_millis(5);
    /// See [`TARGET`](Self::TARGET).
    pub const INTERVAL: Span = Span::from_millis(100);
    /// The longest packet of an Ethernet interface.
    const MTU: Bytes = Bytes::new(1514);

    /// Creates the parameters of a queue that is served at `rate`. The target is at least the time of one and a half
    /// packets, and the interval grows with it.
    #[must_use]
    pub fn at(rate: Rate, target: Span, interval: Span, ecn: bool) -> Self {
        let packet_time = rate.max(Rate::from_bps(1)).serialization(Self::MTU);
        let wanted = target;
        let target = wanted.max(packet_time * 3 / 2);
        Self { target, interval: (interval + (target - wanted)).max(target * 2), packet_time, ecn }
    }

    /// Returns true if a packet that has waited this long is late.
    #[inline]
    fn is_late(&self, waited: Span) -> bool {
        waited > self.target && waited > self.packet_time * 4
    }

    /// Returns the time between two drops in a row, after `count` of them.
    fn gap(&self, count: u64) -> Span {
        if count > 1 { self.interval.scale(1.0 / (count as f64).sqrt()) } else { self.interval }
    }
}

/// The state of one controlled queue.
#[derive(Clone, Debug, Default)]
pub(super) struct Control {
    /// Drops that are not yet taken back.
    count: u64,
    /// The time of the next drop or of the next one that is taken back; after a rest, the time until which the queue
    /// counts as active.
    drop_next: Time,
    /// The time of BLUE's last step.
    stepped: Time,
    /// BLUE's probability, as a share of 2^32.
    probability: u32,
    dropping: bool,
}

/// The decision about one packet. A packet may be both marked and dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    pub(super) mark: bool,
    pub(super) drop: bool,
}

impl Control {
    /// Decides about a packet that has `waited` and is about to leave.
    #[inline]
    pub(super) fn judge(
        &mut self,
        now: Time,
        waited: Span,
        ecn: Ecn,
        parameters: &CobaltParameters,
        random: &mut Stream,
    ) -> Verdict {
        let due = self.count > 0 && now >= self.drop_next;
        // As in Linux, this is about the schedule before a late packet sets it anew.
        let mut passed = now > self.drop_next;
        if parameters.is_late(waited) {
            if !self.dropping {
                self.dropping = true;
                self.drop_next = now + parameters.gap(self.count);
            }
            self.count = self.count.max(1);
        } else {
            self.dropping = false;
        }
        let mut verdict = Verdict { mark: false, drop: false };
        if due {
            verdict = self.act(now, ecn, parameters);
            passed = now > self.drop_next;
        }
        if self.probability > 0 && random.integer(0, u64::from(u32::MAX)) < u64::from(self.probability) {
            verdict.drop = true;
        }
        if self.count == 0 {
            self.drop_next = now + parameters.interval;
        } else if passed && !verdict.drop {
            self.drop_next = now;
        }
        verdict
    }

    /// Drops or marks as it is due, or takes drops back.
    fn act(&mut self, now: Time, ecn: Ecn, parameters: &CobaltParameters) -> Verdict {
        if self.dropping {
            self.count += 1;
            self.drop_next += parameters.gap(self.count);
            let mark = parameters.ecn && ecn != Ecn::NotCapable;
            return Verdict { mark, drop: !mark };
        }
        while self.count > 0 && now >= self.drop_next {
            self.take_back(parameters);
        }
        Verdict { mark: false, drop: false }
    }

    fn take_back(&mut self, parameters: &CobaltParameters) {
        self.count -= 1;
        self.drop_next += parameters.gap(self.count);
    }

    /// Notes that a packet was dropped because the room was full.
    pub(super) fn on_full(&mut self, now: Time, parameters: &CobaltParameters) {
        if now.since(self.stepped) > parameters.target {
            self.probability = self.probability.saturating_add(STEP_UP);
            self.stepped = now;
        }
        self.dropping = true;
        self.drop_next = now;
        self.count = self.count.max(1);
    }

    /// Notes that the queue was to be served and was empty.
    pub(super) fn on_empty(&mut self, now: Time, parameters: &CobaltParameters) {
        if self.probability > 0 && now.since(self.stepped) > parameters.target {
            self.probability = self.probability.saturating_sub(STEP_DOWN);
            self.stepped = now;
        }
        self.dropping = false;
        if self.count > 0 && now >= self.drop_next {
            self.take_back(parameters);
        }
    }

    /// Returns true if nothing of the past would change a decision.
    #[inline]
    pub(super) fn is_at_rest(&self, now: Time) -> bool {
        self.probability == 0 && self.count == 0 && now >= self.drop_next
    }
}

/// A first-in, first-out queue under COBALT. If an arrival does not fit, the oldest packets are dropped.
#[derive(Debug)]
pub struct Cobalt<P> {
    parameters: CobaltParameters,
    limit: Limit,
    store: Store<P>,
    control: Control,
    random: Stream,
}

impl<P> Cobalt<P> {
    /// Creates an empty queue with room for the context's limit.
    #[must_use]
    pub fn new(parameters: CobaltParameters, context: Context) -> Self {
        let (limit, random) = (context.limit, context.stream);
        Self { parameters, limit, store: Store::default(), control: Control::default(), random }
    }
}

impl<P: Datagram + Send> Queue<P> for Cobalt<P> {
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) {
        self.store.push(now, packet);
        while !self.limit.holds(self.store.backlog()) {
            let Some((_, oldest)) = self.store.pop() else { break };
            self.control.on_full(now, &self.parameters);
            drops(oldest, DropReason::QueueFull);
        }
    }

    fn dequeue(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        loop {
            let Some((arrived, mut packet)) = self.store.pop() else {
                self.control.on_empty(now, &self.parameters);
                return None;
            };
            let Self { control, parameters, random, .. } = self;
            let verdict = control.judge(now, now.since(arrived), packet.ecn(), parameters, random);
            if verdict.mark {
                packet.mark();
            }
            if !verdict.drop || self.store.is_empty() {
                return Some(packet);
            }
            drops(packet, DropReason::Aqm);
        }
    }

    fn pass(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        // The packet leaves at once, but the control sees it, so that it takes back its drops.
        self.store.push(now, packet);
        self.dequeue(now, drops)
    }

    fn backlog(&self) -> Backlog {
        self.store.backlog()
    }
}

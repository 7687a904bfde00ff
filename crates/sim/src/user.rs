//! A user of an Engset population: it thinks, has a fresh connection send a drawn amount, and thinks again.
//!
//! One [`Flow`] serves all sessions of a user, renewed in place, so that memory does not grow with time.

use crate::flow::Flow;
use crate::handshake::Handshake;
use crate::medium::{Medium, Seen};
use crate::packet::{Kind, Packet, UnderWay};
use crate::plan::SessionsPlan;
use link::Histogram;
use units::random::Stream;
use units::{Bytes, Span, Time};

#[derive(Debug)]
enum Phase {
    /// The user thinks; the next session begins at `until`.
    Thinking { until: Time },
    /// A SYN for a session of `size` is under way.
    Connecting { size: Bytes, handshake: Handshake },
    /// Data of a session are under way.
    Sending,
}

#[derive(Debug)]
pub(crate) struct User {
    index: u32,
    /// This user's number within its population.
    number: usize,
    phase: Phase,
    /// The timeout of the first SYN, before any round-trip sample: RFC 6298 (2.1).
    syn_timeout: Span,
    flow: Flow,
    /// The time at which the session under way began.
    began: Time,
    stream: Stream,
}

/// The counts of a population over the measured interval.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    pub(crate) since: Time,
    pub(crate) completed: u64,
    /// Time with a session under way, summed over users.
    pub(crate) busy: Span,
    pub(crate) completion: Histogram,
    pub(crate) syns: u64,
    pub(crate) syns_dropped: u64,
    pub(crate) syns_again: u64,
}

impl User {
    pub(crate) fn new(index: u32, number: usize, plan: &SessionsPlan, seed: u64) -> Self {
        let mut stream = Stream::new(seed, &format!("sessions {} {number}", plan.name));
        let until = plan.connections[number].start + Span::from_secs_f64(plan.think.draw(&mut stream));
        let connection = plan.connection(number, false, Time::NEVER, Bytes::ZERO);
        let syn_timeout = connection.transport.initial_rto;
        let flow = Flow::new(index, connection, seed);
        Self { index, number, syn_timeout, phase: Phase::Thinking { until }, flow, began: Time::ZERO, stream }
    }

    /// Returns the time at which this user next acts on its own, if nothing arrives before.
    pub(crate) fn deadline(&self) -> Time {
        match self.phase {
            Phase::Thinking { until } => until,
            Phase::Connecting { handshake, .. } => handshake.expires(),
            Phase::Sending => self.flow.deadline(),
        }
    }

    /// Handles a deadline; does nothing if the deadline has been put off.
    pub(crate) fn on_deadline(
        &mut self,
        now: Time,
        plan: &SessionsPlan,
        tally: &mut Tally,
        medium: &mut impl Medium,
    ) {
        if now < self.deadline() {
            return;
        }
        match self.phase {
            Phase::Thinking { .. } => {
                let size = plan.size.draw(self.flow.payload(), &mut self.stream);
                self.began = now;
                medium.show(Seen::Opened { at: now, flow: self.index });
                if plan.handshake {
                    let handshake = Handshake::new(self.syn_timeout);
                    return self.send_syn(now, size, handshake, tally, medium);
                }
                self.open(now, size, false, plan);
            }
            Phase::Connecting { size, handshake } => {
                return self.send_syn(now, size, handshake, tally, medium);
            }
            Phase::Sending => {}
        }
        self.flow.on_deadline(now, Time::ZERO, medium);
        self.end_session(now, plan, tally);
    }

    /// Takes a packet that has reached the receiver, and gives this user the acknowledgement that it may cause.
    pub(crate) fn on_arrival(
        &mut self,
        now: Time,
        packet: &UnderWay,
        plan: &SessionsPlan,
        tally: &mut Tally,
        medium: &mut impl Medium,
    ) {
        // A packet of an earlier session meets a closed port.
        if packet.sent < self.began {
            return;
        }
        match self.phase {
            Phase::Connecting { size, handshake } if packet.segment.is_syn() => {
                self.open(now, size, handshake.attempts() > 1, plan);
                self.flow.introduce(now, handshake.sample(now, packet.sent, false));
                self.flow.on_deadline(now, Time::ZERO, medium);
            }
            Phase::Sending if !packet.segment.is_syn() => {
                self.flow.on_arrival(now, packet, Time::ZERO, medium);
                self.end_session(now, plan, tally);
            }
            _ => {}
        }
    }

    /// Ends the session if all of it is acknowledged.
    fn end_session(&mut self, now: Time, plan: &SessionsPlan, tally: &mut Tally) {
        if self.flow.is_done() {
            tally.completed += 1;
            tally.busy += now.since(self.began.max(tally.since));
            tally.completion.record(now.since(self.began));
            let until = now + Span::from_secs_f64(plan.think.draw(&mut self.stream));
            self.phase = Phase::Thinking { until };
        }
    }

    /// Begins to send on a connection that knows nothing of the one before.
    fn open(&mut self, now: Time, size: Bytes, syn_lost: bool, plan: &SessionsPlan) {
        self.flow.renew(plan.connection(self.number, syn_lost, now, size));
        self.phase = Phase::Sending;
    }

    /// Sends the SYN, for the first time or again.
    fn send_syn(
        &mut self,
        now: Time,
        size: Bytes,
        mut handshake: Handshake,
        tally: &mut Tally,
        medium: &mut impl Medium,
    ) {
        tally.syns += 1;
        tally.syns_again += u64::from(handshake.attempts() > 0);
        tally.syns_dropped += u64::from(!handshake.send(now, self.index, medium));
        self.phase = Phase::Connecting { size, handshake };
    }

    /// Takes a packet that reaches the receiver. Called only if acknowledgements cross queues. Returns the packet with
    /// which the receiver answers.
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) -> Option<Packet> {
        // A packet of an earlier session meets a closed port.
        if packet.sent < self.began {
            return None;
        }
        if packet.segment.is_syn() {
            return Some(Packet { kind: Kind::Acknowledgement, ..*packet });
        }
        self.flow.receive(now, packet)
    }

    /// Takes the acknowledgement that leaves before the answer of [`receive`](Self::receive), or in its place.
    pub(crate) fn first(&mut self) -> Option<Packet> {
        self.flow.first()
    }

    /// Records that a link dropped a packet of this user.
    pub(crate) fn on_drop(&mut self, kind: Kind, tally: &mut Tally) {
        // The medium does not say which packet it dropped. While a SYN is under way, it can only be the SYN.
        match (&self.phase, kind) {
            (_, Kind::Acknowledgement) => self.flow.on_acknowledgement_drop(),
            (Phase::Connecting { .. }, _) => tally.syns_dropped += 1,
            _ => self.flow.on_drop(),
        }
    }

    /// Returns the connection of the session under way.
    pub(crate) fn flow(&self) -> &Flow {
        &self.flow
    }

    /// Lets acknowledgements list their blocks as on the wire.
    pub(crate) fn keep_blocks(&mut self) {
        self.flow.keep_blocks();
    }

    pub(crate) fn begin_measuring(&mut self, now: Time) {
        self.flow.begin_measuring(now);
    }

    /// Ends the run and returns the flow's report. A session under way counts towards the busy time.
    pub(crate) fn finish(self, end: Time, tally: &mut Tally) -> crate::FlowReport {
        if !matches!(self.phase, Phase::Thinking { .. }) {
            tally.busy += end.since(self.began.max(tally.since));
        }
        self.flow.report(end)
    }
}

//! A flow whose connection is being set up: its SYN, and the answer.

use super::Flow;
use crate::handshake::Handshake;
use crate::medium::Medium;
use crate::plan::FlowPlan;
use std::mem;
use units::{Span, Time};

/// The number of retransmissions of a SYN after which the connection begins with a window of one segment. After one
/// retransmission the answer may have been late [rfc6928:2]. Linux has the same limit.
const SENT_AGAIN: u32 = 2;

/// A connection that is being set up.
#[derive(Debug)]
pub(super) struct Opening {
    handshake: Handshake,
    /// The plan of the connection that replaces this one if the SYN had to be sent again too often.
    plan: FlowPlan,
}

impl Opening {
    pub(super) fn of(plan: &FlowPlan) -> Self {
        let plan = FlowPlan { handshake: false, ..plan.clone() };
        Self { handshake: Handshake::new(plan.transport.initial_rto), plan }
    }
}

impl Flow {
    /// Replaces this connection by a fresh one. The counts are kept, and the random streams go on.
    pub(crate) fn renew(&mut self, plan: FlowPlan) {
        let counts = &self.rare.counts;
        let delivered = self.delivered() - counts.delivered_before;
        let timeouts = self.sender.timeouts() - counts.timeouts_before;
        let mut before = mem::replace(self, Self::new(self.index, plan, 0));
        self.receiver.stay_on_host(&mut before.receiver);
        (self.sent, self.samples) = (before.sent, before.samples);
        self.rare.stream = before.rare.stream;
        self.rare.counts = before.rare.counts;
        let counts = &mut self.rare.counts;
        counts.delivered_before = 0;
        counts.special().delivered_earlier += delivered;
        counts.timeouts_before = 0;
        counts.special().timeouts_earlier += timeouts;
    }

    /// Takes the round-trip sample of the handshake; `None` if its segment had to be sent again.
    pub(crate) fn introduce(&mut self, now: Time, sample: Option<Span>) {
        self.sender.introduce(now, sample);
    }

    /// Sends the SYN, for the first time or again.
    #[inline(never)]
    pub(super) fn send_syn(&mut self, now: Time, medium: &mut impl Medium) {
        let Some(opening) = &mut self.opening else { return };
        self.sent += 1;
        self.rare.counts.again += u64::from(opening.handshake.attempts() > 0);
        self.rare.counts.dropped += u64::from(!opening.handshake.send(now, self.index, medium));
        self.sends_at = opening.handshake.expires();
    }

    /// Establishes the connection with the answer to the SYN sent at `sent`, and lets data leave.
    #[inline(never)]
    pub(super) fn establish(&mut self, now: Time, sent: Time, medium: &mut impl Medium) {
        // A SYN that was sent again is answered more than once; only the first answer counts.
        let Some(opening) = self.opening.take() else { return };
        let Opening { handshake, mut plan } = *opening;
        let sample = handshake.sample(now, sent, plan.transport.timestamps);
        if handshake.attempts() > SENT_AGAIN {
            plan.control.start.window = plan.payload;
            self.renew(plan);
        }
        self.introduce(now, sample);
        self.rare.established = Some(now);
        self.sends_at = Time::NEVER;
        self.send(now, medium);
    }

    /// Returns the duration of the handshake; `None` if there was no handshake or it has not ended.
    pub(super) fn handshake_took(&self) -> Option<Span> {
        self.rare.established.map(|at| at.since(self.rare.start)).filter(|took| *took > Span::ZERO)
    }
}

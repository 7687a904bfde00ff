//! The users of all populations, one slot of the agenda each.

use crate::flow::Flow;
use crate::medium::Medium;
use crate::outcome::SessionsReport;
use crate::packet::{Kind, Packet, UnderWay};
use crate::plan::SessionsPlan;
use crate::user::{Tally, User};
use std::iter;
use std::mem;
use units::{Bytes, Time};

/// Users in the order of their populations. The flow index of a user's packets is `first` plus the user's place.
pub(crate) struct Population {
    first: usize,
    users: Vec<User>,
    /// The index of each user's plan.
    plan_of: Vec<u32>,
    plans: Vec<SessionsPlan>,
    tallies: Vec<Tally>,
}

impl Population {
    pub(crate) fn new(plans: Vec<SessionsPlan>, first: usize, seed: u64) -> Self {
        let mut users = Vec::new();
        for plan in &plans {
            let before = first + users.len();
            users.extend(
                (0..plan.users()).map(|number| User::new((before + number) as u32, number, plan, seed)),
            );
        }
        let plan_of =
            (0..).zip(&plans).flat_map(|(index, plan)| iter::repeat_n(index, plan.users())).collect();
        Self { first, users, plan_of, tallies: plans.iter().map(|_| Tally::default()).collect(), plans }
    }

    /// Returns the connection of the user of `slot`.
    pub(crate) fn flow(&self, slot: usize) -> Option<&Flow> {
        self.users.get(slot.checked_sub(self.first)?).map(User::flow)
    }

    /// Lets acknowledgements list their blocks as on the wire.
    pub(crate) fn keep_blocks(&mut self) {
        self.users.iter_mut().for_each(User::keep_blocks);
    }

    pub(crate) fn len(&self) -> usize {
        self.users.len()
    }

    /// Returns the time at which the user of `slot` next acts on its own.
    pub(crate) fn deadline(&self, slot: usize) -> Time {
        self.users[slot - self.first].deadline()
    }

    /// Handles the deadline of the user of `slot`; returns the next one.
    pub(crate) fn on_deadline(&mut self, slot: usize, now: Time, medium: &mut impl Medium) -> Time {
        let user = slot - self.first;
        let plan = self.plan_of[user] as usize;
        self.users[user].on_deadline(now, &self.plans[plan], &mut self.tallies[plan], medium);
        self.users[user].deadline()
    }

    /// Takes a packet of the user of `slot` that has reached its end; returns the user's next deadline.
    pub(crate) fn on_arrival(
        &mut self,
        slot: usize,
        now: Time,
        packet: &UnderWay,
        medium: &mut impl Medium,
    ) -> Time {
        let user = slot - self.first;
        let plan = self.plan_of[user] as usize;
        self.users[user].on_arrival(now, packet, &self.plans[plan], &mut self.tallies[plan], medium);
        self.users[user].deadline()
    }

    /// Records that a link dropped a packet of `slot`, if the slot is a user's.
    pub(crate) fn on_drop(&mut self, slot: usize, kind: Kind) {
        let user = slot.wrapping_sub(self.first);
        if let Some(owner) = self.users.get_mut(user) {
            owner.on_drop(kind, &mut self.tallies[self.plan_of[user] as usize]);
        }
    }

    /// Hands a packet of the user of `slot` to its receiver. Called only if acknowledgements cross queues.
    pub(crate) fn receive(&mut self, slot: usize, now: Time, packet: &Packet) -> Option<Packet> {
        self.users[slot - self.first].receive(now, packet)
    }

    /// Takes the acknowledgement that leaves before the answer of [`receive`](Self::receive), or in its place.
    pub(crate) fn first(&mut self, slot: usize) -> Option<Packet> {
        self.users[slot - self.first].first()
    }

    pub(crate) fn begin_measuring(&mut self, now: Time) {
        self.users.iter_mut().for_each(|user| user.begin_measuring(now));
        self.tallies.iter_mut().for_each(|tally| *tally = Tally { since: now, ..Tally::default() });
    }

    pub(crate) fn report(mut self, end: Time) -> Vec<SessionsReport> {
        let mut users = mem::take(&mut self.users).into_iter();
        let report = |(plan, mut tally): (SessionsPlan, Tally)| {
            let (mut delivered, mut sent, mut dropped, mut retransmits) = (Bytes::ZERO, 0, 0, 0);
            for user in users.by_ref().take(plan.users()) {
                let flow = user.finish(end, &mut tally);
                delivered += flow.delivered;
                sent += flow.sent;
                dropped += flow.dropped;
                retransmits += flow.retransmits;
            }
            let measured = end.since(tally.since);
            SessionsReport {
                users: plan.users(),
                name: plan.name,
                completed: tally.completed,
                mean_active: tally.busy.as_secs_f64() / measured.as_secs_f64().max(f64::MIN_POSITIVE),
                delivered,
                measured,
                sent: sent + tally.syns,
                dropped: dropped + tally.syns_dropped,
                retransmits: retransmits + tally.syns_again,
                completion: tally.completion,
            }
        };
        self.plans.into_iter().zip(self.tallies).map(report).collect()
    }
}

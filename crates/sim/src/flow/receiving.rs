//! The receiver's side of a flow: hosts that gather segments, deadlines, and acknowledgements that cross queues.

use super::Flow;
use super::way_back::AckContent;
use crate::handshake::SYN;
use crate::medium::Medium;
use crate::packet::{Kind, Packet, UnderWay};
use crate::tagged::{Signs, Tagged};
use crate::tcp::{Acknowledgement, Batch, Block};
use units::{Span, Time};

impl Flow {
    /// Returns the time at which this flow next acts on its own, if no acknowledgement comes before.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        let deadline = self.sends_at.min(self.receiver.own_deadline()).min(self.sender.own_timer());
        if self.sender.has_options() {
            deadline.min(self.receiver.gathers_until()).min(self.sender.option_timer())
        } else {
            deadline
        }
    }

    /// Takes a segment that reaches a host which gathers segments. Nobody looks at the flow before `quiet`.
    #[inline(never)]
    pub(super) fn gather<M: Medium>(
        &mut self,
        now: Time,
        number: u64,
        arrival: &UnderWay,
        quiet: Time,
        medium: &mut M,
    ) {
        if M::ASSISTS
            && let Some(feedback) = medium.feedback(self.index, arrival.segment, arrival.sent)
        {
            self.sender.heed_router(feedback);
        }
        // A segment concerns this flow alone if jitter delays its answer. So its batch and its acknowledgement are
        // handled now, if nothing else can happen to the flow before. So are the arrivals that follow on the line.
        let alone = self.jitter > Span::ZERO && self.rare.size.is_none() && !self.rare.left;
        let (mut now, mut number, mut arrival) = (now, number, *arrival);
        loop {
            self.under_way -= 1;
            let pushed = arrival.segment.is_pushed();
            let signs = arrival.segment.signs();
            if let Some(batch) = self.receiver.gather(now, number, arrival.sent, pushed, signs) {
                self.hand_over(now, batch, medium);
            } else {
                // A segment that only joins the batch concerns nobody in any case.
                medium.take_ahead(self.index, |at, next| {
                    let number = next.segment.gathered_number();
                    let joins = number.is_some_and(|number| {
                        self.receiver.joins(at, number, next.sent, next.segment.is_pushed())
                    });
                    self.under_way -= u64::from(joins);
                    joins
                });
            }
            if !alone {
                return;
            }
            let mut due = self.receiver.gathers_until();
            while due <= quiet
                && due <= self.deadline()
                && (self.has_nothing_under_way() || medium.brings_nothing(self.index, now, due))
            {
                self.release(due, medium);
                due = self.receiver.gathers_until();
            }
            let until = self.deadline().min(quiet);
            let mut follows = None;
            medium.take_ahead(self.index, |at, next| {
                let takes = follows.is_none() && at <= until && next.segment.gathered_number().is_some();
                follows = if takes { Some((at, *next)) } else { follows };
                takes
            });
            let Some((at, next)) = follows else { return };
            (now, number, arrival) = (at, next.segment.number(), next);
        }
    }

    /// Returns true if it is certain that nothing of this flow is under way to the receiver.
    #[inline]
    fn has_nothing_under_way(&self) -> bool {
        self.under_way == 0 && self.probing.is_none()
    }

    /// Handles what the receiver's host has gathered for long enough.
    #[inline(always)]
    fn release<M: Medium>(&mut self, now: Time, medium: &mut M) {
        while let Some(batch) = self.receiver.gathered(now) {
            self.hand_over(now, batch, medium);
        }
        if let Some(ack) = self.receiver.compressed(now) {
            self.send_acknowledgement(now, &ack, self.receiver.named().as_slice(), medium);
        }
    }

    /// Hands a gathered batch to TCP.
    #[inline(never)]
    fn hand_over<M: Medium>(&mut self, now: Time, batch: Batch, medium: &mut M) {
        if batch.signs.any() {
            self.acknowledge_before(now, batch.signs, medium);
        }
        if let Some(ack) = self.receiver.on_batch(now, batch) {
            self.send_acknowledgement(now, &ack, self.receiver.named().as_slice(), medium);
        }
    }

    /// Sends an acknowledgement that a timer of the receiver caused. It enters the queue of the way back, or goes
    /// straight to the sender.
    #[inline(always)]
    fn send_acknowledgement<M: Medium>(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        blocks: &[Block],
        medium: &mut M,
    ) {
        if M::CARRIES_ACKNOWLEDGEMENTS && self.way_back.is_some() {
            if let Some(packet) = self.acknowledge(now, *ack) {
                if M::WATCHED {
                    self.show_departure(now, &packet, medium);
                }
                medium.offer(now, packet);
            }
        } else {
            self.on_ack(now, ack, blocks, medium);
        }
    }

    #[inline(never)]
    pub(super) fn on_receiver_deadline<M: Medium>(&mut self, now: Time, medium: &mut M) {
        if self.receiver.coalesces() {
            self.release(now, medium);
            if !self.receiver.is_due(now) {
                return;
            }
        }
        if self.receiver.sizer().is_some() {
            self.on_sized_deadline(now, medium);
            return;
        }
        let ack = self.receiver.on_deadline();
        self.send_acknowledgement(now, &ack, &[], medium);
    }

    /// Takes a packet that reaches the receiver. Called only if acknowledgements cross queues. Returns the packet with
    /// which the receiver answers.
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) -> Option<Packet> {
        if packet.segment.is_syn() {
            return Some(Packet { kind: Kind::Acknowledgement, length: SYN, ..*packet });
        }
        let number = self.number(now, &UnderWay::from(*packet))?;
        let ack = if packet.segment.is_gathered() {
            let signs = packet.segment.signs();
            let batch = self.receiver.gather(now, number, packet.sent, packet.segment.is_pushed(), signs)?;
            self.hold_first(now, batch.signs);
            self.receiver.on_batch(now, batch)
        } else {
            let signs = packet.segment.signs();
            if signs.any() {
                self.hold_first(now, signs);
                self.receiver.on_ecn(signs, 1);
            }
            self.receiver.on_segment(now, number, packet.sent)
        };
        self.acknowledge(now, ack?)
    }

    /// Keeps the acknowledgement that leaves before the one of segments with `signs`, for [`first`](Self::first).
    fn hold_first(&mut self, now: Time, signs: Signs) {
        if let Some(ack) = self.receiver.acknowledge_before(signs) {
            let packet = self.acknowledge(now, ack);
            if let Some(back) = &mut self.way_back {
                back.first = packet;
            }
        }
    }

    /// Takes the acknowledgement that leaves before the one that [`receive`](Self::receive) has just returned, or in its
    /// place.
    pub(crate) fn first(&mut self) -> Option<Packet> {
        self.way_back.as_mut()?.first.take()
    }

    /// Returns the segment's number, or `None` for a probe, which goes to the sizer.
    #[inline]
    fn number(&mut self, now: Time, arrival: &UnderWay) -> Option<u64> {
        arrival.segment.plain_number().or_else(|| self.receive_other(now, arrival))
    }

    /// Returns the number of a segment with flags, or `None` for a probe, which goes to the sizer.
    #[cold]
    pub(super) fn receive_other(&mut self, now: Time, arrival: &UnderWay) -> Option<u64> {
        if let Some(probe) = arrival.segment.as_probe() {
            self.receive_probe(now, probe, arrival.sent);
            return None;
        }
        self.rare.counts.special().marks += u64::from(arrival.segment.is_marked());
        Some(arrival.segment.number())
    }

    /// Gives the receiver the congestion signs of a segment that its host does not gather.
    #[inline(never)]
    pub(super) fn prepare<M: Medium>(&mut self, now: Time, arrival: &UnderWay, medium: &mut M) {
        let signs = arrival.segment.signs();
        self.acknowledge_before(now, signs, medium);
        self.receiver.on_ecn(signs, 1);
    }

    /// Sends the acknowledgement that leaves before segments with `signs` are taken, if one does.
    #[inline(never)]
    fn acknowledge_before<M: Medium>(&mut self, now: Time, signs: Signs, medium: &mut M) {
        if let Some(ack) = self.receiver.acknowledge_before(signs) {
            self.send_acknowledgement(now, &ack, &[], medium);
        }
    }

    /// Returns the packet of an acknowledgement that leaves the receiver.
    fn acknowledge(&mut self, now: Time, acknowledgement: Acknowledgement) -> Option<Packet> {
        self.rare.counts.special().acknowledgements += 1;
        let blocks = self.receiver.blocks();
        let length = self.header + blocks.wire_len();
        let number = self.way_back.as_mut()?.send(AckContent { acknowledgement, blocks });
        let kind = Kind::Acknowledgement;
        Some(Packet { kind, ..Packet::segment(self.index, length, Tagged::plain(number), now) })
    }
}

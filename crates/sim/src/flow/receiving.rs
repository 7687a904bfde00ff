//! The receiver's side of a flow: hosts that gather segments, deadlines, and acknowledgements that cross queues.

use super::Flow;
use super::way_back::AckContent;
use crate::handshake::SYN;
use crate::medium::Medium;
use crate::packet::{Kind, Packet, UnderWay};
use crate::tagged::Tagged;
use crate::tcp::{Acknowledgement, Batch, SackBlocks};
use units::Time;

impl Flow {
    /// Takes a segment that reaches a host which gathers segments.
    #[inline(never)]
    pub(super) fn gather<M: Medium>(&mut self, now: Time, number: u64, arrival: &UnderWay, medium: &mut M) {
        if M::ASSISTS
            && let Some(feedback) = medium.feedback(self.index, arrival.segment, arrival.sent)
        {
            self.sender.heed_router(feedback);
        }
        if let Some(batch) = self.receiver.gather(now, number, arrival.sent, arrival.segment.is_pushed()) {
            self.hand_over(now, batch, medium);
        }
    }

    /// Hands a gathered batch to TCP.
    fn hand_over<M: Medium>(&mut self, now: Time, batch: Batch, medium: &mut M) {
        if let Some((ack, blocks)) = self.receiver.on_batch(now, batch) {
            self.send_acknowledgement(now, ack, &blocks, medium);
        }
    }

    /// Sends an acknowledgement that a timer of the receiver caused. It enters the queue of the way back, or goes
    /// straight to the sender.
    fn send_acknowledgement<M: Medium>(
        &mut self,
        now: Time,
        ack: Acknowledgement,
        blocks: &SackBlocks,
        medium: &mut M,
    ) {
        if M::CARRIES_ACKNOWLEDGEMENTS && self.way_back.is_some() {
            if let Some(packet) = self.acknowledge(now, ack) {
                medium.offer(now, packet);
            }
        } else {
            self.on_ack(now, &ack, blocks.as_slice(), medium);
        }
    }

    #[inline(never)]
    pub(super) fn on_receiver_deadline<M: Medium>(&mut self, now: Time, medium: &mut M) {
        if self.receiver.coalesces() {
            while let Some(batch) = self.receiver.gathered(now) {
                self.hand_over(now, batch, medium);
            }
            if let Some((ack, blocks)) = self.receiver.compressed(now) {
                self.send_acknowledgement(now, ack, &blocks, medium);
            }
            if !self.receiver.is_due(now) {
                return;
            }
        }
        if self.receiver.sizer().is_some() {
            self.on_sized_deadline(now, medium);
            return;
        }
        let ack = self.receiver.on_deadline();
        self.send_acknowledgement(now, ack, &SackBlocks::NONE, medium);
    }

    /// Takes a packet that reaches the receiver. Called only if acknowledgements cross queues. Returns the packet with
    /// which the receiver answers.
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet) -> Option<Packet> {
        if packet.segment.is_syn() {
            return Some(Packet { kind: Kind::Acknowledgement, length: SYN, ..*packet });
        }
        let number = self.number(now, &UnderWay::from(*packet))?;
        let ack = if packet.segment.is_gathered() {
            let batch = self.receiver.gather(now, number, packet.sent, packet.segment.is_pushed())?;
            self.receiver.on_batch(now, batch)?.0
        } else {
            self.receiver.on_segment(now, number, packet.sent)?
        };
        self.acknowledge(now, ack)
    }

    /// Returns the packet of an acknowledgement that leaves the receiver.
    fn acknowledge(&mut self, now: Time, acknowledgement: Acknowledgement) -> Option<Packet> {
        self.counts.acknowledgements += 1;
        let blocks = self.receiver.blocks();
        let length = self.header as u32 + blocks.wire_len();
        let number = self.way_back.as_mut()?.send(AckContent { acknowledgement, blocks });
        let kind = Kind::Acknowledgement;
        Some(Packet { kind, ..Packet::segment(self.index, length, Tagged::plain(number), now) })
    }
}

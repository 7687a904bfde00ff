//! A flow as a recorder of packets sees it. Only a medium that is [watched](Medium::WATCHED) calls these functions.

use super::Flow;
use crate::medium::{Medium, Seen};
use crate::packet::Packet;
use crate::tcp::{Acknowledgement, Block, SackBlocks};
use crate::watched::{AckFeedback, AckView, PathEnd, SegmentView};
use units::{Bytes, Span, Time};

impl Flow {
    /// Lets its acknowledgements list their blocks as on the wire.
    pub(crate) fn keep_blocks(&mut self) {
        if self.sender.reads_blocks() {
            self.receiver.keep_blocks(self.sender.carries_timestamps());
        }
    }

    /// Shows an acknowledgement that the sender has just taken, with the round-trip sample that it gave.
    #[inline(never)]
    pub(super) fn show_ack<M: Medium>(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        blocks: &[Block],
        sample: Option<Span>,
        medium: &mut M,
    ) {
        let listed = match self.way_back {
            Some(_) => SackBlocks::of(blocks),
            None => self.receiver.blocks(),
        };
        let (at, end, flow) = (now, PathEnd::Sender, self.index);
        medium.show(Seen::Acknowledgement { at, end, flow, left: at, acknowledgement: *ack, blocks: listed });
        let size = self.rare.size.unwrap_or(Bytes::MAX);
        let view = self.sender.ack_view(now, flow as usize, sample);
        let (sent, acked) = (view.sent.min(size), view.acked.min(size));
        medium.show(Seen::Taken(AckView { sent, acked, delivered: view.delivered.min(size), ..view }));
    }

    /// Shows the acknowledgement in `packet`, which has just left the receiver, if it crosses queues.
    pub(crate) fn show_departure<M: Medium>(&self, now: Time, packet: &Packet, medium: &mut M) {
        let number = packet.segment.number();
        let Some(contents) = self.way_back.as_ref().and_then(|back| back.get(number)) else { return };
        medium.show(Seen::Acknowledgement {
            at: now,
            end: PathEnd::Receiver,
            flow: self.index,
            left: now,
            acknowledgement: contents.acknowledgement,
            blocks: contents.blocks,
        });
    }

    /// Returns the content of a segment with data, which left at `sent`.
    pub(crate) fn data(&self, segment: crate::tagged::Tagged, sent: Time) -> SegmentView {
        let number = segment.number();
        SegmentView::Data {
            start: Bytes::new(number * self.sender.payload()),
            payload: Bytes::new(u64::from(self.wire_len(number) - self.header)),
            sent,
            pushed: segment.is_pushed() || number + 1 == self.total_segments,
            ecn: link::Datagram::ecn(&Packet::segment(self.index, 0, segment, sent)),
            reduced: segment.reports_reduction(),
        }
    }

    /// Returns the content of an acknowledgement that left the receiver at `sent`.
    pub(crate) fn acknowledging(
        &self,
        ack: &Acknowledgement,
        blocks: &SackBlocks,
        sent: Time,
    ) -> SegmentView {
        let payload = self.sender.payload();
        let bytes = |segments: u64| {
            let bytes = Bytes::new(segments.saturating_mul(payload));
            self.rare.size.map_or(bytes, |size| bytes.min(size))
        };
        // RFC 2883: the first block reports a segment that came twice.
        let twice = ack.sacked.filter(|_| ack.duplicate && self.sender.reads_blocks());
        let twice = twice.map(|segment| (segment, segment + 1));
        let first = twice.into_iter().chain(blocks.as_slice().iter().copied());
        let room = if self.sender.carries_timestamps() { SackBlocks::MOST - 1 } else { SackBlocks::MOST };
        SegmentView::Ack {
            acked: bytes(ack.cumulative),
            blocks: first.take(room).map(|(from, to)| (bytes(from), bytes(to))).collect(),
            window: Bytes::new(ack.window.saturating_mul(payload)),
            sent,
            echo: ack.echo,
            feedback: AckFeedback::of(ack.feedback),
        }
    }
}

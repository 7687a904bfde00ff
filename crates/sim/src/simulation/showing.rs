//! The receivers' answers where acknowledgements cross queues, and the calls of the recorder.

use super::Run;
use crate::medium::{Medium, Seen};
use crate::packet::Packet;
use crate::recorder::Recorder;
use crate::watched::{PacketView, SegmentView};
use link::LinkState;
use units::Time;

impl<R: Recorder> Run<R> {
    /// Hands segments to their receivers, and the packets that these send to the medium. Calls `due` with each owner's
    /// next deadline.
    #[inline(never)]
    pub(super) fn hand_over<M: Medium>(
        &mut self,
        now: Time,
        arrived: &mut Vec<Packet>,
        medium: &mut M,
        mut due: impl FnMut(usize, Time),
    ) {
        for segment in arrived.drain(..) {
            let index = segment.flow as usize;
            let answer = self.endpoints.receive(now, &segment);
            let first = if segment.segment.signs().any() { self.endpoints.first(index) } else { None };
            for acknowledgement in first.into_iter().chain(answer) {
                if M::WATCHED
                    && let Some(flow) = self.endpoints.flow(index).filter(|_| !segment.segment.is_syn())
                {
                    flow.show_departure(now, &acknowledgement, medium);
                }
                medium.offer(now, acknowledgement);
            }
            due(index, self.endpoints.deadline(index));
        }
    }

    pub(super) fn record(&mut self, now: Time, link: &LinkState) {
        self.recorder.link(now, link);
        let mut index = self.recorder.next_flow(now, 0);
        while let Some(flow) = self.endpoints.flows.get(index) {
            self.recorder.flow(now, index, &flow.view());
            if self.recorder.wants_measures() {
                flow.measures(&mut |name, value| self.recorder.measure(now, index, name, value));
            }
            index = self.recorder.next_flow(now, index + 1);
        }
    }

    /// Shows the recorder the packets that a watched medium has recorded.
    #[inline(never)]
    pub(super) fn show<M: Medium>(&mut self, now: Time, medium: &mut M) {
        let seen = medium.take_seen();
        for one in &seen {
            match one {
                Seen::Segment { at, end, segment, answer } => {
                    let Some(flow) = self.endpoints.flow(segment.flow as usize) else { continue };
                    let content = if segment.segment.is_syn() {
                        SegmentView::Syn { answer: *answer, sent: segment.sent }
                    } else if segment.segment.as_probe().is_some() {
                        continue;
                    } else {
                        flow.data(segment.segment, segment.sent)
                    };
                    let (at, end, flow) = (*at, *end, segment.flow as usize);
                    self.recorder.packet(now, PacketView { at, end, flow, segment: content });
                }
                Seen::Acknowledgement { at, end, flow, left, acknowledgement, blocks } => {
                    let Some(owner) = self.endpoints.flow(*flow as usize) else { continue };
                    let content = owner.acknowledging(acknowledgement, blocks, *left);
                    let (at, end, flow) = (*at, *end, *flow as usize);
                    self.recorder.packet(now, PacketView { at, end, flow, segment: content });
                }
                Seen::Taken(view) => self.recorder.acknowledged(view),
                Seen::Opened { at, flow } => self.recorder.connection(*at, *flow as usize),
            }
        }
        medium.give_back(seen);
    }
}

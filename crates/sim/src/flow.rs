//! One transfer: a sender and a receiver. What is under way between them is on the [lines](crate::lines).

use crate::lines::UnderWay;
use crate::outcome::FlowReport;
use crate::packet::{Packet, TightLink};
use crate::plan::FlowPlan;
use crate::recorder::FlowView;
use crate::tcp::{Acknowledgement, Receiver, Sacks, Sender, SenderConfig};
use link::Histogram;
use std::mem;
use units::random::Stream;
use units::{Bytes, Span, Time};

#[derive(Debug)]
pub(crate) struct Flow {
    index: u32,
    sender: Sender,
    receiver: Receiver,
    /// When the sender starts, and after that, when jitter lets it send again.
    sends_at: Time,
    jitter: Span,
    stream: Stream,
    header: u64,
    size: Option<Bytes>,
    total_segments: u64,
    start: Time,
    completed: Option<Time>,
    name: String,
    /// Apart, so that the flow itself stays small: a thousand of them must fit in the processor's cache.
    counts: Box<Counts>,
}

/// Over the measured interval.
#[derive(Debug, Default)]
struct Counts {
    since: Time,
    delivered_before: u64,
    /// By connections that this one has taken the place of.
    delivered_earlier: u64,
    sent: u64,
    dropped: u64,
    again: u64,
    rtt: Histogram,
    min_rtt: Option<Span>,
}

impl Flow {
    pub(crate) fn new(index: u32, plan: FlowPlan, seed: u64) -> Self {
        let total_segments = plan.size.map_or(u64::MAX, |size| size.get().div_ceil(plan.payload.get()));
        let buffer_segments = plan.socket_buffer / plan.payload;
        let sender = Sender::new(SenderConfig {
            control: plan.control,
            payload: plan.payload,
            buffer_segments,
            total_segments,
            min_rto: plan.min_rto,
            initial_rto: plan.initial_rto,
            timestamps: plan.timestamps,
            sack: plan.sack,
        });
        Self {
            index,
            sender,
            receiver: Receiver::new(plan.delayed_ack, plan.delayed_ack_timeout, Sacks::Newest),
            sends_at: plan.start,
            jitter: plan.send_jitter,
            stream: Stream::new(seed, &format!("flow {}", plan.name)),
            header: plan.header.get(),
            size: plan.size,
            total_segments,
            start: plan.start,
            completed: None,
            name: plan.name,
            counts: Box::default(),
        }
    }

    /// A fresh connection in this one's place. What was counted stays, and the random stream goes on.
    pub(crate) fn renew(&mut self, plan: FlowPlan) {
        let delivered = self.delivered() - self.counts.delivered_before;
        let before = mem::replace(self, Self::new(self.index, plan, 0));
        self.stream = before.stream;
        self.counts = before.counts;
        self.counts.delivered_before = 0;
        self.counts.delivered_earlier += delivered;
    }

    /// What the handshake told of the round-trip time.
    pub(crate) fn introduce(&mut self, sample: Option<Span>) {
        self.sender.introduce(sample);
    }

    /// When this flow next acts of itself, if no acknowledgement comes before.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.sends_at.min(self.receiver.deadline()).min(self.sender.timer())
    }

    /// Payload of a full segment.
    pub(crate) fn payload(&self) -> Bytes {
        Bytes::new(self.sender.payload())
    }

    /// Whether a sized flow has ended; a greedy one never does.
    pub(crate) fn is_done(&self) -> bool {
        self.completed.is_some()
    }

    /// A segment has reached the receiver, and the acknowledgement it may cause the sender.
    #[inline]
    pub(crate) fn on_arrival(&mut self, now: Time, segment: &UnderWay, link: &mut TightLink) {
        if let Some(ack) = self.receiver.on_segment(now, segment.segment, segment.sent) {
            self.on_ack(now, &ack, link);
        }
    }

    /// Every deadline that has come by `now`.
    pub(crate) fn on_deadline(&mut self, now: Time, link: &mut TightLink) {
        if self.receiver.deadline() <= now {
            let ack = self.receiver.on_deadline();
            self.on_ack(now, &ack, link);
        }
        if self.sends_at <= now {
            self.sends_at = Time::NEVER;
            self.send(now, link);
        }
        if self.sender.timer() <= now {
            self.sender.on_timer(now);
            self.send(now, link);
        }
    }

    #[inline]
    fn on_ack(&mut self, now: Time, ack: &Acknowledgement, link: &mut TightLink) {
        if let Some(rtt) = self.sender.on_ack(now, ack, &[]) {
            self.counts.rtt.record(rtt);
            self.counts.min_rtt = Some(self.counts.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        if self.sender.is_done() && self.completed.is_none() {
            self.completed = Some(now);
        }
        if self.jitter == Span::ZERO {
            self.send(now, link);
        } else if self.sends_at == Time::NEVER && self.sender.may_transmit() {
            self.sends_at = now + self.jitter.scale(self.stream.uniform());
        }
    }

    /// Sends what the windows allow.
    #[inline]
    fn send(&mut self, now: Time, link: &mut TightLink) {
        while let Some(sent) = self.sender.transmit(now) {
            self.counts.sent += 1;
            self.counts.again += u64::from(sent.again);
            let segment = sent.segment;
            let packet = Packet { flow: self.index, length: self.wire_len(segment), segment, sent: now };
            if !link.offer(now, packet) {
                self.on_drop();
            }
        }
    }

    /// The tight link dropped a segment of this flow.
    pub(crate) fn on_drop(&mut self) {
        self.counts.dropped += 1;
    }

    #[inline]
    fn wire_len(&self, segment: u64) -> u32 {
        let full = self.sender.payload();
        let payload = match self.size {
            Some(size) if segment + 1 == self.total_segments => size.get() - segment * full,
            _ => full,
        };
        (payload + self.header) as u32
    }

    /// Payload received in order since the start.
    pub(crate) fn delivered(&self) -> u64 {
        let bytes = self.receiver.expected() * self.sender.payload();
        self.size.map_or(bytes, |size| bytes.min(size.get()))
    }

    /// Starts the measured interval.
    pub(crate) fn begin_measuring(&mut self, now: Time) {
        *self.counts = Counts { since: now, delivered_before: self.delivered(), ..Counts::default() };
    }

    pub(crate) fn view(&self) -> FlowView {
        FlowView {
            delivered: Bytes::new(self.delivered()),
            smoothed_rtt: self.sender.smoothed_rtt(),
            window: self.sender.send_window(),
        }
    }

    /// What the flow did from the start of measurement to `end`.
    pub(crate) fn report(self, end: Time) -> FlowReport {
        let delivered = self.delivered() - self.counts.delivered_before + self.counts.delivered_earlier;
        let counts = self.counts;
        let from = counts.since.max(self.start);
        FlowReport {
            name: self.name,
            delivered: Bytes::new(delivered),
            active: self.completed.unwrap_or(end).since(from),
            sent: counts.sent,
            dropped: counts.dropped,
            retransmits: counts.again,
            rtt: counts.rtt,
            min_rtt: counts.min_rtt,
            completion: self.completed.map(|at| at.since(self.start)),
        }
    }
}

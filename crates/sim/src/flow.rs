//! One transfer: a sender and a receiver. What is under way between them is on the [lines](crate::lines).

use crate::lines::UnderWay;
use crate::outcome::FlowReport;
use crate::packet::{Packet, TightLink};
use crate::plan::FlowPlan;
use crate::recorder::FlowView;
use crate::tagged::Tagged;
use crate::tcp::{Acknowledgement, Receiver, Sacks, Sender, SenderConfig};
use link::Histogram;
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
    sent: u64,
    dropped: u64,
    again: u64,
    marks: u64,
    timeouts_before: u64,
    rtt: Histogram,
    min_rtt: Option<Span>,
}

impl Flow {
    pub(crate) fn new(index: u32, plan: FlowPlan, seed: u64) -> Self {
        let total_segments = plan.size.map_or(u64::MAX, |size| size.get().div_ceil(plan.payload.get()));
        let receiver = Receiver::new(plan.delayed_ack, plan.delayed_ack_timeout, Sacks::Newest).advertising(
            plan.socket_buffer / plan.payload,
            plan.sizer,
            plan.payload,
            plan.timestamps,
        );
        let sender = Sender::new(SenderConfig {
            control: plan.control,
            payload: plan.payload,
            buffer_segments: receiver.window(),
            total_segments,
            min_rto: plan.min_rto,
            timestamps: plan.timestamps,
            sack: plan.sack,
            recovery: plan.recovery,
            loss_detection: plan.loss_detection,
            ecn: plan.ecn,
            pacing: plan.pacing,
        });
        Self {
            index,
            sender,
            receiver,
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

    /// When this flow next acts of itself, if no acknowledgement comes before.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.sends_at.min(self.receiver.deadline()).min(self.sender.timer())
    }

    /// Whether a sized flow has ended; a greedy one never does.
    pub(crate) fn is_done(&self) -> bool {
        self.completed.is_some()
    }

    /// A segment has reached the receiver, and the acknowledgement it may cause the sender.
    #[inline]
    pub(crate) fn on_arrival(&mut self, now: Time, segment: &UnderWay, link: &mut TightLink) {
        let number = segment.segment.plain_number().unwrap_or_else(|| self.receive_ecn(segment.segment));
        // By reference: it need not be moved.
        if let Some(ack) = &self.receiver.on_segment(now, number, segment.sent) {
            self.on_ack(now, ack, link);
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

    /// Gives the receiver what a segment says beside its number, which is returned.
    #[cold]
    fn receive_ecn(&mut self, segment: Tagged) -> u64 {
        self.counts.marks += u64::from(segment.is_marked());
        self.receiver.on_ecn(segment.tells_reduction(), segment.is_marked());
        segment.number()
    }

    #[inline]
    fn on_ack(&mut self, now: Time, ack: &Acknowledgement, link: &mut TightLink) {
        if self.sender.is_plain() {
            self.on_ack_as::<true>(now, ack, link);
        } else {
            self.on_ack_as::<false>(now, ack, link);
        }
    }

    fn on_ack_as<const PLAIN: bool>(&mut self, now: Time, ack: &Acknowledgement, link: &mut TightLink) {
        if let Some(rtt) = self.sender.on_ack::<PLAIN>(now, ack, &[]) {
            self.counts.rtt.record(rtt);
            self.counts.min_rtt = Some(self.counts.min_rtt.map_or(rtt, |min| min.min(rtt)));
        }
        if self.sender.is_done() && self.completed.is_none() {
            self.completed = Some(now);
        }
        if self.jitter == Span::ZERO {
            self.send_as::<PLAIN>(now, link);
        } else if self.sends_at == Time::NEVER && self.sender.may_transmit() {
            self.sends_at = now + self.jitter.scale(self.stream.uniform());
        }
    }

    /// Sends what the windows allow.
    #[inline]
    fn send(&mut self, now: Time, link: &mut TightLink) {
        if self.sender.is_plain() {
            self.send_as::<true>(now, link);
        } else {
            self.send_as::<false>(now, link);
        }
    }

    #[inline]
    fn send_as<const PLAIN: bool>(&mut self, now: Time, link: &mut TightLink) {
        while let Some(sent) = self.sender.transmit::<PLAIN>(now) {
            self.counts.sent += 1;
            self.counts.again += u64::from(sent.again);
            let number = sent.segment;
            let mut segment = Tagged::plain(number);
            // RFC 3168, section 6.1.5: what is sent again is not capable.
            if !PLAIN
                && !sent.again
                && let Some(reduced) = self.sender.take_cwr()
            {
                segment = Tagged::capable(number, reduced);
            }
            let packet = Packet { flow: self.index, length: self.wire_len(number), segment, sent: now };
            if !link.offer(now, packet) {
                self.on_drop();
            }
        }
        if !PLAIN && let Some(at) = self.sender.released_at(now) {
            self.sends_at = at;
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
        *self.counts = Counts {
            since: now,
            delivered_before: self.delivered(),
            timeouts_before: self.sender.timeouts(),
            ..Counts::default()
        };
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
        let delivered = self.delivered() - self.counts.delivered_before;
        let counts = self.counts;
        let from = counts.since.max(self.start);
        FlowReport {
            name: self.name,
            delivered: Bytes::new(delivered),
            active: self.completed.unwrap_or(end).since(from),
            sent: counts.sent,
            dropped: counts.dropped,
            retransmits: counts.again,
            timeouts: self.sender.timeouts() - counts.timeouts_before,
            marks: counts.marks,
            rtt: counts.rtt,
            min_rtt: counts.min_rtt,
            completion: self.completed.map(|at| at.since(self.start)),
        }
    }
}

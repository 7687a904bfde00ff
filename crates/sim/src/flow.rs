//! One transfer: a sender and a receiver. Its packets under way are in the queues, and then on the
//! [lines](crate::medium::Lines).

mod counts;
mod loading;
mod opening;
mod probing;
mod receiving;
mod watching;
mod way_back;

use crate::medium::Medium;
use crate::packet::{Packet, UnderWay};
use crate::plan::FlowPlan;
use crate::recorder::FlowView;
use crate::tagged::Tagged;
use crate::tcp::{Acknowledgement, Block, Receiver, Sacks, Sender, SenderConfig};
use crate::tcp::{Features, Full, Paced, Plain};
use cc::CongestionControl;
use counts::{Counts, RoundTrips};
use link::assist::CongestionHeader;
use opening::Opening;
use probing::Probing;
use sizing::{BufferSizer, Input};
use units::random::Stream;
use units::{Bytes, Span, Time};
use way_back::{AckContent, WayBack};

/// The fields are in the order of their use. Those that every packet touches come first, so that few cache lines hold
/// them. A run with many flows [loads](Flow::load_early) these lines before they are needed.
#[derive(Debug)]
#[repr(C)]
pub(crate) struct Flow {
    /// The time at which the sender starts; after the start, the time until which jitter or the pacer delays it. During
    /// the handshake, the time of the next SYN.
    sends_at: Time,
    index: u32,
    header: u32,
    jitter: Span,
    total_segments: u64,
    completed: Option<Time>,
    /// Segments sent in the measured interval, again or for the first time.
    sent: u64,
    /// The most segments that may be under way, if the receiver's host gathers them. It counts segments that a link
    /// dropped after it had admitted them.
    under_way: u64,
    samples: RoundTrips,
    receiver: Receiver,
    sender: Sender,
    /// The acknowledgements under way; `None` if they meet no queue. If they cross queues, the receiver acts as soon as
    /// a segment leaves its last queue.
    way_back: Option<Box<WayBack>>,
    /// The probes and trains by which its sizer measures the path.
    probing: Option<Box<Probing>>,
    /// The handshake, until the connection is established.
    opening: Option<Box<Opening>>,
    rare: Rare,
}

/// The part of a flow that few packets touch.
#[derive(Debug)]
#[repr(C)]
struct Rare {
    /// The stream of the delays of segments that leave as a window opens.
    stream: Stream,
    /// True if the flow left before it had sent all its data.
    left: bool,
    size: Option<Bytes>,
    counts: Counts,
    start: Time,
    /// The time since which the connection can send data.
    established: Option<Time>,
    name: Box<str>,
}

impl Flow {
    /// Creates the flow of `plan`.
    ///
    /// # Panics
    /// If the registries lack its controller, its slow start or its sizer.
    pub(crate) fn new(index: u32, plan: FlowPlan, seed: u64) -> Self {
        let control = plan.control.build();
        let sizer = plan.sizer.as_ref().map(|sizer| sizer.build(&plan));
        let opening = plan.handshake.then(|| Box::new(Opening::of(&plan)));
        let mut flow = Self::with(index, plan, control, sizer, seed);
        flow.rare.established = flow.rare.established.filter(|_| opening.is_none());
        flow.opening = opening;
        flow
    }

    /// Creates a flow on an established connection, with a controller and a sizer that need not be in a registry.
    pub(crate) fn with(
        index: u32,
        plan: FlowPlan,
        control: Box<dyn CongestionControl>,
        mut sizer: Option<Box<dyn BufferSizer>>,
        seed: u64,
    ) -> Self {
        let total_segments = plan.size.map_or(u64::MAX, |size| size.get().div_ceil(plan.payload.get()));
        let transport = plan.transport;
        let way_back = plan.acknowledgements_wait().then(Box::default);
        let sacks = if way_back.is_some() && transport.sack {
            Sacks::Blocks { timestamps: transport.timestamps }
        } else {
            Sacks::Newest
        };
        let wants = control.wants();
        if let Some(sizer) = sizer.as_mut().filter(|_| wants.rate || wants.departures) {
            sizer.handle(Time::ZERO, Input::RateBased);
        }
        let receiver = Receiver::new(plan.delayed_ack, plan.delayed_ack_timeout, sacks).advertising(
            plan.socket_buffer / plan.payload,
            sizer,
            plan.payload,
            transport.timestamps,
        );
        let receiver = receiver.with_ecn(transport.ecn, wants.marks, plan.payload);
        let receiver = receiver.on_host(&transport.host, plan.payload, || {
            Stream::new(seed, &format!("receiver of flow {}", plan.name))
        });
        let sender = Sender::new(SenderConfig {
            control,
            payload: plan.payload,
            buffer_segments: receiver.window(),
            total_segments,
            transport,
            line_gap: plan
                .access_rate
                .map_or(Span::ZERO, |rate| rate.serialization(plan.payload + plan.header)),
        });
        let mut flow = Self {
            sends_at: plan.start,
            index,
            header: plan.header.get() as u32,
            jitter: plan.send_jitter,
            total_segments,
            completed: None,
            sent: 0,
            under_way: 0,
            samples: RoundTrips::default(),
            receiver,
            sender,
            way_back,
            probing: None,
            opening: None,
            rare: Rare {
                size: plan.size,
                start: plan.start,
                established: Some(plan.start),
                left: false,
                stream: Stream::new(seed, &format!("flow {}", plan.name)),
                name: plan.name.into_boxed_str(),
                counts: Counts::default(),
            },
        };
        flow.prepare_probing();
        flow
    }

    /// Returns true if what it sends may leave in bursts, a segment after the other on its own line.
    pub(crate) fn sends_in_bursts(&self) -> bool {
        self.sender.has_options()
    }

    /// Returns the payload of a full segment.
    pub(crate) fn payload(&self) -> Bytes {
        Bytes::new(self.sender.payload())
    }

    /// Returns true if a sized flow has ended; a greedy one never does.
    pub(crate) fn is_done(&self) -> bool {
        self.completed.is_some()
    }

    /// Handles an arrival. If acknowledgements meet no queue, it is a segment at the receiver, whose acknowledgement
    /// goes to the sender here. Otherwise it is an acknowledgement at the sender. Nobody looks at the flow before `quiet`.
    // Inlined always, because the compiler would otherwise leave a call per packet: the loop and the users call it.
    #[inline(always)]
    pub(crate) fn on_arrival<M: Medium>(
        &mut self,
        now: Time,
        arrival: &UnderWay,
        quiet: Time,
        medium: &mut M,
    ) {
        if M::CARRIES_ACKNOWLEDGEMENTS && self.way_back.is_some() {
            if arrival.segment.is_syn() {
                return self.establish(now, arrival.sent, medium);
            }
            let contents = self.way_back.as_mut().and_then(|back| back.take(arrival.segment.number()));
            if let Some(AckContent { acknowledgement, blocks }) = contents {
                self.on_ack(now, &acknowledgement, blocks.as_slice(), medium);
            }
            return;
        }
        let plain = arrival.segment.plain_number();
        if plain.is_none()
            && let Some(number) = arrival.segment.gathered_number()
        {
            return self.gather(now, number, arrival, quiet, medium);
        }
        let number = match plain {
            Some(number) => number,
            None if arrival.segment.is_syn() => return self.establish(now, arrival.sent, medium),
            None => match self.receive_other(now, arrival) {
                Some(number) if arrival.segment.is_gathered() => {
                    return self.gather(now, number, arrival, Time::ZERO, medium);
                }
                Some(number) => {
                    self.prepare(now, arrival, medium);
                    number
                }
                None => return,
            },
        };
        if M::ASSISTS
            && let Some(feedback) = medium.feedback(self.index, arrival.segment, arrival.sent)
        {
            self.sender.heed_router(feedback);
        }
        // The acknowledgement is borrowed, so that it is not moved.
        if let Some(ack) = &self.receiver.on_segment(now, number, arrival.sent) {
            self.on_ack(now, ack, &[], medium);
        }
    }

    /// Handles every deadline that has come by `now`. Goes on with what the flow sends next if it does so before the
    /// `others` act. Returns the time of the last departure, and the number of departures that were events of their own.
    #[inline(never)]
    pub(crate) fn on_deadline<M: Medium>(&mut self, now: Time, others: Time, medium: &mut M) -> (Time, u64) {
        let mut acted = (now, 0);
        if self.receiver.deadline() <= now {
            self.on_receiver_deadline(now, medium);
        }
        if self.sends_at <= now {
            if self.opening.is_some() {
                self.send_syn(now, medium);
                return acted;
            }
            self.sends_at = Time::NEVER;
            acted = self.send_before(now, others, medium);
        }
        if self.sender.timer() <= now {
            self.sender.on_timer(now);
            self.send(now, medium);
        }
        acted
    }

    #[inline(always)]
    fn on_ack<M: Medium>(&mut self, now: Time, ack: &Acknowledgement, blocks: &[Block], medium: &mut M) {
        if self.sender.is_plain() {
            self.on_ack_as::<Plain, M>(now, ack, blocks, medium);
        } else if self.sender.has_options() {
            self.on_ack_in_full(now, ack, blocks, medium);
        } else {
            self.on_ack_as::<Paced, M>(now, ack, blocks, medium);
        }
    }

    #[inline(never)]
    fn on_ack_in_full<M: Medium>(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        blocks: &[Block],
        medium: &mut M,
    ) {
        self.on_ack_as::<Full, M>(now, ack, blocks, medium);
    }

    #[inline(always)]
    fn on_ack_as<F: Features, M: Medium>(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        blocks: &[Block],
        medium: &mut M,
    ) {
        let sample = self.sender.on_ack::<F>(now, ack, blocks);
        if let Some(rtt) = sample {
            self.samples.observe(rtt);
            if M::CARRIES_ACKNOWLEDGEMENTS {
                let most = &mut self.rare.counts.special().max_smoothed_rtt;
                *most = (*most).max(self.sender.smoothed_rtt());
            }
        }
        if M::WATCHED {
            self.show_ack(now, ack, blocks, sample, medium);
        }
        if self.sender.is_done() && self.completed.is_none() {
            self.completed = Some(now);
        }
        if F::PACED && self.sends_at > now && self.sender.waits_until(self.sends_at) {
            // The rest of a quantum waits until a whole quantum may leave.
        } else if self.jitter == Span::ZERO {
            self.send_as::<F, M>(now, Time::ZERO, medium);
        } else if self.sends_at == Time::NEVER && self.sender.may_transmit::<Full>() {
            self.sends_at = now + self.jitter.scale(self.rare.stream.uniform());
        }
    }

    /// Sends what the windows allow.
    fn send<M: Medium>(&mut self, now: Time, medium: &mut M) {
        self.send_before(now, Time::ZERO, medium);
    }

    /// Sends what the windows allow, and what the pacer and the flow's own line then let leave before the `others` act.
    /// Returns the time of the last departure, and the number of departures after `now`.
    #[inline(never)]
    fn send_before<M: Medium>(&mut self, now: Time, others: Time, medium: &mut M) -> (Time, u64) {
        if self.sender.has_options() {
            return self.send_as::<Full, M>(now, others, medium);
        }
        if self.sender.is_plain() {
            self.send_as::<Plain, M>(now, others, medium)
        } else {
            self.send_as::<Paced, M>(now, others, medium)
        }
    }

    // Inlined always, because it runs with every acknowledgement and would be a call in some programs and not in
    // others.
    #[inline(always)]
    fn send_as<F: Features, M: Medium>(
        &mut self,
        mut now: Time,
        others: Time,
        medium: &mut M,
    ) -> (Time, u64) {
        let mut events = 0;
        loop {
            if F::PACED && self.sender.is_held(now) {
                let Some(at) = self.sender.released_at::<F>(now) else { break };
                let before = others.min(self.receiver.deadline()).min(self.sender.timer());
                if !F::OPTIONS || at >= before || at >= medium.next_arrival() || !medium.is_settled() {
                    self.sends_at = at;
                    break;
                }
                (now, events) = (at, events + 1);
                continue;
            }
            let Some(sent) = self.sender.transmit::<F>(now) else { break };
            self.sent += 1;
            if sent.again {
                self.rare.counts.again += 1;
            }
            let number = sent.segment;
            let mut segment = Tagged::plain(number);
            // RFC 3168, section 6.1.5: a retransmission is not ECN-capable.
            if F::OPTIONS
                && !sent.again
                && let Some(headers) = self.sender.take_capable()
            {
                segment = Tagged::capable(number, headers);
            }
            if F::OPTIONS && self.receiver.coalesces() {
                segment = segment.gathered();
                // The last segment of the data that a program writes has the PSH flag, too (`tcp_push`).
                if self.sender.pushes() || number + 1 == self.total_segments {
                    segment = segment.pushed();
                }
            }
            let packet = Packet::segment(self.index, self.wire_len(number), segment, now);
            let admitted = match self.header::<M>() {
                Some(header) => medium.offer_with(now, packet, header),
                None => medium.offer(now, packet),
            };
            if !admitted {
                self.on_drop();
            } else if F::OPTIONS {
                self.under_way += 1;
            }
        }
        (now, events)
    }

    /// Stops sending new data; the flow is done once all sent data have arrived.
    pub(crate) fn leave(&mut self, now: Time) {
        let begun = self.rare.established.is_some_and(|at| at <= now);
        self.sends_at = if begun { self.sends_at } else { Time::NEVER };
        self.opening = None;
        self.rare.left = self.completed.is_none();
        self.sender.leave();
        if self.sender.is_done() && self.completed.is_none() {
            self.completed = Some(now);
        }
    }

    /// Returns the header that a segment carries for routers, if the medium has one that reads it.
    #[inline]
    fn header<M: Medium>(&self) -> Option<CongestionHeader> {
        if M::ASSISTS { self.sender.router_header() } else { None }
    }

    #[inline]
    fn wire_len(&self, segment: u64) -> u32 {
        let full = self.sender.payload();
        let payload = if segment + 1 == self.total_segments { self.rest(segment * full) } else { full };
        payload as u32 + self.header
    }

    /// Returns the payload of the last segment, before which `sent` bytes have left.
    #[cold]
    fn rest(&self, sent: u64) -> u64 {
        self.rare.size.map_or(self.sender.payload(), |size| size.get() - sent)
    }

    /// Returns the payload received in order since the start.
    pub(crate) fn delivered(&self) -> u64 {
        let bytes = self.receiver.expected() * self.sender.payload();
        self.rare.size.map_or(bytes, |size| bytes.min(size.get()))
    }

    pub(crate) fn view(&self) -> FlowView {
        FlowView {
            delivered: Bytes::new(self.delivered()),
            smoothed_rtt: self.sender.smoothed_rtt(),
            window: self.sender.send_window(),
        }
    }

    /// Shows what its controller has measured.
    pub(crate) fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        self.sender.measures(show);
    }
}

//! The receiver: reassembly, delayed acknowledgements (RFC 1122, RFC 5681 section 4.2) and selective ones
//! (RFC 2018).
//!
//! If the return path loses nothing, an acknowledgement needs to name only the segment that caused it, because every
//! earlier out-of-order segment has been named already. If acknowledgements can be lost, [`Sacks::Blocks`] has the
//! receiver keep the blocks that each of them carries.

use super::advertised::Advertised;
use super::bits::BitRing;
use super::blocks::{Reported, SackBlocks};
use super::coalescing::Coalescing;
use super::ecn::{Feedback, Marked};
use crate::tagged::Signs;
use sizing::{BufferSizer, Demands, Input, PhaseChange};
use transport::{EcnMode, Host};
use units::random::Stream;
use units::{Bytes, Span, Time};

/// The way in which acknowledgements report segments that arrived out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sacks {
    /// Only the segment that caused the acknowledgement, which is enough if no acknowledgement is lost.
    Newest,
    /// As many blocks as an acknowledgement has room for, by [`Receiver::blocks`].
    Blocks {
        /// True if time stamps take the room of one block.
        timestamps: bool,
    },
}

/// An acknowledgement on its way to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    /// The first segment not received.
    pub(crate) cumulative: u64,
    /// The segment that caused this acknowledgement, if it did not come in order: beyond the cumulative point, or a
    /// repeat (RFC 2883).
    pub(crate) sacked: Option<u64>,
    /// True if `sacked` had arrived before.
    pub(crate) duplicate: bool,
    /// The feedback of congestion marks.
    pub(crate) feedback: Feedback,
    /// The time at which the segment that caused it was sent.
    pub(crate) newest_sent: Time,
    /// The echo of RFC 7323: the time at which the segment that last moved the left edge was sent. If several segments
    /// are acknowledged together, the first of them counts.
    pub(crate) echo: Time,
    /// The receive window, in segments.
    pub(crate) window: u64,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(super) expected: u64,
    /// The segments beyond `expected` that have arrived.
    early: BitRing,
    pub(super) early_count: u64,
    pub(super) every: u64,
    pub(super) timeout: Span,
    /// The number of segments in order that are not yet acknowledged.
    pub(super) unacknowledged: u64,
    /// The time at which it acts by itself, apart from what its host gathers.
    pub(super) deadline: Time,
    /// The time until which its host holds what it has gathered.
    pub(super) gathers_until: Time,
    pub(super) echo: Time,
    pub(super) newest_sent: Time,
    /// The feedback of congestion marks that acknowledgements carry.
    pub(super) feedback: Feedback,
    /// The state that few connections have.
    extras: Option<Box<Extras>>,
    /// One past the highest segment in `early`, kept for the blocks.
    highest: u64,
    /// The window, in segments; only a sizer moves it.
    pub(super) window: u64,
    pub(super) sizing: Option<Box<Advertised>>,
    /// The gathering of segments by the receiver's host, if the host gathers.
    pub(super) coalescing: Option<Box<Coalescing>>,
}

/// The state of a receiver that few connections have.
#[derive(Debug, Default)]
struct Extras {
    /// The blocks reported lately, only if acknowledgements carry blocks.
    reported: Option<Reported>,
    /// The state of congestion marks, if the connection has ECN.
    marked: Option<Marked>,
}

impl Receiver {
    /// Creates a receiver that acknowledges every `every` segments, each after `timeout` at the latest. The window is
    /// unlimited until [`Receiver::advertising`] sets it.
    pub(crate) fn new(every: u64, timeout: Span, sacks: Sacks) -> Self {
        Self {
            expected: 0,
            early: BitRing::default(),
            early_count: 0,
            every,
            timeout,
            unacknowledged: 0,
            deadline: Time::NEVER,
            gathers_until: Time::NEVER,
            echo: Time::ZERO,
            newest_sent: Time::ZERO,
            feedback: Feedback::default(),
            extras: match sacks {
                Sacks::Newest => None,
                Sacks::Blocks { timestamps } => {
                    Some(Box::new(Extras { reported: Some(Reported::new(timestamps)), marked: None }))
                }
            },
            highest: 0,
            window: u64::MAX,
            sizing: None,
            coalescing: None,
        }
    }

    /// Puts the receiver on `host`, for segments with `payload` bytes.
    pub(crate) fn on_host(mut self, host: &Host, payload: Bytes, stream: impl FnOnce() -> Stream) -> Self {
        self.coalescing = Coalescing::of(host, payload, stream);
        self
    }

    /// Lets the receiver give feedback of this `mode`, for a control that answers the share of marks if `by_share`.
    /// Segments have `payload` bytes.
    pub(crate) fn with_ecn(mut self, mode: EcnMode, by_share: bool, payload: Bytes) -> Self {
        if let Some(marked) = Marked::new(mode, by_share, self.every, payload.get()) {
            self.feedback = marked.first();
            self.extras.get_or_insert_default().marked = Some(marked);
        }
        self
    }

    /// Keeps a list of the blocks that acknowledgements carry on the wire, even if none of them can be lost. The list then
    /// changes nothing but [`blocks`](Self::blocks).
    pub(crate) fn keep_blocks(&mut self, timestamps: bool) {
        let extras = self.extras.get_or_insert_default();
        extras.reported.get_or_insert_with(|| Reported::new(timestamps));
    }

    /// Keeps this connection on the host of `other`, whose pauses go on.
    pub(crate) fn stay_on_host(&mut self, other: &mut Self) {
        if let (None, Some(reported)) = (self.reported(), other.reported()) {
            let renewed = reported.renewed();
            self.extras.get_or_insert_default().reported = Some(renewed);
        }
        if let (Some(own), Some(other)) = (&mut self.coalescing, &mut other.coalescing) {
            own.pauses = other.pauses.take();
        }
    }

    fn reported(&self) -> Option<&Reported> {
        self.extras.as_ref()?.reported.as_ref()
    }

    /// Returns the blocks that go with the acknowledgement just made; none with [`Sacks::Newest`].
    pub(crate) fn blocks(&self) -> SackBlocks {
        self.reported().map_or_else(SackBlocks::default, Reported::blocks)
    }

    /// Sets the window to `most` segments of `payload` bytes, or lets `sizer` choose one up to that size.
    pub(crate) fn advertising(
        mut self,
        most: u64,
        sizer: Option<Box<dyn BufferSizer>>,
        payload: Bytes,
        timestamps: bool,
    ) -> Self {
        self.sizing = sizer.map(|sizer| Box::new(Advertised::new(sizer, payload, most, timestamps)));
        self.window = self.sizing.as_mut().map_or(most, |sizing| sizing.window(0));
        self
    }

    /// Returns the window it advertises, in segments.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Returns the number of segments received in order.
    #[inline]
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// Returns the time at which it next acts by itself.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline.min(self.gathers_until)
    }

    /// Returns the time at which it next acts by itself, apart from what its host gathers.
    #[inline]
    pub(crate) fn own_deadline(&self) -> Time {
        self.deadline
    }

    /// Returns the time until which its host holds what it has gathered. A flow without options has no such host.
    #[inline]
    pub(crate) fn gathers_until(&self) -> Time {
        self.gathers_until
    }

    /// Returns true if a deadline of the receiver has come, apart from the deadlines of its gathering host.
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.deadline <= now
    }

    /// Takes `segment`, sent at `sent`, as it arrives. Returns the acknowledgement that leaves, if any.
    #[inline]
    pub(crate) fn on_segment(&mut self, now: Time, segment: u64, sent: Time) -> Option<Acknowledgement> {
        if self.sizing.is_none() {
            self.assemble(now, segment, sent)
        } else {
            self.resize(now, segment, sent)
        }
    }

    /// Reports the arrival to the sizer, and puts the sizer's window into the acknowledgement. It is a separate
    /// function, so that flows without a sizer do not carry its code.
    #[cold]
    fn resize(&mut self, now: Time, segment: u64, sent: Time) -> Option<Acknowledgement> {
        let known = self.early_count;
        self.deadline = self.sizing.as_ref().map_or(Time::NEVER, |sizing| sizing.acknowledges);
        let ack = self.assemble(now, segment, sent);
        let (expected, early) = (self.expected, self.early_count > known);
        let window = self.with_sizing(now, |sizing| sizing.on_segment(now, sent, expected, early));
        ack.map(|ack| Acknowledgement { window, ..ack })
    }

    /// Runs `what` on the sizer's window, updates the receiver's deadline, and returns the window to advertise.
    pub(super) fn with_sizing(&mut self, now: Time, what: impl FnOnce(&mut Advertised)) -> u64 {
        if let Some(sizing) = &mut self.sizing {
            sizing.acknowledges = self.deadline;
            what(sizing);
            self.window = sizing.window(self.expected);
            self.deadline = sizing.deadline(now);
        }
        self.window
    }

    /// Gives the sizer an `input` that does not belong to a segment.
    pub(crate) fn tell(&mut self, now: Time, input: Input) {
        self.deadline = self.sizing.as_ref().map_or(self.deadline, |sizing| sizing.acknowledges);
        self.with_sizing(now, |sizing| sizing.tell(now, input));
    }

    /// Sets the time `at` at which the flow wants to be called to send a probe.
    pub(crate) fn probe_at(&mut self, now: Time, at: Time) {
        self.deadline = self.sizing.as_ref().map_or(self.deadline, |sizing| sizing.acknowledges);
        self.with_sizing(now, |sizing| sizing.probes = at);
    }

    /// Polls the sizer at a deadline. Returns the withheld acknowledgement, if it is due, and the sizer's demands on
    /// the sender.
    #[cold]
    pub(crate) fn on_sized_deadline(&mut self, now: Time) -> (Option<Acknowledgement>, Demands) {
        let acknowledges = self.sizing.as_ref().map_or(Time::NEVER, |sizing| sizing.acknowledges);
        self.deadline = acknowledges;
        let ack = (acknowledges <= now).then(|| self.acknowledge(None));
        let mut demands = Demands::default();
        let window = self.with_sizing(now, |sizing| {
            sizing.follow(now);
            demands = sizing.take_demands();
        });
        (ack.map(|ack| Acknowledgement { window, ..ack }), demands)
    }

    /// Returns the sizer, if there is one.
    pub(crate) fn sizer(&self) -> Option<&dyn BufferSizer> {
        self.sizing.as_ref().map(|sizing| sizing.sizer())
    }

    /// Returns the window that the sizer wants; `None` without a sizer.
    pub(crate) fn wanted_window(&self) -> Option<Bytes> {
        self.sizing.as_ref().map(|sizing| sizing.wanted())
    }

    /// Records the sizer's state, if it is new.
    pub(crate) fn note_sizer(&mut self, now: Time) {
        if let Some(sizing) = &mut self.sizing {
            sizing.note_state(now);
        }
    }

    /// Returns the sizer's recorded states.
    pub(crate) fn sizer_changes(&self) -> &[PhaseChange] {
        self.sizing.as_ref().map_or(&[], |sizing| sizing.changes())
    }

    #[inline]
    fn assemble(&mut self, now: Time, segment: u64, sent: Time) -> Option<Acknowledgement> {
        self.newest_sent = sent;
        if segment != self.expected {
            return Some(self.out_of_order(segment));
        }
        if self.unacknowledged == 0 {
            self.echo = sent;
        }
        self.unacknowledged += 1;
        self.expected += 1;
        // RFC 5681: a segment that fills all or part of a gap is acknowledged at once.
        let gap = self.early_count > 0;
        if gap {
            self.absorb_early();
        }
        if gap || self.unacknowledged >= self.every {
            return Some(self.acknowledge(None));
        }
        if self.deadline == Time::NEVER {
            self.deadline = now + self.timeout;
        }
        None
    }

    /// Returns the acknowledgement of withheld segments that leaves before a segment with `signs` is taken, because that
    /// segment's echo differs.
    pub(crate) fn acknowledge_before(&mut self, signs: Signs) -> Option<Acknowledgement> {
        let marked = self.extras.as_ref().and_then(|extras| extras.marked.as_ref());
        let differs = marked.is_some_and(|marked| marked.differs(signs));
        (differs && self.unacknowledged > 0).then(|| self.acknowledge(None))
    }

    /// Takes the congestion signs of the `count` segments about to be given to [`on_segment`](Receiver::on_segment) or
    /// [`on_batch`](Receiver::on_batch). Returns the number of acknowledgements that a Linux host then sends at once.
    pub(crate) fn on_ecn(&mut self, signs: Signs, count: u64) -> u64 {
        let Some(marked) = self.extras.as_mut().and_then(|extras| extras.marked.as_mut()) else { return 0 };
        let before = self.feedback;
        let (feedback, at_once) = marked.take(before, signs, count, self.unacknowledged == 0);
        self.feedback = feedback;
        self.every = if at_once { 1 } else { marked.every };
        marked.quick(before, feedback)
    }

    /// Acknowledges withheld segments after the delayed-acknowledgement timer expired.
    pub(crate) fn on_deadline(&mut self) -> Acknowledgement {
        self.acknowledge(None)
    }

    /// Acknowledges withheld segments, and `sacked` beyond a hole, with the window that the sizer now wants.
    pub(super) fn acknowledge_now(&mut self, now: Time, sacked: Option<u64>) -> Acknowledgement {
        let ack = self.acknowledge(sacked);
        let window = self.with_sizing(now, |_| {});
        Acknowledgement { window, ..ack }
    }

    fn absorb_early(&mut self) {
        let next = self.early.first_clear(self.expected, self.highest).unwrap_or(self.highest);
        if next > self.expected {
            self.early.clear_range(self.expected, next);
            self.early_count -= next - self.expected;
            self.expected = next;
        }
        if let Some(reported) = self.extras.as_mut().and_then(|extras| extras.reported.as_mut()) {
            reported.forget_below(self.expected);
        }
    }

    /// Acknowledges an out-of-order or repeated segment at once (RFC 5681).
    fn out_of_order(&mut self, segment: u64) -> Acknowledgement {
        if segment < self.expected {
            // RFC 7323, section 4.3: a repeat below the last acknowledged segment has the newer time stamp. This shows
            // only if the acknowledgement of the first copy was lost or withheld.
            self.echo = self.echo.max(self.newest_sent);
            return Acknowledgement { duplicate: true, ..self.acknowledge(Some(segment)) };
        }
        self.early.reserve(self.expected, segment.max(self.highest));
        let duplicate = self.early.get(segment);
        if !duplicate {
            self.early.set(segment);
            self.early_count += 1;
            self.highest = self.highest.max(segment + 1);
            if let Some(reported) = self.extras.as_mut().and_then(|extras| extras.reported.as_mut()) {
                reported.add(segment, &self.early, self.expected, self.highest);
            }
        }
        Acknowledgement { duplicate, ..self.acknowledge(Some(segment)) }
    }

    #[inline]
    pub(super) fn acknowledge(&mut self, sacked: Option<u64>) -> Acknowledgement {
        self.unacknowledged = 0;
        self.deadline = Time::NEVER;
        Acknowledgement {
            cumulative: self.expected,
            sacked,
            duplicate: false,
            feedback: self.feedback,
            newest_sent: self.newest_sent,
            echo: self.echo,
            window: self.window,
        }
    }
}

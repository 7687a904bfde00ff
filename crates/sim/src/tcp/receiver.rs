//! The receiver: reassembly, delayed acknowledgements (RFC 1122, RFC 5681 section 4.2) and selective ones
//! (RFC 2018).
//!
//! Where the return path loses nothing, an acknowledgement needs to name only the segment that caused it: every
//! earlier out-of-order segment has been named already. Where acknowledgements can be lost, [`Sacks::Blocks`] has
//! the receiver keep the blocks that each of them carries.

use super::advertised::Advertised;
use super::bits::BitRing;
use super::blocks::{Reported, SackBlocks};
use super::coalescing::Coalescing;
use sizing::{BufferSizer, Demands, Input, PhaseChange};
use transport::Host;
use units::random::Stream;
use units::{Bytes, Span, Time};

/// What acknowledgements say of segments that arrived out of order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sacks {
    /// The one that caused it: enough if no acknowledgement is lost.
    Newest,
    /// As many blocks as an acknowledgement has room for, by [`Receiver::blocks`].
    Blocks {
        /// Time stamps take the room of one.
        timestamps: bool,
    },
}

/// An acknowledgement on its way to the sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Acknowledgement {
    /// The first segment not received.
    pub(crate) cumulative: u64,
    /// The segment that caused this acknowledgement, if it did not come in order: beyond the cumulative point, or
    /// a repeat (RFC 2883).
    pub(crate) sacked: Option<u64>,
    /// `sacked` had arrived before.
    pub(crate) duplicate: bool,
    /// The receiver echoes a congestion mark (ECE, RFC 3168).
    pub(crate) congested: bool,
    /// When the segment that caused it was sent.
    pub(crate) newest_sent: Time,
    /// RFC 7323's echo: when the segment that last moved the left edge was sent; of several acknowledged
    /// together, the first.
    pub(crate) echo: Time,
    /// The receive window, segments.
    pub(crate) window: u64,
}

#[derive(Debug)]
pub(crate) struct Receiver {
    pub(super) expected: u64,
    /// Beyond `expected`.
    early: BitRing,
    pub(super) early_count: u64,
    every: u64,
    timeout: Span,
    /// In order and not yet acknowledged.
    pub(super) unacknowledged: u64,
    pub(super) deadline: Time,
    pub(super) echo: Time,
    newest_sent: Time,
    /// A congestion mark has come and no sign yet that the sender knows.
    congested: bool,
    /// Only where acknowledgements carry blocks.
    reported: Option<Box<Reported>>,
    /// One past the highest segment in `early`, kept for the blocks.
    highest: u64,
    /// Segments; only a sizer moves it.
    window: u64,
    sizing: Option<Box<Advertised>>,
    /// What its host does with segments that are close together, if anything.
    pub(super) coalescing: Option<Box<Coalescing>>,
}

impl Receiver {
    /// Acknowledges every `every` segments, each after `timeout` at the latest. The window is unlimited until
    /// [`Receiver::advertising`] sets it.
    pub(crate) fn new(every: u64, timeout: Span, sacks: Sacks) -> Self {
        Self {
            expected: 0,
            early: BitRing::default(),
            early_count: 0,
            every,
            timeout,
            unacknowledged: 0,
            deadline: Time::NEVER,
            echo: Time::ZERO,
            newest_sent: Time::ZERO,
            congested: false,
            reported: match sacks {
                Sacks::Newest => None,
                Sacks::Blocks { timestamps } => Some(Box::new(Reported::new(timestamps))),
            },
            highest: 0,
            window: u64::MAX,
            sizing: None,
            coalescing: None,
        }
    }

    /// The same on `host`, for segments with `payload` bytes.
    pub(crate) fn on_host(mut self, host: &Host, payload: Bytes, stream: impl FnOnce() -> Stream) -> Self {
        self.coalescing = Coalescing::of(host, payload, stream);
        self
    }

    /// This connection is on the host of `other`, whose pauses go on.
    pub(crate) fn stay_on_host(&mut self, other: &mut Self) {
        if let (Some(own), Some(other)) = (&mut self.coalescing, &mut other.coalescing) {
            own.pauses = other.pauses.take();
        }
    }

    /// The blocks that go with the acknowledgement just made; none with [`Sacks::Newest`].
    pub(crate) fn blocks(&self) -> SackBlocks {
        self.reported.as_ref().map_or_else(SackBlocks::default, |reported| reported.blocks())
    }

    /// The same with a window of `most` segments of `payload` bytes, or up to that by `sizer`.
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

    /// The window it advertises, segments.
    pub(crate) fn window(&self) -> u64 {
        self.window
    }

    /// Segments received in order.
    #[inline]
    pub(crate) fn expected(&self) -> u64 {
        self.expected
    }

    /// When a withheld acknowledgement leaves.
    #[inline]
    pub(crate) fn deadline(&self) -> Time {
        self.deadline
    }

    /// `segment`, sent at `sent`, arrives.
    #[inline]
    pub(crate) fn on_segment(&mut self, now: Time, segment: u64, sent: Time) -> Option<Acknowledgement> {
        if self.sizing.is_none() {
            self.assemble(now, segment, sent)
        } else {
            self.resize(now, segment, sent)
        }
    }

    /// Tells the sizer what has arrived, and the acknowledgement what it says. Out of the way of the many flows that
    /// have none.
    #[cold]
    fn resize(&mut self, now: Time, segment: u64, sent: Time) -> Option<Acknowledgement> {
        let known = self.early_count;
        self.deadline = self.sizing.as_ref().map_or(Time::NEVER, |sizing| sizing.acknowledges);
        let ack = self.assemble(now, segment, sent);
        let (expected, early) = (self.expected, self.early_count > known);
        let window = self.with_sizing(now, |sizing| sizing.on_segment(now, sent, expected, early));
        ack.map(|ack| Acknowledgement { window, ..ack })
    }

    /// Does `what` with the sizing, sets the deadline by what comes of it, and returns the window to advertise.
    fn with_sizing(&mut self, now: Time, what: impl FnOnce(&mut Advertised)) -> u64 {
        if let Some(sizing) = &mut self.sizing {
            sizing.acknowledges = self.deadline;
            what(sizing);
            self.window = sizing.window(self.expected);
            self.deadline = sizing.deadline(now);
        }
        self.window
    }

    /// The sizer is told `input`, which is not of a segment.
    pub(crate) fn tell(&mut self, now: Time, input: Input) {
        self.by_inner_deadline(|own| {
            own.deadline = own.sizing.as_ref().map_or(own.deadline, |sizing| sizing.acknowledges);
            own.with_sizing(now, |sizing| sizing.tell(now, input));
        });
    }

    /// The flow wants to be called at `at` to send a probe.
    pub(crate) fn probe_at(&mut self, now: Time, at: Time) {
        self.by_inner_deadline(|own| {
            own.deadline = own.sizing.as_ref().map_or(own.deadline, |sizing| sizing.acknowledges);
            own.with_sizing(now, |sizing| sizing.probes = at);
        });
    }

    /// The deadline of a receiver with a sizer has come: polls it. The acknowledgement that was withheld, if it is time
    /// for that, and what the sizer wants of the sender.
    #[cold]
    pub(crate) fn on_sized_deadline(&mut self, now: Time) -> (Option<Acknowledgement>, Demands) {
        self.by_inner_deadline(|own| own.poll_sizer(now))
    }

    fn poll_sizer(&mut self, now: Time) -> (Option<Acknowledgement>, Demands) {
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

    /// The sizer, if there is one.
    pub(crate) fn sizer(&self) -> Option<&dyn BufferSizer> {
        self.sizing.as_ref().map(|sizing| sizing.sizer())
    }

    /// The window that the sizer wants, if there is one.
    pub(crate) fn wanted_window(&self) -> Option<Bytes> {
        self.sizing.as_ref().map(|sizing| sizing.wanted())
    }

    /// Keeps what the sizer says of itself, if that is new.
    pub(crate) fn note_sizer(&mut self, now: Time) {
        if let Some(sizing) = &mut self.sizing {
            sizing.note_state(now);
        }
    }

    /// What the sizer has said of itself.
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

    /// The segment about to be given to [`on_segment`](Receiver::on_segment) tells of a reduced window, or bears a
    /// congestion mark. Every acknowledgement from a mark to the news of a reduction echoes the mark [rfc3168:6.1.3].
    pub(crate) fn on_ecn(&mut self, reduced: bool, marked: bool) {
        self.congested = (self.congested && !reduced) || marked;
    }

    /// The delayed-acknowledgement timer expired.
    pub(crate) fn on_deadline(&mut self) -> Acknowledgement {
        self.by_inner_deadline(|own| own.acknowledge(None))
    }

    /// Acknowledges what is withheld, and beyond a hole `sacked`, whatever else the deadline is for.
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
        if let Some(reported) = &mut self.reported {
            reported.forget_below(self.expected);
        }
    }

    /// RFC 5681: out-of-order and repeated segments are acknowledged at once.
    fn out_of_order(&mut self, segment: u64) -> Acknowledgement {
        if segment < self.expected {
            // RFC 7323, section 4.3: a repeat below what was acknowledged last is the newer time stamp. It shows only
            // where the acknowledgement of the first copy was lost or withheld.
            self.echo = self.echo.max(self.newest_sent);
            return Acknowledgement { duplicate: true, ..self.acknowledge(Some(segment)) };
        }
        self.early.reserve(self.expected, segment.max(self.highest));
        let duplicate = self.early.get(segment);
        if !duplicate {
            self.early.set(segment);
            self.early_count += 1;
            self.highest = self.highest.max(segment + 1);
            if let Some(reported) = &mut self.reported {
                reported.add(segment, &self.early, self.expected, self.highest);
            }
        }
        Acknowledgement { duplicate, ..self.acknowledge(Some(segment)) }
    }

    #[inline]
    fn acknowledge(&mut self, sacked: Option<u64>) -> Acknowledgement {
        self.unacknowledged = 0;
        self.deadline = Time::NEVER;
        Acknowledgement {
            cumulative: self.expected,
            sacked,
            duplicate: false,
            congested: self.congested,
            newest_sent: self.newest_sent,
            echo: self.echo,
            window: self.window,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    #[test]
    fn every_second_segment_is_acknowledged_and_the_first_is_echoed() {
        let mut receiver = Receiver::new(2, Span::from_millis(100), Sacks::Newest);
        assert_eq!(receiver.on_segment(at(50), 0, at(10)), None);
        assert_eq!(receiver.deadline(), at(150));
        let ack = receiver.on_segment(at(51), 1, at(11)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked, ack.echo, ack.newest_sent), (2, None, at(10), at(11)));
        assert_eq!(receiver.deadline(), Time::NEVER);
        receiver.on_segment(at(60), 2, at(20));
        assert_eq!(receiver.on_deadline().cumulative, 3);
    }

    #[test]
    fn out_of_order_segments_are_acknowledged_at_once_until_the_gap_is_filled() {
        let mut receiver = Receiver::new(2, Span::from_millis(100), Sacks::Newest);
        let ack = receiver.on_segment(at(1), 1, at(0)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked), (0, Some(1)));
        let ack = receiver.on_segment(at(2), 3, at(0)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked), (0, Some(3)));
        let ack = receiver.on_segment(at(3), 0, at(2)).unwrap();
        assert_eq!((ack.cumulative, ack.sacked, ack.echo), (2, None, at(2)));
        let ack = receiver.on_segment(at(4), 2, at(3)).unwrap();
        assert_eq!(ack.cumulative, 4);
        // A repeat is acknowledged at once too.
        assert_eq!(receiver.on_segment(at(5), 2, at(3)).unwrap().cumulative, 4);
    }
    #[test]
    fn blocks_come_newest_first_and_are_repeated_until_others_push_them_out() {
        let mut receiver = Receiver::new(1, Span::from_millis(100), Sacks::Blocks { timestamps: true });
        let mut after = |segment| {
            let ack = receiver.on_segment(at(1), segment, at(0)).unwrap();
            (ack.cumulative, receiver.blocks().as_slice().to_vec())
        };
        assert_eq!(after(0), (1, vec![]));
        assert_eq!(after(2), (1, vec![(2, 3)]));
        assert_eq!(after(3), (1, vec![(2, 4)]));
        assert_eq!(after(6), (1, vec![(6, 7), (2, 4)]));
        assert_eq!(after(8), (1, vec![(8, 9), (6, 7), (2, 4)]));
        assert_eq!(after(10), (1, vec![(10, 11), (8, 9), (6, 7)]));
        // 7 joins two blocks; the place that is free stays so until another block changes.
        assert_eq!(after(7), (1, vec![(6, 9), (10, 11)]));
        // 5 has 4 missing below it.
        assert_eq!(after(5), (1, vec![(5, 9), (10, 11)]));
        // A block that was pushed out comes back as it changes.
        assert_eq!(after(4), (1, vec![(2, 9), (10, 11)]));
        assert_eq!(after(1), (9, vec![(10, 11)]));
    }

    /// RFC 7323, section 4.3 (2).
    #[test]
    fn a_repeat_is_echoed_by_its_own_time_stamp() {
        let mut receiver = Receiver::new(1, Span::from_millis(100), Sacks::Newest);
        assert_eq!(receiver.on_segment(at(5), 0, at(1)).unwrap().echo, at(1));
        let again = receiver.on_segment(at(90), 0, at(80)).unwrap();
        assert_eq!((again.cumulative, again.sacked, again.duplicate, again.echo), (1, Some(0), true, at(80)));
        // An older copy that comes late changes nothing.
        assert_eq!(receiver.on_segment(at(91), 0, at(40)).unwrap().echo, at(80));
        // Beyond a gap the echo stands still.
        assert_eq!(receiver.on_segment(at(92), 2, at(85)).unwrap().echo, at(80));
    }
}

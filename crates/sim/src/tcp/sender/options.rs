//! The options that a flow may turn on: PRR, ns-2's count of the segments in the network, RACK-TLP, ECN. Each that
//! takes more than a line is a file of its own; here the sender drives them.

use super::offload::Offload;
use super::timed::TimedDetection;
use super::undo::TimeoutDoubt;
use super::writer::Writer;
use super::{Episode, Features, Sender, SenderConfig, Transmission};
use crate::tagged::CapableHeaders;
use crate::tcp::Acknowledgement;
use crate::tcp::blocks::Block;
use crate::tcp::ecn::Reaction;
use crate::tcp::prr::Prr;
use crate::tcp::scoreboard::Scoreboard;
use cc::CongestionKind;
use transport::{LossDetection, Recovery, WindowVariant};
use units::{Span, Time};

/// The state of the options that are on.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Options {
    /// The scoreboard's counts before the acknowledgement at hand.
    pub(super) before: ScoreboardCounts,
    prr: Option<Prr>,
    pub(super) rack: Option<TimedDetection>,
    pub(super) ecn: Option<Box<Reaction>>,
    /// True if the acknowledgement at hand reports marks.
    pub(super) marked: bool,
    /// True if the window moves as in Linux. The acknowledgement that ends fast recovery then also makes the window grow,
    /// by the data that it delivers. A lost retransmission is not a second sign of congestion.
    linux_window: bool,
    /// True if needless timeouts are taken back.
    pub(super) undoes: bool,
    /// True if, in fast recovery, lost segments count as being in the network until they are acknowledged.
    counts_lost: bool,
    pub(super) offload: Option<Offload>,
    /// After a timeout that may turn out to be needless: what is known of it.
    pub(super) doubt: Option<Box<TimeoutDoubt>>,
    /// The program that sends, if its buffer may be the limit.
    pub(super) writer: Option<Writer>,
}

/// Counts of the scoreboard at an instant, segments.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct ScoreboardCounts {
    /// Segments cumulatively acknowledged.
    pub(super) una: u64,
    /// Segments selectively acknowledged.
    sacked: u64,
    /// Segments found lost since the start.
    lost: u64,
}

impl ScoreboardCounts {
    pub(super) fn of(board: &Scoreboard) -> Self {
        Self { una: board.una(), sacked: board.sacked(), lost: board.total_lost() }
    }

    /// Returns the segments that are acknowledged, cumulatively or selectively.
    pub(super) fn delivered(self) -> u64 {
        self.una + self.sacked
    }
}

impl Options {
    /// Returns the options that `config` asks for; `None` if it asks for none.
    pub(super) fn of(config: &SenderConfig) -> Option<Box<Self>> {
        let transport = &config.transport;
        let timed = transport.loss_detection == LossDetection::Rack && transport.sack;
        let wants = config.control.wants();
        let options = Self {
            // A rate-based controller sets the window in recovery itself [Linux, `tcp_cong_control()`].
            prr: (transport.recovery == Recovery::Prr && !wants.rate).then(Prr::default),
            counts_lost: transport.recovery == Recovery::Sack1 && transport.sack,
            rack: timed.then(TimedDetection::default),
            ecn: Reaction::new(transport.ecn, wants, transport.timestamps).map(Box::new),
            marked: false,
            linux_window: transport.host.window_variant == WindowVariant::Linux,
            undoes: transport.host.undo_timeouts && transport.sack,
            doubt: None,
            // A controller that places every departure sends no super-packets.
            offload: (transport.host.tso && !wants.departures).then(|| Offload::new(!timed)),
            writer: Writer::of(transport.host.send_buffer, config.payload),
            before: ScoreboardCounts::default(),
        };
        let none = options.prr.is_none()
            && !options.counts_lost
            && options.rack.is_none()
            && options.ecn.is_none()
            && options.offload.is_none()
            && options.writer.is_none()
            && !options.linux_window
            && !options.undoes
            && !transport.host.gathers();
        (!none).then(|| Box::new(options))
    }

    fn timer(&self) -> Time {
        self.rack.as_ref().map_or(Time::NEVER, |timed| timed.rack.due.min(timed.tail.due))
    }
}

impl Sender {
    fn option<T>(&self, of: impl Fn(&Options) -> Option<&T>) -> Option<&T> {
        self.options.as_deref().and_then(of)
    }

    /// Returns true if losses are found by time.
    pub(super) fn is_timed(&self) -> bool {
        self.option(|options| options.rack.as_ref()).is_some()
    }

    /// Returns the headers of the new data packet just sent; `None` unless it is ECN-capable.
    pub(crate) fn take_capable(&mut self) -> Option<CapableHeaders> {
        self.options.as_mut()?.ecn.as_mut().map(|reaction| reaction.take_headers())
    }

    /// Returns the number of segments that may leave: the room in a window of `window` segments, or PRR's allotment.
    pub(super) fn room(&self, window: u64) -> u64 {
        let free = |more| window.saturating_sub(self.board.pipe() + more);
        let Some(options) =
            self.options.as_deref().filter(|_| matches!(self.episode, Episode::FastRecovery { .. }))
        else {
            return free(0);
        };
        match &options.prr {
            Some(prr) => prr.room(),
            None if options.counts_lost => free(self.board.lost()),
            None => free(0),
        }
    }

    /// Returns true if one more segment may leave. In fast recovery PRR's allotment decides and not the window, or lost
    /// segments take up room in the window, too.
    #[inline]
    pub(super) fn has_room_in_episode<F: Features>(&self) -> bool {
        if !F::OPTIONS {
            return self.has_room();
        }
        let Some(options) =
            self.options.as_deref().filter(|_| matches!(self.episode, Episode::FastRecovery { .. }))
        else {
            return self.has_room();
        };
        match &options.prr {
            Some(prr) => prr.has_room(),
            None if options.counts_lost => self.has_room_beside(self.board.lost()),
            None => self.has_room(),
        }
    }

    /// Returns true if the acknowledgement at hand ended fast recovery and the window also grows for the data that it
    /// delivered, as in Linux.
    #[cold]
    pub(super) fn credits_end(&self) -> bool {
        let counts = self.options.as_deref().is_some_and(|options| options.linux_window && !options.marked);
        counts && self.episode == Episode::None
    }

    /// Records that a segment left.
    #[inline(always)]
    pub(super) fn note_sent(&mut self, now: Time, sent: &Transmission) {
        let Some(options) = self.options.as_deref_mut() else { return };
        if let Some(prr) = &mut options.prr {
            prr.on_sent();
        }
        if sent.again
            && let Some(doubt) = &mut options.doubt
        {
            doubt.on_sent_again(now);
        }
        if let Some(timed) = &mut options.rack {
            if self.probing && sent.again && sent.segment != timed.probed.0 {
                timed.probed = (sent.segment, timed.rack.sent_at(sent.segment));
            }
            timed.rack.on_sent(now, sent.segment, sent.again, self.board.una());
            if self.probing {
                self.probing = false;
                timed.tail.on_probe(sent.again, self.board.next());
                // The retransmission timer starts again as the probe leaves.
                self.timer = now + self.rtt.timeout();
                timed.tail.disarm();
            } else if !sent.again && self.episode == Episode::None && !self.board.has_sacked() {
                timed.tail.arm(now, self.rtt.smoothed(), self.board.outstanding(), self.timer);
            }
            self.option_timer = timed.rack.due.min(timed.tail.due);
        }
    }

    /// Returns the time at which the retransmission timer expires.
    #[inline]
    pub(crate) fn own_timer(&self) -> Time {
        self.timer
    }

    /// Returns the time at which the next timer of an option expires.
    #[inline]
    pub(crate) fn option_timer(&self) -> Time {
        self.option_timer
    }

    /// Notes the earliest timer of the options, after one of them may have moved.
    pub(super) fn note_option_timer(&mut self) {
        self.option_timer = self.options.as_deref().map_or(Time::NEVER, Options::timer);
    }

    /// Records the arrivals that the acknowledgement at hand reports. The scoreboard must not have taken them yet.
    #[inline(always)]
    pub(super) fn note_delivered(&mut self, now: Time, ack: &Acknowledgement, blocks: &[Block]) {
        let board = &self.board;
        let mut rack = None;
        if let Some(options) = self.options.as_deref_mut() {
            options.before = ScoreboardCounts::of(board);
            rack = options.rack.as_mut();
        }
        if let Some(timed) = &mut rack {
            timed.sample = None;
        }
        // Usually segments arrive in order, once.
        if !board.is_whole() || ack.sacked.is_some() || !blocks.is_empty() {
            return self.note_out_of_order(now, ack, blocks);
        }
        for segment in board.una()..ack.cumulative.min(board.next()) {
            if let Some(timed) = &mut rack {
                timed.rack.on_delivered(now, segment, false, None);
            }
            if let Some(delivery) = self.pacing.delivery.as_deref_mut() {
                delivery.on_delivered(now, segment);
            }
        }
    }

    /// Records arrivals as [`note_delivered`](Self::note_delivered) does, where some were or are out of order.
    #[inline(never)]
    fn note_out_of_order(&mut self, now: Time, ack: &Acknowledgement, blocks: &[Block]) {
        let board = &self.board;
        let first_again = self.options.as_deref().map_or(Time::ZERO, Options::first_again);
        let mut original = false;
        let mut rack = self.options.as_deref_mut().and_then(|options| options.rack.as_mut());
        let mut rates = self.pacing.delivery.as_deref_mut();
        if rack.is_none() && rates.is_none() {
            return;
        }
        let mut delivered = |from: u64, to: u64, echo| {
            let mut from = from;
            while let Some(segment) = board.hole_within(from, to) {
                if let Some(timed) = &mut rack {
                    let again = board.is_resent(segment);
                    if segment >= ack.cumulative && !again && timed.sample.is_none() {
                        timed.sample = Some(now.since(timed.rack.sent_at(segment)));
                    }
                    original |= timed.rack.sent_at(segment) < first_again;
                    timed.rack.on_delivered(now, segment, again, echo);
                }
                if let Some(delivery) = &mut rates {
                    delivery.on_delivered(now, segment);
                }
                from = segment + 1;
            }
        };
        delivered(board.una(), ack.cumulative, self.timestamps.then_some(ack.echo));
        // The lowest block is taken first, because an arrival below an earlier one would look like reordering.
        let newest = ack.sacked.filter(|_| self.sack).map(|segment| (segment, segment + 1));
        let mut above = ack.cumulative;
        loop {
            let mut next = newest.filter(|(_, end)| *end > above);
            for block in blocks {
                if block.1 > above && next.is_none_or(|next| *block < next) {
                    next = Some(*block);
                }
            }
            let Some((start, end)) = next else { break };
            delivered(start.max(above), end, None);
            above = end;
        }
        if let Some(options) = self.options.as_deref_mut() {
            options.note_original(original);
        }
    }

    /// Returns the round-trip sample of an acknowledgement that moves nothing. Linux takes one from selectively
    /// acknowledged segments (`tcp_ack_update_rtt()`).
    #[cold]
    pub(super) fn selective_sample(&self) -> Option<Span> {
        let options = self.options.as_deref().filter(|options| options.linux_window)?;
        options.rack.as_ref()?.sample
    }

    /// Returns true if the first hole was last sent after the segment whose round-trip time is `sample`. In Linux the
    /// timer then begins anew.
    #[cold]
    pub(super) fn precedes_first_hole(&self, now: Time, sample: Span) -> bool {
        let rack = self.option(|options| options.rack.as_ref());
        rack.is_some_and(|timed| timed.rack.sent_at(self.board.una()) + sample > now)
    }

    /// Finds losses by time, and answers congestion marks. Returns true if the window must not grow by this
    /// acknowledgement.
    #[inline(always)]
    pub(super) fn heed(
        &mut self,
        now: Time,
        ack: &Acknowledgement,
        blocks: usize,
        newly: u64,
        sample: Option<Span>,
    ) -> bool {
        self.bound_by_writer(ack.window);
        if matches!(self.episode, Episode::Timeout { .. }) {
            self.undo_timeout(ack, newly);
        }
        let Some(options) = self.options.as_deref_mut() else { return false };
        let outstanding = self.board.next() - options.before.una;
        if let Some(timed) = &mut options.rack {
            if sample.is_some() {
                timed.tail.on_sample();
            }
            let repaired = timed.tail.on_ack(ack, newly);
            if ack.duplicate {
                timed.rack.on_repeat(&self.board);
            }
            if repaired && self.episode == Episode::None {
                self.congestion(now, CongestionKind::Loss, outstanding);
            }
            self.look_for_losses(now);
        }
        self.heed_marks(now, ack, blocks, outstanding)
    }

    /// Looks for losses by time, if there may be some.
    #[inline(always)]
    fn look_for_losses(&mut self, now: Time) {
        let rack = self.options.as_deref_mut().and_then(|options| options.rack.as_mut());
        match rack {
            Some(timed) if timed.rack.is_in_order(&self.board) => timed.rack.due = Time::NEVER,
            _ => self.detect(now),
        }
    }

    /// Looks for losses by time.
    #[inline(never)]
    fn detect(&mut self, now: Time) {
        let recovering = self.episode != Episode::None;
        let smoothed = self.rtt.smoothed();
        let Some(options) = self.options.as_deref_mut() else { return };
        let linux_window = options.linux_window;
        let Some(timed) = &mut options.rack else { return };
        let window = timed.rack.window(&self.board, recovering, smoothed);
        let found = timed.rack.detect(now, &mut self.board, window);
        let reduced = timed.reduced;
        // RFC 5681, section 4.3: a lost retransmission is a second sign of congestion, but only if it left after the
        // window last came down. Linux does not count it (`tcp_fastretrans_alert()`).
        if recovering && !linux_window && found.again.is_some_and(|sent| sent >= reduced) {
            let outstanding = self.board.outstanding();
            self.congestion(now, CongestionKind::Loss, outstanding);
            self.owed = true;
            if let Episode::FastRecovery { until, .. } = &mut self.episode {
                *until = self.board.next();
                self.begin_reduction(outstanding);
            }
        }
    }

    /// Sets the tail probe's timer after the acknowledgement at hand, which acknowledges `newly` segments, has been
    /// processed.
    #[inline(always)]
    pub(super) fn allot(&mut self, now: Time, newly: u64) {
        let Some(options) = self.options.as_deref_mut() else { return };
        if let Some(timed) = &mut options.rack {
            self.probing &= newly == 0 && self.episode == Episode::None;
            if self.episode != Episode::None || self.board.has_sacked() {
                timed.tail.disarm();
            } else if newly > 0 {
                timed.tail.arm(now, self.rtt.smoothed(), self.board.outstanding(), self.timer);
            }
            self.option_timer = timed.rack.due.min(timed.tail.due);
        }
    }

    /// Begins the reduction of fast recovery, with `outstanding` segments, under the window that the controller now
    /// gives.
    pub(super) fn begin_reduction(&mut self, outstanding: u64) {
        let Some(options) = self.options.as_deref_mut() else { return };
        if let Some(prr) = &mut options.prr {
            prr.begin(outstanding, self.window / self.payload);
        }
    }

    /// Gives PRR the acknowledgement at hand in fast recovery, so that it allots segments to send. The acknowledgement
    /// that begins fast recovery counts, too.
    pub(super) fn reduce(&mut self) {
        if !matches!(self.episode, Episode::FastRecovery { .. }) {
            return;
        }
        let Some(options) = self.options.as_deref_mut() else { return };
        if let Some(prr) = &mut options.prr {
            let (before, now) = (options.before, ScoreboardCounts::of(&self.board));
            let delivered = now.delivered().saturating_sub(before.delivered());
            let safe = now.una > before.una && now.lost == before.lost;
            prr.on_ack(delivered, self.board.pipe(), safe);
        }
    }

    /// Records that the window came down.
    pub(super) fn note_reduced(&mut self, now: Time) {
        let Some(options) = self.options.as_deref_mut() else { return };
        if let Some(ecn) = &mut options.ecn {
            ecn.on_reduction(self.board.next());
        }
        if let Some(timed) = &mut options.rack {
            timed.reduced = now;
        }
    }

    /// Records that an episode ended.
    pub(super) fn note_recovered(&mut self) {
        let Some(options) = self.options.as_deref_mut() else { return };
        options.doubt = None;
        if let Some(timed) = &mut options.rack {
            timed.rack.on_recovered();
        }
    }

    /// Handles an expired timer of RACK-TLP; returns false if none of them expired.
    pub(super) fn on_option_timer(&mut self, now: Time) -> bool {
        let Some(options) = self.options.as_deref_mut() else { return false };
        if options.timer() > now {
            return false;
        }
        options.before = ScoreboardCounts::of(&self.board);
        if let Some(timed) = &mut options.rack {
            if timed.tail.due <= now {
                timed.tail.disarm();
                self.probing = true;
            } else {
                timed.rack.due = Time::NEVER;
                self.detect(now);
                self.follow_episode(now, 0);
            }
        }
        true
    }
}

//! A host's treatment of segments that arrive close together, and of the acknowledgements they cause.
//!
//! - **Receive offload (GRO).** The network card raises its interrupt a little after the first segment, and neighbours
//!   that are there by then are handed to TCP as one. TCP acknowledges them as one: a stretch acknowledgement.
//! - **Quick acknowledgements.** A young connection sends sixteen acknowledgements, each at once (`TCP_MAX_QUICKACKS`);
//!   a grown one acknowledges every second segment. While the receive window grows, each arrival by which it grows lets
//!   one more acknowledgement leave at once (`tcp_grow_window`). A segment that had arrived before lets sixteen do so
//!   (`tcp_enter_quickack_mode`). The last segment of a super-packet of several has the PSH flag, and is acknowledged
//!   at once (`tcp_measure_rcv_mss`).
//! - **Pauses.** The processor does something else for a while, or the hypervisor runs another machine on it. The
//!   card's memory and the socket's backlog keep the segments that arrive, and one acknowledgement covers all of them
//!   afterwards.
//! - **Waking up.** A processor that has had nothing to do sleeps, and takes a while to begin. Segments that
//!   arrive meanwhile are taken together.
//! - **Congestion marks.** Segments whose ECN fields differ are not handed over as one. After the first mark that is to
//!   be echoed, two acknowledgements leave at once (`tcp_data_ecn_check`).
//! - **Compressed selective acknowledgements** (`tcp_comp_sack_delay_ns`). Beyond a hole the fourth acknowledgement and
//!   those after it wait for a timer. One acknowledgement then covers all of them, but no more blocks than its option
//!   has room for.
//!
//! The rules are Linux's: `dev_gro_receive`, `tcp_gro_receive`, `__tcp_ack_snd_check`, `tcp_sack_compress_send_ack`,
//! `tcp_add_backlog`.

mod hole;
mod pauses;

#[cfg(test)]
use super::advertised::Advertised;
use super::blocks::{Block, SackBlocks};
use super::few::Few;
use super::receiver::{Acknowledgement, Receiver};
use crate::early;
use crate::tagged::Signs;
use cc::SUPER_PACKET;
use hole::Hole;
use pauses::Pauses;
use sizing::INITIAL_WINDOW;
use transport::{FALLS_ASLEEP, Host, LARGEST_WINDOW};
use units::random::Stream;
use units::{Bytes, Span, Time};

/// The number of segments by which a receive window grows for each that arrives (`tcp_grow_window`).
const GROWTH: u64 = 2;
/// The divisor of the round trip for their longest wait (`tcp_ack_snd_check`: five percent).
const PART_OF_RTT: u64 = 20;

/// Neighbouring segments that are handed to TCP as one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Batch {
    first: u64,
    /// The number after that of the last segment.
    end: u64,
    /// The times at which the first and the last were sent.
    sent: (Time, Time),
    /// True if the last one ends a super-packet.
    pushed: bool,
    /// The congestion signs of each of them.
    pub(crate) signs: Signs,
}

/// The state of a host that gathers segments or acknowledgements.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Coalescing {
    gro: Span,
    /// The most segments of a batch.
    most: u32,
    /// The number of acknowledgements with which a connection begins that are sent at once.
    first_quick: u32,
    /// The number of acknowledgements that are yet to be sent at once (`icsk_ack.quick`).
    quick: u64,
    /// The receive window that has been opened (`rcv_ssthresh`) and its limit, in segments; both are zero if the window
    /// does not grow.
    grown: (u64, u64),
    compression: Span,
    /// The newest batch that the card holds, which the next segment may join.
    newest: Option<Batch>,
    /// The batches that it holds besides; there are some only in a pause.
    earlier: Few<Batch>,
    /// The time at which the card hands the first of them over.
    due: Time,
    pub(super) pauses: Option<Pauses>,
    /// The time that a sleeping processor takes to wake up.
    wake_up: Span,
    /// The time from which the processor sleeps if nothing arrives before.
    asleep: Time,
    /// The time by which the processor has woken up.
    awake: Time,
    /// The least time from the sending of a segment to its arrival.
    least_rtt: Span,
    /// The state beyond a hole, only from the hole's first acknowledgement until everything is in order again.
    hole: Option<Box<Hole>>,
}

impl Coalescing {
    /// Creates the state of `host`, for segments with `payload` bytes; `None` if the host gathers nothing.
    pub(super) fn of(host: &Host, payload: Bytes, stream: impl FnOnce() -> Stream) -> Option<Box<Self>> {
        host.gathers().then(|| {
            Box::new(Self {
                gro: host.gro,
                most: (SUPER_PACKET / payload).max(1) as u32,
                quick: host.quick_ack,
                first_quick: u32::try_from(host.quick_ack).unwrap_or(u32::MAX),
                grown: if host.quick_growth {
                    (INITIAL_WINDOW / payload, LARGEST_WINDOW / payload)
                } else {
                    (0, 0)
                },
                compression: host.sack_compression,
                newest: None,
                earlier: Few::default(),
                due: Time::NEVER,
                pauses: if host.pause > Span::ZERO { Some(Pauses::new(host, stream())) } else { None },
                wake_up: host.wake_up,
                asleep: Time::ZERO,
                awake: Time::ZERO,
                hole: None,
                least_rtt: Span::MAX,
            })
        })
    }

    /// Opens the window further for `count` new segments that came as one, to `window` at most. If it grows, one more
    /// acknowledgement may leave at once: `quick` is made odd, which never lowers it.
    #[inline(always)]
    fn grow(&mut self, window: u64, count: u64) {
        let (grown, most) = &mut self.grown;
        let limit = window.min(*most);
        if *grown < limit {
            *grown = (*grown + GROWTH * count).min(limit);
            self.quick |= 1;
        }
    }

    /// Returns the time at which it next hands over what it has gathered.
    #[inline]
    fn deadline(&self) -> Time {
        self.hole.as_ref().map_or(self.due, |hole| self.due.min(hole.due()))
    }

    /// Wakes the processor up if it sleeps, and keeps it awake.
    #[inline]
    fn stay_awake(&mut self, now: Time) {
        if now >= self.asleep {
            self.awake = now + self.wake_up;
        }
        self.asleep = now.max(self.awake) + FALLS_ASLEEP;
    }

    /// Takes `segment`, which reaches the card. Returns the batch that the card hands over as a result.
    #[inline(always)]
    fn hold(&mut self, now: Time, segment: u64, sent: Time, pushed: bool, signs: Signs) -> Option<Batch> {
        self.stay_awake(now);
        let away = self.away(now);
        if let Some(batch) = self.newest.as_mut().filter(|batch| batch.end == segment && batch.signs == signs)
        {
            (batch.end, batch.sent.1, batch.pushed) = (segment + 1, sent, pushed);
            return if batch.end - batch.first < u64::from(self.most) {
                None
            } else {
                self.hand_over(now, away)
            };
        }
        let new = Batch { first: segment, end: segment + 1, sent: (sent, sent), pushed, signs };
        if self.newest.is_none() && self.gro == Span::ZERO && away <= now {
            return Some(new);
        }
        let Some(before) = self.newest.replace(new) else {
            self.due = if away > now { away } else { now + self.gro };
            return None;
        };
        if self.earlier.is_empty() && away <= now {
            self.due = self.due.max(now);
            return Some(before);
        }
        self.earlier.push(before);
        self.hand_over(now, away)
    }

    /// Returns the first batch that the card holds, unless the processor is away until a later time than `now`.
    #[inline(always)]
    fn hand_over(&mut self, now: Time, away: Time) -> Option<Batch> {
        if away > now {
            self.due = away;
            return None;
        }
        let batch = if self.earlier.is_empty() { self.newest.take() } else { self.earlier.pop() };
        self.due = if self.newest.is_none() { Time::NEVER } else { self.due.max(now) };
        batch
    }

    /// Returns the time until which the processor does not run; it runs if that is not later than `now`.
    #[inline(always)]
    fn away(&mut self, now: Time) -> Time {
        let pause = self.pauses.as_mut().and_then(|pauses| pauses.end(now));
        pause.unwrap_or_default().max(self.awake)
    }

    /// Hands over the first batch, because the card has held it for long enough.
    #[inline(always)]
    fn expire(&mut self, now: Time) -> Option<Batch> {
        let away = self.away(now);
        self.hand_over(now, away)
    }

    /// Takes an acknowledgement that reports `block` beyond a hole. Returns the acknowledgement if it leaves, and `None`
    /// if it waits.
    fn compress(&mut self, now: Time, ack: Acknowledgement, block: Option<Block>) -> Option<Acknowledgement> {
        let wait = self.compression.min(self.least_rtt / PART_OF_RTT);
        let hole = self.hole.get_or_insert_default();
        hole.compress(now, ack, block, (self.compression > Span::ZERO).then_some(wait))
    }

    /// Returns true if acknowledgements are being gathered.
    #[inline]
    fn gathers_acknowledgements(&self) -> bool {
        self.hole.as_ref().is_some_and(|hole| hole.gathers())
    }
}

impl Receiver {
    /// Returns the bytes of its boxes.
    #[cfg(test)]
    pub(crate) fn boxes(&self) -> usize {
        self.coalescing.as_ref().map_or(0, |_| size_of::<Coalescing>())
            + self.sizing.as_ref().map_or(0, |_| size_of::<Advertised>())
    }

    /// Begins to load the states of the host and the window into the processor's cache.
    #[inline]
    pub(crate) fn load_boxes(&self) {
        if let Some(coalescing) = &self.coalescing {
            early::load(&coalescing.gro, size_of::<Coalescing>());
        }
        if let Some(sizing) = &self.sizing {
            sizing.load_early();
        }
    }

    /// Returns true if its host gathers what arrives.
    pub(crate) fn coalesces(&self) -> bool {
        self.coalescing.is_some()
    }

    /// Takes a segment that reaches a host which gathers segments. It has `signs`, and is the last of a super-packet if
    /// `pushed`. Returns the batch that is handed to TCP as a result.
    #[inline(always)]
    pub(crate) fn gather(
        &mut self,
        now: Time,
        segment: u64,
        sent: Time,
        pushed: bool,
        signs: Signs,
    ) -> Option<Batch> {
        let coalescing = self.coalescing.as_deref_mut()?;
        let batch = coalescing.hold(now, segment, sent, pushed, signs);
        self.gathers_until = coalescing.deadline();
        batch
    }

    /// Lets `segment`, which arrives at `now`, join the batch that the card holds. Returns false, and does nothing, if it
    /// arrives too late or is not the next one. It also does so if the segment fills the batch, which the card then hands
    /// over.
    #[inline(always)]
    pub(crate) fn joins(&mut self, now: Time, segment: u64, sent: Time, pushed: bool) -> bool {
        let Some(coalescing) = self.coalescing.as_deref_mut() else { return false };
        let (due, most) = (coalescing.due, u64::from(coalescing.most));
        let Some(batch) = &mut coalescing.newest else { return false };
        if now > due || segment != batch.end || segment + 1 - batch.first >= most || batch.signs.any() {
            return false;
        }
        (batch.end, batch.sent.1, batch.pushed) = (segment + 1, sent, pushed);
        coalescing.stay_awake(now);
        true
    }

    /// Returns a batch that the card has held for long enough.
    #[inline(always)]
    pub(crate) fn gathered(&mut self, now: Time) -> Option<Batch> {
        let coalescing = self.coalescing.as_deref_mut().filter(|coalescing| coalescing.due <= now)?;
        let batch = coalescing.expire(now);
        self.gathers_until = coalescing.deadline();
        batch
    }

    /// Returns the acknowledgement that leaves if acknowledgements have been gathered for long enough.
    #[inline(always)]
    pub(crate) fn compressed(&mut self, now: Time) -> Option<Acknowledgement> {
        let hole = self.coalescing.as_deref().and_then(|coalescing| coalescing.hole.as_ref());
        let due = hole.is_some_and(|hole| hole.due() <= now);
        if due { self.release_compressed(now) } else { None }
    }

    #[inline(never)]
    fn release_compressed(&mut self, now: Time) -> Option<Acknowledgement> {
        let coalescing = self.coalescing.as_deref_mut()?;
        let hole = coalescing.hole.as_mut()?;
        let newest = hole.release();
        self.gathers_until = coalescing.deadline();
        Some(self.acknowledge_now(now, newest))
    }

    /// Returns the blocks that the acknowledgement of a batch, or of gathered acknowledgements, names if no
    /// acknowledgement can be lost.
    pub(crate) fn named(&self) -> SackBlocks {
        let hole = self.coalescing.as_deref().and_then(|coalescing| coalescing.hole.as_ref());
        hole.map_or(SackBlocks::NONE, |hole| hole.named())
    }

    /// Hands `batch` to TCP. Returns one acknowledgement of the whole batch, which names [`named`](Self::named).
    #[inline(always)]
    pub(crate) fn on_batch(&mut self, now: Time, batch: Batch) -> Option<Acknowledgement> {
        if batch.signs.any() {
            self.take_signs(batch);
        }
        let waits = self.coalescing.as_deref().is_none_or(Coalescing::gathers_acknowledgements);
        if self.early_count == 0 && batch.first == self.expected && !waits {
            return self.take_in_order(now, batch);
        }
        let ack = self.take_batch(now, batch);
        self.gathers_until = self.coalescing.as_deref().map_or(Time::NEVER, Coalescing::deadline);
        ack
    }

    #[inline(never)]
    fn take_signs(&mut self, batch: Batch) {
        let quick = self.on_ecn(batch.signs, batch.end - batch.first);
        if let Some(coalescing) = self.coalescing.as_deref_mut() {
            coalescing.quick = coalescing.quick.max(quick);
        }
    }

    /// Takes a batch that is in order, with nothing beyond it: the usual case of [`take_batch`](Self::take_batch), at
    /// once for all segments.
    #[inline(always)]
    fn take_in_order(&mut self, now: Time, batch: Batch) -> Option<Acknowledgement> {
        let ((first, last), count) = (batch.sent, batch.end - batch.first);
        let window = self.window;
        if let Some(sizing) = self.sizing.as_deref_mut() {
            self.deadline = sizing.acknowledges;
            sizing.on_batch(now, batch.sent, batch.end);
        }
        (self.expected, self.newest_sent) = (batch.end, last);
        if self.unacknowledged == 0 {
            self.echo = first;
        } else if self.unacknowledged + count > self.every {
            // Without the batch, an acknowledgement would have left before its end.
            self.echo = last;
        }
        self.unacknowledged += count;
        let coalescing = self.coalescing.as_deref_mut()?;
        coalescing.least_rtt = coalescing.least_rtt.min(now.since(last));
        coalescing.grow(window, count);
        coalescing.hole = None;
        let mut ack = None;
        if self.unacknowledged >= self.every || batch.pushed || coalescing.quick > 0 {
            coalescing.quick = coalescing.quick.saturating_sub(1);
            ack = Some(self.acknowledge(None));
        } else if self.deadline == Time::NEVER {
            self.deadline = now + self.timeout;
        }
        let window = self.with_sizing(now, |_| {});
        ack.map(|ack| Acknowledgement { window, ..ack })
    }

    #[inline(never)]
    fn take_batch(&mut self, now: Time, batch: Batch) -> Option<Acknowledgement> {
        let echo = (self.unacknowledged == 0).then_some(batch.sent.0);
        let (mut reported, mut duplicate) = (None, false);
        // The application reads, and the window's limit moves, after TCP has taken the segments.
        let (before, window) = (self.expected, self.window());
        for segment in batch.first..batch.end {
            let sent = if segment == batch.first { batch.sent.0 } else { batch.sent.1 };
            let ack = self.on_segment(now, segment, sent);
            duplicate |= ack.is_some_and(|ack| ack.duplicate);
            reported = ack.or(reported);
        }
        let in_order = self.expected > before;
        let coalescing = self.coalescing.as_deref_mut()?;
        coalescing.least_rtt = coalescing.least_rtt.min(now.since(batch.sent.1));
        let count = batch.end - batch.first;
        if !duplicate {
            coalescing.grow(window, count);
        } else {
            coalescing.quick = coalescing.quick.max(u64::from(coalescing.first_quick));
        }
        let quick = batch.pushed || coalescing.quick > 0;
        if self.unacknowledged > 0 && (reported.is_some() || quick) {
            reported = Some(self.acknowledge_now(now, None));
        }
        if reported.is_some() {
            let coalescing = self.coalescing.as_deref_mut()?;
            coalescing.quick = coalescing.quick.saturating_sub(1);
        }
        let mut ack = Acknowledgement { duplicate, ..reported? };
        if let Some(echo) = echo.filter(|_| in_order) {
            // If several segments are acknowledged together, the first one is echoed.
            (ack.echo, self.echo) = (echo, echo);
        }
        let beyond = ack.sacked.is_some_and(|segment| segment >= ack.cumulative);
        let block = beyond.then_some((batch.first.max(ack.cumulative), batch.end));
        let coalescing = self.coalescing.as_deref_mut()?;
        if self.early_count > 0 && !ack.duplicate {
            return coalescing.compress(now, ack, block);
        }
        if coalescing.hole.is_some() || block.is_some() {
            coalescing.hole.get_or_insert_default().name_all(block);
        }
        Some(ack)
    }
}

#[cfg(test)]
#[path = "../../tests/within/coalescing.rs"]
mod tests;

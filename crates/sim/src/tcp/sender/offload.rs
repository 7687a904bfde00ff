//! Segmentation offload: segments leave in super-packets, by Linux's rules.
//!
//! TCP hands its network card up to 64 kB to be cut into segments. `tcp_tso_autosize` ([`super_packet`]) chooses the
//! amount. `tcp_tso_should_defer` decides whether the sender waits for the next acknowledgement. It waits if the next
//! acknowledgement is expected soon, and less than a third of the window could leave. So a window that opens segment by
//! segment leaves in bursts.

use super::options::Options;
use super::{Episode, Features, Sender, Transmission};
use crate::tcp::pacer::{gap_by_window, spreads_by};
use crate::tcp::times::Times;
use cc::{FAR_RTT, PAIR_GAP, send_quantum, super_packet};
use units::{Bytes, Rate, Span, Time};

/// The longest time since the last departure, and the longest time until the next acknowledgement, for which segments
/// wait.
const SOON: Span = Span::from_millis(1);
/// The least number of segments in a super-packet of a control without a rate of its own (`tcp_min_tso_segs`).
const LEAST: u64 = 2;
/// The divisor of the window for the part that leaves at once in any case (`tcp_tso_win_divisor`).
const PART_OF_WINDOW: u64 = 3;

/// The state of segmentation offload.
#[derive(Debug)]
pub(super) struct Offload {
    /// The number of segments of the super-packet at hand.
    length: u32,
    /// The number of them that are yet to leave.
    leaving: u32,
    /// The time at which the last segment left.
    wrote: Time,
    /// The times at which outstanding segments first left, unless detection by time knows them.
    sent: Option<Times>,
}

impl Offload {
    /// Creates the state, with times of its own or without them.
    pub(super) fn new(own_times: bool) -> Self {
        Self { length: 0, leaving: 0, wrote: Time::ZERO, sent: own_times.then(|| Times::new(4)) }
    }

    /// Begins to load the time of `segment` into the processor's cache.
    #[inline]
    pub(super) fn load_time(&self, segment: u64) {
        if let Some(sent) = &self.sent {
            sent.load_early(segment);
        }
    }
}

impl Options {
    /// Returns the time at which the outstanding `segment` first left; `None` without offload.
    #[inline]
    fn first_left(&self, segment: u64) -> Option<Time> {
        match (&self.offload.as_ref()?.sent, &self.rack) {
            (Some(sent), _) => Some(sent.get(segment)),
            (None, rack) => rack.as_ref().map(|timed| timed.first_left(segment)),
        }
    }
}

impl Sender {
    /// Returns true if a super-packet is leaving, or one may begin.
    #[inline]
    pub(super) fn admits(&mut self, now: Time) -> bool {
        let offload = self.options.as_deref().and_then(|options| options.offload.as_ref());
        offload.is_none_or(|offload| offload.leaving > 0) || self.begins_together(now)
    }

    /// Begins a super-packet if anything may leave; returns false if the sender waits for more.
    #[inline(never)]
    fn begins_together(&mut self, now: Time) -> bool {
        let whole = self.window / self.payload;
        let window = whole.max(1);
        let forced = self.owed || self.probing;
        let new_only = self.episode == Episode::None && !forced;
        let mut room = self.room(whole).min((window / 2).max(1)).max(u64::from(forced));
        if new_only {
            let advertised = self.buffer_segments.saturating_sub(self.board.outstanding());
            room = room.min(advertised).min(self.written() - self.board.next());
        }
        if room == 0 {
            return true;
        }
        if self.super_packet == 0 {
            self.super_packet = self.most_together();
        }
        let most = self.super_packet;
        if new_only && self.defers(now, room, most, window) {
            self.limited_below = self.board.next();
            return false;
        }
        if let Some(offload) = self.options.as_deref_mut().and_then(|options| options.offload.as_mut()) {
            offload.leaving = room.min(most) as u32;
            offload.length = offload.leaving;
            self.pacing.pacer.begin_together(now);
        }
        true
    }

    /// Returns true if the sender waits for more while `limit` segments may leave.
    fn defers(&self, now: Time, limit: u64, most: u64, window: u64) -> bool {
        let left = self.written() - self.board.next();
        let smoothed = self.rtt.smoothed();
        let Some(options) = self.options.as_deref() else { return false };
        let Some(offload) = &options.offload else { return false };
        if limit >= most || limit >= left || now.since(offload.wrote) > SOON {
            return false;
        }
        if limit >= window.min(self.buffer_segments) / PART_OF_WINDOW {
            return false;
        }
        let Some(smoothed) = smoothed.filter(|_| self.board.outstanding() > 0) else { return false };
        let left = options.first_left(self.board.una());
        left.is_some_and(|left| left + smoothed <= now + SOON.min(smoothed / 2))
    }

    /// Returns the number of segments that a super-packet may have now.
    #[inline]
    fn most_together(&self) -> u64 {
        let smoothed = self.rtt.smoothed();
        let least_rtt = smoothed.map(|_| self.rtt.min());
        let payload = Bytes::new(self.payload);
        let far = least_rtt.is_some_and(|least| least >= FAR_RTT);
        let rate = |gap: Span| Rate::of(payload, gap.max(Span::from_nanos(1)));
        if let Some(gap) = self.pacing.pacer.asked_gap() {
            let rate = rate(gap);
            return super_packet(rate, least_rtt, payload, send_quantum(rate));
        }
        let state = self.control.state();
        if far && spreads_by(PAIR_GAP, &state, smoothed, self.payload) {
            return LEAST;
        }
        super_packet(rate(gap_by_window(&state, smoothed, self.payload)), least_rtt, payload, LEAST)
    }

    /// Records that a segment left; returns false if offload is off.
    #[inline(always)]
    pub(super) fn note_together<F: Features>(&mut self, now: Time, sent: &Transmission) -> bool {
        if !F::OPTIONS {
            return false;
        }
        let Some(offload) = self.options.as_deref_mut().and_then(|options| options.offload.as_mut()) else {
            return false;
        };
        offload.wrote = now;
        offload.leaving = offload.leaving.saturating_sub(1);
        if !sent.again
            && let Some(times) = &mut offload.sent
        {
            times.reserve(self.board.una(), sent.segment);
            times.set(sent.segment, now);
        }
        let last = offload.leaving == 0;
        let pacer = &mut self.pacing.pacer;
        pacer.on_sent_together(now);
        if last {
            pacer.end_together();
        }
        true
    }

    /// Returns true if the segment that just left is the last of a super-packet of several. It has the PSH flag, so
    /// that its receiver acknowledges it at once (`__tcp_transmit_skb`).
    pub(crate) fn pushes(&self) -> bool {
        let offload = self.options.as_deref().and_then(|options| options.offload.as_ref());
        offload.is_some_and(|offload| offload.leaving == 0 && offload.length > 1)
    }

    /// Ends a super-packet that is shorter than it might have been, because nothing more may leave.
    #[cold]
    pub(super) fn cut_short(&mut self) {
        if let Some(offload) = self.options.as_deref_mut().and_then(|options| options.offload.as_mut()) {
            offload.leaving = 0;
            self.pacing.pacer.end_together();
        }
    }
}

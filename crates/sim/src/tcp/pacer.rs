//! Pacing: segments leave at a rate, not as acknowledgements come.
//!
//! The pacer is a leaky bucket (RFC 9002, section 7.7). The segments of a [quantum](cc::send_quantum), which is two
//! segments at most rates, may leave together. If the window is the limit, segments that an acknowledgement frees leave
//! with it, up to the quantum. If the pace is the limit, the sender is woken once for a whole quantum, not for every
//! segment. Segments leave one by one if a controller places departures, or a sizer caps the pace. They also do so if
//! there is a window but no rate, or if the sender has a line of its own.

use cc::{CcState, send_quantum};
use std::mem;
use units::{Bytes, Rate, Span, Time};

/// The state that decides when the next segment may leave.
#[derive(Clone, Debug)]
pub(super) struct Pacer {
    /// The time from which a whole quantum may leave, because all segments sent before have had their time at the pace.
    free_at: Time,
    /// The time from which a single segment may leave. It is earlier than `free_at` by the gaps of the other segments
    /// of a quantum.
    opens_at: Time,
    /// The controller's rate that was set last; zero: it has none.
    rate: Rate,
    gap: Span,
    /// The least gap between segments, which the cap on the pace and the sender's own line set, whatever the
    /// controller's rate.
    least_gap: Span,
    line_gap: Span,
    /// The time between `opens_at` and `free_at`.
    early: Span,
    /// True if every segment leaves by itself, at any rate.
    single: bool,
    /// The time at which the super-packet that is leaving will have had its time at the pace; [`Time::NEVER`]: none is
    /// leaving.
    together: Time,
    /// Segments that may yet leave without regard to the controller's rate.
    unpaced: u64,
}

impl Pacer {
    /// Creates a pacer that holds nothing back before there is a rate, except by a line on which a segment takes
    /// `line_gap`. `single`: segments never leave together.
    pub(super) fn new(single: bool, line_gap: Span) -> Self {
        let (rate, gap) = (Rate::ZERO, Span::ZERO);
        let free_at = Time::ZERO;
        let single = single || line_gap > Span::ZERO;
        Self {
            free_at,
            opens_at: free_at,
            rate,
            gap,
            least_gap: line_gap,
            line_gap,
            early: gap,
            single,
            together: Time::NEVER,
            unpaced: 0,
        }
    }

    /// Lets the first `segments` leave without regard to the controller's rate.
    pub(super) fn spare(&mut self, segments: u64) {
        self.unpaced = segments;
    }

    /// Returns the time that a segment leaving now takes at the pace.
    #[inline]
    fn take_gap(&mut self) -> Span {
        if self.unpaced > 0 {
            self.unpaced -= 1;
            return self.least_gap;
        }
        self.gap.max(self.least_gap)
    }

    /// Returns true if the pacer already has `rate`, which is the usual case.
    #[inline]
    pub(super) fn is_at(&self, rate: Rate) -> bool {
        rate == self.rate && self.free_at != Time::NEVER
    }

    /// Sets the `rate` at which segments of `payload` leave, counted in payload as windows are.
    pub(super) fn at_rate(&mut self, rate: Rate, payload: u64) {
        let gap = rate.max(Rate::from_bps(1)).serialization(Bytes::new(payload));
        // A segment that waits, with its time computed at a slower rate, leaves earlier at the new rate.
        let (old, new) = (self.gap.max(self.least_gap), gap.max(self.least_gap));
        let free_at = match self.free_at {
            // A controller that places departures held everything back, and now has a rate.
            Time::NEVER => Time::ZERO,
            at => at - old.saturating_sub(new),
        };
        let single = self.single || self.least_gap > Span::ZERO;
        let quantum = if single { 1 } else { send_quantum(rate) };
        (self.rate, self.gap, self.early) = (rate, gap, gap * (quantum - 1));
        self.frees_at(free_at);
    }

    /// Limits the pace to `cap` from now on; nothing leaves together.
    pub(super) fn cap(&mut self, cap: Option<Rate>, payload: u64) {
        let cap = cap.filter(|cap| *cap > Rate::ZERO);
        self.least_gap =
            cap.map_or(Span::ZERO, |cap| cap.serialization(Bytes::new(payload))).max(self.line_gap);
        (self.rate, self.early) = (Rate::ZERO, Span::ZERO);
        self.frees_at(self.free_at);
    }

    /// Sets the pace of a controller that has no rate.
    pub(super) fn by_window(&mut self, state: &CcState, smoothed: Option<Span>, payload: u64) {
        self.gap = gap_by_window(state, smoothed, payload);
        (self.rate, self.early) = (Rate::ZERO, Span::ZERO);
        self.frees_at(self.free_at);
    }

    #[inline]
    fn frees_at(&mut self, at: Time) {
        (self.free_at, self.opens_at) = (at, at - self.early);
    }

    /// Returns true if nothing may leave at `now`.
    #[inline]
    pub(super) fn holds(&self, now: Time) -> bool {
        self.opens_at > now
    }

    /// Returns the time at which a whole quantum may leave.
    #[inline]
    pub(super) fn free_at(&self) -> Time {
        self.free_at
    }

    /// Records that a segment leaves; the next may leave at the pace.
    #[inline]
    pub(super) fn on_sent(&mut self, now: Time) {
        let gap = self.take_gap();
        self.frees_at(self.free_at.max(now) + gap);
    }

    /// Returns the gap between segments that the controller's rate or the cap on it asks for, if there is one.
    #[inline]
    pub(super) fn asked_gap(&self) -> Option<Span> {
        let gap = self.gap.max(self.least_gap);
        let asked = self.rate > Rate::ZERO || self.least_gap > self.line_gap;
        asked.then_some(gap)
    }

    /// Begins a super-packet: its segments leave one after the other on the line, and the next one waits for the pace.
    #[inline]
    pub(super) fn begin_together(&mut self, now: Time) {
        self.together = self.free_at.max(now);
    }

    /// Records that a segment of a super-packet leaves.
    #[inline]
    pub(super) fn on_sent_together(&mut self, now: Time) {
        let begun = if self.together == Time::NEVER { now } else { self.together };
        self.together = begun + self.take_gap();
        self.frees_at(now + self.line_gap);
    }

    /// Ends the super-packet, after its last segment has left.
    #[inline]
    pub(super) fn end_together(&mut self) {
        let paced = mem::replace(&mut self.together, Time::NEVER);
        if paced < Time::NEVER {
            self.frees_at(self.free_at.max(paced));
        }
    }

    /// Records that a segment leaves; the next may leave `gap` later, as the controller says.
    #[inline]
    pub(super) fn on_placed(&mut self, now: Time, gap: Span) {
        self.frees_at(now + gap.max(self.least_gap));
    }
}

/// Returns the gap between segments at the rate `window / smoothed`, times 2 below half the slow-start threshold and
/// 1.2 above, as in Linux (`net.ipv4.tcp_pacing_ss_ratio`, `tcp_pacing_ca_ratio`). This pace is faster than the window
/// moves, so that the window stays the limit.
pub(super) fn gap_by_window(state: &CcState, smoothed: Option<Span>, payload: u64) -> Span {
    let (time, shares) = spread(state, smoothed, payload);
    // Usually one division of machine words is enough.
    let gap = match (u64::try_from(time), u64::try_from(shares)) {
        (Ok(time), Ok(shares)) => time / shares,
        _ => (time / shares) as u64,
    };
    Span::from_nanos(gap)
}

/// Returns true if [`gap_by_window`] is at least `gap`; avoids the division.
pub(super) fn spreads_by(gap: Span, state: &CcState, smoothed: Option<Span>, payload: u64) -> bool {
    let (time, shares) = spread(state, smoothed, payload);
    time >= u128::from(gap.as_nanos()) * shares
}

/// Returns the dividend and the divisor of [`gap_by_window`].
fn spread(state: &CcState, smoothed: Option<Span>, payload: u64) -> (u128, u128) {
    let window = state.window.get().max(payload);
    let half = state.threshold.map_or(0, |threshold| threshold.get() / 2);
    let (up, down) = if window < half { (2u64, 1) } else { (6, 5) };
    let smoothed = smoothed.map_or(0, Span::as_nanos);
    (u128::from(smoothed) * u128::from(payload * down), u128::from(window) * u128::from(up))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_segments_that_are_spared_leave_at_once_and_the_next_at_the_pace() {
        let (now, payload) = (Time::ZERO + Span::from_secs(1), 1000);
        let mut pacer = Pacer::new(true, Span::ZERO);
        pacer.at_rate(Rate::from_bps(1_000_000), payload);
        pacer.spare(2);
        for _ in 0..2 {
            pacer.on_sent(now);
            assert!(!pacer.holds(now));
        }
        pacer.on_sent(now);
        assert_eq!(pacer.free_at(), now + Span::from_millis(8));
    }
}

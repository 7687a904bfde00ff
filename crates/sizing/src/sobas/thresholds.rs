//! What the decisions of SOBAS hang on, each with its source or reason.

use units::{Span, Time};

/// The parameters of SOBAS. Those marked (swept) are what a sweep over 210 simulated paths left standing: its program and its
/// table are in the repository's history (`docs/papers/sobas.md`, section 6). The others are chosen.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    /// Goodput samples last this many round trips: 2 [sobas:IV].
    pub sample_rounds: f64,
    /// And at least this long. A receiver that is looked at every 10 to 50 ms sees lumps; at 10 Mb/s fewer than about
    /// 40 segments in a sample make its last one count for more than half of [`nearly_equal`](Self::nearly_equal).
    pub sample_least: Span,
    /// Samples are nearly equal when their spread is within this share of their median: 5 % (the source says "almost
    /// equal") (swept).
    pub nearly_equal: f64,
    /// Nearly equal samples that make a rate flat during start-up: 2 [sobas:IV].
    pub flat_starting: usize,
    /// And later: 5 [sobas:IV].
    pub flat_later: usize,
    /// The queue stands when the RTT has risen by this share of its base: 5 %. In congestion avoidance samples grow by
    /// 2 segments a window, so a flat rate alone says nothing (swept).
    pub rise_share: f64,
    /// And by this much at least: 1 ms is more than hosts add.
    pub rise_least: Span,
    /// There is some queue when the RTT has risen by this share of its base. Buffers of a twentieth of the BDP cannot show
    /// 5 %.
    pub hint_share: f64,
    /// And by this much at least: kernel time stamps are good to 0.1 ms on a busy host.
    pub hint_least: Span,
    /// A base RTT that a receiver's kernel tells may be too small by this: it counts in milliseconds.
    pub clock_step: Span,
    /// The rate has dropped when a sample is below this share of the nearly equal ones before: 70 %. A window that was
    /// halved at an overflow leaves between 50 % and 100 %, the less the smaller the buffer (swept).
    pub dropped: f64,
    /// Nearly equal samples before a drop: 2 [sobas:IV].
    pub equal_before_drop: usize,
    /// During start-up a window of W becomes W + this x what is delivered: 0.28 gives x1.25 per RTT, since what is
    /// delivered was let out a round trip earlier (0.223 e^0.223). A slow start sends two for one and so queues half of
    /// a window; x1.25 queues a fifth (measured on 6.18: 0.2 BDP of buffer hold it, a doubling needs 0.5).
    pub ramp_gain: f64,
    /// The same near C'T, x1.0625 per RTT: where cross traffic leaves less than C' the path is full before the end of
    /// the ramp, and what is let out before the queue is noticed, more than a round trip later, waits in it.
    pub ramp_gain_late: f64,
    /// The least share of C'T at which the ramp begins once C' is known; the greatest is a quarter.
    pub ramp_start: f64,
    /// Growth per delivered byte while no queue stands, after the ramp: 1/64, x1.016 per RTT. One segment per RTT, as the
    /// source has it, is what remains when there is a queue; alone it would take minutes where C' reads low.
    pub explore_gain: f64,
    /// Below this share of C'T a window without a queue grows as late in the ramp.
    pub near: f64,
    /// S = R T with T at most this share above the exogenous RTT: what is more is our own queue. Some is wanted, lest a
    /// late acknowledgement leave the link idle.
    pub margin: f64,
    /// A window is the limit of a transfer that has at least this share of it in flight, R T, where the sender does not
    /// say.
    pub limited: f64,
    /// Losses in this time with S in force mean that they are not our own: the path is congested.
    pub losses_held: u32,
    /// The time after which one loss is forgiven.
    pub loss_memory: Span,
    /// Length of a segment of the transfer, after which the window is decided on again [sobas:IV].
    pub segment: Span,
    /// And at least this many round trips.
    pub segment_rounds: u64,
    /// A trial of a larger window goes this far.
    pub trial: f64,
    /// The trial pays if the goodput grows by at least this share of what the window does: cross traffic gives way.
    pub trial_pays: f64,
    /// A wide one that does not pay is kept, but not gone beyond, if the goodput grows by at least this share.
    pub trial_keeps: f64,
    /// What it may cost, as a share of all that was delivered, to find out whether an open window takes more from others than
    /// S leaves them.
    pub regret: f64,
    /// Pacing at this share of C' leaves nothing to queue: C' counts whole packets, pacing payload.
    pub pace_share: f64,
    /// During the ramp packets are spread over the round trip, this much faster than the window moves.
    pub pace_ahead: f64,
}

impl Default for Thresholds {
    fn default() -> Self {
        Self {
            sample_rounds: 2.0,
            sample_least: Span::from_millis(50),
            nearly_equal: 0.05,
            flat_starting: 2,
            flat_later: 5,
            rise_share: 0.05,
            rise_least: Span::from_millis(1),
            hint_share: 0.015,
            hint_least: Span::from_micros(300),
            clock_step: Span::from_millis(1),
            dropped: 0.7,
            equal_before_drop: 2,
            ramp_gain: 0.28,
            ramp_gain_late: 0.064,
            ramp_start: 1.0 / 16.0,
            explore_gain: 1.0 / 64.0,
            near: 0.9,
            margin: 0.05,
            limited: 0.85,
            losses_held: 3,
            loss_memory: Span::from_secs(20),
            segment: Span::from_secs(2),
            segment_rounds: 50,
            trial: 1.06,
            trial_pays: 0.3,
            trial_keeps: 0.2,
            regret: 0.05,
            pace_share: 0.96,
            pace_ahead: 1.25,
        }
    }
}

impl Thresholds {
    /// From when on the RTT has risen: a queue stands.
    pub(crate) fn rise(&self, base: Span) -> Span {
        base.scale(self.rise_share).max(self.rise_least)
    }

    /// From when on there is some queue.
    pub(super) fn hint(&self, base: Span) -> Span {
        base.scale(self.hint_share).max(self.hint_least)
    }

    /// When a segment that begins at `now` ends.
    pub(super) fn segment_end(&self, now: Time, base: Span, doublings: u32) -> Time {
        now + self.segment.max(base * self.segment_rounds) * (1 << doublings.min(4))
    }
}

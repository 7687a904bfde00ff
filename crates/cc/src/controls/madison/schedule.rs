//! The departures of packets: the start-up's script, then the pace with probes and packet pairs among them
//! `[madison:4.2]`, `[madison:4.3]`.
//!
//! TCP's own segments are the probes. The paper's probes have a bit in the header that asks for an acknowledgement, but
//! here every segment is acknowledged anyway. A segment becomes a probe because it departs at an instant of a Poisson
//! process, and not at the time that the pace gives. A packet pair is two segments of one departure time.

use super::gaps::Gaps;
use super::replies::Replies;
use super::start_up::SPACING;
use units::random::Stream;
use units::{Span, Time};

/// Probes after each of the two pairs of start-up.
const PROBES: usize = 4;
/// The most packets of a pair `[D]`. A receiver may acknowledge every second segment, so that one acknowledgement
/// covers a whole pair. Such a pair is tried again with twice as many packets.
const MOST_BURST: usize = 16;

/// The kind of packet that leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    Regular,
    /// The packet at this position of the start-up's script; nothing leaves beyond its end.
    Script(usize),
    Probe,
    /// A packet of a pair, with this many more to come.
    Pair(usize),
}

/// The schedule of departures.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    leaving: Leaving,
    /// The number of packets in a pair.
    burst: usize,
    pair_wanted: bool,
    /// The number of pairs sent, including one that is wanted.
    sent_pairs: usize,
    gaps: Gaps,
    /// The mean time between probes, seconds.
    spacing: f64,
    next_probe: Time,
    pub(super) replies: Replies,
    stream: Stream,
}

impl Schedule {
    pub(super) fn new(randomness: f64) -> Self {
        Self {
            leaving: Leaving::Script(0),
            burst: 2,
            pair_wanted: false,
            sent_pairs: 0,
            gaps: Gaps::new(randomness),
            spacing: 0.0,
            next_probe: Time::ZERO,
            replies: Replies::new(),
            stream: Stream::new(0, "madison probes"),
        }
    }

    /// Returns the number of packets of start-up.
    pub(super) fn script_len(&self) -> usize {
        2 * (self.burst + PROBES)
    }

    /// Returns true if all of start-up has been sent: nothing leaves until it ends.
    pub(super) fn is_held(&self) -> bool {
        matches!(self.leaving, Leaving::Script(step) if step >= self.script_len())
    }

    /// Repeats start-up, because the last one taught too little.
    pub(super) fn restart(&mut self) {
        self.burst = (self.burst * 2).min(MOST_BURST);
        self.leaving = Leaving::Script(0);
        self.replies = Replies::new();
    }

    /// Begins the schedule after start-up at `now`, with a probe every `spacing` seconds on average.
    pub(super) fn begin(&mut self, now: Time, spacing: f64) {
        self.spacing = spacing;
        self.leaving = Leaving::Regular;
        // The seed is the time, so that two flows draw the same instants only if they begin at the same one.
        self.stream = Stream::new(now.as_nanos(), "madison probes");
        self.gaps.begin(now);
        self.next_probe = now + Span::from_secs_f64(self.stream.exponential(spacing));
        self.gaps.draw(&mut self.stream);
    }

    /// Returns the mean time between probes, seconds.
    #[cfg(test)]
    pub(super) fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Sets the mean time between packets, seconds.
    pub(super) fn set_gap(&mut self, gap: f64) {
        self.gaps.set_mean(gap);
    }

    /// Makes the next packet a pair, unless `most` pairs have been sent.
    pub(super) fn want_pair(&mut self, most: usize) {
        if !self.pair_wanted && self.sent_pairs < most {
            self.pair_wanted = true;
            self.sent_pairs += 1;
        }
    }

    /// Notes that a packet leaves at `now`; returns the time until the next one leaves.
    #[inline]
    pub(super) fn left(&mut self, now: Time) -> Span {
        if self.leaving == Leaving::Regular { self.left_regularly(now) } else { self.left_to_measure(now) }
    }

    #[cold]
    fn left_in_script(&mut self, now: Time, step: usize) -> Span {
        let within = step % (self.burst + PROBES);
        match within {
            0 => {
                self.replies.expect_pair(now);
                self.sent_pairs += 1;
            }
            within if within >= self.burst => self.replies.expect_probe(now),
            _ => {}
        }
        self.leaving = Leaving::Script(step + 1);
        if self.is_held() {
            Span::MAX
        } else if within + 1 < self.burst {
            Span::ZERO
        } else {
            Span::from_secs_f64(SPACING)
        }
    }

    #[inline(always)]
    fn left_regularly(&mut self, now: Time) -> Span {
        self.gaps.advance(now, &mut self.stream);
        if self.pair_wanted || self.next_probe <= self.gaps.next() {
            return self.measure_next(now);
        }
        self.gaps.next().since(now)
    }

    #[inline(never)]
    fn left_to_measure(&mut self, now: Time) -> Span {
        match self.leaving {
            Leaving::Script(step) => return self.left_in_script(now, step),
            Leaving::Probe => {
                self.replies.expect_probe(now);
                // A sender that the window held back does not catch up on probes.
                self.next_probe = now + Span::from_secs_f64(self.stream.exponential(self.spacing));
            }
            Leaving::Pair(left) => {
                if left + 1 == self.burst {
                    self.replies.expect_pair(now);
                }
                if left > 0 {
                    self.gaps.advance(now, &mut self.stream);
                    self.leaving = Leaving::Pair(left - 1);
                    return Span::ZERO;
                }
            }
            Leaving::Regular => {}
        }
        self.leaving = Leaving::Regular;
        self.left_regularly(now)
    }

    /// Chooses the next departure: a probe, which replaces the next packet of the pace, or a pair.
    #[inline(never)]
    fn measure_next(&mut self, now: Time) -> Span {
        if self.next_probe <= self.gaps.next() {
            self.leaving = Leaving::Probe;
            return self.next_probe.since(now);
        }
        self.leaving = Leaving::Pair(self.burst - 1);
        self.pair_wanted = false;
        self.gaps.next().since(now)
    }

    /// Returns true if [`on_ack`](Schedule::on_ack) would learn anything from the acknowledgement of a segment sent at
    /// `sent`.
    #[inline]
    pub(super) fn awaits(&self, sent: Time) -> bool {
        self.replies.awaits(sent)
    }

    /// Takes an acknowledgement, see [`Replies::on_ack`].
    pub(super) fn on_ack(&mut self, now: Time, sent: Time, segments: f64) -> (bool, Option<Span>) {
        self.replies.on_ack(now, sent, segments)
    }
}

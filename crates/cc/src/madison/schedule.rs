//! When packets leave: the start-up's script, then the pace with probes and packet pairs among them
//! `[madison:4.2]`, `[madison:4.3]`. And which acknowledgement is a probe's, or a pair's.
//!
//! TCP's own segments are the probes: the paper's have a bit in the header that asks for an acknowledgement, and here
//! every segment is acknowledged anyway. What makes a segment a probe is its departure, shifted from the
//! pace to an instant of a Poisson process; the acknowledgement that its arrival caused is told by the time it was
//! sent. A packet pair is two segments of one departure time.

use std::collections::VecDeque;
use units::random::Stream;
use units::{Span, Time};

/// Between the packets of start-up `[madison:4.2]`.
const STARTUP_SPACING: Span = Span::from_millis(15);
/// Probes after each of the two pairs of start-up.
const PROBES: usize = 4;
/// A pair that no acknowledgement took apart is tried with twice as many packets, up to this many `[D]`: a receiver
/// that acknowledges every second segment.
const MOST_BURST: usize = 16;
/// More than these are never under way.
const MOST_REMEMBERED: usize = 4096;

/// What leaves next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Leaving {
    Regular,
    Probe,
    /// Of a pair, with so many to come after it.
    Pair(usize),
}

/// A burst whose acknowledgements are coming in.
#[derive(Clone, Copy, Debug)]
struct Burst {
    sent: Time,
    first: Time,
    last: Time,
    /// Segments acknowledged after the first acknowledgement.
    segments: f64,
}

/// When packets leave.
#[derive(Clone, Debug)]
pub(super) struct Schedule {
    /// Position in the start-up's script; `None` after it.
    script: Option<usize>,
    burst: usize,
    /// Nothing leaves until start-up ends.
    held: bool,
    leaving: Leaving,
    /// Between packets, and between probes on average, seconds.
    gap: f64,
    spacing: f64,
    /// 0: packets are evenly spaced; 1: they are a Poisson process.
    randomness: f64,
    next_regular: Time,
    next_probe: Time,
    pair_wanted: bool,
    probes: VecDeque<Time>,
    pairs: VecDeque<Time>,
    open: Option<Burst>,
    stream: Stream,
}

impl Schedule {
    pub(super) fn new(randomness: f64) -> Self {
        Self {
            script: Some(0),
            burst: 2,
            held: false,
            leaving: Leaving::Pair(1),
            gap: 0.0,
            spacing: 0.0,
            randomness,
            next_regular: Time::ZERO,
            next_probe: Time::ZERO,
            pair_wanted: false,
            probes: VecDeque::new(),
            pairs: VecDeque::new(),
            open: None,
            stream: Stream::new(0, "madison probes"),
        }
    }

    /// Packets of start-up.
    pub(super) fn script_len(&self) -> usize {
        2 * (self.burst + PROBES)
    }

    /// Whether all of start-up has been sent, and its end is waited for.
    pub(super) fn is_held(&self) -> bool {
        self.held
    }

    /// Start-up once more: the last one told too little.
    pub(super) fn restart(&mut self) {
        self.burst = (self.burst * 2).min(MOST_BURST);
        self.script = Some(0);
        self.held = false;
        self.probes.clear();
        self.pairs.clear();
        self.open = None;
    }

    /// Start-up has ended at `now`: probes from here on come every `spacing` seconds on average.
    pub(super) fn begin(&mut self, now: Time, spacing: f64) {
        self.script = None;
        self.held = false;
        self.spacing = spacing;
        self.leaving = Leaving::Regular;
        // Two flows do not draw the same instants, unless they began at the same one.
        self.stream = Stream::new(now.as_nanos(), "madison probes");
        self.next_regular = now;
        self.next_probe = now + Span::from_secs_f64(self.stream.exponential(spacing));
    }

    /// Packets leave every `gap` seconds.
    pub(super) fn set_gap(&mut self, gap: f64) {
        self.gap = gap;
    }

    /// The next packet is a pair.
    pub(super) fn want_pair(&mut self) {
        self.pair_wanted = true;
    }

    /// A packet leaves at `now`; returns how much later the next one does.
    pub(super) fn left(&mut self, now: Time) -> Span {
        match self.script {
            Some(step) => self.left_in_script(now, step),
            None => self.left_regularly(now),
        }
    }

    fn left_in_script(&mut self, now: Time, step: usize) -> Span {
        let half = self.burst + PROBES;
        let within = step % half;
        match within {
            0 => remember(&mut self.pairs, now),
            within if within >= self.burst => remember(&mut self.probes, now),
            _ => {}
        }
        self.script = Some(step + 1);
        if step + 1 >= 2 * half {
            self.held = true;
            return Span::MAX;
        }
        if within + 1 < self.burst { Span::ZERO } else { STARTUP_SPACING }
    }

    fn left_regularly(&mut self, now: Time) -> Span {
        let random = self.stream.exponential(self.gap);
        let gap = Span::from_secs_f64(self.gap + self.randomness * (random - self.gap));
        match self.leaving {
            Leaving::Probe => {
                remember(&mut self.probes, now);
                // A sender that was held back by the window does not catch up on probes.
                self.next_probe = now + Span::from_secs_f64(self.stream.exponential(self.spacing));
            }
            Leaving::Pair(left) if left + 1 == self.burst => remember(&mut self.pairs, now),
            Leaving::Pair(_) | Leaving::Regular => {}
        }
        // The probe takes the place of the packet after it; who is late by more than that begins anew.
        self.next_regular = (self.next_regular + gap).max(now);
        if let Leaving::Pair(left) = self.leaving
            && left > 0
        {
            self.leaving = Leaving::Pair(left - 1);
            return Span::ZERO;
        }
        if self.next_probe <= self.next_regular {
            self.leaving = Leaving::Probe;
            return self.next_probe.since(now);
        }
        self.leaving = if self.pair_wanted { Leaving::Pair(self.burst - 1) } else { Leaving::Regular };
        self.pair_wanted = false;
        self.next_regular.since(now)
    }

    /// An acknowledgement came at `now`, caused by a segment sent at `sent`, of so many segments. True if that was a
    /// probe; with it the dispersion per packet of the pair before, if there was one.
    pub(super) fn on_ack(&mut self, now: Time, sent: Time, segments: f64) -> (bool, Option<Span>) {
        let mut dispersion = None;
        match &mut self.open {
            Some(open) if open.sent == sent => {
                open.last = now;
                open.segments += segments;
            }
            open => {
                if let Some(burst) = open.take()
                    && burst.segments > 0.0
                {
                    dispersion = Some(burst.last.since(burst.first).scale(1.0 / burst.segments));
                }
                if take(&mut self.pairs, sent) {
                    *open = Some(Burst { sent, first: now, last: now, segments: 0.0 });
                }
            }
        }
        (take(&mut self.probes, sent), dispersion)
    }
}

fn remember(times: &mut VecDeque<Time>, now: Time) {
    if times.len() >= MOST_REMEMBERED {
        times.pop_front();
    }
    times.push_back(now);
}

/// Whether `sent` is among `times`; that and what is older is forgotten.
fn take(times: &mut VecDeque<Time>, sent: Time) -> bool {
    while let Some(&first) = times.front() {
        if first > sent {
            return false;
        }
        times.pop_front();
        if first == sent {
            return true;
        }
    }
    false
}

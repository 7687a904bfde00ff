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
    /// The packet at this position of the start-up's script.
    Script(usize),
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
    burst: usize,
    /// Nothing leaves until start-up ends.
    held: bool,
    leaving: Leaving,
    /// Between packets, and between probes on average, seconds.
    gap: f64,
    spacing: f64,
    /// 0: packets are evenly spaced; 1: they are a Poisson process.
    randomness: f64,
    /// After the packet that leaves next: drawn, of mean one, and so the gap. Ahead of time, as nothing need wait for it then.
    drawn: f64,
    next_gap: Span,
    next_regular: Time,
    next_probe: Time,
    pair_wanted: bool,
    /// Pairs sent, and the one that is wanted.
    sent_pairs: usize,
    probes: VecDeque<Time>,
    pairs: VecDeque<Time>,
    open: Option<Burst>,
    /// The acknowledgement of nothing sent before this tells anything.
    awaited: Time,
    stream: Stream,
}

impl Schedule {
    pub(super) fn new(randomness: f64) -> Self {
        Self {
            burst: 2,
            held: false,
            leaving: Leaving::Script(0),
            gap: 0.0,
            spacing: 0.0,
            randomness,
            drawn: 1.0,
            next_gap: Span::ZERO,
            next_regular: Time::ZERO,
            next_probe: Time::ZERO,
            pair_wanted: false,
            sent_pairs: 0,
            probes: VecDeque::new(),
            pairs: VecDeque::new(),
            open: None,
            awaited: Time::NEVER,
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
        self.leaving = Leaving::Script(0);
        self.held = false;
        self.probes.clear();
        self.pairs.clear();
        self.open = None;
        self.awaited = Time::NEVER;
    }

    /// Start-up has ended at `now`: probes from here on come every `spacing` seconds on average.
    pub(super) fn begin(&mut self, now: Time, spacing: f64) {
        self.held = false;
        self.spacing = spacing;
        self.leaving = Leaving::Regular;
        // Two flows do not draw the same instants, unless they began at the same one.
        self.stream = Stream::new(now.as_nanos(), "madison probes");
        self.next_regular = now;
        self.next_probe = now + Span::from_secs_f64(self.stream.exponential(spacing));
        self.draw();
    }

    /// Draws the gap after next.
    #[inline]
    fn draw(&mut self) {
        self.drawn = self.stream.exponential(1.0);
        self.next_gap = self.random_gap();
    }

    #[inline]
    fn random_gap(&self) -> Span {
        let random = self.gap * self.drawn;
        Span::from_secs_f64(self.gap + self.randomness * (random - self.gap))
    }

    /// Between probes on average, seconds.
    #[cfg(test)]
    pub(super) fn spacing(&self) -> f64 {
        self.spacing
    }

    /// Packets leave every `gap` seconds.
    pub(super) fn set_gap(&mut self, gap: f64) {
        self.gap = gap;
        self.next_gap = self.random_gap();
    }

    /// The next packet is a pair, unless so many have been.
    pub(super) fn want_pair(&mut self, most: usize) {
        if !self.pair_wanted && self.sent_pairs < most {
            self.pair_wanted = true;
            self.sent_pairs += 1;
        }
    }

    /// A packet leaves at `now`; returns how much later the next one does.
    #[inline]
    pub(super) fn left(&mut self, now: Time) -> Span {
        if self.leaving == Leaving::Regular { self.left_regularly(now) } else { self.left_to_measure(now) }
    }

    #[cold]
    fn left_in_script(&mut self, now: Time, step: usize) -> Span {
        let half = self.burst + PROBES;
        let within = step % half;
        match within {
            0 => {
                self.remember_pair(now);
                self.sent_pairs += 1;
            }
            within if within >= self.burst => self.remember_probe(now),
            _ => {}
        }
        self.leaving = Leaving::Script(step + 1);
        if step + 1 >= 2 * half {
            self.held = true;
            return Span::MAX;
        }
        if within + 1 < self.burst { Span::ZERO } else { STARTUP_SPACING }
    }

    #[inline(always)]
    fn left_regularly(&mut self, now: Time) -> Span {
        self.advance(now);
        if self.pair_wanted || self.next_probe <= self.next_regular {
            return self.measure_next(now);
        }
        self.next_regular.since(now)
    }

    /// The packet that leaves at `now` takes its place in the pace; who is late by more than a gap begins anew.
    #[inline]
    fn advance(&mut self, now: Time) {
        let gap = self.next_gap;
        self.draw();
        self.next_regular = (self.next_regular + gap).max(now);
    }

    #[inline(never)]
    fn left_to_measure(&mut self, now: Time) -> Span {
        match self.leaving {
            Leaving::Script(step) => return self.left_in_script(now, step),
            Leaving::Probe => {
                self.remember_probe(now);
                // A sender that was held back by the window does not catch up on probes.
                self.next_probe = now + Span::from_secs_f64(self.stream.exponential(self.spacing));
            }
            Leaving::Pair(left) => {
                if left + 1 == self.burst {
                    self.remember_pair(now);
                }
                if left > 0 {
                    self.advance(now);
                    self.leaving = Leaving::Pair(left - 1);
                    return Span::ZERO;
                }
            }
            Leaving::Regular => {}
        }
        self.leaving = Leaving::Regular;
        self.left_regularly(now)
    }

    /// A probe leaves next, in the place of the packet after it, or a pair.
    #[inline(never)]
    fn measure_next(&mut self, now: Time) -> Span {
        if self.next_probe <= self.next_regular {
            self.leaving = Leaving::Probe;
            return self.next_probe.since(now);
        }
        self.leaving = Leaving::Pair(self.burst - 1);
        self.pair_wanted = false;
        self.next_regular.since(now)
    }

    fn remember_pair(&mut self, now: Time) {
        remember(&mut self.pairs, now);
        self.awaited = self.awaited.min(now);
    }

    fn remember_probe(&mut self, now: Time) {
        remember(&mut self.probes, now);
        self.awaited = self.awaited.min(now);
    }

    /// Whether [`on_ack`](Schedule::on_ack) would learn anything from the acknowledgement of a segment sent at `sent`.
    #[inline]
    pub(super) fn awaits(&self, sent: Time) -> bool {
        sent >= self.awaited
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
        let is_probe = take(&mut self.probes, sent);
        let first = |times: &VecDeque<Time>| times.front().copied().unwrap_or(Time::NEVER);
        self.awaited = match self.open {
            Some(_) => Time::ZERO,
            None => first(&self.probes).min(first(&self.pairs)),
        };
        (is_probe, dispersion)
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

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn start_up_is_a_pair_and_four_probes_and_the_same_again_15_ms_apart() {
        let mut schedule = Schedule::new(1.0);
        let mut now = Time::ZERO;
        let mut left = Vec::new();
        while !schedule.is_held() {
            left.push(now.since(Time::ZERO).as_nanos() / 1_000_000);
            let gap = schedule.left(now);
            now = if gap == Span::MAX { now } else { now + gap };
        }
        assert_eq!(left, [0, 0, 15, 30, 45, 60, 75, 75, 90, 105, 120, 135]);
        let probes: Vec<u64> = [0, 15, 30, 45, 60, 75, 90, 105, 120, 135]
            .into_iter()
            .filter(|sent| schedule.on_ack(ms(500 + sent), ms(*sent), 1.0).0)
            .collect();
        assert_eq!(probes, [15, 30, 45, 60, 90, 105, 120, 135]);
    }

    #[test]
    fn a_pairs_dispersion_is_told_once_the_next_packet_is_acknowledged() {
        let mut schedule = Schedule::new(1.0);
        for _ in 0..2 {
            schedule.left(Time::ZERO);
        }
        assert_eq!(schedule.on_ack(ms(50), Time::ZERO, 1.0), (false, None));
        assert_eq!(schedule.on_ack(ms(52), Time::ZERO, 1.0), (false, None));
        assert_eq!(schedule.on_ack(ms(65), ms(15), 1.0), (false, Some(Span::from_millis(2))));
    }

    /// When packets left within `seconds`, and which of them were probes.
    fn departures(randomness: f64, gap: f64, spacing: f64, seconds: u64) -> (Vec<Time>, Vec<Time>) {
        let mut schedule = Schedule::new(randomness);
        schedule.begin(Time::ZERO, spacing);
        schedule.set_gap(gap);
        let (mut all, mut probes, mut now) = (Vec::new(), Vec::new(), Time::ZERO);
        while now < ms(1000 * seconds) {
            all.push(now);
            now += schedule.left(now);
            if schedule.probes.back().is_some_and(|probe| probes.last() != Some(probe)) {
                probes.extend(schedule.probes.back());
            }
        }
        (all, probes)
    }

    /// Mean of the gaps, and the square of their coefficient of variation.
    fn spread(times: &[Time]) -> (f64, f64) {
        let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64()).collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let squares = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        (mean, squares / mean.powi(2))
    }

    #[test]
    fn probes_are_exponentially_spaced_among_even_packets_whose_rate_they_do_not_change() {
        let (all, probes) = departures(0.0, 0.001, 0.02, 200);
        let (mean, _) = spread(&all);
        assert!((mean / 0.001 - 1.0).abs() < 0.01, "{mean}");
        let (mean, variation) = spread(&probes);
        // A probe's place is one of the pace's, so the next is up to a gap later than drawn.
        assert!((mean / 0.02 - 1.0).abs() < 0.06, "{mean}");
        assert!((variation - 1.0).abs() < 0.1, "{variation}");
    }

    #[test]
    fn with_random_spacing_all_packets_are_a_poisson_process() {
        let (all, _) = departures(1.0, 0.001, 0.02, 200);
        let (mean, variation) = spread(&all);
        assert!((mean / 0.001 - 1.0).abs() < 0.01, "{mean}");
        assert!((variation - 1.0).abs() < 0.05, "{variation}");
    }
}

//! The path as SOBAS sees it: inputs become signs. `sobas.rs` defines the symbols.

use super::PROBE_INTERVAL;
use super::parameters::Parameters;
use crate::{Input, SenderReport};
use estimate::{
    Capacity, Episodes, Estimator, Goodput, RoundTrip, RoundTripTimes, TRAIN_PACKET, Waits, median, spread,
};
use std::collections::VecDeque;
use units::{Bytes, Rate, Span, Time};

/// The size of the source's probes: 100 bytes every 10 ms [sobas:IV].
const PROBE: Bytes = Bytes::new(100);

/// The least length of a round trip in decisions: a few probes.
const LEAST_ROUND: Span = Span::from_millis(25);

/// The length of a goodput sample in round trips [sobas:IV].
const SAMPLE_ROUNDS: f64 = 2.0;

/// The least length of a goodput sample. A receiver that is read every 10 to 50 ms sees lumps.
const SAMPLE_LEAST: Span = Span::from_millis(50);

/// The number of nearly equal samples before a drop [sobas:IV].
const EQUAL_BEFORE_DROP: usize = 2;

/// The least share of the window in flight at which the window counts as the limit, if the sender does not report.
const LIMITED: f64 = 0.93;

/// The number of samples that are remembered: the most that any decision uses.
const REMEMBERED: usize = 8;

/// A goodput sample with the round-trip times during it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) from: Time,
    pub(super) to: Time,
    /// R: payload in bit/s.
    pub(super) rate: f64,
    /// The RTTs during it.
    pub(super) waits: Waits,
    /// The median RTT, which a few late packets do not move.
    pub(super) median: Span,
    /// True if the receive window was the limit for most of the sample.
    pub(super) limited: bool,
}

/// The queue before a loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum QueueBeforeLoss {
    /// No queue: the loss is not caused by us.
    Calm,
    /// A queue for moments: a burst of ours, or of others.
    Burst,
    /// A queue all the time: the path was full.
    Standing,
}

/// The meaning of an input.
#[derive(Clone, Copy, Debug)]
pub(super) enum Sign {
    /// Payload was delivered: the clock by which windows grow.
    Delivered(Bytes),
    /// A goodput sample is complete.
    Sample(Sample),
    /// The least RTT of the last round trip is this much above the base.
    Wait(Span),
    /// A loss event begins.
    Loss(QueueBeforeLoss),
    /// A train is back, or will not come any more.
    Train,
}

#[derive(Debug)]
pub(super) struct Path {
    parameters: Parameters,
    /// The round-trip times of probes.
    probes: RoundTrip,
    /// The round-trip times of data, which are used if no probes come.
    data: RoundTrip,
    probed: bool,
    goodput: Goodput,
    pub(super) capacity: Capacity,
    samples: VecDeque<Sample>,
    /// Loss events, which segments out of order, retransmissions and lost probes indicate.
    losses: Episodes,
    /// The sender's last report.
    report: Option<SenderReport>,
    /// The sender's report at the end of the last sample.
    reported: SenderReport,
    /// True if anything but probes could indicate losses so far.
    pub(super) counts_losses: bool,
}

impl Path {
    pub(super) fn new(parameters: Parameters) -> Self {
        Self {
            parameters,
            probes: RoundTrip::new(),
            data: RoundTrip::new(),
            probed: false,
            goodput: Goodput::default(),
            capacity: Capacity::new(),
            samples: VecDeque::with_capacity(REMEMBERED + 1),
            losses: Episodes::default(),
            report: None,
            reported: SenderReport::default(),
            counts_losses: false,
        }
    }

    fn rtt(&self) -> &RoundTrip {
        if self.probed { &self.probes } else { &self.data }
    }

    /// Returns the path's round-trip times, once there are any.
    pub(super) fn times(&self) -> Option<RoundTripTimes> {
        self.rtt().estimate()
    }

    /// Begins the transfer: packets from now on have queued behind our own.
    pub(super) fn begin_transfer(&mut self) {
        self.probes.begin_transfer();
        self.data.begin_transfer();
    }

    /// Sets the path's base RTT to `base` from now on.
    pub(super) fn rebase(&mut self, base: Span) {
        if self.probed { self.probes.rebase(base) } else { self.data.rebase(base) }
    }

    /// Forgets the samples that began before `at`, because the window has just changed.
    pub(super) fn forget_samples(&mut self, at: Time) {
        self.samples.clear();
        self.goodput.restart(at);
    }

    /// Converts `input` to at most two signs, while the window is `window`.
    pub(super) fn observe(&mut self, now: Time, input: Input, window: Bytes) -> [Option<Sign>; 2] {
        match input {
            Input::Delivered(bytes) => {
                let sample = self.on_delivered(now, bytes, window);
                [Some(Sign::Delivered(bytes)), sample.map(Sign::Sample)]
            }
            Input::RoundTrip(rtt) => {
                self.data.observe(now, rtt);
                // A second without probes means that they have ended.
                self.probed = self.probed
                    && self.probes.newest().is_some_and(|newest| now.since(newest) < Span::from_secs(1));
                [if self.probed { None } else { self.on_round_trip(now) }, None]
            }
            Input::Probe(Some(rtt)) => {
                self.probes.observe(now, rtt);
                self.probed = true;
                [self.on_round_trip(now), None]
            }
            Input::Probe(None) => [self.on_loss(now), None],
            Input::Train(train) => {
                self.capacity.observe(now, train);
                [Some(Sign::Train), None]
            }
            Input::TrainRemains(rate) => {
                self.capacity.observe_remains(rate);
                [Some(Sign::Train), None]
            }
            Input::OutOfOrder(segments) => {
                self.counts_losses = true;
                [if segments > 0 { self.on_loss(now) } else { None }, None]
            }
            Input::RateBased => [None, None],
            Input::Sender(report) => {
                self.counts_losses = true;
                let again = self.report.map_or(0, |last| report.retransmits.saturating_sub(last.retransmits));
                self.report = Some(report);
                [if again > 0 { self.on_loss(now) } else { None }, None]
            }
        }
    }

    fn on_round_trip(&mut self, now: Time) -> Option<Sign> {
        let base = self.times()?.base;
        self.losses.set_length(base * 2);
        let round = self.rtt().since(behind(now, self.round(base)))?;
        // A sample has whole round trips of the current length, because a window's packets may arrive in one lump in
        // each.
        let least = SAMPLE_LEAST.as_secs_f64() / base.as_secs_f64().max(1e-6);
        let rounds = SAMPLE_ROUNDS.max(least.ceil());
        self.goodput.set_length(round.mean.scale(rounds));
        // One or two probes may both have met the same burst.
        (round.count >= 3).then(|| Sign::Wait(round.least.saturating_sub(base)))
    }

    /// Returns the time over which waits are compared: a round trip, but at least as long as a few probes. Without
    /// probes it is four round trips, because a receiver's own round-trip times come once in each.
    fn round(&self, base: Span) -> Span {
        let probes = (self.probe_interval() * 5 / 2).max(LEAST_ROUND);
        if self.probed { base.max(probes) } else { (base * 4).max(LEAST_ROUND) }
    }

    /// Returns the interval of probes, which may take at most a hundredth of C', or of R if C' is not known.
    pub(super) fn probe_interval(&self) -> Span {
        let goodput = || self.samples.back().map(|sample| Rate::from_bps_f64(sample.rate));
        let rate = self.capacity.estimate().or_else(goodput).filter(|rate| *rate > Rate::ZERO);
        let slow = rate.map_or(Span::ZERO, |rate| rate.serialization(PROBE) * 100).min(Span::from_secs(1));
        PROBE_INTERVAL.max(slow)
    }

    fn on_delivered(&mut self, now: Time, bytes: Bytes, window: Bytes) -> Option<Sample> {
        let ended = self.goodput.sample(now, bytes)?;
        let from = if self.rtt().newest()? >= ended.from { ended.from } else { Time::ZERO };
        let (waits, median) = (self.rtt().since(from)?, self.rtt().median_since(from)?);
        let rate = ended.rate().as_bps_f64();
        let in_flight = rate / 8.0 * waits.mean.as_secs_f64();
        let fills = in_flight >= LIMITED * window.get() as f64;
        let limited = match self.report {
            Some(report) if report.busy > self.reported.busy => {
                let busy = report.busy.saturating_sub(self.reported.busy);
                let limited = report.window_limited.saturating_sub(self.reported.window_limited);
                // A paced sender waits for its pace most of the time. So even a short wait because the window is full
                // shows that the window limits it.
                limited * 2 > busy || (limited * 16 > busy && fills)
            }
            _ => fills,
        };
        self.reported = self.report.unwrap_or_default();
        let sample = Sample { from: ended.from, to: ended.to, rate, waits, median, limited };
        self.samples.push_back(sample);
        if self.samples.len() > REMEMBERED {
            self.samples.pop_front();
        }
        Some(sample)
    }

    fn on_loss(&mut self, now: Time) -> Option<Sign> {
        self.losses.sign(now).then(|| Sign::Loss(self.before(now)))
    }

    /// Returns the queue just before `now`. Only RTTs above the RTT before the transfer show it, because the latter
    /// includes jitter and the queue of others.
    fn before(&self, now: Time) -> QueueBeforeLoss {
        let Some(RoundTripTimes { base, exogenous, .. }) = self.times() else { return QueueBeforeLoss::Calm };
        let round = self.round(base);
        let least = self.rtt().since(behind(now, round)).map(|waits| waits.least);
        let greatest = self.rtt().since(behind(now, round * 3)).map(|waits| waits.greatest);
        if least.is_some_and(|least| least >= exogenous + self.hint(base)) {
            QueueBeforeLoss::Standing
        } else if greatest.is_some_and(|greatest| greatest >= exogenous + self.hint(base)) {
            QueueBeforeLoss::Burst
        } else {
            QueueBeforeLoss::Calm
        }
    }

    /// Returns the least wait that shows a queue: more than the packet that is just being sent.
    pub(super) fn hint(&self, base: Span) -> Span {
        self.parameters.hint(base, self.packet())
    }

    /// Returns the standing queue that S aims at.
    pub(super) fn aim(&self, base: Span) -> Span {
        self.parameters.aim(base, self.packet())
    }

    fn packet(&self) -> Span {
        self.capacity.estimate().map_or(Span::ZERO, |rate| rate.serialization(TRAIN_PACKET))
    }

    /// Returns the time of the last sign of loss.
    pub(super) fn last_loss(&self) -> Option<Time> {
        self.losses.last()
    }

    /// Returns the `count` samples that precede the last `before` ones, if there are enough and their rates are nearly
    /// equal [sobas:IV].
    fn nearly_equal(&self, count: usize, before: usize) -> Option<Vec<Sample>> {
        let end = self.samples.len().checked_sub(before)?;
        let last: Vec<Sample> = self.samples.range(end.checked_sub(count)?..end).copied().collect();
        let rates: Vec<f64> = last.iter().map(|sample| sample.rate).collect();
        spread(&rates).filter(|spread| *spread <= self.parameters.nearly_equal).map(|_| last)
    }

    /// Returns R and T of the last `count` samples, if their rates are nearly equal.
    pub(super) fn flat(&self, count: usize) -> Option<Level> {
        Level::of(&self.nearly_equal(count, 0)?)
    }

    /// Finds a flat rate: `count` successive nearly equal samples, in which the RTT has risen. If `suffices` is true,
    /// it is enough that the window was the limit all the time. Returns R and T, and true if the RTT has risen.
    pub(super) fn flat_rate(&self, count: usize, suffices: bool) -> Option<(Level, bool)> {
        let last = self.nearly_equal(count, 0)?;
        let times = self.times()?;
        let risen = last.last()?.median >= times.exogenous + self.aim(times.base);
        let limited = suffices && last.iter().all(|sample| sample.limited);
        if risen || limited { Some((Level::of(&last)?, risen)) } else { None }
    }

    /// Finds a constant rate with a drop: a sample far below the nearly equal ones before it, after a loss if losses
    /// are counted. Returns R and T of the samples before the drop.
    pub(super) fn const_rate_drop(&self) -> Option<Level> {
        let sample = self.samples.back()?;
        let level = Level::of(&self.nearly_equal(EQUAL_BEFORE_DROP, 1)?)?;
        let since = self.samples.get(self.samples.len().checked_sub(2)?)?.from;
        let lost = !self.counts_losses || self.last_loss().is_some_and(|last| last >= since);
        (lost && sample.rate < self.parameters.dropped * level.rate).then_some(level)
    }

    /// Returns the best of the last samples: the path's level before a loss.
    pub(super) fn best(&self) -> Option<Level> {
        let best = self.samples.iter().max_by(|a, b| a.rate.total_cmp(&b.rate))?;
        Level::of(&[*best])
    }

    /// Returns R and T of the last round trip, or of a few probes' time if that is longer. `capacity`, C' in payload,
    /// limits R: data that fills a hole is delivered in one lump, but no path gives more than C'.
    pub(super) fn last_round(&self, capacity: Option<f64>) -> Option<Level> {
        let sample = self.goodput.recent(self.times()?.base.max(LEAST_ROUND))?;
        let waits = self.rtt().since(sample.from)?;
        let rate = sample.rate().as_bps_f64().min(capacity.unwrap_or(f64::INFINITY));
        Some(Level { rate, average: waits.mean, median: waits.mean })
    }

    /// Returns R and T over the last `count` samples, if there are that many.
    pub(super) fn level_of(&self, count: usize) -> Option<Level> {
        let from = self.samples.len().checked_sub(count)?;
        Level::of(&self.samples.range(from..).copied().collect::<Vec<_>>())
    }

    /// Returns the least RTT of the last samples.
    pub(super) fn least(&self) -> Option<Span> {
        self.samples.iter().map(|sample| sample.waits.least).min()
    }

    /// Returns true if no queue stood in the last round trip.
    pub(super) fn has_no_queue(&self, now: Time) -> bool {
        let Some(RoundTripTimes { base, .. }) = self.times() else { return false };
        let round = self.rtt().since(behind(now, self.round(base)));
        round.is_some_and(|round| round.least < base + self.hint(base))
    }

    /// Returns true if no queue stood in the last round trip, and the window was the limit.
    pub(super) fn has_room(&self, now: Time) -> bool {
        self.has_no_queue(now) && self.samples.back().is_none_or(|sample| sample.limited)
    }

    /// Returns the excess of the median RTT in the last round trip over the RTT before the transfer.
    pub(super) fn waits_by(&self, now: Time) -> Option<Span> {
        let times = self.times()?;
        let from = behind(now, self.round(times.base));
        let enough = self.rtt().since(from)?.count >= 3;
        self.rtt().median_since(from).filter(|_| enough).map(|median| median.saturating_sub(times.exogenous))
    }
}

/// R and T over some samples.
#[derive(Clone, Copy, Debug)]
pub(super) struct Level {
    /// R in bit/s of payload.
    pub(super) rate: f64,
    /// The average RTT, Ta.
    pub(super) average: Span,
    /// The median RTT, which a few late packets do not move.
    pub(super) median: Span,
}

impl Level {
    /// Computes the medians over `samples`; `None` if it is empty.
    pub(super) fn of(samples: &[Sample]) -> Option<Self> {
        let middle = |of: &dyn Fn(&Sample) -> f64| median(&mut samples.iter().map(of).collect::<Vec<_>>());
        Some(Self {
            rate: middle(&|sample| sample.rate)?,
            average: Span::from_secs_f64(middle(&|sample| sample.waits.mean.as_secs_f64())?),
            median: Span::from_secs_f64(middle(&|sample| sample.median.as_secs_f64())?),
        })
    }

    /// Returns R T in bytes.
    pub(super) fn in_flight(&self) -> f64 {
        self.rate / 8.0 * self.average.as_secs_f64()
    }

    /// Formats R for people.
    pub(super) fn shown(&self) -> String {
        Rate::from_bps_f64(self.rate).rounded()
    }
}

pub(super) fn behind(now: Time, span: Span) -> Time {
    Time::from_nanos(now.as_nanos().saturating_sub(span.as_nanos()))
}

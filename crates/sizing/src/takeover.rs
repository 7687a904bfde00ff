//! [`Takeover`]: a sizer for a transfer that is under way. A short dip of its window finds the base RTT, then SOBAS
//! continues with it.
//!
//! A sizer that takes a transfer over meets the queue that this transfer has built. The least RTT seen from then on may
//! be the standing queue's, and S = R T with it would keep the queue. With a window of less than a BDP for some round
//! trips the queue drains, and the RTT in them is the base RTT. A promised window is not taken back, so the dip begins
//! once the promised data has arrived.
//!
//! | phase | when | next | window |
//! |---|---|---|---|
//! | watch | the goodput is steady, and RTTs come | dip | twice what a round trip delivers, from then on never less |
//! | watch | no RTT comes | open, for good | maximum |
//! | dip | the least RTT falls no more | refill | an eighth of what was in flight |
//! | dip | the same, but the goodput has not fallen: the queue still stands | dip | an eighth of that |
//! | dip | the goodput has not fallen with four segments | open, for good | maximum |
//! | dip | the sender pauses; three times | watch; open, for good | as before; maximum |
//! | refill | a queue stood, and the window is S = R T | SOBAS: hold | x1.76 per RTT, from S/2 on x1.25 |
//! | refill | no queue stood, and the window is twice what was in flight | SOBAS: open | x1.25 per RTT, then maximum |
//!
//! R is the goodput before the dip. A queue of other transfers stands during the dip as well, and counts as part of the
//! path.

use crate::sobas::{CLOCK_STEP, LEAST_SEGMENTS, shown};
use crate::{Action, BufferSizer, Input, Regret, SizerConfig, SizerState, Sobas};
use units::{Bytes, Rate, Span, Time};

/// The length of the two stretches whose goodput is compared, or a round trip if that is longer. At 10 Mbit/s a stretch
/// has 300 segments.
const STRETCH: Span = Span::from_millis(400);
/// The largest share by which the goodputs of the two stretches may differ if the goodput is steady. They differ
/// because data that fills a hole is delivered all at once.
const STEADY: f64 = 0.15;
/// The time without an RTT after which none is expected.
const PATIENCE: Span = Span::from_secs(3);
/// The ratio of the data in flight to the window in the dip. With up to seven BDP of queue that window is less than a
/// BDP.
const DIP: f64 = 8.0;
/// The share of R below which the goodput in a dip shows that the queue has drained.
const DRAINED: f64 = 0.85;
/// The share by which an RTT has to be below the least RTT to count as a fall.
const FALLS: f64 = 0.03;
/// The number of RTT readings without a fall after which the least RTT is final.
const READINGS: u32 = 2;
/// The number of RTT readings after which a dip ends, even if the least RTT still falls.
const MOST_READINGS: u32 = 16;
/// The number of dips spoiled by a pause of the sender after which the window is opened.
const SPOILED: u32 = 3;
/// The segments beyond twice the delivered data, for a sender whose window is still small, as in dynamic right-sizing.
const ALLOWANCE: u64 = 16;
/// The growth of the window per delivered byte in a refill if a queue stood: x1.76 per RTT.
const REFILL: f64 = 1.0;
/// The same near the end, and if no queue stood: x1.25 per RTT, because the buffer may not hold a larger burst.
const REFILL_LATE: f64 = 0.28;

/// The sizer of a transfer that is under way.
#[derive(Debug)]
pub struct Takeover {
    config: SizerConfig,
    stage: Stage,
    reason: String,
    /// The window in bytes, with fractions.
    window: f64,
    /// The bytes that the sender may have in flight because they were promised before.
    promised: f64,
    /// The window that was advertised last.
    last_window: Option<Bytes>,
    /// The newest RTT.
    newest: Option<Span>,
    /// The base RTT, found in the dip.
    base: Option<Span>,
    spoiled: u32,
}

#[derive(Debug)]
enum Stage {
    Watch(Watch),
    Dip(Dip),
    Refill(Refill),
    /// SOBAS, which continues with the base RTT.
    Sobas(Box<dyn BufferSizer>),
    /// An open window: the base RTT cannot be found, so nothing is limited.
    Open,
}

#[derive(Clone, Copy, Debug, Default)]
struct Watch {
    /// The time at which watching began.
    began: Option<Time>,
    /// The current stretch.
    stretch: Stretch,
    /// The current round trip.
    round: Stretch,
    /// The goodput of the stretch before, in bytes per second.
    before: Option<f64>,
    /// True once a round trip has set the window.
    settled: bool,
}

#[derive(Clone, Copy, Debug)]
struct Dip {
    /// R: the goodput before the dip, in bytes per second.
    rate: f64,
    /// The RTT before the dip.
    round_trip: Span,
    /// The window before the dip.
    before: f64,
    /// The time at which the dip counts as spoiled, because the sender has paused.
    until: Time,
    /// The data that has arrived since the promised data did; `None` before that.
    drained: Option<Stretch>,
    least: Option<Span>,
    readings: u32,
    /// The number of readings since the least RTT fell.
    since: u32,
}

#[derive(Clone, Copy, Debug)]
struct Refill {
    rate: f64,
    round_trip: Span,
    base: Span,
    /// The window with which the refill ends.
    to: f64,
    /// True if a queue stood before the dip.
    stood: bool,
}

/// The bytes delivered from some time on.
#[derive(Clone, Copy, Debug, Default)]
struct Stretch {
    from: Time,
    bytes: f64,
}

impl Stretch {
    const fn at(from: Time) -> Self {
        Self { from, bytes: 0.0 }
    }

    /// Returns the bytes per second until `now`.
    fn rate(&self, now: Time) -> f64 {
        self.bytes / now.since(self.from).as_secs_f64().max(1e-6)
    }
}

impl Takeover {
    /// Makes a sizer for a transfer whose sender was promised a window of `config.running`, or of the maximum if that
    /// is `None`.
    #[must_use]
    pub fn new(config: SizerConfig) -> Self {
        let promised = config.running.unwrap_or(config.maximum).min(config.maximum);
        Self {
            config,
            stage: Stage::Watch(Watch::default()),
            reason:
                "the transfer was under way: its RTT may be a standing queue's; watching for a steady goodput"
                    .to_owned(),
            window: promised.get() as f64,
            promised: promised.get() as f64,
            last_window: None,
            newest: None,
            base: None,
            spoiled: 0,
        }
    }

    fn segments(&self, count: u64) -> f64 {
        self.config.segment.get() as f64 * count as f64
    }

    fn maximum(&self) -> f64 {
        self.config.maximum.get() as f64
    }

    fn set(&mut self, window: f64) {
        self.window = window.min(self.maximum());
        self.promised = self.promised.max(self.window);
    }

    fn watch(&mut self, now: Time, mut watch: Watch, bytes: f64) -> Stage {
        let Some(began) = watch.began else {
            let (stretch, round) = (Stretch::at(now), Stretch::at(now));
            return Stage::Watch(Watch { began: Some(now), stretch, round, ..watch });
        };
        watch.stretch.bytes += bytes;
        watch.round.bytes += bytes;
        let Some(round_trip) = self.newest else {
            return if now.since(began) < PATIENCE {
                Stage::Watch(watch)
            } else {
                self.open("no round-trip time comes")
            };
        };
        if now.since(watch.round.from) >= round_trip {
            let room = 2.0 * watch.round.bytes + self.segments(ALLOWANCE);
            // A larger window would only make the dip wait for the data that it promises.
            self.set(if watch.settled { self.window.max(room) } else { room });
            watch.settled = true;
            watch.round = Stretch::at(now);
        }
        if now.since(watch.stretch.from) < STRETCH.max(round_trip) {
            return Stage::Watch(watch);
        }
        let rate = watch.stretch.rate(now);
        watch.stretch = Stretch::at(now);
        let before = watch.before.replace(rate).filter(|before| (before - rate).abs() <= STEADY * rate);
        let rate = before.map_or(rate, |before| f64::midpoint(before, rate));
        let in_flight = rate * round_trip.as_secs_f64();
        // With so little in flight the dip could not limit the sender, and a queue would be too short to matter.
        if before.is_none() || in_flight < self.segments(2 * LEAST_SEGMENTS) {
            return Stage::Watch(watch);
        }
        self.dip(now, rate, round_trip, self.window, in_flight / DIP)
    }

    fn dip(&mut self, now: Time, rate: f64, round_trip: Span, before: f64, window: f64) -> Stage {
        self.set(window.max(self.segments(LEAST_SEGMENTS)));
        self.reason = format!(
            "{} at {}, a queue included or not: a dip to {} for some round trips will show it",
            Rate::from_bps_f64(8.0 * rate).rounded(),
            round_trip.rounded(),
            shown(self.window)
        );
        let drain = Span::from_secs_f64(2.0 * self.promised / rate);
        let until = now + drain + round_trip * 2 + STRETCH;
        Stage::Dip(Dip { rate, round_trip, before, until, drained: None, least: None, readings: 0, since: 0 })
    }

    /// Counts `bytes` that arrived in a dip, and ends the dip if the sender has paused.
    fn drain(&mut self, now: Time, mut dip: Dip, bytes: f64) -> Stage {
        match &mut dip.drained {
            Some(drained) => drained.bytes += bytes,
            None if self.promised <= self.window => dip.drained = Some(Stretch::at(now)),
            None => {}
        }
        if now < dip.until {
            return Stage::Dip(dip);
        }
        self.spoiled += 1;
        if self.spoiled == SPOILED {
            return self.open("the sender paused in each dip of the window");
        }
        self.set(dip.before);
        "the sender paused in a dip of the window: watching for a steady goodput"
            .clone_into(&mut self.reason);
        Stage::Watch(Watch { settled: true, ..Watch::default() })
    }

    /// Takes an RTT in a dip.
    fn observe_dip(&mut self, now: Time, mut dip: Dip, round_trip: Span) -> Stage {
        let Some(drained) = dip.drained else { return Stage::Dip(dip) };
        let fell = dip.least.is_none_or(|least| round_trip < least.scale(1.0 - FALLS));
        let least = dip.least.map_or(round_trip, |least| least.min(round_trip));
        dip.least = Some(least);
        dip.readings += 1;
        dip.since = if fell { 0 } else { dip.since + 1 };
        // The first readings are of data that was sent before the queue drained.
        let fresh = now.since(drained.from) >= least * 2;
        if !(fresh && dip.since >= READINGS || dip.readings >= MOST_READINGS) {
            dip.until = dip.until.max(now + dip.round_trip * 2 + STRETCH);
            return Stage::Dip(dip);
        }
        if drained.rate(now) < DRAINED * dip.rate {
            return self.refill(&dip, least);
        }
        if self.window <= self.segments(LEAST_SEGMENTS) {
            return self.open("the goodput does not fall with the window");
        }
        self.dip(now, dip.rate, dip.round_trip, dip.before, self.window / DIP)
    }

    /// Begins to refill the path: the base RTT is found.
    fn refill(&mut self, dip: &Dip, base: Span) -> Stage {
        self.base = Some(base);
        let without = base + CLOCK_STEP;
        let aim = self.config.parameters.aim(base, Span::ZERO);
        let stood = dip.round_trip >= without + aim;
        let target = if stood { without + aim } else { dip.round_trip * 2 };
        let to = (dip.rate * target.as_secs_f64()).max(self.segments(LEAST_SEGMENTS)).min(self.maximum());
        self.reason = format!(
            "the dip found a base RTT of {}, it was {}: growing to {}",
            base.rounded(),
            dip.round_trip.rounded(),
            shown(to)
        );
        Stage::Refill(Refill { rate: dip.rate, round_trip: dip.round_trip, base, to, stood })
    }

    fn grow(&mut self, now: Time, refill: Refill, bytes: f64) -> Stage {
        let fast = refill.stood && self.window < refill.to / 2.0;
        let gain = if fast { REFILL } else { REFILL_LATE };
        self.set((self.window + gain * bytes).min(refill.to));
        if self.window < refill.to {
            return Stage::Refill(refill);
        }
        let rate = Rate::from_bps_f64(8.0 * refill.rate);
        let standing = refill.stood.then_some((rate, refill.round_trip));
        let sobas = Sobas::under_way(self.config, now, refill.base, standing);
        Stage::Sobas(match self.config.regret {
            // R may be too high by STEADY, because data that fills a hole is delivered all at once.
            Some(_) => Box::new(Regret::of(sobas, refill.stood.then(|| rate.scale(1.0 - STEADY)))),
            None => Box::new(sobas),
        })
    }

    fn open(&mut self, why: &str) -> Stage {
        self.set(self.maximum());
        self.reason = format!("the base RTT is not known: {why}; the window is not limited");
        Stage::Open
    }

    fn step(&mut self, now: Time, input: Option<Input>) {
        let bytes = if let Some(Input::Delivered(bytes)) = input { bytes.get() as f64 } else { 0.0 };
        let round_trip = if let Some(Input::RoundTrip(round_trip)) = input { Some(round_trip) } else { None };
        self.newest = round_trip.or(self.newest);
        self.promised = (self.promised - bytes).max(self.window);
        self.stage = match std::mem::replace(&mut self.stage, Stage::Open) {
            Stage::Watch(watch) if bytes > 0.0 => self.watch(now, watch, bytes),
            Stage::Dip(dip) => match round_trip {
                Some(round_trip) => self.observe_dip(now, dip, round_trip),
                None => self.drain(now, dip, bytes),
            },
            Stage::Refill(refill) => self.grow(now, refill, bytes),
            stage => stage,
        };
    }
}

impl BufferSizer for Takeover {
    fn handle(&mut self, now: Time, input: Input) {
        if let Stage::Sobas(sobas) = &mut self.stage {
            return sobas.handle(now, input);
        }
        self.step(now, Some(input));
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if let Stage::Sobas(sobas) = &mut self.stage {
            return sobas.poll(now);
        }
        self.step(now, None);
        // Windows are whole segments, as senders use them.
        let segment = self.config.segment;
        let window = (segment * (Bytes::new(self.window as u64) / segment).max(1)).min(self.config.maximum);
        let changed = self.last_window.replace(window) != Some(window);
        changed.then_some(Action::Window(window))
    }

    fn wakeup(&self) -> Option<Time> {
        match &self.stage {
            Stage::Dip(dip) => Some(dip.until),
            Stage::Sobas(sobas) => sobas.wakeup(),
            _ => None,
        }
    }

    fn base_rtt(&self) -> Option<Span> {
        self.base
    }

    fn state(&self) -> SizerState {
        let phase = match &self.stage {
            Stage::Sobas(sobas) => return sobas.state(),
            Stage::Watch(_) => "watch",
            Stage::Dip(_) => "dip",
            Stage::Refill(_) => "refill",
            Stage::Open => "open",
        };
        SizerState { phase, reason: self.reason.clone() }
    }
}

//! [`Regret`]: SOBAS with a bound on the goodput that it may give up.
//!
//! SOBAS takes only the available bandwidth. A window without limit, an open one, may also take goodput from other
//! transfers. So the transfer is divided into segments of time, each with an open window or with SOBAS's window S.
//! `sobas.rs` defines R, T and C'. The window with more goodput is kept. The other window is tested again ("asked" in
//! the table), at growing intervals.
//!
//! | window | when | next |
//! |---|---|---|
//! | S, first | something else seems to be on the path | open |
//! | open | the segment is over, and its goodput still grows | open |
//! | open | the segment is over, and a longer queue stands than S aims at | S = R T, R the better goodput; asked |
//! | open | the segment is over, and no such queue stands | open |
//! | S, asked | the segment is over, and S has cost no more than 0.6 of the bound | S, kept |
//! | S, asked | the segment is over, and S has cost more | open, kept |
//! | S, asked | 8 round trips are over, and S has cost more than the bound | open, kept |
//! | S | the segment is over, and S lacks no more of C' than 0.6 of the bound | S |
//! | S, kept | its segments are over, or S has cost more than the bound | open, asked |
//! | open, asked | the segment is over, and S had cost no more than 0.6 of the bound | S, kept |
//! | open, asked | the segment is over, and S had cost more | open, kept |
//! | S | loss that is not ours, or the sender is rate-based, such as BBR | open, kept |
//!
//! A window is kept for 8 segments, later for 16, 32 and so on. A transfer that is taken over with a standing queue
//! begins with a test of S, because its goodput before that is the open window's.

use crate::sobas::{IDLY, Sobas};
use crate::{Action, BufferSizer, Input, SizerConfig, SizerState, USUAL_REGRET};
use units::{Rate, Span, Time};

/// The length of a segment: this number of round trips, or of seconds if that is longer.
const SEGMENT: (u64, f64) = (30, 3.0);
/// The number of round trips that do not count after the window was opened, because it has to grow first.
const OPENING: u64 = 16;
/// The share of the bound that S may cost in goodput and still be kept. The rest is for the cost of tests.
const KEPT: f64 = 0.6;
/// The round trips after which a segment with S may end early, because S costs more than the bound.
const SOON: u64 = 8;
/// The ratio of a segment's goodput to that of the segment before, above which an open window still grows.
const GROWS: f64 = 1.05;
/// The number of segments between two tests, at first.
const AGAIN: u32 = 8;
/// The factor by which the number of segments between two tests grows after each test.
const RARER: u32 = 2;

/// SOBAS with a bound on its regret.
#[derive(Debug)]
pub struct Regret {
    sobas: Sobas,
    /// The bound: a share of an open window's goodput.
    bound: f64,
    side: Side,
    /// True if the window has been S since the transfer began.
    first: bool,
    /// The current segment, once data flows.
    segment: Option<Segment>,
    /// The goodput of each side, in bytes per second.
    known: [Option<f64>; 2],
    /// The number of segments until the other side is tested next.
    again: u32,
    /// The open window in bytes; it grows.
    window: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Side {
    Open,
    Held,
}

#[derive(Clone, Copy, Debug)]
struct Segment {
    /// True if the side is being tested; otherwise it is kept.
    asks: bool,
    from: Time,
    until: Time,
    bytes: f64,
}

impl Regret {
    /// Makes a machine before its first input. Without a bound in `config` it uses [`USUAL_REGRET`].
    #[must_use]
    pub fn new(config: SizerConfig) -> Self {
        let regret = Some(config.regret.unwrap_or(USUAL_REGRET));
        Self { side: Side::Held, first: true, ..Self::of(Sobas::new(SizerConfig { regret, ..config }), None) }
    }

    /// Continues with `sobas`, whose window is open or S. `open` is the goodput of an open window, if that is known.
    #[must_use]
    pub fn of(sobas: Sobas, open: Option<Rate>) -> Self {
        let bound = sobas.bound().unwrap_or(USUAL_REGRET);
        let side = if sobas.is_decided() { Side::Held } else { Side::Open };
        let window = sobas.window();
        let known = [open.map(|rate| rate.as_bps_f64() / 8.0), None];
        Self { sobas, bound, side, first: false, segment: None, known, again: AGAIN, window }
    }

    /// Begins a segment of `count` usual lengths, which counts from `from` on.
    fn begin(&mut self, from: Time, asks: bool, count: u32) {
        let usual = (self.sobas.round_trip() * SEGMENT.0).max(Span::from_secs_f64(SEGMENT.1));
        self.segment = Some(Segment { asks, from, until: from + usual * u64::from(count), bytes: 0.0 });
    }

    fn open(&mut self, now: Time, asks: bool, count: u32) {
        self.side = Side::Open;
        self.first = false;
        self.window = self.sobas.window();
        self.sobas.release();
        self.begin(now + self.sobas.round_trip() * OPENING, asks, count);
    }

    /// Counts payload that arrives, and ends the segment when it is over.
    fn delivered(&mut self, now: Time, bytes: f64) {
        if self.side == Side::Held && self.sobas.is_beginning() {
            return;
        }
        if self.side == Side::Open {
            self.window = self.window.max(self.sobas.unlimited());
        }
        let Some(segment) = &mut self.segment else { return self.begin(now, true, 1) };
        if now < segment.from {
            return;
        }
        segment.bytes += bytes;
        let segment = *segment;
        let passed = now.since(segment.from);
        let rate = segment.bytes / passed.as_secs_f64().max(1e-6);
        let open = self.known[Side::Open as usize];
        let soon = passed >= self.sobas.round_trip() * SOON && passed >= Span::from_millis(500);
        let clearly =
            self.side == Side::Held && soon && open.is_some_and(|open| rate < (1.0 - self.bound) * open);
        if now < segment.until && !clearly {
            return;
        }
        // The window may still grow, so its final goodput is not known yet.
        let grows = open.is_none_or(|before| rate > GROWS * before)
            && self.known[Side::Held as usize].is_none_or(|held| rate >= held);
        self.known[self.side as usize] = Some(rate);
        match self.side {
            Side::Open if grows => self.begin(now, segment.asks, 1),
            Side::Open => self.open_ends(now, segment, rate),
            Side::Held => self.held_ends(now, segment, rate),
        }
    }

    fn open_ends(&mut self, now: Time, segment: Segment, rate: f64) {
        let held = self.known[Side::Held as usize];
        let keeps = held.is_some_and(|held| held >= self.keeps() * rate);
        // If this segment tested the open window against a kept S, the better one follows. Otherwise S follows if it
        // could help.
        let turn = if segment.asks && held.is_some() { keeps } else { self.sobas.queues() };
        if !turn {
            let count = if segment.asks && held.is_some() { self.later() } else { 1 };
            return self.begin(now, false, count);
        }
        let rate = rate.max(held.unwrap_or(0.0));
        let from = self.sobas.resume(now, Rate::from_bps_f64(8.0 * rate), self.window);
        self.side = Side::Held;
        let asks = !(segment.asks && held.is_some());
        let count = if asks { 1 } else { self.later() };
        self.begin(from, asks, count);
    }

    fn held_ends(&mut self, now: Time, segment: Segment, rate: f64) {
        // S has nearly all of the path, so no other window can have more.
        if self.sobas.part(8.0 * rate).is_some_and(|part| part >= self.keeps()) {
            return self.begin(now, false, 1);
        }
        let Some(open) = self.known[Side::Open as usize] else { return self.open(now, true, 1) };
        if !segment.asks {
            return self.open(now, true, 1);
        }
        let count = self.later();
        if rate >= self.keeps() * open {
            self.begin(now, false, count);
        } else {
            self.open(now, false, count);
        }
    }

    /// Returns the least share of an open window's goodput that S must have to be kept.
    fn keeps(&self) -> f64 {
        1.0 - KEPT * self.bound
    }

    /// Returns the number of segments until the next test, and raises it for the test after that.
    fn later(&mut self) -> u32 {
        let count = self.again;
        self.again = (RARER * count).min(1 << 10);
        count
    }
}

impl BufferSizer for Regret {
    fn handle(&mut self, now: Time, input: Input) {
        match self.side {
            Side::Open => self.sobas.watch(now, input),
            Side::Held => self.sobas.handle(now, input),
        }
        if self.side == Side::Held && !self.sobas.is_decided() && !self.sobas.is_beginning() {
            let count = self.later();
            self.open(now, false, count);
        }
        if let Input::Delivered(bytes) = input {
            self.delivered(now, bytes.get() as f64);
        }
    }

    fn poll(&mut self, now: Time) -> Option<Action> {
        if self.side == Side::Held {
            self.sobas.begin_if_measured(now);
            if self.first && self.sobas.shares_the_path() {
                self.open(now, false, 1);
            }
        }
        match self.side {
            Side::Open => self.sobas.poll_with(now, self.window),
            Side::Held => self.sobas.poll(now),
        }
    }

    fn wakeup(&self) -> Option<Time> {
        self.sobas.wakeup()
    }

    /// Returns the interval of probes. With an open window it is longer than SOBAS's own, because S is tested once in a
    /// segment, and each probe takes a packet's place in the queue.
    fn probe_interval(&self) -> Option<Span> {
        let open = self.side == Side::Open;
        self.sobas.probe_interval().map(|interval| if open { interval * IDLY } else { interval })
    }

    fn state(&self) -> SizerState {
        let shown = |side: Side, words: &str| {
            let rate = Rate::from_bps_f64(8.0 * self.known[side as usize]?);
            Some(format!("{} {words}", rate.rounded()))
        };
        // A goodput that was not measured yet is left out.
        let known = [shown(Side::Held, "with a limited window"), shown(Side::Open, "with an open window")];
        let known = known.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let and = |reason: &str, mark: &str| match known.as_str() {
            "" => reason.to_owned(),
            known => format!("{reason}{mark} {known}"),
        };
        match self.side {
            Side::Open => SizerState { phase: "open", reason: and("no limit", ":") },
            Side::Held => {
                let state = self.sobas.state();
                SizerState { reason: and(&state.reason, ";"), ..state }
            }
        }
    }
}

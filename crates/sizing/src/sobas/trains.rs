//! When to ask for packet trains.

use estimate::{LEAST_TRAIN, LONG_TRAIN_PACKETS, TRAIN_PACKETS, TRAINS_APART, train_bytes};
use units::{Rate, Span, Time};

/// Without an answer after this a train is taken for unanswered: the other side may not know trains.
const PATIENCE: Span = Span::from_secs(1);

/// Unanswered trains after which no more are asked for.
const UNANSWERED: u32 = 2;

/// Trains that may break before it is taken for certain that the path holds none.
const BROKEN: usize = 3;

/// All trains together take no longer than this, if more than one is wanted for it.
const TOGETHER: Span = Span::from_secs(1);

/// Between trains, before the first has told how fast the path is.
const SPACING: Span = Span::from_millis(100);

/// Trains to be asked for. The first waits for a round-trip time, so that this is known without a train in the queue.
/// The others follow one after another, twice as far apart as one of them takes. So the queue of one train is gone
/// before the next. All of it takes two to five round trips, and data may flow after the first of them.
///
/// The first train is a short one. On a path that is too fast for it, it only tells that: longer ones follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trains {
    wanted: usize,
    /// Packets of the next one.
    packets: usize,
    asked: usize,
    answered: usize,
    unanswered: u32,
    /// Came with losses.
    broken: usize,
    next: Time,
    last_answer: Time,
    spacing: Span,
}

impl Trains {
    pub(crate) fn new(wanted: usize) -> Self {
        Self {
            wanted,
            packets: TRAIN_PACKETS,
            asked: 0,
            answered: 0,
            unanswered: 0,
            broken: 0,
            next: Time::ZERO,
            last_answer: Time::ZERO,
            spacing: SPACING,
        }
    }

    /// Nothing more will come.
    pub(crate) fn is_over(&self) -> bool {
        self.answered >= self.wanted || self.unanswered >= UNANSWERED || self.overflows()
    }

    /// All are asked for before the data is well under way.
    pub(crate) fn soon_over(&self, round_trip: Span) -> bool {
        self.spacing.max(TRAINS_APART) * self.wanted.saturating_sub(1) as u64 <= round_trip * 3
    }

    /// The path holds no train: more of them would only cost others their packets.
    const fn overflows(&self) -> bool {
        self.broken >= BROKEN && self.broken == self.answered
    }

    /// Before the first is back nothing is known about how much of a queue it makes.
    const fn first_is_out(&self) -> bool {
        self.asked > 0 && self.answered == 0 && !self.is_long()
    }

    const fn is_long(&self) -> bool {
        self.packets > TRAIN_PACKETS
    }

    /// Trains were asked for that have not come.
    fn is_waiting(&self) -> bool {
        self.asked > self.answered + self.unanswered as usize
    }

    /// Packets of the trains that count.
    pub(crate) const fn packets(&self) -> usize {
        self.packets
    }

    /// A train came, at `rate`, or with loss. Whether it counts: one that was too short for the path does not.
    pub(crate) fn on_train(&mut self, now: Time, rate: Option<Rate>) -> bool {
        let Some(rate) = rate.filter(|rate| *rate > Rate::ZERO) else {
            self.on_broken(now, None);
            return true;
        };
        let first = self.answered == 0 && !self.is_long();
        if first && rate.serialization(train_bytes(self.packets)) < LEAST_TRAIN {
            (self.packets, self.asked, self.next) = (LONG_TRAIN_PACKETS, 0, now);
            self.spacing = rate.serialization(train_bytes(self.packets)) * 2;
            self.last_answer = now;
            return false;
        }
        self.answer(now, Some(rate));
        true
    }

    fn answer(&mut self, now: Time, rate: Option<Rate>) {
        self.answered += 1;
        self.last_answer = now;
        if let Some(rate) = rate.filter(|rate| *rate > Rate::ZERO) {
            self.spacing = rate.serialization(train_bytes(self.packets)) * 2;
            // On a slow path one train says as much as others lose by five.
            self.wanted =
                self.wanted.min((TOGETHER.as_nanos() / self.spacing.as_nanos().max(1)).max(1) as usize);
        }
        self.next = self.next.min(now + self.spacing);
    }

    /// A train came with losses, the rest at `rate` if that could be told.
    pub(crate) fn on_broken(&mut self, now: Time, rate: Option<Rate>) {
        self.broken += 1;
        self.answer(now, rate);
    }

    /// The packets of a train that is to be asked for now; it counts as asked for.
    pub(crate) fn ask(&mut self, now: Time, round_trip: Option<Span>) -> Option<usize> {
        let round_trip = round_trip.filter(|_| !self.is_over())?;
        if self.is_waiting() && now.since(self.next.max(self.last_answer)) > PATIENCE + round_trip * 4 {
            self.unanswered = UNANSWERED;
            return None;
        }
        if now < self.next || self.asked >= self.wanted || self.first_is_out() {
            return None;
        }
        self.asked += 1;
        self.next = now + self.spacing;
        Some(self.packets)
    }

    /// When to look again.
    pub(crate) fn wakeup(&self, round_trip: Option<Span>) -> Option<Time> {
        let round_trip = round_trip.filter(|_| !self.is_over())?;
        if self.asked >= self.wanted || self.first_is_out() {
            return Some(self.next.max(self.last_answer) + PATIENCE + round_trip * 4 + Span::from_nanos(1));
        }
        Some(self.next)
    }
}

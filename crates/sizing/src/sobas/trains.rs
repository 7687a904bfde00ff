//! [`Trains`]: the times at which packet trains are requested.

use estimate::{LEAST_TRAIN, LONG_TRAIN_PACKETS, TRAIN_PACKETS, TRAINS_APART, train_bytes};
use units::{Rate, Span, Time};

/// The time after which a train counts as unanswered: the other side may not know trains.
const PATIENCE: Span = Span::from_secs(1);

/// The number of unanswered trains after which no more are requested.
const UNANSWERED: u32 = 2;

/// The number of trains with losses after which, without a whole one, the path is taken to hold no train.
const BROKEN: usize = 3;

/// The longest time that all trains together may take, unless a single one takes longer.
const TOGETHER: Span = Span::from_secs(1);

/// The time between trains before the first has shown the rate of the path.
const SPACING: Span = Span::from_millis(100);

/// The state of the requests for trains. The first train waits for a round-trip time, so that this is measured without
/// a train in the queue. The others follow at intervals of twice the duration of one, so that the queue of one train is
/// gone before the next. All of them take two to five round trips, and data may flow after the first of them.
///
/// The first train is short. If the path is too fast for it, it shows only that, and longer ones follow.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Trains {
    wanted: usize,
    /// The number of packets of the next train.
    packets: usize,
    asked: usize,
    answered: usize,
    unanswered: u32,
    /// The number of trains that arrived with losses.
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

    /// Returns true if no more trains will come.
    pub(crate) fn is_over(&self) -> bool {
        self.answered >= self.wanted || self.unanswered >= UNANSWERED || self.overflows()
    }

    /// Returns true if all trains are requested before the data is well under way.
    pub(crate) fn soon_over(&self, round_trip: Span) -> bool {
        self.spacing.max(TRAINS_APART) * self.wanted.saturating_sub(1) as u64 <= round_trip * 3
    }

    /// Returns true if the path holds no train: more of them would only cost others their packets.
    const fn overflows(&self) -> bool {
        self.broken >= BROKEN && self.broken == self.answered
    }

    /// Returns true if the first train is not back, so that the length of its queue is unknown.
    const fn first_is_out(&self) -> bool {
        self.asked > 0 && self.answered == 0 && !self.is_long()
    }

    const fn is_long(&self) -> bool {
        self.packets > TRAIN_PACKETS
    }

    /// Returns true if a requested train has not arrived.
    fn is_waiting(&self) -> bool {
        self.asked > self.answered + self.unanswered as usize
    }

    /// Returns the number of packets of the trains that count.
    pub(crate) const fn packets(&self) -> usize {
        self.packets
    }

    /// Takes a train that arrived at `rate`, or with losses. Returns true if it counts; a train that was too short for
    /// the path does not.
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
            // A slow path gets fewer trains, because they occupy it for longer.
            self.wanted =
                self.wanted.min((TOGETHER.as_nanos() / self.spacing.as_nanos().max(1)).max(1) as usize);
        }
        self.next = self.next.min(now + self.spacing);
    }

    /// Takes a train that arrived with losses; `rate` is that of the other packets, if it is known.
    pub(crate) fn on_broken(&mut self, now: Time, rate: Option<Rate>) {
        self.broken += 1;
        self.answer(now, rate);
    }

    /// Returns the number of packets of a train that is due now; it counts as requested.
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

    /// Returns the time of the next check.
    pub(crate) fn wakeup(&self, round_trip: Option<Span>) -> Option<Time> {
        let round_trip = round_trip.filter(|_| !self.is_over())?;
        if self.asked >= self.wanted || self.first_is_out() {
            return Some(self.next.max(self.last_answer) + PATIENCE + round_trip * 4 + Span::from_nanos(1));
        }
        Some(self.next)
    }
}

//! The counts of the medium's time and of each function's frames.

use units::{Bytes, Span, Time};

/// The medium's time since the start. The three fields add up to the time that has passed, to the nanosecond.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Airtime {
    /// Time in which nobody transmits and no acknowledgement is due: interframe spaces, backoff, nothing to send.
    pub idle: Span,
    /// Time of data frames that are acknowledged, their acknowledgements, and SIFS between them.
    pub exchange: Span,
    /// Time of collisions, each from the start of the first overlapping frame to the end of the last.
    pub collision: Span,
}

impl Airtime {
    /// Returns the sum of the three.
    #[must_use]
    pub fn total(&self) -> Span {
        self.idle + self.exchange + self.collision
    }

    /// Returns the time since `earlier`, which is not later.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            idle: self.idle - earlier.idle,
            exchange: self.exchange - earlier.exchange,
            collision: self.collision - earlier.collision,
        }
    }
}

/// The counts of one access function since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FunctionReport {
    /// Frames acknowledged.
    pub delivered: u64,
    /// The payload of these frames.
    pub payload: Bytes,
    /// Frames transmitted, each attempt counting.
    pub attempts: u64,
    /// Attempts that collided with another station.
    pub collisions: u64,
    /// Attempts given up for a more urgent function of the same station; not among `attempts`.
    pub internal_collisions: u64,
    /// Frames dropped at the retry limit.
    pub dropped: u64,
    /// The medium's time in its acknowledged exchanges.
    pub airtime: Span,
    /// The time of its data frames that collided. Those of several functions overlap.
    pub collided: Span,
    /// The sum of the service times of frames acknowledged or dropped. A service time runs from the head of the queue
    /// to the end of the acknowledgement, or of the last attempt.
    pub service: Span,
}

impl FunctionReport {
    /// Returns the counts since `earlier`, a report of the same function that is not later.
    #[must_use]
    pub fn since(&self, earlier: &Self) -> Self {
        Self {
            delivered: self.delivered - earlier.delivered,
            payload: self.payload - earlier.payload,
            attempts: self.attempts - earlier.attempts,
            collisions: self.collisions - earlier.collisions,
            internal_collisions: self.internal_collisions - earlier.internal_collisions,
            dropped: self.dropped - earlier.dropped,
            airtime: self.airtime - earlier.airtime,
            collided: self.collided - earlier.collided,
            service: self.service - earlier.service,
        }
    }

    /// Returns the number of attempts after which the frame is tried again.
    #[must_use]
    pub fn retries(&self) -> u64 {
        self.collisions + self.internal_collisions - self.dropped
    }

    /// Returns the share of transmissions that collided; zero without any.
    #[must_use]
    pub fn collision_probability(&self) -> f64 {
        if self.attempts == 0 { 0.0 } else { self.collisions as f64 / self.attempts as f64 }
    }
}

/// A use of the medium.
#[derive(Clone, Copy, Debug)]
pub(super) enum MediumUse {
    Idle,
    Exchange,
    Collision,
}

/// The medium's time so far.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Account {
    airtime: Airtime,
    until: Time,
}

impl Account {
    /// Charges to `to` the time up to `now` that is not charged yet.
    pub fn charge(&mut self, now: Time, to: MediumUse) {
        let passed = now.since(self.until);
        match to {
            MediumUse::Idle => self.airtime.idle += passed,
            MediumUse::Exchange => self.airtime.exchange += passed,
            MediumUse::Collision => self.airtime.collision += passed,
        }
        self.until = now;
    }

    /// Returns the medium's time up to `now`, if its use since the last charge is `current`.
    pub fn at(mut self, now: Time, current: MediumUse) -> Airtime {
        self.charge(now, current);
        self.airtime
    }
}

//! Capacity as opportunities at instants: see [`Opportunities`].

use super::outages::Outages;
use crate::changes::Opportunities;
use std::sync::Arc;
use units::{Span, Time};

/// The time after which a search for the next opportunity ends. Outages can cover all opportunities.
const PATIENCE: Span = Span::from_secs(86_400);

/// A place in the opportunities of a link, which only moves on.
#[derive(Clone, Debug)]
pub(super) struct Instants {
    of: Arc<Opportunities>,
    outages: Option<Outages>,
    /// The index of the next entry.
    next: usize,
    /// The time of the opportunities at hand, which starts at the origin.
    at: Time,
    /// The number of opportunities at hand that have not begun.
    left: u64,
    /// The bytes left of the one that has begun.
    bytes: u64,
    /// The mean time between opportunities.
    pub(super) mean_gap: Span,
}

impl Instants {
    /// Creates the capacity with these opportunities, which count from `origin`.
    pub(super) fn new(of: Arc<Opportunities>, outages: Option<Outages>, origin: Time) -> Self {
        let mean_gap = of.period() / of.count().max(1);
        Self { of, outages, next: 0, at: origin, left: 0, bytes: 0, mean_gap }
    }

    /// Returns the time of the first opportunity after `now` of which bytes are left.
    #[inline]
    pub(super) fn opens_after(&mut self, now: Time) -> Time {
        while self.at <= now || (self.bytes == 0 && self.left == 0) {
            if !self.advance(now) {
                return Time::NEVER;
            }
        }
        self.at
    }

    /// Returns the time of the first opportunity at `now` or later of which bytes are left.
    #[inline]
    pub(super) fn opens_at(&mut self, now: Time) -> Time {
        while self.at < now || (self.bytes == 0 && self.left == 0) {
            if !self.advance(now) {
                return Time::NEVER;
            }
        }
        self.at
    }

    /// Uses `bytes` from the opportunities at hand on; returns the time of the last opportunity used.
    #[inline]
    pub(super) fn send(&mut self, mut bytes: u64) -> Time {
        loop {
            if self.bytes == 0 {
                let from = self.at;
                while self.left == 0 {
                    if !self.advance(from) {
                        return Time::NEVER;
                    }
                }
                self.left -= 1;
                self.bytes = Opportunities::CARRIES;
            }
            let used = bytes.min(self.bytes);
            self.bytes -= used;
            bytes -= used;
            if bytes == 0 {
                return self.at;
            }
        }
    }

    /// Moves to the end of `now`; returns the number of opportunities passed on the way.
    pub(super) fn pass(&mut self, now: Time) -> u64 {
        let mut passed = 0;
        while self.at <= now {
            passed += std::mem::take(&mut self.left);
            if !self.advance(now) {
                break;
            }
        }
        passed
    }

    /// Moves to the next entry. Returns false at the end, and if nothing can leave for too long after `from`.
    fn advance(&mut self, from: Time) -> bool {
        if self.at == Time::NEVER || self.at.since(from) > PATIENCE {
            self.at = Time::NEVER;
            return false;
        }
        let entry = match self.of.entry(self.next) {
            Some(entry) => entry,
            None if self.of.repeats() => {
                self.next = 0;
                return self.advance(from);
            }
            None => {
                self.at = Time::NEVER;
                (self.left, self.bytes) = (0, 0);
                return false;
            }
        };
        self.next += 1;
        self.at += Span::from_millis(u64::from(entry.gap));
        self.bytes = 0;
        let lost = self.outages.as_mut().is_some_and(|outages| outages.at(self.at).is_some());
        self.left = if lost { 0 } else { u64::from(entry.count) };
        true
    }
}

//! Airtime queue limits: the airtime that a station may have pending below the queues of an access point, as in Linux
//! (mac80211, `ieee80211_txq_airtime_check`).
//!
//! A packet leaves its queue for the device only if [`PendingAirtime::may_take`] allows it. Its airtime is estimated
//! when it is taken, and given back when it is acknowledged or dropped.

use crate::access::Category;
use serde::Serialize;
use units::Span;

/// The limits of pending airtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AirtimeLimits {
    /// The limit of a station and category while the device has `threshold` or more pending.
    pub low: Span,
    /// The limit of a station and category otherwise.
    pub high: Span,
    /// The least airtime pending at the whole device at which the low limit counts.
    pub threshold: Span,
}

impl Default for AirtimeLimits {
    /// Returns Linux's limits: 5 ms, 12 ms, 24 ms (`IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`, `_H`,
    /// `IEEE80211_AQL_THRESHOLD`).
    fn default() -> Self {
        Self { low: Span::from_millis(5), high: Span::from_millis(12), threshold: Span::from_millis(24) }
    }
}

/// The airtime pending at a device.
#[derive(Clone, Debug)]
pub struct PendingAirtime {
    limits: AirtimeLimits,
    /// The airtime pending for each station, by category.
    stations: Vec<[Span; Category::ALL.len()]>,
    total: Span,
}

impl PendingAirtime {
    /// Creates a device with nothing pending for any of `stations` stations.
    #[must_use]
    pub fn new(limits: AirtimeLimits, stations: usize) -> Self {
        Self { limits, stations: vec![[Span::ZERO; Category::ALL.len()]; stations], total: Span::ZERO }
    }

    /// Returns true if a packet for `station` in `category` may leave its queue, because less than a limit is pending.
    /// The packet may exceed the limit.
    ///
    /// # Panics
    /// If the station does not exist.
    #[must_use]
    pub fn may_take(&self, station: usize, category: Category) -> bool {
        let pending = self.stations[station][category as usize];
        let limit = if self.total < self.limits.threshold { self.limits.high } else { self.limits.low };
        pending < limit.max(self.limits.low)
    }

    /// Counts the `airtime` of a packet that is taken as pending.
    ///
    /// # Panics
    /// If the station does not exist.
    pub fn take(&mut self, station: usize, category: Category, airtime: Span) {
        self.stations[station][category as usize] += airtime;
        self.total += airtime;
    }

    /// Gives back the `airtime` of a packet that is acknowledged or dropped.
    ///
    /// # Panics
    /// If the station does not exist; in debug builds, if more is given back than was taken.
    pub fn give_back(&mut self, station: usize, category: Category, airtime: Span) {
        self.stations[station][category as usize] -= airtime;
        self.total -= airtime;
    }

    /// Returns the airtime that the whole device has pending.
    #[must_use]
    pub fn total(&self) -> Span {
        self.total
    }
}

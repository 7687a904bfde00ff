//! The part of a summary about a wireless cell.

use serde::{Deserialize, Serialize};

/// A wireless cell over the measured time. Rates are bits per second, shares in [0, 1].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct WlanSummary {
    /// Payload of the frames that any sender delivered over the air: IP packets, whatever they carry.
    pub throughput_bps: f64,
    /// Collided transmissions over all transmissions; `None` where nobody transmitted, or where it is not known.
    pub collision_probability: Option<f64>,
    /// Share of time without a transmission: nothing to send, interframe spaces, backoff.
    pub idle_share: f64,
    /// Time-average limit of the queue that the summary is about, packets; absent where the limit does not change.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mean_limit_packets: Option<f64>,
    /// One entry for each station and category in which it sends, the access point among them.
    pub stations: Vec<StationSummary>,
}

/// The work of one station in one category.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct StationSummary {
    /// The station's name; `access-point` for the access point.
    pub name: String,
    /// `be`, `bk`, `vi` or `vo`.
    pub category: String,
    /// Payload of the station's frames that were delivered.
    pub throughput_bps: f64,
    /// Share of time that the station's acknowledged exchanges take.
    pub airtime_share: Option<f64>,
    /// Attempts that failed and were followed by another.
    pub retries: Option<u64>,
    /// Frames that were dropped at the retry limit.
    pub dropped_at_limit: Option<u64>,
}

impl StationSummary {
    /// Returns the name of the station in keys: `station-1.be`.
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}.{}", self.name, self.category)
    }
}

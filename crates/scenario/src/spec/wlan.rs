//! `[wlan]` and `[[station]]`: a wireless cell in the place of links.

use super::Queue;
use serde::Serialize;
use units::{Bytes, Fraction, Rate, Span};

/// `[wlan]`, with its stations. What is absent has the standard's default for the PHY.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wlan {
    /// The PHY's name in room `air`, such as `802.11g`.
    pub phy: String,
    /// Whether 802.11b uses its short preamble.
    pub short_preamble: bool,
    /// Of the stations that have no rate of their own.
    pub rate: Rate,
    /// Of acknowledgements; absent: the fastest mandatory rate of the PHY.
    pub control_rate: Option<Rate>,
    /// How stations contend.
    pub access: AccessRule,
    /// What is waited for after a collision.
    pub after_collision: AfterCollision,
    /// Of the acknowledgement that EIFS holds; absent: the lowest mandatory rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eifs_rate: Option<Rate>,
    /// MAC header and FCS of a data frame.
    pub header: Bytes,
    /// LLC and SNAP header of a data frame.
    pub llc: Bytes,
    /// An acknowledgement of the MAC layer.
    pub ack: Bytes,
    /// How each category contends.
    pub ac: Categories,
    /// The same of the access point; what is absent is as `ac` has it.
    pub access_point: Categories,
    /// The access point's downlink queue, one for each category.
    pub queue: CellQueue,
    /// The wire behind the access point; absent where there are no flows.
    pub backhaul: Option<Backhaul>,
    /// `[[station]]`, in the order of the file.
    pub stations: Vec<Station>,
}

/// MAC header and FCS of a data frame with three addresses [9.3.2.1]; QoS control takes 2 bytes.
const PLAIN_HEADER: Bytes = Bytes::new(28);
const QOS_HEADER: Bytes = Bytes::new(30);

impl Wlan {
    /// Returns the header of a data frame without one of its own.
    pub(crate) const fn header_of(access: AccessRule) -> Bytes {
        match access {
            AccessRule::Edca => QOS_HEADER,
            AccessRule::Dcf => PLAIN_HEADER,
        }
    }
}

/// `access = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AccessRule {
    /// Categories, and counters that go down at every boundary.
    Edca,
    /// Best effort alone, and counters that go down in idle slots.
    Dcf,
}

/// `after_collision = …`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum AfterCollision {
    /// EIFS.
    Eifs,
    /// DIFS.
    Difs,
}

/// An access category.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Category {
    /// Best effort.
    Be,
    /// Background.
    Bk,
    /// Video.
    Vi,
    /// Voice.
    Vo,
}

/// `ac = { … }`: parameters of each category.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Categories {
    /// Best effort.
    pub be: Access,
    /// Background.
    pub bk: Access,
    /// Video.
    pub vi: Access,
    /// Voice.
    pub vo: Access,
}

impl Categories {
    /// The parameters of one category.
    #[must_use]
    pub const fn of(&self, category: Category) -> Access {
        match category {
            Category::Be => self.be,
            Category::Bk => self.bk,
            Category::Vi => self.vi,
            Category::Vo => self.vo,
        }
    }
}

/// `ac.be = { … }`: what is written of it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Access {
    /// Contention window of a first attempt.
    pub cw_min: Option<u32>,
    /// The largest contention window.
    pub cw_max: Option<u32>,
    /// Slots beyond SIFS.
    pub aifsn: Option<u32>,
    /// For how long frames may follow each other.
    pub txop: Option<Span>,
    /// Attempts after which a frame is dropped.
    pub retry_limit: Option<u32>,
}

/// The access point's queue: that of a link, its limit in packets or bytes, and what moves the limit.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellQueue {
    /// Policy, limit and settings.
    #[serde(flatten)]
    pub queue: Queue,
    /// Moves the limit; absent: it stays.
    pub sizing: Option<Sizing>,
    /// Airtime queue limits; absent: one frame below the queue.
    pub airtime_limits: Option<AirtimeLimits>,
}

/// `sizing = { … }`: what moves the limit of a queue. The most packets are the queue's limit.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizing {
    /// By the mean service time.
    Ebdp(Ebdp),
    /// By how much of the time the queue is empty.
    Alt(Alt),
    /// A*: the lesser of both.
    Lesser(Ebdp, Alt),
}

/// eBDP: Q = min(T/T_serv + a, the queue's limit).
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ebdp {
    /// T, the queueing delay aimed at.
    pub target: Span,
    /// a, packets more.
    pub extra: u64,
    /// Weight of the newest service time in the mean.
    pub weight: Fraction,
}

/// ALT: the limit grows while the queue is empty, and falls while it is not.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Alt {
    /// How often the limit moves.
    pub interval: Span,
    /// a1, packets per second that the queue is empty.
    pub increase: f64,
    /// b1, packets per second that it is not.
    pub decrease: f64,
    /// The fewest packets.
    pub fewest: u64,
}

/// `airtime_limits = { … }`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct AirtimeLimits {
    /// Pending airtime of a station and category while the device has `threshold` or more.
    pub low: Span,
    /// The same while it has less.
    pub high: Span,
    /// Pending airtime of the whole device.
    pub threshold: Span,
}

/// `backhaul = { … }`: the wire between the access point and the flows' other ends.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Backhaul {
    /// Capacity of each direction.
    pub rate: Rate,
    /// One-way propagation delay.
    pub delay: Span,
    /// The queue in front of each direction.
    pub queue: Queue,
}

/// One `[[station]]`: `count` stations alike.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Station {
    /// Their names, as flows and results have them.
    pub names: Vec<String>,
    /// Of their data frames and of the frames for them; absent: that of the cell.
    pub rate: Option<Rate>,
    /// What they always have to send.
    pub saturated: Option<Saturated>,
    /// Room in the uplink queue of each category.
    pub limit: super::Limit,
}

/// Frames that a station never runs out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Saturated {
    /// The payload of each.
    pub payload: Bytes,
    /// Their category.
    pub category: Category,
}

/// The way of a flow in a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum CellDirection {
    /// From the wire to the station.
    Down,
    /// From the station to the wire.
    Up,
}

/// `station`, `direction`, `category` and `ack_category` of a flow in a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellWay {
    /// The stations that its transfers are dealt out to, in turn: at least one.
    pub stations: Vec<String>,
    /// Which way its data go.
    pub direction: CellDirection,
    /// Category of its data.
    pub category: Category,
    /// Category of its acknowledgements.
    pub ack_category: Category,
}

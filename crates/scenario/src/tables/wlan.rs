//! `[wlan]` and `[[station]]`: a wireless cell instead of links.

use super::cell_queue::{CELL_QUEUE, CellQueue};
use super::queue::{QUEUE, QUEUE_WRITTEN, Queue, queue};
use crate::cursor::ValueAt;
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, Key, OWN, RATE};
use crate::table::{keys, table};
use crate::values::{AccessRule, AfterCollision, Category, CellDirection, Limit};
use serde::Serialize;
use units::{Bytes, Rate, Span};

/// A key that only engines without a kernel may follow.
const CELL: Key = Key { engines: "model sim", refused_by: "live", ..KEY };

/// `[wlan]`, with its stations. Absent values have the standard's default for the PHY.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Wlan {
    /// The PHY's name in room `air`, such as `802.11g`.
    pub phy: String,
    /// True if 802.11b uses its short preamble.
    pub short_preamble: bool,
    /// The rate of stations without their own.
    pub rate: Rate,
    /// The rate of acknowledgements; absent: the fastest mandatory rate of the PHY.
    pub control_rate: Option<Rate>,
    /// The rule by which stations contend.
    pub access: AccessRule,
    /// The time for which stations wait after a collision.
    pub after_collision: AfterCollision,
    /// The rate of the acknowledgement in EIFS; absent: the lowest mandatory rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub eifs_rate: Option<Rate>,
    /// MAC header and FCS of a data frame.
    pub header: Bytes,
    /// LLC and SNAP header of a data frame.
    pub llc: Bytes,
    /// An acknowledgement of the MAC layer.
    pub ack: Bytes,
    /// The contention parameters of each category.
    pub ac: Categories,
    /// The same for the access point; absent values are those of `ac`.
    pub access_point: Categories,
    /// The access point's downlink queue, one for each category.
    pub queue: CellQueue,
    /// The wire behind the access point; absent without flows.
    pub backhaul: Option<Backhaul>,
    /// `[[station]]`, in the order of the file.
    pub stations: Vec<Station>,
}

/// MAC header and FCS of a data frame with three addresses [9.3.2.1].
const PLAIN_HEADER: Bytes = Bytes::new(28);
/// The same with QoS control, which takes 2 bytes.
const QOS_HEADER: Bytes = Bytes::new(30);

impl Wlan {
    /// Returns the default header of a data frame.
    pub(crate) const fn header_of(access: AccessRule) -> Bytes {
        match access {
            AccessRule::Edca => QOS_HEADER,
            AccessRule::Dcf => PLAIN_HEADER,
        }
    }
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
    /// Returns the parameters of one category.
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

/// One `[[station]]`: `count` equal stations.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Station {
    /// Their names in flows and results.
    pub names: Vec<String>,
    /// The rate of their data frames and of the frames for them; absent: that of the cell.
    pub rate: Option<Rate>,
    /// The frames that they always have to send.
    pub saturated: Option<Saturated>,
    /// Room in the uplink queue of each category.
    pub limit: Limit,
}

/// Frames that a station never runs out of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Saturated {
    /// The payload of each.
    pub payload: Bytes,
    /// Their category.
    pub category: Category,
}

/// `station`, `direction`, `category` and `ack_category` of a flow in a cell.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellWay {
    /// The stations to which its transfers are assigned in turn: at least one.
    pub stations: Vec<String>,
    /// The direction of its data.
    pub direction: CellDirection,
    /// Category of its data.
    pub category: Category,
    /// Category of its acknowledgements.
    pub ack_category: Category,
}

keys! {
    pub(crate) table WLAN from CELL;

    /// slot, SIFS, preamble, rates, and the defaults that follow from them. `802.11g` is a cell without
    /// stations of 802.11b: the short slot, OFDM rates, and a signal extension of 6 us behind each frame
    key phy => {
        kind: r#"`"802.11a"`, `"802.11b"`, `"802.11g"`"#,
        default: Required(r#"a PHY: "802.11a", "802.11b", "802.11g""#),
    }
    /// only `802.11b` has a short one
    key preamble => {
        kind: r#"`"long"`, `"short"`"#, default: Written(r#""long""#),
        why: "every 802.11b station understands the long one", from: "IEEE 802.11-2020 (16.2.2)",
    }
    /// rate of every station; the PHY must have it. The access point sends to each station at that station's
    /// rate
    key rate => {
        kind: "rate above zero", default: Required(RATE),
    }
    /// rate of acknowledgements. The acknowledgement of a slower frame has the fastest mandatory rate up to the frame's
    key control_rate => {
        kind: "rate above zero", default: Words("the fastest mandatory rate of the PHY"),
        why: "every station of the cell receives it", from: "IEEE 802.11-2020 (10.6.6.5)",
    }
    /// rules by which stations contend. `"edca"` (802.11e): categories, and backoff counters that go down at
    /// each slot boundary. `"dcf"`: `be` alone, DIFS (`aifsn = 2`), and counters that go down in idle slots
    /// only ([ADR 14](../adr/0014-when-a-backoff-counter-goes-down.md))
    key access => {
        kind: r#"`"edca"`, `"dcf"`"#,
        default: Words(r#"`"dcf"` for `be` alone with `aifsn = 2` and no TXOP, else `"edca"`"#),
        why: "802.11e is what stations have today", from: "IEEE 802.11-2020 (10.23.2)",
    }
    /// time for which stations wait after a collision. `"eifs"` is longer than AIFS, by SIFS and an
    /// acknowledgement at `eifs_rate`; `"difs"` is as long as AIFS
    key after_collision => {
        kind: r#"`"eifs"`, `"difs"`"#, default: Written(r#""eifs""#),
        why: "a collision ends in an error at the receiver", from: "IEEE 802.11-2020 (10.3.2.3.7)",
    }
    /// rate of the acknowledgement in EIFS: the one that did not come (802.11-2016, table 10-5). A station
    /// that does not estimate it takes the lowest mandatory rate: 6 Mbit/s of 802.11a, 1 Mbit/s of the others
    key eifs_rate => {
        kind: "rate above zero", default: Words("that of the acknowledgement of a frame at `rate`"),
        why: "EIFS holds the acknowledgement that did not come", from: "IEEE 802.11-2016 ( table 10-5)",
    }
    /// MAC header and FCS of a data frame; QoS frames have 2 bytes more
    key header => {
        kind: "size", default: Words(r#"`"30B"`; with `access = "dcf"` `"28B"`"#),
        why: "MAC header and FCS, of a QoS frame with `edca`", from: "IEEE 802.11-2020 (9.3.2.1)",
    }
    /// LLC and SNAP header of a data frame
    key llc => {
        kind: "size", default: Written(r#""8B""#),
        why: "LLC and SNAP before the IP packet", from: "RFC 1042",
    }
    /// an acknowledgement of the MAC layer
    key ack => {
        kind: "size above zero", default: Written(r#""14B""#),
        why: "the frame's format", from: "IEEE 802.11-2020 (9.3.1.4)",
    }
    /// settings by which each access category contends; a missing one has the standard's default for the PHY
    key ac => {
        kind: "table with `be`, `bk`, `vi`, `vo`", default: Written("{}"),
        within: CATEGORIES,
    }
    /// settings in which the access point differs from the stations
    key access_point => {
        kind: "table with `ac`", default: Written("{}"),
        within: ACCESS_POINT,
    }
    /// the access point's downlink queue, one for each category. The summary's queue is the one of the first
    /// download's category
    key queue => {
        kind: "table", default: Written(r#"{ limit = "1000 packets" }"#),
        within: CELL_QUEUE,
        why: "the transmit queue of Linux's devices", from: "Linux `DEFAULT_TX_QUEUE_LEN`",
    }
    /// the wire between the access point and the flows' other ends, the same both ways
    key backhaul => {
        kind: "table with `rate`, `delay`, `queue`", default: Words("required where there are flows"),
        within: BACKHAUL,
    }
}

keys! {
    pub(crate) table CATEGORIES from CELL;

    /// best effort: CWmin and CWmax of the PHY, AIFSN 3
    key be => {
        kind: "table", default: Written("{}"),
        within: ACCESS,
    }
    /// background: as best effort, AIFSN 7
    key bk => {
        kind: "table", default: Written("{}"),
        within: ACCESS,
    }
    /// video: half of CWmin, CWmin, AIFSN 2, and a TXOP
    key vi => {
        kind: "table", default: Written("{}"),
        within: ACCESS,
    }
    /// voice: a quarter of CWmin, half of CWmin, AIFSN 2, and a TXOP
    key vo => {
        kind: "table", default: Written("{}"),
        within: ACCESS,
    }
}

table! {
    /// `ac.be = { … }`: the values that are written.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
    pub struct Access {}
    read AccessRead |at, read, _context: ()|;
    keys ACCESS = [CONTENTION];

    group CONTENTION from CELL;

    /// contention window of a first attempt: the counter is drawn from 0 to this
    opt cw_min: u32 = window(at) => {
        kind: "2^k - 1, at most `cw_max`", default: Words("the standard's"),
        why: "the category's default for the PHY", from: "IEEE 802.11-2020 ( table 9-155)",
    }
    /// the largest contention window: it doubles with each failed attempt up to this
    opt cw_max: u32 = window(at) => {
        kind: "2^k - 1, at most 32767", default: Words("the standard's"),
        why: "the category's default for the PHY", from: "IEEE 802.11-2020 ( table 9-155)",
    }
    /// slots beyond SIFS before the countdown goes on
    opt aifsn: u32 = number(at, MOST_AIFSN) => {
        kind: "whole number, 1 to 15", default: Words("the standard's"),
        why: "the category's default", from: "IEEE 802.11-2020 ( table 9-155)",
    }
    /// for how long frames may follow each other once the medium is won; `"0s"`: one frame
    opt txop: Span = at.quantity("ms") => {
        kind: "time", default: Words("the standard's"),
        why: "the category's default for the PHY", from: "IEEE 802.11-2020 ( table 9-155)",
    }
    /// attempts after which a frame is dropped; the first one counts
    opt retry_limit: u32 = number(at, MOST_ATTEMPTS) => {
        kind: "whole number, 1 to 65535", default: Words("`7`"),
        why: "dot11ShortRetryLimit", from: "IEEE 802.11-2020 (Annex C)",
    }
}

keys! {
    /// `access_point = { … }`.
    pub(crate) table ACCESS_POINT from CELL;

    /// parameters of its own, such as `be = { cw_min = 7 }`; what is not written is as the stations have it
    key ac => {
        kind: "table with `be`, `bk`, `vi`, `vo`", default: Written("{}"),
        within: CATEGORIES,
    }
}

table! {
    /// `backhaul = { … }`: the wire between the access point and the flows' other ends.
    #[derive(Clone, Debug, PartialEq, Serialize)]
    pub struct Backhaul {}
    read BackhaulRead |at, read, _context: ()|;
    keys BACKHAUL = [WIRE];

    group WIRE from CELL;

    /// capacity of each direction
    pub rate: Rate = at.above_zero("Mbit/s", "a rate of zero: nothing would pass") => {
        kind: "rate above zero", default: Required(RATE),
        engines: "sim", refused_by: "live",
    }
    /// one-way propagation delay, as that of a link: the least base RTT of a flow is twice as long
    pub delay: Span = at.quantity("ms") => {
        kind: "time", default: Written(r#""0s""#),
        why: "a backhaul has no delay unless one is written", from: OWN,
    }
    /// the queue in front of each direction
    pub queue: Queue = queue(at) => {
        kind: "table", default: Required(QUEUE_WRITTEN),
        engines: "sim", refused_by: "live", within: QUEUE,
    }
}

keys! {
    /// `[[station]]`.
    pub(crate) table STATION from CELL;

    /// names the station in flows and results. With `count` over 1: `name-1`, `name-2`, …. Stations without a name are
    /// numbered through the file
    key name => {
        kind: "text", default: Words(r#"`"station-1"`, `"station-2"`, …"#),
        why: "stations need no names unless flows name them", from: OWN,
    }
    /// number of stations alike
    key count => {
        kind: "whole number, 1 to 1000", default: Written("1"),
        why: "one table is one station", from: OWN,
    }
    /// rate of its data frames and of the frames for it
    key rate => {
        kind: "rate above zero", default: Words("that of the cell"),
        why: "most cells have one rate", from: OWN,
    }
    /// it always has a frame of this payload for the access point. Where a flow makes the station send in the
    /// same category, it has the flow's frames only
    key saturated => {
        kind: "size above zero", default: Words("none: it sends the data of flows"),
    }
    /// category of the frames that `saturated` sends
    key category => {
        kind: r#"`"be"`, `"bk"`, `"vi"`, `"vo"`"#, default: Written(r#""be""#),
        why: "applications that say nothing have best effort", from: "IEEE 802.11-2020 (10.2.3.2)",
    }
    /// its uplink queue, one for each category; 1000 packets are Linux's
    key queue => {
        kind: "table", default: Written(r#"{ limit = "1000 packets" }"#),
        engines: "sim", refused_by: "live", within: STATION_QUEUE,
        why: "the transmit queue of Linux's devices", from: "Linux `DEFAULT_TX_QUEUE_LEN`",
    }
}

keys! {
    /// `queue` of a station.
    pub(crate) table STATION_QUEUE from KEY;

    /// limit of the waiting data, by drop-tail
    key limit => {
        kind: "packets or a size",
        default: Required(r#"the room for waiting packets, such as "1000 packets""#),
        engines: "sim", refused_by: "live",
    }
}

/// The largest contention window: its exponent has four bits in the EDCA parameter set [9.4.2.28].
const MOST_WINDOW: u64 = (1 << 15) - 1;
/// The largest AIFSN, which has four bits there, too.
const MOST_AIFSN: u64 = 15;
/// The most attempts: more than the standard's 255, because cells of other simulators never drop a frame.
const MOST_ATTEMPTS: u64 = 65_535;
pub(crate) fn rate(at: &ValueAt<'_>) -> Option<Rate> {
    at.above_zero("Mbit/s", "a rate of zero: nothing would pass")
}

fn number(at: &ValueAt<'_>, most: u64) -> Option<u32> {
    // Bounds are within 32 bits.
    at.integer(1..=most).map(|number| number as u32)
}

/// Reads a contention window: 802.11 sends its exponent.
fn window(at: &ValueAt<'_>) -> Option<u32> {
    let window = at.integer(0..=MOST_WINDOW)?;
    if !(window + 1).is_power_of_two() {
        let below = (window + 2).next_power_of_two() / 2 - 1;
        let above = 2 * below + 1;
        let help = format!("write {below} or {above}");
        at.fault(format!("{window}, which is not 2^k - 1"), "0, 1, 3, 7, 15, …, 32767", Some(help));
        return None;
    }
    Some(window as u32)
}

//! `[wlan]` and `[[station]]`: a wireless cell in the place of links.

use super::QUEUE;
use super::link::QUEUE_WRITTEN;
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, Key, Keys, OWN, RATE};
use crate::table::keys;

/// A key that only engines without a kernel may follow.
const CELL: Key = Key { engines: "model sim", refused_by: "live", ..KEY };

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
    /// of every station, one that the PHY has. The access point sends to each station at that station's rate
    key rate => {
        kind: "rate above zero", default: Required(RATE),
    }
    /// of acknowledgements. One of a slower frame has the fastest mandatory rate up to the frame's
    key control_rate => {
        kind: "rate above zero", default: Words("the fastest mandatory rate of the PHY"),
        why: "every station of the cell receives it", from: "IEEE 802.11-2020 (10.6.6.5)",
    }
    /// how stations contend. `"edca"` (802.11e): categories, and backoff counters that go down at each slot
    /// boundary. `"dcf"`: `be` alone, DIFS (`aifsn = 2`), and counters that go down in idle slots only ([ADR
    /// 14](../adr/0014-when-a-backoff-counter-goes-down.md))
    key access => {
        kind: r#"`"edca"`, `"dcf"`"#,
        default: Words(r#"`"dcf"` for `be` alone with `aifsn = 2` and no TXOP, else `"edca"`"#),
        why: "802.11e is what stations have today", from: "IEEE 802.11-2020 (10.23.2)",
    }
    /// what is waited for after a collision: `"eifs"` is SIFS and an acknowledgement at `eifs_rate` longer
    /// than AIFS, `"difs"` is no longer
    key after_collision => {
        kind: r#"`"eifs"`, `"difs"`"#, default: Written(r#""eifs""#),
        why: "a collision ends in an error at the receiver", from: "IEEE 802.11-2020 (10.3.2.3.7)",
    }
    /// of the acknowledgement that EIFS holds: the one that did not come (802.11-2016, table 10-5). A station
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
    /// how each access category contends; what is not written is the standard's default for the PHY
    key ac => {
        kind: "table with `be`, `bk`, `vi`, `vo`", default: Written("{}"),
        within: CATEGORIES,
    }
    /// in what the access point differs from the stations
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

keys! {
    /// `ac.be = { … }`.
    pub(crate) table ACCESS from CELL;

    /// contention window of a first attempt: the counter is drawn from 0 to this
    key cw_min => {
        kind: "2^k - 1, at most `cw_max`", default: Words("the standard's"),
        why: "the category's default for the PHY", from: "IEEE 802.11-2020 ( table 9-155)",
    }
    /// the largest contention window: it doubles with each failed attempt up to this
    key cw_max => {
        kind: "2^k - 1, at most 32767", default: Words("the standard's"),
        why: "the category's default for the PHY", from: "IEEE 802.11-2020 ( table 9-155)",
    }
    /// slots beyond SIFS before the countdown goes on
    key aifsn => {
        kind: "whole number, 1 to 15", default: Words("the standard's"),
        why: "the category's default", from: "IEEE 802.11-2020 ( table 9-155)",
    }
    /// for how long frames may follow each other once the medium is won; `"0s"`: one frame
    key txop => {
        kind: "time", default: Words("the standard's"),
        why: "the category's default for the PHY", from: "IEEE 802.11-2020 ( table 9-155)",
    }
    /// attempts after which a frame is dropped; the first one counts
    key retry_limit => {
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

/// `queue = { … }` of a cell: that of a link, and what moves its limit.
pub(crate) const CELL_QUEUE: Keys = &[MOVING, QUEUE[0]];

keys! {
    /// What a link's queue does not have.
    pub(crate) MOVING from KEY;

    /// how much may wait; with `sizing` the most packets that it may grant. The cell has no rate of its own,
    /// so that a time and a share of the bandwidth-delay product (`bdp`) have no meaning here
    key limit => {
        kind: "packets or a size",
        default: Required(r#"the room for waiting packets, such as "338 packets""#),
        engines: "model sim", refused_by: "live",
    }
    /// moves the limit while the cell runs; `limit` is then the most, in packets
    key sizing => {
        kind: "table", default: Words("none: the limit stays"),
        engines: "model sim", refused_by: "live", within: SIZING,
    }
    /// Linux's airtime queue limits (AQL): packets leave the queue for the device as long as less than a
    /// limit of airtime is pending there
    key airtime_limits => {
        kind: "table with `low`, `high`, `threshold`", default: Words("none: one frame below the queue"),
        engines: "sim", refused_by: "live", within: AIRTIME,
    }
}

keys! {
    /// `sizing = { … }`.
    pub(crate) table SIZING from KEY;

    /// `"ebdp"`: what is served in `target`, and `extra` packets (Li, Leith and Malone 2011). `"alt"`: grows
    /// while the queue is empty, falls while it is not. `"a*"`: the lesser of the two. `"fixed"`: the limit
    /// stays, for sweeps
    key rule => {
        kind: r#"`"fixed"`, `"ebdp"`, `"alt"`, `"a*"`"#,
        default: Required(r#"a rule: "fixed", "ebdp", "alt", "a*""#),
        engines: "model sim", refused_by: "live",
    }
    /// T, the queueing delay aimed at
    key target => {
        kind: "time above zero", default: Written(r#""200ms""#),
        engines: "model sim", refused_by: "live", kinds: "ebdp a*",
        why: "as printed", from: "P4",
    }
    /// a, packets more than that, for service times that vary. P4 prints 40; the originals are remembered
    /// with 5
    key extra => {
        kind: "whole number, 0 to 1000000", default: Written("40"),
        engines: "model sim", refused_by: "live", kinds: "ebdp a*",
        why: "as P4 prints it; the originals are remembered with 5", from: "P4",
    }
    /// weight of the newest service time in the mean
    key weight => {
        kind: "share above zero", default: Written("0.001"),
        engines: "sim", refused_by: "live", kinds: "ebdp a*",
        why: "a mean over 1000 service times", from: "P4",
    }
    /// how often the limit of ALT moves
    key interval => {
        kind: "time above zero", default: Written(r#""1s""#),
        engines: "sim", refused_by: "live", kinds: "alt a*",
        why: "the source's time between updates", from: "Li, Leith and Malone 2011, from memory",
    }
    /// a1, packets per second that the queue is empty
    key increase => {
        kind: "number above zero", default: Written("10"),
        engines: "sim", refused_by: "live", kinds: "alt a*",
        why: "with `decrease` the queue is empty for 1/11 of the time",
        from: "Li, Leith and Malone 2011, from memory",
    }
    /// b1, packets per second that it is not. Where it settles, nothing waits and nothing is being sent for
    /// b1/(a1+b1) of the time; `queue_empty_fraction`, which leaves out what is being sent, is larger
    key decrease => {
        kind: "number above zero", default: Written("1"),
        engines: "sim", refused_by: "live", kinds: "alt a*",
        why: "with `increase` the queue is empty for 1/11 of the time",
        from: "Li, Leith and Malone 2011, from memory",
    }
    /// the fewest packets that ALT grants
    key fewest => {
        kind: "whole number, 1 to 1000000", default: Written("5"),
        engines: "sim", refused_by: "live", kinds: "alt a*",
        why: "fewer packets leave no room for a burst", from: "Li, Leith and Malone 2011, from memory",
    }
}

keys! {
    /// `airtime_limits = { … }`.
    pub(crate) table AIRTIME from KEY;

    /// what a station and category may have pending while the whole device has `threshold` or more
    key low => {
        kind: "time above zero", default: Written(r#""5ms""#),
        engines: "sim", refused_by: "live",
        why: "mac80211's limit", from: "Linux `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_L`",
    }
    /// the same while it has less
    key high => {
        kind: "time, at least `low`", default: Written(r#""12ms""#),
        engines: "sim", refused_by: "live",
        why: "mac80211's limit", from: "Linux `IEEE80211_DEFAULT_AQL_TXQ_LIMIT_H`",
    }
    /// pending airtime of the whole device from which on `low` counts
    key threshold => {
        kind: "time above zero", default: Written(r#""24ms""#),
        engines: "sim", refused_by: "live",
        why: "mac80211's threshold", from: "Linux `IEEE80211_AQL_THRESHOLD`",
    }
}

keys! {
    /// `backhaul = { … }`.
    pub(crate) table BACKHAUL from CELL;

    /// capacity of each direction
    key rate => {
        kind: "rate above zero", default: Required(RATE),
        engines: "sim", refused_by: "live",
    }
    /// one-way propagation delay, as that of a link: the least base RTT of a flow is twice as long
    key delay => {
        kind: "time", default: Written(r#""0s""#),
        why: "a backhaul has no delay unless one is written", from: OWN,
    }
    /// the queue in front of each direction
    key queue => {
        kind: "table", default: Required(QUEUE_WRITTEN),
        engines: "sim", refused_by: "live", within: QUEUE,
    }
}

keys! {
    /// `[[station]]`.
    pub(crate) table STATION from CELL;

    /// names the station in flows and results. With `count` over 1: `name-1`, `name-2`, …. Those without a
    /// name are numbered through the file
    key name => {
        kind: "text", default: Words(r#"`"station-1"`, `"station-2"`, …"#),
        why: "stations need no names unless flows name them", from: OWN,
    }
    /// number of stations alike
    key count => {
        kind: "whole number, 1 to 1000", default: Written("1"),
        why: "one table is one station", from: OWN,
    }
    /// of its data frames and of the frames for it
    key rate => {
        kind: "rate above zero", default: Words("that of the cell"),
        why: "most cells have one rate", from: OWN,
    }
    /// it always has a frame of this payload for the access point. Where a flow makes the station send in the
    /// same category, it has the flow's frames only
    key saturated => {
        kind: "size above zero", default: Words("none: it sends what flows hand it"),
    }
    /// of the frames that `saturated` sends
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

    /// how much may wait, drop-tail
    key limit => {
        kind: "packets or a size",
        default: Required(r#"the room for waiting packets, such as "1000 packets""#),
        engines: "sim", refused_by: "live",
    }
}

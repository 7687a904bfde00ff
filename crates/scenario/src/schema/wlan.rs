//! `[wlan]` and `[[station]]`: a wireless cell in the place of links.

use super::DefaultValue::{Required, Words, Written};
use super::link::QUEUE_WRITTEN;
use super::{KEY, Key, Keys, QUEUE, RATE};

/// A key that only engines without a kernel may follow.
const CELL: Key = Key { engines: "model sim", refused_by: "live", ..KEY };

pub(crate) const WLAN: Keys = &[&[
    Key {
        name: "phy",
        kind: r#"`"802.11a"`, `"802.11b"`, `"802.11g"`"#,
        default: Required(r#"a PHY: "802.11a", "802.11b", "802.11g""#),
        meaning: "slot, SIFS, preamble, rates, and the defaults that follow from them. `802.11g` is a cell without stations \
             of 802.11b: the short slot, OFDM rates, and a signal extension of 6 us behind each frame",
        ..CELL
    },
    Key {
        name: "preamble",
        kind: r#"`"long"`, `"short"`"#,
        default: Written(r#""long""#),
        meaning: "only `802.11b` has a short one",
        ..CELL
    },
    Key {
        name: "rate",
        kind: "rate above zero",
        default: Required(RATE),
        meaning: "of every station, one that the PHY has. The access point sends to each station at that station's rate",
        ..CELL
    },
    Key {
        name: "control_rate",
        kind: "rate above zero",
        default: Words("the fastest mandatory rate of the PHY"),
        meaning: "of acknowledgements. One of a slower frame has the fastest mandatory rate up to the frame's",
        ..CELL
    },
    Key {
        name: "access",
        kind: r#"`"edca"`, `"dcf"`"#,
        default: Words("`\"dcf\"` for `be` alone with `aifsn = 2` and no TXOP, else `\"edca\"`"),
        meaning: "how stations contend. `\"edca\"` (802.11e): categories, and backoff counters that go down at each slot \
             boundary. `\"dcf\"`: `be` alone, DIFS (`aifsn = 2`), and counters that go down in idle slots only \
             ([ADR 14](../adr/0014-when-a-backoff-counter-goes-down.md))",
        ..CELL
    },
    Key {
        name: "after_collision",
        kind: r#"`"eifs"`, `"difs"`"#,
        default: Written(r#""eifs""#),
        meaning: "what is waited for after a collision: `\"eifs\"` is SIFS and an acknowledgement at `eifs_rate` longer than \
             AIFS, `\"difs\"` is no longer",
        ..CELL
    },
    Key {
        name: "eifs_rate",
        kind: "rate above zero",
        default: Words("that of the acknowledgement of a frame at `rate`"),
        meaning: "of the acknowledgement that EIFS holds: the one that did not come (802.11-2016, table 10-5). A station that does not \
             estimate it takes the lowest mandatory rate: 6 Mbit/s of 802.11a, 1 Mbit/s of the others",
        ..CELL
    },
    Key {
        name: "header",
        kind: "size",
        default: Words(r#"`"30B"`; with `access = "dcf"` `"28B"`"#),
        meaning: "MAC header and FCS of a data frame; QoS frames have 2 bytes more",
        ..CELL
    },
    Key {
        name: "llc",
        kind: "size",
        default: Written(r#""8B""#),
        meaning: "LLC and SNAP header of a data frame",
        ..CELL
    },
    Key {
        name: "ack",
        kind: "size above zero",
        default: Written(r#""14B""#),
        meaning: "an acknowledgement of the MAC layer",
        ..CELL
    },
    Key {
        name: "ac",
        kind: "table with `be`, `bk`, `vi`, `vo`",
        default: Written("{}"),
        within: CATEGORIES,
        meaning: "how each access category contends; what is not written is the standard's default for the PHY",
        ..CELL
    },
    Key {
        name: "access_point",
        kind: "table with `ac`",
        default: Written("{}"),
        within: ACCESS_POINT,
        meaning: "in what the access point differs from the stations",
        ..CELL
    },
    Key {
        name: "queue",
        kind: "table",
        default: Written(r#"{ limit = "1000 packets" }"#),
        within: CELL_QUEUE,
        meaning: "the access point's downlink queue, one for each category. The summary's queue is the one of the first \
             download's category",
        ..CELL
    },
    Key {
        name: "backhaul",
        kind: "table with `rate`, `delay`, `queue`",
        default: Words("required where there are flows"),
        within: BACKHAUL,
        meaning: "the wire between the access point and the flows' other ends, the same both ways",
        ..CELL
    },
]];

pub(crate) const CATEGORIES: Keys = &[&[
    Key {
        name: "be",
        kind: "table",
        default: Written("{}"),
        within: ACCESS,
        meaning: "best effort: CWmin and CWmax of the PHY, AIFSN 3",
        ..CELL
    },
    Key {
        name: "bk",
        kind: "table",
        default: Written("{}"),
        within: ACCESS,
        meaning: "background: as best effort, AIFSN 7",
        ..CELL
    },
    Key {
        name: "vi",
        kind: "table",
        default: Written("{}"),
        within: ACCESS,
        meaning: "video: half of CWmin, CWmin, AIFSN 2, and a TXOP",
        ..CELL
    },
    Key {
        name: "vo",
        kind: "table",
        default: Written("{}"),
        within: ACCESS,
        meaning: "voice: a quarter of CWmin, half of CWmin, AIFSN 2, and a TXOP",
        ..CELL
    },
]];

/// `ac.be = { … }`.
pub(crate) const ACCESS: Keys = &[&[
    Key {
        name: "cw_min",
        kind: "2^k - 1, at most `cw_max`",
        default: Words("the standard's"),
        meaning: "contention window of a first attempt: the counter is drawn from 0 to this",
        ..CELL
    },
    Key {
        name: "cw_max",
        kind: "2^k - 1, at most 32767",
        default: Words("the standard's"),
        meaning: "the largest contention window: it doubles with each failed attempt up to this",
        ..CELL
    },
    Key {
        name: "aifsn",
        kind: "whole number, 1 to 15",
        default: Words("the standard's"),
        meaning: "slots beyond SIFS before the countdown goes on",
        ..CELL
    },
    Key {
        name: "txop",
        kind: "time",
        default: Words("the standard's"),
        meaning: "for how long frames may follow each other once the medium is won; `\"0s\"`: one frame",
        ..CELL
    },
    Key {
        name: "retry_limit",
        kind: "whole number, 1 to 65535",
        default: Words("`7`"),
        meaning: "attempts after which a frame is dropped; the first one counts",
        ..CELL
    },
]];

/// `access_point = { … }`.
pub(crate) const ACCESS_POINT: Keys = &[&[Key {
    name: "ac",
    kind: "table with `be`, `bk`, `vi`, `vo`",
    default: Written("{}"),
    within: CATEGORIES,
    meaning: "parameters of its own, such as `be = { cw_min = 7 }`; what is not written is as the stations have it",
    ..CELL
}]];

/// `queue = { … }` of a cell: that of a link, and what moves its limit.
pub(crate) const CELL_QUEUE: Keys = &[MOVING, QUEUE[0]];

/// What a link's queue does not have.
pub(crate) const MOVING: &[Key] = &[
    Key {
        name: "limit",
        kind: "packets or a size",
        default: Required(r#"the room for waiting packets, such as "338 packets""#),
        engines: "model sim",
        refused_by: "live",
        meaning: "how much may wait; with `sizing` the most packets that it may grant. The cell has no rate of its own, so \
             that a time and a share of the bandwidth-delay product (`bdp`) have no meaning here",
        ..KEY
    },
    Key {
        name: "sizing",
        kind: "table",
        default: Words("none: the limit stays"),
        engines: "model sim",
        refused_by: "live",
        within: SIZING,
        meaning: "moves the limit while the cell runs; `limit` is then the most, in packets",
        ..KEY
    },
    Key {
        name: "airtime_limits",
        kind: "table with `low`, `high`, `threshold`",
        default: Words("none: one frame below the queue"),
        engines: "sim",
        refused_by: "live",
        within: AIRTIME,
        meaning: "Linux's airtime queue limits (AQL): packets leave the queue for the device as long as less than a limit of \
             airtime is pending there",
        ..KEY
    },
];

/// `sizing = { … }`.
pub(crate) const SIZING: Keys = &[&[
    Key {
        name: "rule",
        kind: r#"`"fixed"`, `"ebdp"`, `"alt"`, `"a*"`"#,
        default: Required(r#"a rule: "fixed", "ebdp", "alt", "a*""#),
        engines: "model sim",
        refused_by: "live",
        meaning: "`\"ebdp\"`: what is served in `target`, and `extra` packets (Li, Leith and Malone 2011). `\"alt\"`: grows \
             while the queue is empty, falls while it is not. `\"a*\"`: the lesser of the two. `\"fixed\"`: the limit \
             stays, for sweeps",
        ..KEY
    },
    Key {
        name: "target",
        kind: "time above zero",
        default: Written(r#""200ms""#),
        engines: "model sim",
        refused_by: "live",
        kinds: "ebdp a*",
        meaning: "T, the queueing delay aimed at",
        ..KEY
    },
    Key {
        name: "extra",
        kind: "whole number, 0 to 1000000",
        default: Written("40"),
        engines: "model sim",
        refused_by: "live",
        kinds: "ebdp a*",
        meaning: "a, packets more than that, for service times that vary. P4 prints 40; the originals are remembered with 5",
        ..KEY
    },
    Key {
        name: "weight",
        kind: "share above zero",
        default: Written("0.001"),
        engines: "sim",
        refused_by: "live",
        kinds: "ebdp a*",
        meaning: "weight of the newest service time in the mean",
        ..KEY
    },
    Key {
        name: "interval",
        kind: "time above zero",
        default: Written(r#""1s""#),
        engines: "sim",
        refused_by: "live",
        kinds: "alt a*",
        meaning: "how often the limit of ALT moves",
        ..KEY
    },
    Key {
        name: "increase",
        kind: "number above zero",
        default: Written("10"),
        engines: "sim",
        refused_by: "live",
        kinds: "alt a*",
        meaning: "a1, packets per second that the queue is empty",
        ..KEY
    },
    Key {
        name: "decrease",
        kind: "number above zero",
        default: Written("1"),
        engines: "sim",
        refused_by: "live",
        kinds: "alt a*",
        meaning: "b1, packets per second that it is not. Where it settles, nothing waits and nothing is being sent for b1/(a1+b1) of the time; `queue_empty_fraction`, which leaves out what is being sent, is larger",
        ..KEY
    },
    Key {
        name: "fewest",
        kind: "whole number, 1 to 1000000",
        default: Written("5"),
        engines: "sim",
        refused_by: "live",
        kinds: "alt a*",
        meaning: "the fewest packets that ALT grants",
        ..KEY
    },
]];

/// `airtime_limits = { … }`.
pub(crate) const AIRTIME: Keys = &[&[
    Key {
        name: "low",
        kind: "time above zero",
        default: Written(r#""5ms""#),
        engines: "sim",
        refused_by: "live",
        meaning: "what a station and category may have pending while the whole device has `threshold` or more",
        ..KEY
    },
    Key {
        name: "high",
        kind: "time, at least `low`",
        default: Written(r#""12ms""#),
        engines: "sim",
        refused_by: "live",
        meaning: "the same while it has less",
        ..KEY
    },
    Key {
        name: "threshold",
        kind: "time above zero",
        default: Written(r#""24ms""#),
        engines: "sim",
        refused_by: "live",
        meaning: "pending airtime of the whole device from which on `low` counts",
        ..KEY
    },
]];

/// `backhaul = { … }`.
pub(crate) const BACKHAUL: Keys = &[&[
    Key {
        name: "rate",
        kind: "rate above zero",
        default: Required(RATE),
        engines: "sim",
        refused_by: "live",
        meaning: "capacity of each direction",
        ..KEY
    },
    Key {
        name: "delay",
        kind: "time",
        default: Written(r#""0s""#),
        meaning: "one-way propagation delay, as that of a link: the least base RTT of a flow is twice as long",
        ..CELL
    },
    Key {
        name: "queue",
        kind: "table",
        default: Required(QUEUE_WRITTEN),
        engines: "sim",
        refused_by: "live",
        within: QUEUE,
        meaning: "the queue in front of each direction",
        ..KEY
    },
]];

/// `[[station]]`.
pub(crate) const STATION: Keys = &[&[
    Key {
        name: "name",
        kind: "text",
        default: Words(r#"`"station-1"`, `"station-2"`, …"#),
        meaning: "names the station in flows and results. With `count` over 1: `name-1`, `name-2`, …. Those without a name \
             are numbered through the file",
        ..CELL
    },
    Key {
        name: "count",
        kind: "whole number, 1 to 1000",
        default: Written("1"),
        meaning: "number of stations alike",
        ..CELL
    },
    Key {
        name: "rate",
        kind: "rate above zero",
        default: Words("that of the cell"),
        meaning: "of its data frames and of the frames for it",
        ..CELL
    },
    Key {
        name: "saturated",
        kind: "size above zero",
        default: Words("none: it sends what flows hand it"),
        meaning: "it always has a frame of this payload for the access point. Where a flow makes the station send in the same category, it has the flow's frames only",
        ..CELL
    },
    Key {
        name: "category",
        kind: r#"`"be"`, `"bk"`, `"vi"`, `"vo"`"#,
        default: Written(r#""be""#),
        meaning: "of the frames that `saturated` sends",
        ..CELL
    },
    Key {
        name: "queue",
        kind: "table",
        default: Written(r#"{ limit = "1000 packets" }"#),
        engines: "sim",
        refused_by: "live",
        within: STATION_QUEUE,
        meaning: "its uplink queue, one for each category; 1000 packets are Linux's",
        ..KEY
    },
]];

/// `queue` of a station.
pub(crate) const STATION_QUEUE: Keys = &[&[Key {
    name: "limit",
    kind: "packets or a size",
    default: Required(r#"the room for waiting packets, such as "1000 packets""#),
    engines: "sim",
    refused_by: "live",
    meaning: "how much may wait, drop-tail",
    ..KEY
}]];

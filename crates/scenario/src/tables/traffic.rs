//! `[[traffic]]`: the groups of keys that its kinds have.

use super::ends::ENDS;
use super::flow::{Flow, LOSSES, PATH, SEGMENTS, WAY, WINDOWS};
use super::marking::{MARKING, Marking};
use super::spread::SPREAD;
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, Keys, OWN, RATE, VOLUME, is_default};
use crate::table::keys;
use crate::values::{Direction, Spread, Volume};
use serde::Serialize;
use units::{Bytes, Rate, Span};

/// One `[[traffic]]`: packets that do not respond to congestion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traffic {
    /// The name of the traffic in results.
    pub name: String,
    /// The spacing of its packets.
    pub pattern: Pattern,
    /// Long-run mean rate on the wire.
    pub rate: Rate,
    /// Packet size on the wire.
    pub packet: Bytes,
    /// The time at which it starts.
    pub start: Span,
    /// The time at which it ends; absent: never.
    pub stop: Option<Span>,
    /// The names of the links that it crosses, in the order of the file for either direction.
    pub path: Vec<String>,
    /// Its direction over the links.
    pub direction: Direction,
    /// The hosts and the class of its packets.
    #[serde(skip_serializing_if = "is_default")]
    pub marking: Marking,
}

/// `kind = …` of a `[[traffic]]`, with the keys that belong to that kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Pattern {
    /// Equal gaps.
    #[default]
    Cbr,
    /// Exponential gaps.
    Poisson,
    /// Bursts at `peak` with random on and off periods; the mean off period follows from `rate` and `peak`.
    OnOff {
        /// Rate within a burst, above `rate`.
        peak: Rate,
        /// Mean length of a burst.
        burst: Span,
        /// Tail index of burst and pause lengths, over 1, where they are Pareto; absent: exponential.
        #[serde(skip_serializing_if = "Option::is_none")]
        shape: Option<f64>,
    },
}

/// One `[[traffic]]` of kind "replay": the packets of a trace.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Replay {
    /// Its index among the `[[traffic]]` of the file, from 0.
    pub entry: usize,
    /// The name of the traffic in results.
    pub name: String,
    /// The trace, relative to the scenario's folder.
    pub file: String,
    /// True if it begins anew at its end.
    pub repeat: bool,
    /// The address or prefix to which its packets go; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toward: Option<String>,
    /// The address or prefix from which its packets come; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// The time at which its first packet comes.
    pub start: Span,
    /// The time from which no packet comes; absent: the end of the trace.
    pub stop: Option<Span>,
    /// The names of the links that it crosses, in the order of the file for either direction.
    pub path: Vec<String>,
    /// Its direction over the links.
    pub direction: Direction,
    /// The hosts and the class of its packets.
    #[serde(skip_serializing_if = "is_default")]
    pub marking: Marking,
}

/// One `[[traffic]]` of kind "engset": users who think, send over a fresh connection, and think again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sessions {
    /// Its index among the `[[traffic]]` of the file, from 0.
    pub entry: usize,
    /// The data of one session: one value, or a distribution from which each session draws.
    pub session: Spread<Volume>,
    /// The think time, from the end of a session to the beginning of the user's next.
    pub think: Spread<Span>,
    /// True if a SYN crosses the path before the data.
    pub handshake: bool,
    /// The connections: `count` is the number of users, and `start` the time at which they begin to think.
    pub flow: Flow,
}

keys! {
    /// All traffic.
    pub(super) ANY from KEY;

    /// names the traffic and its random stream
    key name => {
        kind: "text", default: Words("the `kind`, then `cbr-2`, …"),
        why: "a single source needs no name", from: OWN,
    }
    /// equal gaps; exponential gaps; bursts and pauses; the packets of a trace; users who come and go
    key kind => {
        kind: r#"`"cbr"`, `"poisson"`, `"on-off"`, `"replay"`, `"engset"`"#,
        default: Required(r#""cbr", "poisson", "on-off", "replay", "engset""#),
    }
}

keys! {
    /// The rate of traffic that is spaced by a rule.
    pub(super) STEADY_RATE from KEY;

    /// long-run mean rate on the wire; the only one of these keys that `model` uses
    key rate => {
        kind: "rate above zero", default: Required(RATE),
        kinds: "cbr poisson on-off",
    }
    /// size of each packet on the wire
    key packet => {
        kind: "size, 1 B to 65535 B", default: Written(r#""1500B""#),
        kinds: "cbr poisson on-off",
        why: "Ethernet's MTU", from: "IEEE 802.3",
    }
}

keys! {
    /// Bursts and pauses.
    pub(super) BURSTS from KEY;

    /// rate within a burst
    key peak => {
        kind: "rate above `rate`", default: Required(RATE),
        engines: "sim live", kinds: "on-off",
    }
    /// mean length of a burst; the mean pause follows from `rate` and `peak`
    key burst => {
        kind: "time above zero", default: Required(r#"the mean length of a burst, such as "50ms""#),
        engines: "sim live", kinds: "on-off",
    }
    /// burst and pause lengths are Pareto with this tail index. Below 2 the load depends over long times
    /// (self-similar, H = (3 - shape)/2), and its mean settles slowly
    key shape => {
        kind: "number over 1", default: Words("none: exponential"),
        engines: "sim live", kinds: "on-off",
    }
}

keys! {
    /// The packets of a trace.
    pub(super) TRACE from KEY;

    /// the trace, relative to the scenario's folder
    key file => {
        kind: "text", default: Required(r#"the path of a trace, such as "trace.csv" or "trace.pcapng""#),
        kinds: "replay",
    }
    /// the trace begins anew at its end, one mean gap after its last packet
    key repeat => {
        kind: "`true`, `false`", default: Written("false"),
        engines: "sim live", kinds: "replay",
        why: "a trace is played once", from: OWN,
    }
    /// takes the trace's packets to this address only, or to addresses that begin so: `"198.18.0.2"`,
    /// `"2001:db8::/32"`
    key toward => {
        kind: "address or prefix", default: Words("any"),
        kinds: "replay",
        why: "a capture mostly has one direction; one that has both is refused", from: OWN,
    }
    /// takes the trace's packets from this address only, or from addresses that begin so
    key from => {
        kind: "address or prefix", default: Words("any"),
        kinds: "replay",
        why: "a capture mostly has one direction; one that has both is refused", from: OWN,
    }
}

keys! {
    /// Start and end of packets that do not respond to congestion.
    pub(super) TIMES from KEY;

    /// start of the traffic, and the time of a trace's first packet
    key start => {
        kind: "time", default: Written(r#""0s""#),
        engines: "sim live", kinds: "cbr poisson on-off replay",
        why: "traffic is there from the beginning", from: OWN,
    }
    /// end of the traffic
    key stop => {
        kind: "time after `start`", default: Words("never"),
        engines: "sim live", kinds: "cbr poisson on-off replay",
        why: "traffic stays to the end", from: OWN,
    }
}

keys! {
    /// A population of users.
    pub(super) USERS from KEY;

    /// number of users
    key users => {
        kind: "whole number, 1 to 1000000", default: Required("a number of users, such as 200"),
        engines: "sim", refused_by: "model live", kinds: "engset",
    }
    /// data of one session: `"100 packets"` (full segments) or `"100kB"` of payload. Uniform packets include
    /// both ends; others are rounded, to one at least
    key session => {
        kind: "an amount or a distribution of such", default: Required(VOLUME),
        engines: "sim", refused_by: "model live", kinds: "engset", within: SPREAD,
    }
    /// from the end of a session to the beginning of the user's next; also before the first
    key think => {
        kind: "time or distribution",
        default: Required(r#"a time to think, such as { exponential = "2s" }"#),
        engines: "sim", refused_by: "model live", kinds: "engset", within: SPREAD,
    }
    /// a SYN of 40 bytes passes the queue before the data. A lost SYN is sent again after `initial_rto`, then
    /// twice that, and so on. The window then begins at one segment (RFC 5681) and the timeout at 3 s (RFC
    /// 6298)
    key handshake => {
        kind: "`true`, `false`", default: Written("false"),
        engines: "sim", refused_by: "model live", kinds: "engset",
        why: "a session is its data; connections are set up outside of the question", from: OWN,
    }
}

/// The keys of kind "cbr" or "poisson".
pub(crate) const STEADY: Keys = &[ANY, STEADY_RATE, TIMES, WAY, MARKING];
/// The keys of kind "on-off".
pub(crate) const ON_OFF: Keys = &[ANY, STEADY_RATE, BURSTS, TIMES, WAY, MARKING];
/// The keys of kind "replay".
pub(crate) const REPLAY: Keys = &[ANY, TRACE, TIMES, WAY, MARKING];
/// The keys of kind "engset": also those of a flow, except the amount of data and the stop.
pub(crate) const ENGSET: Keys = &[ANY, USERS, PATH, WAY, SEGMENTS, ENDS, WINDOWS, LOSSES, MARKING];
/// The keys of any kind, except those that "engset" shares with flows.
pub(crate) const ALL_KINDS: Keys = &[ANY, STEADY_RATE, BURSTS, TRACE, USERS, TIMES, WAY, MARKING];
/// The keys of any kind.
pub(crate) const TRAFFIC: Keys =
    &[ANY, STEADY_RATE, BURSTS, TRACE, TIMES, USERS, PATH, WAY, SEGMENTS, ENDS, WINDOWS, LOSSES, MARKING];

//! `[[traffic]]`: what there is beside the transfers under study.

use super::{Direction, Flow, Spread};
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt;
use units::{Bytes, Rate, Span};

/// One `[[traffic]]`: packets that do not answer to congestion.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Traffic {
    /// Names the traffic in results.
    pub name: String,
    /// How its packets are spaced.
    pub pattern: Pattern,
    /// Long-run mean rate on the wire.
    pub rate: Rate,
    /// Packet size on the wire.
    pub packet: Bytes,
    /// When it starts.
    pub start: Span,
    /// When it ends; absent: never.
    pub stop: Option<Span>,
    /// The names of the links it crosses, in the order of the file whatever its direction.
    pub path: Vec<String>,
    /// Which way it goes.
    pub direction: Direction,
}

/// `kind = …` of a `[[traffic]]`, with the keys that belong to that kind.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case", tag = "kind")]
pub enum Pattern {
    /// Equal gaps.
    Cbr,
    /// Exponential gaps.
    Poisson,
    /// Bursts at `peak`, random on and off periods; the mean off period follows from `rate` and `peak`.
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
    /// Which `[[traffic]]` of the file it is, from 0.
    pub entry: usize,
    /// Names the traffic in results.
    pub name: String,
    /// The trace, relative to the scenario's folder.
    pub file: String,
    /// Whether it begins anew at its end.
    pub repeat: bool,
    /// The address or prefix to which its packets go; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub toward: Option<String>,
    /// The address or prefix from which its packets come; absent: any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// When its first packet comes.
    pub start: Span,
    /// No packet comes at or after this; absent: until the trace ends.
    pub stop: Option<Span>,
    /// The names of the links it crosses, in the order of the file whatever its direction.
    pub path: Vec<String>,
    /// Which way it goes.
    pub direction: Direction,
}

/// One `[[traffic]]` of kind "engset": users who think, send over a fresh connection, and think again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sessions {
    /// Which `[[traffic]]` of the file it is, from 0.
    pub entry: usize,
    /// What one session sends: one value, or a distribution drawn from for each session.
    pub session: Spread<Volume>,
    /// From the end of a session to the beginning of the user's next.
    pub think: Spread<Span>,
    /// A SYN passes the link before the data.
    pub handshake: bool,
    /// The connections: `count` is the number of users, `start` when they begin to think.
    pub flow: Flow,
}

/// An amount of data.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Volume {
    /// "200 packets": full segments.
    Packets(u64),
    /// "100kB" of payload.
    Bytes(Bytes),
}

impl Volume {
    /// The number, whatever it counts.
    #[must_use]
    pub fn count(&self) -> u64 {
        match self {
            Self::Packets(packets) => *packets,
            Self::Bytes(bytes) => bytes.get(),
        }
    }
}

impl PartialOrd for Volume {
    /// Packets and bytes do not compare.
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        match (self, other) {
            (Self::Packets(one), Self::Packets(other)) => Some(one.cmp(other)),
            (Self::Bytes(one), Self::Bytes(other)) => Some(one.cmp(other)),
            _ => None,
        }
    }
}

impl fmt::Display for Volume {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packets(packets) => write!(f, "{packets} packets"),
            Self::Bytes(bytes) => bytes.fmt(f),
        }
    }
}

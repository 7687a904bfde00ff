//! The tables that a value may be: sizers, distributions.

use super::DefaultValue::{Required, Words, Written};
use super::{KEY, Key, Keys};

/// `socket_buffer = { … }`.
pub(crate) const SIZER: Keys = &[&[
    Key {
        name: "sizer",
        kind: "text",
        default: Required(r#"the name of a sizer, such as "drs""#),
        meaning: "one of `tightlink list sizers`. `sobas`: the window that fills the path without a standing queue. It \
             is found while the flow runs, and follows changes of the path \
             ([reasons](../adr/0009-sobas-reconstructed.md)). `wad`: capacity times base RTT, measured once. \
             `maximum`: always `max`. `drs`: dynamic right-sizing by Linux's rules. Once per round trip the \
             window becomes twice what was delivered in it, with room to grow; it begins with 65535 B and never \
             shrinks",
        ..KEY
    },
    Key {
        name: "max",
        kind: "size of at least one payload",
        default: Written(r#""6MB""#),
        meaning: "the largest window, in payload. Linux limits a buffer's memory (`tcp_rmem`, 6 MiB unless set), \
             about half of which is payload",
        ..KEY
    },
    Key {
        name: "regret",
        kind: "share above 0",
        default: Words("no bound"),
        meaning: "with `sobas`: the share of goodput that the window may cost against a window without limit. \
             The sizer then compares the two in turns while the flow runs, and keeps the better one \
             ([how](../papers/sobas.md#with-a-bound))",
        ..KEY
    },
]];

/// A distribution.
pub(crate) const SPREAD: Keys = &[&[
    Key {
        name: "uniform",
        kind: "list of the least and the greatest",
        default: Words("none"),
        meaning: "uniform between the two",
        ..KEY
    },
    Key {
        name: "pareto",
        kind: "table with `shape`, `mean`, `draw`",
        default: Words("none"),
        within: PARETO,
        meaning: "a Pareto distribution: a heavy tail",
        ..KEY
    },
    Key {
        name: "exponential",
        kind: "time",
        default: Words("none"),
        meaning: "exponential with this mean",
        ..KEY
    },
]];

/// `pareto = { … }`.
pub(crate) const PARETO: Keys = &[&[
    Key {
        name: "shape",
        kind: "number over 1",
        default: Required("a number over 1, such as 1.2"),
        meaning: "tail index; the variance is infinite up to 2",
        ..KEY
    },
    Key {
        name: "mean",
        kind: "time",
        default: Required(r#"a mean such as "100ms""#),
        meaning: "mean of the distribution",
        ..KEY
    },
    Key {
        name: "draw",
        kind: r#"`"random"`, `"quantiles"`"#,
        default: Written(r#""random""#),
        meaning: "how the sample is taken, see [spreads](../guide/scenario.md#spreads)",
        ..KEY
    },
]];

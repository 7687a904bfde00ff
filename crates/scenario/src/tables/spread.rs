//! The tables that a value may be: sizers, distributions.

use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, OWN};
use crate::table::keys;

keys! {
    /// `socket_buffer = { … }`.
    pub(crate) table SIZER from KEY;

    /// one of `tightlink list sizers`. `sobas`: the window that fills the path without a standing queue. It
    /// is found while the flow runs, and follows changes of the path
    /// ([reasons](../adr/0009-sobas-reconstructed.md)). `wad`: capacity times base RTT, measured once.
    /// `maximum`: always `max`. `drs`: dynamic right-sizing by Linux's rules. Once per round trip the window
    /// becomes twice what was delivered in it, with room to grow; it begins with 65535 B and never shrinks
    key sizer => {
        kind: "text", default: Required(r#"the name of a sizer, such as "drs""#),
    }
    /// the largest window, in payload. Linux limits a buffer's memory (`tcp_rmem`, 6 MiB unless set), about
    /// half of which is payload
    key max => {
        kind: "size of at least one payload", default: Written(r#""6MB""#),
        why: "half of the memory that Linux allows a connection", from: "Linux `tcp_rmem`",
    }
    /// with `sobas`: the share of goodput that the window may cost against a window without limit. The sizer
    /// then compares the two in turns while the flow runs, and keeps the better one
    /// ([how](../papers/sobas.md#with-a-bound))
    key regret => {
        kind: "share above 0", default: Words("no bound"),
        why: "the paper's SOBAS has none", from: "sobas:III",
    }
}

keys! {
    /// A distribution.
    pub(crate) table SPREAD from KEY;

    /// uniform between the two
    key uniform => {
        kind: "list of the least and the greatest", default: Words("none"),
    }
    /// a Pareto distribution: a heavy tail
    key pareto => {
        kind: "table with `shape`, `mean`, `draw`", default: Words("none"),
        within: PARETO,
    }
    /// exponential with this mean
    key exponential => {
        kind: "time", default: Words("none"),
    }
}

keys! {
    /// `pareto = { … }`.
    pub(crate) table PARETO from KEY;

    /// tail index; the variance is infinite up to 2
    key shape => {
        kind: "number over 1", default: Required("a number over 1, such as 1.2"),
    }
    /// mean of the distribution
    key mean => {
        kind: "time", default: Required(r#"a mean such as "100ms""#),
    }
    /// how the sample is taken, see [spreads](../guide/scenario.md#spreads)
    key draw => {
        kind: r#"`"random"`, `"quantiles"`"#, default: Written(r#""random""#),
        why: "a draw, as in reality", from: OWN,
    }
}

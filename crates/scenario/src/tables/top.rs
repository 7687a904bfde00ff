//! The top level, `[model]`, `[live]`, `[record]` and `[figure]`.

use super::flow::FLOW;
use super::link::LINK;
use super::traffic::TRAFFIC;
use super::wlan::{STATION, WLAN};
use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, OWN};
use crate::table::keys;

keys! {
    /// The file.
    pub(crate) table ROOT from KEY;

    /// what a report is headed with
    key title => {
        kind: "text", default: Required("a text that reports are headed with"),
    }
    /// id of the published result this reproduces, such as `"sobas:fig1-4"`; names the report, and selects
    /// the claims
    key source => {
        kind: "text", default: Words("none"),
    }
    /// seeds every random stream. `--seed` on the command line overrides it
    key seed => {
        kind: "whole number, 0 to 18446744073709551615", default: Written("1"),
        engines: "sim live",
        why: "the same file gives the same numbers", from: OWN,
    }
    /// when the run stops; without it, when every sized flow has ended. A greedy flow needs it
    key duration => {
        kind: "time above zero", default: Words("none"),
    }
    /// metrics leave out what happens before this
    key warmup => {
        kind: "time below `duration`", default: Written(r#""0s""#),
        why: "nothing is left out unless asked for", from: OWN,
    }
    /// the tight link, or [several](../guide/scenario.md#several-links)
    key link => {
        kind: "table, or a list of tables in path order",
        default: Words("required, unless there is a `[wlan]`"),
        within: LINK,
    }
    /// a [wireless cell](../guide/scenario.md#wlan) in the place of links
    key wlan => {
        kind: "table", default: Words("none"),
        engines: "model sim", refused_by: "live", within: WLAN,
    }
    /// the stations of the cell
    key station => {
        kind: "list of tables", default: Words("required with `[wlan]`"),
        engines: "model sim", refused_by: "live", within: STATION,
    }
    /// the transfers. The first is the target: `model` predicts it, and claims are about it
    key flow => {
        kind: "list of tables", default: Words("required, unless there are users"),
        within: FLOW,
    }
    /// cross traffic and users
    key traffic => {
        kind: "list of tables", default: Words("none"),
        within: TRAFFIC,
    }
    /// what only the model reads
    key model => {
        kind: "table", default: Written("{}"),
        engines: "model", within: MODEL,
    }
    /// what only the kernel engine reads
    key live => {
        kind: "table", default: Written("{}"),
        engines: "live", within: LIVE,
    }
    /// which series are kept
    key record => {
        kind: "table", default: Written("{}"),
        within: RECORD,
    }
    /// every combination is run; `draw` draws values of several keys together, and `baseline` is what numbers are divided
    /// by: see [sweep](../guide/scenario.md#sweep)
    key sweep => {
        kind: "lists of values by key path, `draw`, `baseline`", default: Words("none"),
    }
    /// what is drawn over the points of the sweep; see [figure](../guide/scenario.md#figure)
    key figure => {
        kind: "table", default: Words("none"),
        within: FIGURE,
    }
}

keys! {
    /// `[model]`.
    pub(crate) table MODEL from KEY;

    /// which [theory](commands.md#assumptions) answers: the one that the scenario fits best, or this one.
    /// `"fluid"` follows windows and the queue against time and answers only where it is asked for
    key theory => {
        kind: r#"`"nearest"`, `"slow start"`, `"mft"`, `"fixed point"`, `"fluid"`"#,
        default: Written(r#""nearest""#),
        engines: "model",
        why: "the theory whose assumptions hold says most", from: OWN,
    }
}

keys! {
    /// `[live]`.
    pub(crate) table LIVE from KEY;

    /// the kernel's loss recovery: as it comes, or with SACK, DSACK, RACK, tail loss probes and F-RTO off
    key stack => {
        kind: r#"`"modern"`, `"classic"`"#, default: Written(r#""modern""#),
        engines: "live",
        why: "the kernel as it comes", from: OWN,
    }
}

keys! {
    /// `[record]`.
    pub(crate) table RECORD from KEY;

    /// sampling interval of the series; of `model` those of the theory `"fluid"`. `live`: 100 us or longer.
    /// Series are held in memory. If they would have more than 30 million numbers, the default interval grows
    /// and a note says so; a written interval is refused
    key every => {
        kind: "time above zero", default: Written(r#""20ms""#),
        why: "several samples in an RTT of 100 ms; a minute is 3000 points", from: OWN,
    }
    /// which columns are kept. `data`: payload received since the flow's start, only from `sim`. The report
    /// draws it for each flow from its own start, with the available bandwidth times the time
    key columns => {
        kind: r#"list of `"rate"`, `"rtt"`, `"window"`, `"backlog"`, `"drops"`, `"measures"`, `"data"`"#,
        default: Written(r#"["rate", "rtt", "window", "backlog", "drops"]"#),
        why: "the columns that the report draws", from: OWN,
    }
    /// which flows have series of their own where there are more than 32. `"sample"`: 32 flows, with the
    /// first of each `[[flow]]` table. Mean and percentiles over all flows (`sim`) are in `spread.parquet`
    /// and in the report
    key flows => {
        kind: r#"`"sample"`, `"all"`"#, default: Written(r#""sample""#),
        engines: "model sim",
        why: "more than 32 curves cannot be told apart", from: OWN,
    }
    /// length of the intervals over which [fairness and convergence](../guide/scenario.md#fairness) are
    /// measured
    key fairness => {
        kind: "time, a multiple of `every`", default: Words("none"),
        engines: "sim",
    }
}

keys! {
    /// `[figure]`.
    pub(crate) table FIGURE from KEY;

    /// the horizontal axis. Each combination of the other swept keys is a curve. A key of the summary, such
    /// as `"queueing_delay_s.mean"`, draws one result against another, with `y` only
    key x => {
        kind: "key path that `[sweep]` varies, spelled as there, or key of the [summary](commands.md#run)",
        default: Required("what is on the horizontal axis"),
    }
    /// where `x` is a key of the summary: a curve goes along the values of this key, in the sweep's order
    key along => {
        kind: "key path that `[sweep]` varies", default: Words("the last of `[sweep]`"),
        why: "the last key of a sweep varies first", from: OWN,
    }
    /// draws each `y` as a heat map ([ADR 12](../adr/0012-heat-maps-are-figures-with-rows.md)): a row per
    /// value of this key, and a column per value of `x`. Each combination of the other swept keys has a map.
    /// With `y` only
    key rows => {
        kind: "another key path that `[sweep]` varies", default: Words("none"),
    }
    /// a chart for each, with the 95 % interval where the summary has one. A nested key is written with a
    /// dot, a flow's with its name: `"queueing_delay_s.p95"`, `"flows.target.goodput_bps"`
    key y => {
        kind: "list of keys of the [summary](commands.md#run)", default: Words("this or `smallest`"),
    }
    /// one chart: at each point the smallest value of a key that meets a target, a curve for each target
    key smallest => {
        kind: "table with `over`, `metric`, `at_most`", default: Words("this or `y`"),
        within: SMALLEST,
    }
    /// who is asked, with `y` only. A point that an engine is not made for is left out of its curves; kernel
    /// runs go one after the other
    key engines => {
        kind: r#"list of `"model"`, `"sim"`, `"live"`"#, default: Written(r#"["sim"]"#),
        why: "a simulated point takes milliseconds, a kernel's its own duration", from: OWN,
    }
    /// how often each point is run, with seeds that follow each other, with `y` only: drawn is the median,
    /// from the least to the greatest
    key repeat => {
        kind: "whole number, 1 to 99", default: Written("1"),
        why: "the simulator repeats itself; spread over seeds is asked for", from: OWN,
    }
    /// what the source says; it stands in the report beside the charts
    key published => {
        kind: "text", default: Words("none"),
    }
    /// what another program found at the points, drawn beside the engines' curves; with `y` and without
    /// `rows`
    key reference => {
        kind: "table with `name`, `file`", default: Words("none"),
        within: REFERENCE,
    }
}

keys! {
    /// `reference = { … }`.
    pub(crate) table REFERENCE from KEY;

    /// what found them, such as `"ns-2"`
    key name => {
        kind: "text", default: Required(r#"what found the results, such as "ns-2""#),
    }
    /// their table, relative to the folder of the scenario. The first line names the columns: each swept key
    /// and each `y`. Swept keys have values as in `[sweep]`, `y` is in the units of the summary (seconds,
    /// bit/s, shares from 0 to 1). An empty cell is not known; other columns are not read. Of several rows of
    /// a point the median is drawn, from the least to the greatest. With `--set` of another key than a swept
    /// one and `seed` the table is left out
    key file => {
        kind: "path of a CSV file", default: Required("a CSV file, relative to the folder of the scenario"),
    }
}

keys! {
    /// `smallest = { … }`.
    pub(crate) table SMALLEST from KEY;

    /// the key that is searched. The search begins with the scenario's own value, in its unit
    key over => {
        kind: "key path that `[sweep]` does not vary",
        default: Required(r#"the key that is searched, such as "link.queue.limit""#),
    }
    /// what must not exceed the target. It must fall as `over` grows
    key metric => {
        kind: "key of the summary", default: Required(r#"a key of the summary, such as "idle_fraction""#),
    }
    /// the targets, such as `["1%", "5%"]`
    key at_most => {
        kind: "list of shares, times or numbers", default: Required(r#"targets such as ["1%", "5%"]"#),
    }
}

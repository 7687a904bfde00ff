//! The top level, `[model]`, `[live]`, `[record]` and `[figure]`.

use super::DefaultValue::{Required, Words, Written};
use super::flow::FLOW;
use super::link::LINK;
use super::traffic::TRAFFIC;
use super::wlan::{STATION, WLAN};
use super::{KEY, Key, Keys};

/// The file.
pub(crate) const ROOT: Keys = &[&[
    Key {
        name: "title",
        kind: "text",
        default: Required("a text that reports are headed with"),
        meaning: "what a report is headed with",
        ..KEY
    },
    Key {
        name: "source",
        kind: "text",
        default: Words("none"),
        meaning: "id of the published result this reproduces, such as `\"sobas:fig1-4\"`; names the report, and \
             selects the claims",
        ..KEY
    },
    Key {
        name: "seed",
        kind: "whole number, 0 to 18446744073709551615",
        default: Written("1"),
        engines: "sim live",
        meaning: "seeds every random stream. `--seed` on the command line overrides it",
        ..KEY
    },
    Key {
        name: "duration",
        kind: "time above zero",
        default: Words("none"),
        meaning: "when the run stops; without it, when every sized flow has ended. A greedy flow needs it",
        ..KEY
    },
    Key {
        name: "warmup",
        kind: "time below `duration`",
        default: Written(r#""0s""#),
        meaning: "metrics leave out what happens before this",
        ..KEY
    },
    Key {
        name: "link",
        kind: "table, or a list of tables in path order",
        default: Words("required, unless there is a `[wlan]`"),
        within: LINK,
        meaning: "the tight link, or [several](../guide/scenario.md#several-links)",
        ..KEY
    },
    Key {
        name: "wlan",
        kind: "table",
        default: Words("none"),
        engines: "model sim",
        refused_by: "live",
        within: WLAN,
        meaning: "a [wireless cell](../guide/scenario.md#wlan) in the place of links",
        ..KEY
    },
    Key {
        name: "station",
        kind: "list of tables",
        default: Words("required with `[wlan]`"),
        engines: "model sim",
        refused_by: "live",
        within: STATION,
        meaning: "the stations of the cell",
        ..KEY
    },
    Key {
        name: "flow",
        kind: "list of tables",
        default: Words("required, unless there are users"),
        within: FLOW,
        meaning: "the transfers. The first is the target: `model` predicts it, and claims are about it",
        ..KEY
    },
    Key {
        name: "traffic",
        kind: "list of tables",
        default: Words("none"),
        within: TRAFFIC,
        meaning: "cross traffic and users",
        ..KEY
    },
    Key {
        name: "model",
        kind: "table",
        default: Written("{}"),
        engines: "model",
        within: MODEL,
        meaning: "what only the model reads",
        ..KEY
    },
    Key {
        name: "live",
        kind: "table",
        default: Written("{}"),
        engines: "live",
        within: LIVE,
        meaning: "what only the kernel engine reads",
        ..KEY
    },
    Key {
        name: "record",
        kind: "table",
        default: Written("{}"),
        within: RECORD,
        meaning: "which series are kept",
        ..KEY
    },
    Key {
        name: "sweep",
        kind: "lists of values by key path, `draw`, `baseline`",
        default: Words("none"),
        meaning: "every combination is run; `draw` draws values of several keys together, and `baseline` is what numbers are divided \
             by: see [sweep](../guide/scenario.md#sweep)",
        ..KEY
    },
    Key {
        name: "figure",
        kind: "table",
        default: Words("none"),
        within: FIGURE,
        meaning: "what is drawn over the points of the sweep; see [figure](../guide/scenario.md#figure)",
        ..KEY
    },
]];

/// `[model]`.
pub(crate) const MODEL: Keys = &[&[Key {
    name: "theory",
    kind: r#"`"nearest"`, `"slow start"`, `"mft"`, `"fixed point"`, `"fluid"`"#,
    default: Written(r#""nearest""#),
    engines: "model",
    meaning: "which [theory](commands.md#assumptions) answers: the one that the scenario fits best, or this one. `\"fluid\"` \
             follows windows and the queue against time and answers only where it is asked for",
    ..KEY
}]];

/// `[live]`.
pub(crate) const LIVE: Keys = &[&[Key {
    name: "stack",
    kind: r#"`"modern"`, `"classic"`"#,
    default: Written(r#""modern""#),
    engines: "live",
    meaning: "the kernel's loss recovery: as it comes, or with SACK, DSACK, RACK, tail loss probes and F-RTO \
             off",
    ..KEY
}]];

/// `[record]`.
pub(crate) const RECORD: Keys = &[&[
    Key {
        name: "every",
        kind: "time above zero",
        default: Written(r#""20ms""#),
        meaning: "sampling interval of the series; of `model` those of the theory `\"fluid\"`. `live`: 100 us or \
             longer. Series are held in memory. If they would have more than 30 million numbers, the default \
             interval grows and a note says so; a written interval is refused",
        ..KEY
    },
    Key {
        name: "columns",
        kind: r#"list of `"rate"`, `"rtt"`, `"window"`, `"backlog"`, `"drops"`, `"measures"`, `"data"`"#,
        default: Written(r#"["rate", "rtt", "window", "backlog", "drops"]"#),
        meaning: "which columns are kept. `data`: payload received since the flow's start, only from `sim`. The report \
             draws it for each flow from its own start, with the available bandwidth times the time",
        ..KEY
    },
    Key {
        name: "flows",
        kind: r#"`"sample"`, `"all"`"#,
        default: Written(r#""sample""#),
        engines: "model sim",
        meaning: "which flows have series of their own where there are more than 32. `\"sample\"`: 32 flows, with the \
             first of each `[[flow]]` table. Mean and percentiles over all flows (`sim`) are in `spread.parquet` \
             and in the report",
        ..KEY
    },
    Key {
        name: "fairness",
        kind: "time, a multiple of `every`",
        default: Words("none"),
        engines: "sim",
        meaning: "length of the intervals over which [fairness and convergence](../guide/scenario.md#fairness) \
             are measured",
        ..KEY
    },
]];

/// `[figure]`.
pub(crate) const FIGURE: Keys = &[&[
    Key {
        name: "x",
        kind: "key path that `[sweep]` varies, spelled as there, or key of the [summary](commands.md#run)",
        default: Required("what is on the horizontal axis"),
        meaning: "the horizontal axis. Each combination of the other swept keys is a curve. A key of the summary, such as \
             `\"queueing_delay_s.mean\"`, draws one result against another, with `y` only",
        ..KEY
    },
    Key {
        name: "along",
        kind: "key path that `[sweep]` varies",
        default: Words("the last of `[sweep]`"),
        meaning: "where `x` is a key of the summary: a curve goes along the values of this key, in the sweep's order",
        ..KEY
    },
    Key {
        name: "rows",
        kind: "another key path that `[sweep]` varies",
        default: Words("none"),
        meaning: "draws each `y` as a heat map ([ADR 12](../adr/0012-heat-maps-are-figures-with-rows.md)): a row per \
             value of this key, and a column per value of `x`. Each combination of the other swept keys has a \
             map. With `y` only",
        ..KEY
    },
    Key {
        name: "y",
        kind: "list of keys of the [summary](commands.md#run)",
        default: Words("this or `smallest`"),
        meaning: "a chart for each, with the 95 % interval where the summary has one. A nested key is written \
             with a dot, a flow's with its name: `\"queueing_delay_s.p95\"`, `\"flows.target.goodput_bps\"`",
        ..KEY
    },
    Key {
        name: "smallest",
        kind: "table with `over`, `metric`, `at_most`",
        default: Words("this or `y`"),
        within: SMALLEST,
        meaning: "one chart: at each point the smallest value of a key that meets a target, a curve for each \
             target",
        ..KEY
    },
    Key {
        name: "engines",
        kind: r#"list of `"model"`, `"sim"`, `"live"`"#,
        default: Written(r#"["sim"]"#),
        meaning: "who is asked, with `y` only. A point that an engine is not made for is left out of its curves; \
             kernel runs go one after the other",
        ..KEY
    },
    Key {
        name: "repeat",
        kind: "whole number, 1 to 99",
        default: Written("1"),
        meaning: "how often each point is run, with seeds that follow each other, with `y` only: drawn is the \
             median, from the least to the greatest",
        ..KEY
    },
    Key {
        name: "published",
        kind: "text",
        default: Words("none"),
        meaning: "what the source says; it stands in the report beside the charts",
        ..KEY
    },
    Key {
        name: "reference",
        kind: "table with `name`, `file`",
        default: Words("none"),
        within: REFERENCE,
        meaning: "what another program found at the points, drawn beside the engines' curves; with `y` and without \
             `rows`",
        ..KEY
    },
]];

/// `reference = { … }`.
pub(crate) const REFERENCE: Keys = &[&[
    Key {
        name: "name",
        kind: "text",
        default: Required("what found the results, such as \"ns-2\""),
        meaning: "what found them, such as `\"ns-2\"`",
        ..KEY
    },
    Key {
        name: "file",
        kind: "path of a CSV file",
        default: Required("a CSV file, relative to the folder of the scenario"),
        meaning: "their table, relative to the folder of the scenario. The first line names the columns: each swept \
             key and each `y`. Swept keys have values as in `[sweep]`, `y` is in the units of the summary \
             (seconds, bit/s, shares from 0 to 1). An empty cell is not known; other columns are not read. Of \
             several rows of a point the median is drawn, from the least to the greatest. With `--set` of another \
             key than a swept one and `seed` the table is left out",
        ..KEY
    },
]];

/// `smallest = { … }`.
pub(crate) const SMALLEST: Keys = &[&[
    Key {
        name: "over",
        kind: "key path that `[sweep]` does not vary",
        default: Required(r#"the key that is searched, such as "link.queue.limit""#),
        meaning: "the key that is searched. The search begins with the scenario's own value, in its unit",
        ..KEY
    },
    Key {
        name: "metric",
        kind: "key of the summary",
        default: Required(r#"a key of the summary, such as "idle_fraction""#),
        meaning: "what must not exceed the target. It must fall as `over` grows",
        ..KEY
    },
    Key {
        name: "at_most",
        kind: "list of shares, times or numbers",
        default: Required(r#"targets such as ["1%", "5%"]"#),
        meaning: r#"the targets, such as `["1%", "5%"]`"#,
        ..KEY
    },
]];

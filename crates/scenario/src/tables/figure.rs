//! `[figure]`: a published figure over the points of a sweep, instead of curves against time.

use crate::schema::DefaultValue::{Required, Words, Written};
use crate::schema::{KEY, OWN};
use crate::table::keys;
use crate::values::FigureEngine;

/// A figure over the points of the scenario's `[sweep]`.
#[derive(Clone, Debug, PartialEq)]
pub struct FigureSpec {
    /// The horizontal axis: a swept key, or a number of the summary if `along` is a key. The other swept keys
    /// distinguish the curves.
    pub x: String,
    /// The swept key along which a curve goes from point to point, if `x` is a number of the summary.
    pub along: Option<String>,
    /// The baseline of `[sweep]`, if `x` is `"baseline"`: the horizontal axis then has the same number of each point's
    /// baseline. Otherwise it is empty.
    pub baseline: Vec<(String, String)>,
    /// Another swept key. Each `y` is then drawn as a heat map, with a row per value of this key and a column per
    /// value of `x`. There is a map for each combination of the other swept keys.
    pub rows: Option<String>,
    /// The numbers to draw.
    pub y: FigureNumbers,
    /// The engines that give the results, once each.
    pub engines: Vec<FigureEngine>,
    /// The number of runs at each point. The figure draws their median, and the range from the least to the greatest.
    pub repeat: u64,
    /// The result in the published source, in its words or in ours.
    pub published: Option<String>,
    /// The results of another program at the points.
    pub reference: Option<FigureReference>,
}

/// `reference = { name = "ns-2", file = "ns2.csv" }`: results that are drawn next to those of the engines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FigureReference {
    /// The program that made them.
    pub name: String,
    /// Their table, relative to the folder of the scenario.
    pub file: String,
}

/// The most runs of a point.
pub const MOST_REPEATS: u64 = 99;

/// The numbers that a figure draws at each point.
#[derive(Clone, Debug, PartialEq)]
pub enum FigureNumbers {
    /// `y = ["loss_rate"]`: numbers of the summary, a chart each.
    Numbers(Vec<String>),
    /// `smallest = { … }`: the smallest value of a key that meets a target, a curve per target.
    Smallest(Smallest),
}

/// `smallest = { over = "link.queue.limit", metric = "idle_fraction", at_most = ["1%", "5%"] }`.
#[derive(Clone, Debug, PartialEq)]
pub struct Smallest {
    /// The key whose smallest value is searched.
    pub over: String,
    /// The number of the summary that must not exceed the target.
    pub metric: String,
    /// The targets: as typed, and as numbers.
    pub at_most: Vec<(String, f64)>,
}

impl FigureSpec {
    /// Returns the swept key whose values are the points of a curve.
    #[must_use]
    pub fn swept_key(&self) -> &str {
        self.along.as_ref().unwrap_or(&self.x)
    }
}

keys! {
    /// `[figure]`.
    pub(crate) table FIGURE from KEY;

    /// the horizontal axis. Each combination of the other swept keys is a curve. A key of the summary, such
    /// as `"queueing_delay_s.mean"`, draws one result against another, with `y` only. `"baseline"` draws each `y`
    /// against the same number of the point's `baseline`, with `y` only
    key x => {
        kind: "key path that `[sweep]` varies, spelled as there, key of the [summary](commands.md#run), or \
               `\"baseline\"`",
        default: Required("the key or number on the horizontal axis"),
    }
    /// key along whose values a curve goes, in the sweep's order, if `x` is a key of the summary or `"baseline"`
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
    /// engines that answer, with `y` only. The curves of an engine leave out the points that it does not
    /// support. Kernel runs go one after the other
    key engines => {
        kind: r#"list of `"model"`, `"sim"`, `"live"`"#, default: Written(r#"["sim"]"#),
        why: "a simulated point takes milliseconds, a kernel's its own duration", from: OWN,
    }
    /// number of runs of each point, with consecutive seeds, with `y` only. The figure shows the median, and
    /// the range from the least to the greatest
    key repeat => {
        kind: "whole number, 1 to 99", default: Written("1"),
        why: "the simulator repeats itself; spread over seeds is asked for", from: OWN,
    }
    /// statement of the source, which the report shows next to the charts
    key published => {
        kind: "text", default: Words("none"),
    }
    /// results of another program at the points, drawn next to the engines' curves; with `y` and without
    /// `rows`
    key reference => {
        kind: "table with `name`, `file`", default: Words("none"),
        within: REFERENCE,
    }
}

keys! {
    /// `reference = { … }`.
    pub(crate) table REFERENCE from KEY;

    /// program that found them, such as `"ns-2"`
    key name => {
        kind: "text", default: Required(r#"the program that found the results, such as "ns-2""#),
    }
    /// their table, relative to the folder of the scenario. The first line names the columns: each swept key and each
    /// `y`. Swept keys have values as in `[sweep]`, `y` is in the units of the summary (seconds, bit/s, shares from 0
    /// to 1). An empty cell means that the number is unknown; other columns are not read. Of several rows of a point
    /// the median is drawn, from the least to the greatest. With `--set` of another key than a swept one and `seed` the
    /// table is left out
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
    /// number of the summary that must not exceed the target. It must fall as `over` grows
    key metric => {
        kind: "key of the summary", default: Required(r#"a key of the summary, such as "idle_fraction""#),
    }
    /// the targets, such as `["1%", "5%"]`
    key at_most => {
        kind: "list of shares, times or numbers", default: Required(r#"targets such as ["1%", "5%"]"#),
    }
}

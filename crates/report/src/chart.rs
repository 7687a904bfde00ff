//! The data that a page's script draws. Each chart has traces, level lines and a y range, already thinned and in the
//! units that a reader sees.

use super::decimate::Thinned;
use super::flows::Role;
use super::text::{decimals_for, rounded, short};
use lab::run::record::{Engine, Summary};
use serde::Serialize;

/// The most flows drawn one by one; the others are drawn as their mean.
pub const MAX_FLOWS: usize = 12;
/// The most points per curve of an instant quantity.
pub const MAX_POINTS: usize = 1500;
/// The most points per goodput curve, each a mean over an interval.
pub(super) const MAX_RATE_POINTS: usize = 600;
/// The ratio of a level to the greatest value above which the level would flatten the curves. Such a level is only
/// named at the chart's edge.
const OFF_SCALE: f64 = 3.0;

/// The whole page's data, the content of its JSON element.
#[derive(Clone, Debug, Serialize)]
pub struct PageData {
    /// The data of each case.
    pub cases: Vec<CaseData>,
}

/// One case's numbers and charts.
#[derive(Clone, Debug, Default, Serialize)]
pub struct CaseData {
    /// The case's label, not yet escaped.
    pub label: String,
    /// The parts of the label that other cases do not have, the first few of them: its name in the overview.
    pub own: Vec<String>,
    /// Available bandwidth, Mbit/s: a mark in the overview.
    pub available_mbps: f64,
    /// Base RTT, ms: the other mark in the overview.
    pub base_rtt_ms: f64,
    /// The time that the metrics leave out, seconds.
    pub warmup_s: f64,
    /// The time of the last sample of any engine, seconds.
    pub end_s: f64,
    /// The number of flows that have a colour each; 0 if colours distinguish engines.
    pub colored_flows: usize,
    /// The engines' numbers.
    pub summaries: Vec<Summary>,
    /// The charts against time, top to bottom.
    pub charts: Vec<Chart>,
}

/// One chart against time.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// `rate`, `rtt`, `window`, `backlog`, `drops`, `limit`, `air`, `fairness`, `data` or `completion`; or the name of
    /// a controller's measurement. The kind of a panel ends in its engine: `rate-sim`.
    pub kind: String,
    /// The engine of the panel, where a few flows have a panel for each engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Engine>,
    /// The greatest value, if it is above the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// The quantity that is drawn: "Goodput".
    pub title: String,
    /// Its unit: "Mbit/s".
    pub unit: String,
    /// A note for the reader: the meaning of the title, or of a point.
    pub note: String,
    /// The number of decimals in hover texts.
    pub decimals: usize,
    /// The lower and the upper end of the y axis.
    pub range: [f64; 2],
    /// The upper end of the x axis, if it differs from the case's, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_s: Option<f64>,
    /// The area behind the curves, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub area: Option<Area>,
    /// The curves or bars.
    pub traces: Vec<Trace>,
    /// The horizontal lines with a name.
    pub levels: Vec<Level>,
}

/// An area from zero up to a quantity that no engine decides, such as the capacity over time.
#[derive(Clone, Debug, Serialize)]
pub struct Area {
    /// The name in hover texts.
    pub name: String,
    /// The times, seconds.
    pub x: Vec<f64>,
    /// The values, in the chart's unit.
    pub y: Vec<f64>,
}

/// One curve, or one engine's bars.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    /// The engine that found the values.
    pub engine: Engine,
    /// The flow; `None` for the link.
    pub role: Option<Role>,
    /// The name in the legend and in hover texts, not yet escaped.
    pub name: String,
    /// The times, seconds.
    pub x: Vec<f64>,
    /// The values, in the chart's unit.
    pub y: Vec<f64>,
    /// The seconds that a bar covers; 0 for a curve.
    pub bar_s: f64,
}

/// A horizontal line, or only its name if the model's curve already draws the line.
#[derive(Clone, Debug, Serialize)]
pub struct Level {
    /// The text: "capacity 100 Mbit/s".
    pub text: String,
    /// The place of the line, in the chart's unit.
    pub value: f64,
    /// True if the chart has the model's own curve.
    pub model: bool,
    /// True if the level is above the chart, so that it is only named, with an arrow.
    pub off_scale: bool,
}

/// Returns the name in the legend of an engine's curve of a flow, or of several.
pub(super) fn curve_name(flow: &str, engine: Engine) -> String {
    if flow.is_empty() { engine.to_string() } else { format!("{flow}, {engine}") }
}

pub(super) fn trace(engine: Engine, role: Option<Role>, name: String, thin: &Thinned, scale: f64) -> Trace {
    let x = thin.t.iter().map(|&t| (t * 1e4).round() / 1e4).collect();
    let y = thin.y.iter().map(|&v| rounded(v * scale)).collect();
    Trace { engine, role, name, x, y, bar_s: 0.0 }
}

/// Makes a chart of the traces, with the level lines and the y range.
pub(super) fn finish(
    kind: &str,
    title: &str,
    unit: &str,
    note: String,
    traces: Vec<Trace>,
    references: &[(&str, f64)],
) -> Chart {
    let finite = || traces.iter().flat_map(|t| &t.y).copied().filter(|v| v.is_finite());
    let data_max = finite().fold(0.0, f64::max);
    let data_min = finite().fold(data_max, f64::min);
    let named = references.iter().filter(|(_, value)| value.is_finite() && *value > 0.0);
    let mut levels: Vec<Level> = named
        .map(|&(name, value)| Level {
            text: format!("{name} {} {unit}", short(value)),
            value: rounded(value),
            model: false,
            off_scale: data_max > 0.0 && value > OFF_SCALE * data_max,
        })
        .collect();
    let models: Vec<&Trace> = traces.iter().filter(|t| t.engine == Engine::Model).collect();
    let shown = models.iter().filter(|t| models.len() == 1 || t.role == Some(Role::All));
    for (model, last) in shown.filter_map(|t| t.y.last().map(|&y| (t, y))) {
        let all = if model.role == Some(Role::All) { "model, all" } else { "model" };
        let text = format!("{all} {} {unit}", short(last));
        levels.push(Level { text, value: last, model: true, off_scale: false });
    }
    let drawn = || levels.iter().filter(|l| !l.off_scale).map(|l| l.value);
    let most = drawn().fold(data_max, f64::max);
    let least = drawn().fold(data_min, f64::min);
    // A round-trip time is never near zero, so the axis is zoomed in on its range, unless that is most of the axis.
    let lower =
        if kind == "rtt" && least > 0.35 * most { (least - 0.12 * (most - least)).max(0.0) } else { 0.0 };
    let upper = if most > lower { most + 0.07 * (most - lower) } else { lower + 1.0 };
    let decimals = if kind == "drops" { 0 } else { decimals_for(most, 4) };
    Chart {
        area: None,
        kind: kind.into(),
        panel: None,
        above: None,
        title: title.into(),
        unit: unit.into(),
        note,
        decimals,
        range: [rounded(lower), rounded(upper)],
        end_s: None,
        traces,
        levels,
    }
}

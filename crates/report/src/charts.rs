//! From records to the list of charts that the page's script draws. Each chart has traces, level lines and a y range,
//! already thinned and in the units a reader sees.

use super::cell;
use super::completion::completion_chart;
use super::data::data_chart;
use super::decimate::{Thinned, envelope, interval_means, interval_sums};
use super::flows::{Quantity, Role, curves};
use super::measures::measure_charts;
use super::text::{decimals_for, rounded, short};
use super::{Case, Report};
use lab::run::record::{Engine, FlowSeries, Record, Spread, SpreadSeries, Summary, Times};
use serde::Serialize;

/// Flows drawn one by one; the others are drawn as their mean.
pub const MAX_FLOWS: usize = 12;
/// Points per curve of an instant quantity.
pub const MAX_POINTS: usize = 1500;
/// Points per goodput curve, each a mean over an interval.
pub(super) const MAX_RATE_POINTS: usize = 600;
/// The same of one of several flows: repairs, which deliver in order, would hide who has how much.
const MAX_FLOW_RATE_POINTS: usize = 120;
/// Bars per engine in the drops chart.
const MAX_BARS: usize = 120;
/// Points per chart: with many flows each curve gets a smaller share of them.
const MAX_CHART_POINTS: usize = 18_000;
/// A level this many times above the data would flatten them: it is named at the chart's edge instead.
const OFF_SCALE: f64 = 3.0;
/// Goodput is drawn up to this many times the capacity. Above it are moments in which a repair releases what waited
/// behind it.
const MOST_OF_CAPACITY: f64 = 1.3;
/// A few flows, each with a colour of its own.
const FEW_FLOWS: std::ops::RangeInclusive<usize> = 2..=6;

/// The whole page's data, the content of its JSON element.
#[derive(Clone, Debug, Serialize)]
pub struct PageData {
    /// One per case.
    pub cases: Vec<CaseData>,
}

/// One case's numbers and charts.
#[derive(Clone, Debug, Serialize)]
pub struct CaseData {
    /// The case's label, as it came: not escaped.
    pub label: String,
    /// Available bandwidth, Mbit/s, and base RTT, ms: the marks of the overview.
    pub available_mbps: f64,
    /// See `available_mbps`.
    pub base_rtt_ms: f64,
    /// Time the metrics leave out, seconds.
    pub warmup_s: f64,
    /// Last sample of any engine, seconds.
    pub end_s: f64,
    /// How many flows have a colour each; 0 where colours tell engines apart.
    pub colored_flows: usize,
    /// The engines' numbers.
    pub summaries: Vec<Summary>,
    /// The charts against time, top to bottom.
    pub charts: Vec<Chart>,
}

/// One chart against time.
#[derive(Clone, Debug, Serialize)]
pub struct Chart {
    /// `rate`, `rtt`, `window`, `backlog`, `drops`, `limit`, `air`, `fairness`, `data` or `completion`; or the name
    /// of what controllers measure. Of a panel with its engine behind it: `rate-sim`.
    pub kind: String,
    /// The engine that the panel is of, where a few flows have a panel for each engine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub panel: Option<Engine>,
    /// The greatest value, where it is above the range.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub above: Option<f64>,
    /// What is drawn: "Goodput".
    pub title: String,
    /// Its unit: "Mbit/s".
    pub unit: String,
    /// What a reader should know: what the word means, what a point stands for.
    pub note: String,
    /// Decimals in hover texts.
    pub decimals: usize,
    /// Lower and upper end of the y axis.
    pub range: [f64; 2],
    /// Upper end of the x axis where it is not the case's, seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end_s: Option<f64>,
    /// Curves or bars.
    pub traces: Vec<Trace>,
    /// Horizontal lines with a name.
    pub levels: Vec<Level>,
}

/// One curve, or one engine's bars.
#[derive(Clone, Debug, Serialize)]
pub struct Trace {
    /// Who says so.
    pub engine: Engine,
    /// Which flow; `None` for the link.
    pub role: Option<Role>,
    /// What the legend and hover call it, as it came: not escaped.
    pub name: String,
    /// Times, seconds.
    pub x: Vec<f64>,
    /// Values, in the chart's unit.
    pub y: Vec<f64>,
    /// Seconds a bar covers; 0 for a curve.
    pub bar_s: f64,
}

/// A horizontal line, or only its name where the line is already drawn by the model's curve.
#[derive(Clone, Debug, Serialize)]
pub struct Level {
    /// "capacity 100 Mbit/s".
    pub text: String,
    /// Where, in the chart's unit.
    pub value: f64,
    /// The model's own curve is there.
    pub model: bool,
    /// Above the chart: only named, with an arrow.
    pub off_scale: bool,
}

/// What sets one chart of flows apart from the next.
struct FlowChart {
    kind: &'static str,
    title: &'static str,
    unit: &'static str,
    meaning: &'static str,
    /// From the record's unit to the page's.
    scale: f64,
    column: fn(&FlowSeries) -> &[f64],
    spread: fn(&SpreadSeries) -> &[Spread],
    /// Whether the flows' sum means something, and points are means over an interval.
    additive: bool,
}

const FLOW_CHARTS: [FlowChart; 3] = [
    FlowChart {
        kind: "rate",
        title: "Goodput",
        unit: "Mbit/s",
        meaning: "useful data delivered per second",
        scale: 1e-6,
        column: |f| &f.rate_bps,
        spread: |s| &s.rate_bps,
        additive: true,
    },
    FlowChart {
        kind: "rtt",
        title: "Round-trip time",
        unit: "ms",
        meaning: "base RTT plus the time spent waiting in the queue",
        scale: 1e3,
        column: |f| &f.rtt_s,
        spread: |s| &s.rtt_s,
        additive: false,
    },
    FlowChart {
        kind: "window",
        title: "Send window",
        unit: "kB",
        meaning: "the most data a flow may have under way",
        scale: 1e-3,
        column: |f| &f.window_bytes,
        spread: |s| &s.window_bytes,
        additive: false,
    },
];

/// All the page draws.
#[must_use]
pub fn page_data(report: &Report) -> PageData {
    PageData { cases: report.cases.iter().map(case_data).collect() }
}

fn case_data(case: &Case) -> CaseData {
    let flows = case.records.iter().map(|record| record.series.flows.len()).max().unwrap_or(0);
    let colored_flows = if FEW_FLOWS.contains(&flows) { flows } else { 0 };
    let panels = |chart: Chart| if colored_flows > 0 { panels(&chart) } else { vec![chart] };
    let mut charts: Vec<Chart> = FLOW_CHARTS.iter().flat_map(|spec| panels(flow_chart(case, spec))).collect();
    charts.push(backlog_chart(case));
    charts.push(drops_chart(case));
    charts.extend(cell::charts(case));
    charts.extend(measure_charts(case).into_iter().flat_map(panels));
    charts.push(fairness_chart(case));
    charts.push(data_chart(case));
    charts.push(completion_chart(case));
    // A lone sample is no curve.
    charts.retain(|chart| chart.traces.iter().any(|trace| trace.bar_s > 0.0 || trace.x.len() > 1));
    charts.iter_mut().for_each(|chart| scale(chart, case));
    // A transfer has no engine to be named by.
    if case.records.iter().all(|record| record.summary.scenario_hash.is_empty()) {
        let traces = charts.iter_mut().flat_map(|chart| &mut chart.traces);
        traces.for_each(|trace| trace.name = "this transfer".into());
    }
    let last = |t: &Times| t.last().copied().unwrap_or(0.0);
    let ends = case.records.iter().flat_map(|r| {
        r.series.flows.iter().map(|f| &f.t_s).chain([&r.series.link.t_s]).map(last).collect::<Vec<_>>()
    });
    CaseData {
        label: case.label.clone(),
        available_mbps: case.available_bps / 1e6,
        base_rtt_ms: case.base_rtt_s * 1e3,
        warmup_s: case.warmup_s,
        end_s: ends.fold(0.0, f64::max),
        colored_flows,
        summaries: case.records.iter().map(|r| r.summary.clone()).collect(),
        charts,
    }
}

/// Splits a chart by engine: a chart for each engine that runs packets, with the model's curves in each.
fn panels(chart: &Chart) -> Vec<Chart> {
    let mut engines: Vec<Engine> = chart.traces.iter().map(|trace| trace.engine).collect();
    engines.sort_unstable();
    engines.dedup();
    if engines.len() > 1 {
        engines.retain(|engine| *engine != Engine::Model);
    }
    let panel = |engine: Engine| {
        let own = |trace: &&Trace| trace.engine == engine || trace.engine == Engine::Model;
        let mut traces: Vec<Trace> = chart.traces.iter().filter(own).cloned().collect();
        // A mean lies behind the flows that it is of.
        if chart.kind != "rate" {
            traces.sort_by_key(|trace| trace.role != Some(Role::All));
        }
        Chart { kind: format!("{}-{engine}", chart.kind), panel: Some(engine), traces, ..chart.clone() }
    };
    engines.into_iter().map(panel).collect()
}

/// Scales the axis to the measured part. Values before the warm-up ends may leave the chart, and so may a repair's
/// moments of goodput above the capacity. The chart then says how far they go.
fn scale(chart: &mut Chart, case: &Case) {
    let from = if chart.end_s.is_some() { 0.0 } else { case.warmup_s };
    let values = |from: f64| {
        let points = chart.traces.iter().flat_map(move |trace| trace.x.iter().zip(&trace.y));
        points.filter(move |(x, y)| **x >= from && y.is_finite()).map(|(_, y)| *y)
    };
    let (all, measured) = (values(0.0).fold(0.0, f64::max), values(from).fold(0.0, f64::max));
    let mut most = if measured > 0.0 { measured } else { all };
    let capacity = case.capacity_bps * 1e-6;
    if chart.kind.starts_with("rate") && !case.is_cell() && capacity > 0.0 {
        most = most.min(MOST_OF_CAPACITY * capacity);
    }
    let levels = chart.levels.iter().filter(|level| !level.off_scale).map(|level| level.value);
    most = levels.fold(most, f64::max);
    let [lower, upper] = chart.range;
    let needed = if most > lower { most + 0.07 * (most - lower) } else { upper };
    if needed < 0.8 * upper {
        chart.range[1] = rounded(needed);
        chart.decimals = if chart.kind == "drops" { 0 } else { decimals_for(most, 4) };
    }
    if all > chart.range[1] {
        chart.above = Some(all);
        let highest = format!("{} {}", short(all), chart.unit);
        chart.note += &if chart.kind.starts_with("rate") && all > capacity && capacity > 0.0 {
            format!(
                "; TCP delivers in order, so a repaired loss releases the data behind the hole: up to {highest} for a moment, above the capacity"
            )
        } else {
            format!("; up to {highest}, beyond the chart")
        };
    }
}

fn flow_chart(case: &Case, spec: &FlowChart) -> Chart {
    let mut every = 0.0_f64;
    let mut traces = Vec::new();
    let quantity = Quantity { of: &spec.column, spread: Some(spec.spread), additive: spec.additive };
    let columns_of: Vec<_> =
        case.records.iter().map(|r| (r.summary.engine, curves(&r.series, &quantity, MAX_FLOWS))).collect();
    let count = columns_of.iter().map(|(_, c)| c.len()).sum::<usize>().max(1);
    let cap = (MAX_CHART_POINTS / count).max(200);
    let several = columns_of.iter().any(|(_, columns)| columns.len() > 1);
    let rate_points = if several { MAX_FLOW_RATE_POINTS } else { MAX_RATE_POINTS };
    for (engine, columns) in columns_of {
        for column in columns {
            let thin = if spec.additive {
                interval_means(&column.t, &column.y, cap.min(rate_points))
            } else {
                envelope(&column.t, &column.y, cap.min(MAX_POINTS))
            };
            if engine != Engine::Model {
                every = every.max(thin.every);
            }
            let name = curve_name(&column.name, engine);
            traces.push(trace(engine, Some(column.role), name, &thin, spec.scale));
        }
    }
    let mut note = spec.meaning.to_string();
    if spec.additive && every > 0.0 {
        note += &format!("; each point is a mean over {} s", short(every));
    }
    let mut levels = match spec.kind {
        // A cell has no rate of its own.
        "rate" if case.is_cell() => Vec::new(),
        "rtt" if case.is_cell() => vec![("base RTT", case.base_rtt_s)],
        "rate" => {
            let mut levels = vec![("capacity", case.capacity_bps)];
            if case.available_bps < 0.999 * case.capacity_bps {
                levels.push(("available bandwidth", case.available_bps));
            }
            levels
        }
        "rtt" => vec![
            ("base RTT", case.base_rtt_s),
            ("queue full", case.base_rtt_s + case.limit_bytes * 8.0 / case.capacity_bps),
        ],
        _ => case.socket_buffer_bytes.map(|s| ("socket buffer", s)).into_iter().collect(),
    };
    levels.iter_mut().for_each(|level| level.1 *= spec.scale);
    finish(spec.kind, spec.title, spec.unit, note, traces, &levels)
}

/// What the legend calls an engine's curve of a flow, or of several.
pub(super) fn curve_name(flow: &str, engine: Engine) -> String {
    if flow.is_empty() { engine.to_string() } else { format!("{flow}, {engine}") }
}

fn backlog_chart(case: &Case) -> Chart {
    let traces = link_traces(case, |record| {
        let link = &record.series.link;
        envelope(&link.t_s, &link.backlog_bytes, MAX_POINTS)
    });
    let traces = traces.map(|(engine, thin)| trace(engine, None, engine.to_string(), &thin, 1e-3)).collect();
    let queue = if case.is_cell() { "the access point" } else { "the tight link" };
    let note = format!("data waiting in the queue of {queue}");
    finish("backlog", "Backlog", "kB", note, traces, &[("queue limit", case.limit_bytes / 1e3)])
}

fn fairness_chart(case: &Case) -> Chart {
    let traces = link_traces(case, |record| {
        let fairness = &record.series.fairness;
        envelope(&fairness.t_s, &fairness.jain_index, MAX_POINTS)
    });
    let traces = traces.map(|(engine, thin)| trace(engine, None, engine.to_string(), &thin, 1.0)).collect();
    let note =
        "Jain's index of the goodputs: 1 when all flows have the same, 1/n when one of n has all".to_string();
    finish("fairness", "Fairness", "", note, traces, &[("equal", 1.0)])
}

fn drops_chart(case: &Case) -> Chart {
    let mut every = 0.0_f64;
    let mut traces: Vec<Trace> = link_traces(case, |record| {
        let link = &record.series.link;
        let drops: Vec<f64> = link.drops.iter().map(|&d| d as f64).collect();
        interval_sums(&link.t_s, &drops, MAX_BARS)
    })
    .map(|(engine, thin)| {
        let mut trace = trace(engine, None, engine.to_string(), &thin, 1.0);
        trace.bar_s = thin.every;
        if engine != Engine::Model {
            every = every.max(thin.every);
        }
        trace
    })
    .collect();
    // A model's few samples cover long intervals: drawn as a level per bar's time, not as a bar.
    for model in traces.iter_mut().filter(|t| t.engine == Engine::Model) {
        if let (Some(record), true) =
            (case.records.iter().find(|r| r.summary.engine == Engine::Model), every > 0.0)
        {
            let t = &record.series.link.t_s;
            let length = t.last().unwrap_or(&0.0) - t.first().unwrap_or(&0.0);
            let total: u64 = record.series.link.drops.iter().sum();
            let level = if length > 0.0 { total as f64 * every / length } else { 0.0 };
            model.x = t.to_vec();
            model.y = vec![rounded(level); t.len()];
            model.bar_s = 0.0;
        }
    }
    let note = match every {
        e if e > 0.0 => format!("packets the queue turned away, per {} s", short(e)),
        _ => "packets the queue turned away".into(),
    };
    finish("drops", "Drops", "packets", note, traces, &[])
}

fn link_traces<'a>(
    case: &'a Case,
    column: impl Fn(&Record) -> Thinned + 'a,
) -> impl Iterator<Item = (Engine, Thinned)> + 'a {
    case.records.iter().map(move |r| (r.summary.engine, column(r))).filter(|(_, thin)| !thin.t.is_empty())
}

pub(super) fn trace(engine: Engine, role: Option<Role>, name: String, thin: &Thinned, scale: f64) -> Trace {
    let x = thin.t.iter().map(|&t| (t * 1e4).round() / 1e4).collect();
    let y = thin.y.iter().map(|&v| rounded(v * scale)).collect();
    Trace { engine, role, name, x, y, bar_s: 0.0 }
}

/// Adds the level lines and the y range.
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
    let told = models.iter().filter(|t| models.len() == 1 || t.role == Some(Role::All));
    for (model, last) in told.filter_map(|t| t.y.last().map(|&y| (t, y))) {
        let all = if model.role == Some(Role::All) { "model, all" } else { "model" };
        let text = format!("{all} {} {unit}", short(last));
        levels.push(Level { text, value: last, model: true, off_scale: false });
    }
    let drawn = || levels.iter().filter(|l| !l.off_scale).map(|l| l.value);
    let most = drawn().fold(data_max, f64::max);
    let least = drawn().fold(data_min, f64::min);
    // A round-trip time never starts at nothing: zoom in on where it moves, unless that is most of the axis.
    let lower =
        if kind == "rtt" && least > 0.35 * most { (least - 0.12 * (most - least)).max(0.0) } else { 0.0 };
    let upper = if most > lower { most + 0.07 * (most - lower) } else { lower + 1.0 };
    let decimals = if kind == "drops" { 0 } else { decimals_for(most, 4) };
    Chart {
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

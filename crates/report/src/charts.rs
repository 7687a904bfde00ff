//! The conversion of records to the list of charts that the page's script draws.

use super::cell;
use super::chart::{
    Area, CaseData, Chart, MAX_FLOWS, MAX_POINTS, MAX_RATE_POINTS, PageData, Trace, curve_name, finish, trace,
};
use super::completion::completion_chart;
use super::data::data_chart;
use super::decimate::{Thinned, envelope, interval_means, interval_sums};
use super::flows::{FlowQuantity, Role, curves};
use super::measures::measure_charts;
use super::text::{decimals_for, rounded, short};
use super::{Case, Report};
use lab::run::record::{Engine, FlowSeries, Record, Spread, SpreadSeries, Times};

/// The most points per goodput curve of one of several flows. Repairs release data in bursts, which in finer curves
/// would hide the shares of the flows.
const MAX_FLOW_RATE_POINTS: usize = 120;
/// The most parts of a label in the overview.
const MAX_PARTS: usize = 4;
/// The most bars per engine in the drops chart.
const MAX_BARS: usize = 120;
/// The most points per chart: with many flows each curve gets a smaller share of them.
const MAX_CHART_POINTS: usize = 18_000;
/// The ratio to the capacity up to which goodput is drawn. Above it are moments in which a repair releases the data
/// that waited behind the hole.
const MOST_OF_CAPACITY: f64 = 1.3;
/// Flows have a colour each if they are this many.
const FEW_FLOWS: std::ops::RangeInclusive<usize> = 2..=6;

/// The properties that distinguish one chart of flows from another.
struct FlowChart {
    kind: &'static str,
    title: &'static str,
    unit: &'static str,
    meaning: &'static str,
    /// The factor from the record's unit to the page's.
    scale: f64,
    column: fn(&FlowSeries) -> &[f64],
    spread: fn(&SpreadSeries) -> &[Spread],
    /// True if the flows' sum has a meaning, and points are means over an interval.
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
        meaning: "the most data that a flow may have in flight",
        scale: 1e-3,
        column: |f| &f.window_bytes,
        spread: |s| &s.window_bytes,
        additive: false,
    },
];

/// Returns the data of everything that the page draws.
#[must_use]
pub fn page_data(report: &Report) -> PageData {
    let mut cases: Vec<CaseData> = report.cases.iter().map(case_data).collect();
    for (case, own) in cases.iter_mut().zip(own_labels(&report.cases)) {
        case.own = own;
    }
    PageData { cases }
}

/// Returns the parts of each case's label that other cases do not have; all of them if every part is common.
fn own_labels(cases: &[Case]) -> Vec<Vec<String>> {
    let parts: Vec<Vec<&str>> = cases.iter().map(|case| case.label.split(", ").collect()).collect();
    let is_shared = |part: &str| parts.iter().all(|other| other.contains(&part));
    let own = parts.iter().map(|all| {
        let own: Vec<&str> = all.iter().copied().filter(|part| !is_shared(part)).collect();
        let shown = if own.is_empty() { all } else { &own };
        shown.iter().take(MAX_PARTS).map(|part| (*part).to_owned()).collect()
    });
    own.collect()
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
    // A lone sample does not make a curve.
    charts.retain(|chart| chart.traces.iter().any(|trace| trace.bar_s > 0.0 || trace.x.len() > 1));
    charts.iter_mut().for_each(|chart| scale(chart, case));
    let last = |t: &Times| t.last().copied().unwrap_or(0.0);
    let ends = case.records.iter().flat_map(|r| {
        r.series.flows.iter().map(|f| &f.t_s).chain([&r.series.link.t_s]).map(last).collect::<Vec<_>>()
    });
    CaseData {
        label: case.label.clone(),
        own: Vec::new(),
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
        // The mean comes first, so that it is drawn behind the flows.
        if chart.kind != "rate" {
            traces.sort_by_key(|trace| trace.role != Some(Role::All));
        }
        Chart { kind: format!("{}-{engine}", chart.kind), panel: Some(engine), traces, ..chart.clone() }
    };
    engines.into_iter().map(panel).collect()
}

/// Scales the axis to the measured part. Values before the warm-up ends may leave the chart, and so may a repair's
/// moments of goodput above the capacity. The chart's note then has the greatest value.
fn scale(chart: &mut Chart, case: &Case) {
    let from = if chart.end_s.is_some() { 0.0 } else { case.warmup_s };
    let values = |from: f64| {
        let points = chart.traces.iter().flat_map(move |trace| trace.x.iter().zip(&trace.y));
        points.filter(move |(x, y)| **x >= from && y.is_finite()).map(|(_, y)| *y)
    };
    let (all, measured) = (values(0.0).fold(0.0, f64::max), values(from).fold(0.0, f64::max));
    let mut most = if measured > 0.0 { measured } else { all };
    let capacity = case.capacity_bps * 1e-6;
    // Repairs pass the capacity for a moment. A capacity that changes is drawn whole, and decides the scale.
    let top = match &chart.area {
        Some(area) => area.y.iter().copied().filter(|y| y.is_finite()).fold(0.0, f64::max),
        None => MOST_OF_CAPACITY * capacity,
    };
    if chart.kind.starts_with("rate") && !case.is_cell() && top > 0.0 {
        most = if chart.area.is_some() { top } else { most.min(top) };
    }
    let levels = chart.levels.iter().filter(|level| !level.off_scale).map(|level| level.value);
    most = levels.fold(most, f64::max);
    let [lower, upper] = chart.range;
    let needed = if most > lower { most + 0.07 * (most - lower) } else { upper };
    if needed < 0.8 * upper || chart.area.is_some() && needed > upper {
        chart.range[1] = rounded(needed);
        chart.decimals = if chart.kind == "drops" { 0 } else { decimals_for(most, 4) };
    }
    if all > chart.range[1] {
        chart.above = Some(all);
        let highest = format!("{} {}", short(all), chart.unit);
        chart.note += &if chart.kind.starts_with("rate") && all > top && top > 0.0 {
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
    let quantity = FlowQuantity { of: &spec.column, spread: Some(spec.spread), additive: spec.additive };
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
        // A cell has no rate of its own, so its goodput has no level lines.
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
    let area = if spec.kind == "rate" { capacity_area(case) } else { None };
    if area.is_some() {
        levels.iter_mut().filter(|level| level.0 == "capacity").for_each(|level| level.0 = "mean capacity");
    }
    Chart { area, ..finish(spec.kind, spec.title, spec.unit, note, traces, &levels) }
}

/// Returns the capacity over time of a link whose rate changes. All engines have the same.
fn capacity_area(case: &Case) -> Option<Area> {
    let links = case.records.iter().map(|record| &record.series.link);
    let link =
        links.max_by_key(|link| link.capacity_bps.len()).filter(|link| !link.capacity_bps.is_empty())?;
    let thin = interval_means(&link.t_s, &link.capacity_bps, MAX_RATE_POINTS);
    let thin = trace(Engine::Sim, None, String::new(), &thin, 1e-6);
    Some(Area { name: "capacity".into(), x: thin.x, y: thin.y })
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
    // The few samples of a model cover long intervals. So its drops are drawn as a level, the mean per time of a bar,
    // and not as bars.
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
        e if e > 0.0 => format!("packets that the queue dropped, per {} s", short(e)),
        _ => "packets that the queue dropped".into(),
    };
    finish("drops", "Drops", "packets", note, traces, &[])
}

fn link_traces<'a>(
    case: &'a Case,
    column: impl Fn(&Record) -> Thinned + 'a,
) -> impl Iterator<Item = (Engine, Thinned)> + 'a {
    case.records.iter().map(move |r| (r.summary.engine, column(r))).filter(|(_, thin)| !thin.t.is_empty())
}

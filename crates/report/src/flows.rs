//! The choice of curves for a run's flows: each of the first few, the mean of the others, the sum or mean of all.

use lab::run::record::{FlowSeries, Series, Spread, SpreadSeries};
use serde::Serialize;

/// The flows that a curve is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The flow with this index.
    Flow(usize),
    /// The flows that are not drawn one by one: their mean, or the median of all.
    Others,
    /// All flows: their sum if that has a meaning, otherwise their mean.
    All,
}

/// One curve before it is thinned.
#[derive(Clone, Debug)]
pub struct Column {
    /// The flows that it is about.
    pub role: Role,
    /// The flow's name, or that of the sum or mean; empty for a lone flow.
    pub name: String,
    /// The times, seconds.
    pub t: Vec<f64>,
    /// The values, in the record's unit.
    pub y: Vec<f64>,
}

/// A quantity of a flow, and of all flows if not each of them has a series.
pub struct FlowQuantity<'a> {
    /// The quantity of a flow.
    pub of: &'a dyn Fn(&FlowSeries) -> &[f64],
    /// The quantity of all flows; `None` if that is not recorded.
    pub spread: Option<fn(&SpreadSeries) -> &[Spread]>,
    /// True if the flows' sum has a meaning.
    pub additive: bool,
}

/// Returns the curves of one engine's flows for one quantity, without those that are empty.
#[must_use]
pub fn curves(series: &Series, quantity: &FlowQuantity<'_>, max_flows: usize) -> Vec<Column> {
    let (of, together) = (quantity.of, &series.spread);
    if together.is_empty() {
        return columns(&series.flows, &of, max_flows, quantity.additive);
    }
    let shown = &series.flows[..series.flows.len().min(max_flows)];
    let mut out = columns(shown, &of, max_flows, quantity.additive);
    out.retain(|column| column.role != Role::All);
    let all = quantity.spread.map_or(&[][..], |spread| spread(together));
    if !all.is_empty() {
        let curve =
            |role, name: &str, y: Vec<f64>| Column { role, name: name.into(), t: together.t_s.clone(), y };
        let median = all.iter().map(|spread| spread.percentiles.p50).collect();
        out.push(curve(Role::Others, "median of all flows", median));
        out.push(if quantity.additive {
            let sums = all.iter().zip(&together.flows);
            let sum = |(spread, flows): (&Spread, &u64)| {
                if *flows > 0 { spread.mean * *flows as f64 } else { f64::NAN }
            };
            curve(Role::All, "all flows", sums.map(sum).collect())
        } else {
            curve(Role::All, "mean of all flows", all.iter().map(|spread| spread.mean).collect())
        });
    }
    out
}

/// Returns the curves of flows that all have series, without those that are empty.
#[must_use]
pub fn columns(
    flows: &[FlowSeries],
    column: &impl Fn(&FlowSeries) -> &[f64],
    max_flows: usize,
    additive: bool,
) -> Vec<Column> {
    if flows.iter().all(|flow| column(flow).is_empty()) {
        return Vec::new();
    }
    let lone = flows.len() == 1;
    let mut out: Vec<Column> = flows
        .iter()
        .take(max_flows)
        .enumerate()
        .map(|(i, flow)| Column {
            role: Role::Flow(i),
            name: if lone { String::new() } else { flow.name.clone() },
            t: flow.t_s.to_vec(),
            y: column(flow).to_vec(),
        })
        .collect();
    if let Some(others) = flows.get(max_flows..).filter(|others| !others.is_empty()) {
        let name = format!("mean of the other {}", others.len());
        out.push(combined(others, column, Role::Others, name, |sum, n| sum / n));
    }
    if flows.len() > 1 {
        out.push(if additive {
            combined(flows, column, Role::All, "all flows".into(), |sum, _| sum)
        } else {
            combined(flows, column, Role::All, "mean of all flows".into(), |sum, n| sum / n)
        });
    }
    out.retain(|c| !c.t.is_empty() && !c.y.is_empty());
    out
}

/// Combines the flows' values at the times of the flow with the most samples. A flow counts from its first to its last
/// sample. Between two samples the later one holds, because it describes the interval that ends there.
fn combined(
    flows: &[FlowSeries],
    column: &impl Fn(&FlowSeries) -> &[f64],
    role: Role,
    name: String,
    combine: fn(f64, f64) -> f64,
) -> Column {
    let grid = flows.iter().max_by_key(|f| f.t_s.len().min(column(f).len()));
    let t: Vec<f64> = grid.map(|f| f.t_s.to_vec()).unwrap_or_default();
    let mut sum = vec![0.0; t.len()];
    let mut count = vec![0.0; t.len()];
    for flow in flows {
        let y = column(flow);
        let n = flow.t_s.len().min(y.len());
        let mut next = 0;
        for (i, &at) in t.iter().enumerate() {
            // The clocks of two flows differ by rounding only: times half a microsecond apart are the same instant.
            while next < n && flow.t_s[next] < at - 5e-7 {
                next += 1;
            }
            let started = n > 0 && at >= flow.t_s[0] - 5e-7;
            if started && next < n && y[next].is_finite() {
                sum[i] += y[next];
                count[i] += 1.0;
            }
        }
    }
    let y = sum.iter().zip(&count).map(|(&s, &n)| if n > 0.0 { combine(s, n) } else { f64::NAN }).collect();
    Column { role, name, t, y }
}

//! The chart of data delivered against time, each transfer from its own start, with the data that the available
//! bandwidth would deliver. It is for transfers that come one after the other.

use super::Case;
use super::chart::{Chart, MAX_POINTS, Trace, finish, trace};
use super::decimate::envelope;
use super::flows::Role;
use super::text::rounded;
use lab::run::record::{Engine, FlowSeries};

/// The factor from bytes to MB.
const SCALE: f64 = 1e-6;

/// Returns the chart; it has no traces if no run has the column.
pub(super) fn data_chart(case: &Case) -> Chart {
    let mut traces = Vec::new();
    for record in &case.records {
        for (index, flow) in record.series.flows.iter().enumerate() {
            let Some((t, data)) = from_its_start(flow) else { continue };
            let name = format!("{}, {}", flow.name, record.summary.engine);
            let thin = envelope(&t, &data, MAX_POINTS);
            traces.push(trace(record.summary.engine, Some(Role::Flow(index)), name, &thin, SCALE));
        }
    }
    let note = "each flow's own time, from its start until it ended; the line is the capacity less what cross traffic \
                had over the whole run";
    let users = case.records.iter().flat_map(|record| &record.summary.sessions);
    let available = case.available_bps - users.map(|users| users.goodput_bps).sum::<f64>();
    let end = traces.iter().filter_map(|trace| trace.x.last().copied()).fold(0.0, f64::max);
    let most = available.max(0.0) / 8.0 * end * SCALE;
    let mut chart = finish("data", "Data delivered", "MB", note.to_string(), traces, &[]);
    if !chart.traces.is_empty() {
        chart.traces.push(Trace {
            engine: Engine::Model,
            role: None,
            name: "available bandwidth times time".into(),
            x: vec![0.0, end],
            y: vec![0.0, rounded(most)],
            bar_s: 0.0,
        });
        chart.range[1] = chart.range[1].max(1.07 * most);
        chart.end_s = Some(end);
    }
    chart
}

/// Returns the samples from the last one before the first byte to the one with the last byte: the times since the first
/// of them, and the data.
fn from_its_start(flow: &FlowSeries) -> Option<(Vec<f64>, Vec<f64>)> {
    let data = &flow.data_bytes;
    let first = data.iter().position(|bytes| *bytes > 0.0)?.saturating_sub(1);
    let all = *data.last()?;
    let last = data.iter().position(|bytes| *bytes >= all)?;
    let start = flow.t_s[first];
    let times = flow.t_s[first..=last].iter().map(|t| t - start).collect();
    Some((times, data[first..=last].to_vec()))
}

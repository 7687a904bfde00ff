//! What a page shows of a wireless cell: the busy air and a limit that moves against time, the stations' airtime, a sentence.

use super::Case;
use super::charts::{Chart, MAX_POINTS, finish, trace};
use super::decimate::{Thinned, envelope, interval_means};
use super::table::{cell, decimals_of, shown, tag};
use super::text::escape_html;
use lab::run::metric::{Known, STATION};
use lab::run::record::{LinkSeries, StationSummary, Summary, WlanSummary};
use std::fmt::Write as _;

/// Points of the busy air's curve, each a mean over an interval.
const MAX_MEANS: usize = 600;
/// Rows of the stations' table per engine.
const MAX_STATIONS: usize = 40;

/// The charts against time, each without a trace where no engine knows it.
pub(super) fn charts(case: &Case) -> [Chart; 2] {
    let limit = |link: &LinkSeries| {
        let packets: Vec<f64> = link.limit_packets.iter().map(|packets| *packets as f64).collect();
        envelope(&link.t_s, &packets, MAX_POINTS)
    };
    let busy = |link: &LinkSeries| interval_means(&link.t_s, &link.busy_share, MAX_MEANS);
    let note = "packets that may wait at the access point: a limit that moves".to_owned();
    let busy_note =
        "share of time with a transmission in the air: frames, acknowledgements, collisions".to_owned();
    [
        finish("limit", "Limit of the queue", "packets", note, traces(case, limit, 1.0), &[]),
        finish("air", "Airtime in use", "%", busy_note, traces(case, busy, 100.0), &[("all of it", 100.0)]),
    ]
}

fn traces(case: &Case, column: impl Fn(&LinkSeries) -> Thinned, scale: f64) -> Vec<super::charts::Trace> {
    let thinned = case.records.iter().map(|record| (record.summary.engine, column(&record.series.link)));
    let known = thinned.filter(|(_, thin)| !thin.t.is_empty());
    known.map(|(engine, thin)| trace(engine, None, engine.to_string(), &thin, scale)).collect()
}

/// The stations as HTML, without a heading: a row for each and its category, under each engine; nothing without a cell.
pub(super) fn station_table(case: &Case) -> Option<String> {
    let summaries = case.records.iter().map(|record| &record.summary);
    let cells: Vec<(&Summary, &WlanSummary)> =
        summaries.filter_map(|summary| Some((summary, summary.wlan.as_ref()?))).collect();
    let stations = || cells.iter().flat_map(|(_, wlan)| &wlan.stations);
    stations().next()?;
    let known = |column: &&Known<StationSummary>| stations().any(|station| shown(column, station).is_some());
    let decimals = |column: &Known<StationSummary>| {
        if column.metric.whole { 0 } else { decimals_of(stations().filter_map(|one| shown(column, one))) }
    };
    let columns: Vec<(&Known<StationSummary>, usize)> =
        STATION.iter().filter(known).map(|column| (column, decimals(column))).collect();
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"flows\"><thead><tr><th scope=\"col\">station</th>",
    );
    for (Known { metric, .. }, _) in &columns {
        let _ = write!(out, "<th scope=\"col\">{} <small>{}</small></th>", metric.words, metric.unit.shown());
    }
    out += "</tr></thead>";
    for (summary, wlan) in &cells {
        let (span, engine) = (columns.len() + 1, tag(summary.engine));
        let _ = write!(
            out,
            "<tbody><tr class=\"case\"><th colspan=\"{span}\" scope=\"rowgroup\">{engine}</th></tr>"
        );
        for station in wlan.stations.iter().take(MAX_STATIONS) {
            let name = format!("{}, {}", station.name, station.category);
            let _ = write!(out, "<tr><th scope=\"row\">{}</th>", escape_html(&name));
            for (column, decimals) in &columns {
                out += &cell(shown(column, station), None, *decimals);
            }
            out += "</tr>";
        }
        out += "</tbody>";
    }
    Some(out + "</table></div>")
}

/// What the air did, of the most real engine.
pub(super) fn sentence(summary: &Summary) -> Option<String> {
    let wlan = summary.wlan.as_ref()?;
    let collide = wlan
        .collision_probability
        .map_or_else(String::new, |share| format!(", and {:.1} % of transmissions collide", share * 100.0));
    Some(format!(
        "In {}, the air carries {:.2} Mbit/s of payload; it is idle for {:.0} % of the time{collide}.",
        summary.engine,
        wlan.throughput_bps / 1e6,
        wlan.idle_share * 100.0
    ))
}

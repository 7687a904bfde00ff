//! The parts of a page for a wireless cell: the busy air and a limit that moves against time, the stations' airtime, a
//! sentence.

use super::Case;
use super::chart::{Chart, MAX_POINTS, finish, trace};
use super::decimate::{Thinned, envelope, interval_means};
use super::table::rows_by_engine;
use lab::run::metric::STATION;
use lab::run::record::{LinkSeries, StationSummary, Summary};

/// The most points of the busy air's curve, each a mean over an interval.
const MAX_MEANS: usize = 600;
/// The most rows of the stations' table per engine.
const MAX_STATIONS: usize = 40;

/// Returns the charts against time, each without a trace if no engine has the column.
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

fn traces(case: &Case, column: impl Fn(&LinkSeries) -> Thinned, scale: f64) -> Vec<super::chart::Trace> {
    let thinned = case.records.iter().map(|record| (record.summary.engine, column(&record.series.link)));
    let known = thinned.filter(|(_, thin)| !thin.t.is_empty());
    known.map(|(engine, thin)| trace(engine, None, engine.to_string(), &thin, scale)).collect()
}

/// Writes the stations as HTML, without a heading: a row for each station and category, under each engine; `None`
/// without a cell.
pub(super) fn station_table(case: &Case) -> Option<String> {
    let cells =
        case.records.iter().filter_map(|record| Some((record.summary.engine, record.summary.wlan.as_ref()?)));
    let row = |station: &'_ StationSummary| format!("{}, {}", station.name, station.category);
    let rows = cells.map(|(engine, wlan)| {
        (engine, wlan.stations.iter().take(MAX_STATIONS).map(|station| (row(station), station)).collect())
    });
    rows_by_engine("station", &STATION.iter().collect::<Vec<_>>(), &rows.collect::<Vec<_>>())
}

/// Describes the use of the air in a sentence.
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

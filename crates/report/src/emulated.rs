//! The page of `tightlink emulate`: the queue of each direction against time, while a program ran behind the link.

use super::chart::{Area, CaseData, Chart, MAX_POINTS, MAX_RATE_POINTS, PageData, Trace, finish, trace};
use super::decimate::{envelope, interval_means, interval_sums};
use super::flows::Role;
use super::frame::Frame;
use super::page::{charts_of, legend};
use super::picture::{Picture, against_time};
use super::table::{cell, decimals_of};
use super::text::{escape_html, json_for_script, short};
use lab::run::emulated::{DirectionReport, Emulated};
use lab::run::record::{Engine, HostSummary};
use std::fmt::Write as _;

const BODY: &str = include_str!("../assets/emulated.html");
const SCRIPT: &str = include_str!("../assets/report.js");
/// The most bars of one direction.
const MAX_BARS: usize = 120;
/// The most letters of the program in the headline.
const TITLE: usize = 60;

/// Writes the page about `program`, run by `command` behind the link of the scenario `text`.
#[must_use]
pub fn html(emulated: &Emulated, program: &str, text: &str, command: &str) -> String {
    let data = case_data(emulated);
    let mut shown: String = program.chars().take(TITLE).collect();
    if shown.len() < program.len() {
        shown.push('…');
    }
    let title = format!("{shown}, behind an emulated link");
    let drawn = drawn(&data);
    let page = PageData { cases: vec![data] };
    let frame = Frame {
        title: &title,
        source: None,
        scenario_text: text,
        scenario_heading: "The link, as a scenario".into(),
        command,
        data: json_for_script(&page),
        script: SCRIPT,
    };
    frame.fill(BODY, |name| {
        Some(match name {
            "headline" => headline(emulated),
            "charts" => drawn.clone(),
            "table" => table(emulated),
            "remarks" => remarks(emulated),
            _ => return None,
        })
    })
}

/// Returns the charts as pictures.
#[must_use]
pub fn pictures(emulated: &Emulated) -> Vec<Picture> {
    against_time(&[case_data(emulated)])
}

fn case_data(emulated: &Emulated) -> CaseData {
    let charts = charts(emulated);
    CaseData { end_s: emulated.measured_s, colored_flows: 2, charts, ..CaseData::default() }
}

/// Returns each direction with its number in the charts and its name.
fn ways(emulated: &Emulated) -> impl Iterator<Item = (usize, &'static str, &DirectionReport)> {
    let back = emulated.from_far.as_ref().map(|way| (1, "from the far end", way));
    [(0, "to the far end", &emulated.to_far)].into_iter().chain(back)
}

/// Writes the closing lines, the time that the program ran, and its exit code unless that is 0.
fn headline(emulated: &Emulated) -> String {
    let lines = emulated.lines();
    let mut out: String =
        lines.iter().map(|line| format!("<p>{}.</p>", escape_html(&sentence(line)))).collect();
    let ended = if emulated.code == 0 {
        String::new()
    } else {
        format!(" and ended with exit code {}", emulated.code)
    };
    let _ = write!(out, "<p>The command ran for {} s{ended}.</p>", short(emulated.measured_s));
    out
}

/// Makes a sentence, such as "To the far end: 19.20 Mbit/s …", of a line that is aligned for a terminal.
fn sentence(line: &str) -> String {
    super::text::capitalized(&line.split_whitespace().collect::<Vec<_>>().join(" "))
}

fn charts(emulated: &Emulated) -> Vec<Chart> {
    let traces =
        |of: &dyn Fn(&DirectionReport) -> (super::decimate::Thinned, f64), bars: bool| -> Vec<Trace> {
            let known = ways(emulated).filter(|(_, _, way)| !way.queue.t_s.is_empty());
            known
                .map(|(number, name, way)| {
                    let (thin, scale) = of(way);
                    let role = Some(Role::Flow(number));
                    let mut trace = trace(Engine::Live, role, name.to_owned(), &thin, scale);
                    trace.bar_s = if bars { thin.every } else { 0.0 };
                    trace
                })
                .collect()
        };
    let every = |traces: &[Trace]| traces.iter().map(|trace| trace.bar_s).fold(0.0, f64::max);
    let delay = traces(&|way| (envelope(&way.queue.t_s, &way.queue.delay_s, MAX_POINTS), 1e3), false);
    let rate =
        traces(&|way| (interval_means(&way.queue.t_s, &way.queue.rate_bps, MAX_RATE_POINTS), 1e-6), false);
    let drops = traces(&|way| (interval_sums(&way.queue.t_s, &way.queue.drops, MAX_BARS), 1.0), true);
    // Both directions share one line if they have the same level.
    let levels = |name: &'static str, of: &dyn Fn(&DirectionReport) -> f64| {
        let mut levels: Vec<(&str, f64)> = ways(emulated).map(|(_, _, way)| (name, of(way))).collect();
        levels.dedup_by(|one, other| one.1 == other.1);
        levels
    };
    let changes = ways(emulated).any(|(_, _, way)| !way.queue.offered_bps.is_empty());
    let full = levels("queue full", &|way| way.queue.full_s * 1e3);
    let capacity =
        levels(if changes { "mean capacity" } else { "capacity" }, &|way| way.queue.capacity_bps * 1e-6);
    let per = short(every(&drops));
    let delay_note = "time to send the waiting data".to_owned();
    let rate_note = "data that the link sends, headers included".to_owned();
    let drops_note = format!("packets that the queue dropped or the link lost, per {per} s");
    let queue = &emulated.to_far.queue;
    let area = (!queue.offered_bps.is_empty()).then(|| {
        let thin = interval_means(&queue.t_s, &queue.offered_bps, MAX_RATE_POINTS);
        let thin = trace(Engine::Live, None, String::new(), &thin, 1e-6);
        Area { name: "capacity to the far end".into(), x: thin.x, y: thin.y }
    });
    let mut charts = vec![
        finish("delay", "Queueing delay", "ms", delay_note, delay, &full),
        Chart { area, ..finish("rate", "Rate", "Mbit/s", rate_note, rate, &capacity) },
        finish("drops", "Drops", "packets", drops_note, drops, &[]),
    ];
    charts.retain(|chart| !chart.traces.is_empty());
    charts
}

fn drawn(data: &CaseData) -> String {
    if data.charts.is_empty() {
        return "<p class=\"absent\">The command ended before the first sample.</p>".to_owned();
    }
    legend(data) + &charts_of(&data.charts, "0")
}

/// Writes a row for each direction, and for each source of cross traffic on it.
fn table(emulated: &Emulated) -> String {
    const COLUMNS: [(&str, &str); 8] = [
        ("rate", "Mbit/s"),
        ("utilization", "%"),
        ("mean queueing delay", "ms"),
        ("p95 queueing delay", "ms"),
        ("packets", ""),
        ("dropped", ""),
        ("loss rate", "%"),
        ("marked", ""),
    ];
    let count = |count: u64| Some(count as f64);
    let mut rows: Vec<(String, [Option<f64>; 8])> = Vec::new();
    for (_, name, way) in ways(emulated) {
        let delay = way.queueing_delay_s;
        rows.push((
            name.to_owned(),
            [
                Some(way.rate_bps / 1e6),
                Some(way.utilization * 100.0),
                delay.map(|delay| delay.mean * 1e3),
                delay.and_then(|delay| delay.percentiles.p95).map(|p95| p95 * 1e3),
                count(way.packets),
                count(way.packets_dropped),
                Some(way.loss_rate * 100.0),
                count(way.marks),
            ],
        ));
        rows.extend(way.cross.iter().map(|cross| {
            let numbers = [
                Some(cross.rate_bps / 1e6),
                None,
                None,
                None,
                count(cross.packets),
                count(cross.packets_dropped),
                Some(cross.loss_rate * 100.0),
                count(cross.marks),
            ];
            (format!("{name}, cross traffic: {}", escape_html(&cross.name)), numbers)
        }));
    }
    let mut out = String::from("<table class=\"summary\"><thead><tr><th scope=\"col\">direction</th>");
    for (name, unit) in COLUMNS {
        let _ = write!(out, "<th scope=\"col\">{name} <small>{unit}</small></th>");
    }
    out += "</tr></thead><tbody>";
    for (name, numbers) in &rows {
        let _ = write!(out, "<tr><th scope=\"row\">{name}</th>");
        for (column, (_, unit)) in COLUMNS.iter().enumerate() {
            let all = rows.iter().filter_map(|(_, numbers)| numbers[column]);
            out += &cell(numbers[column], None, if unit.is_empty() { 0 } else { decimals_of(all) });
        }
        out += "</tr>";
    }
    if emulated.from_far.is_none() {
        let packets = emulated.packets_back;
        let _ = write!(
            out,
            "<tr class=\"absent\"><td colspan=\"9\">From the far end: {packets} packets, without a limit.</td></tr>"
        );
    }
    out + "</tbody></table>" + &hosts(emulated)
}

/// Writes a row for each end: the packets lost there and not in a queue, and the share of time that a program waited
/// for a processor.
fn hosts(emulated: &Emulated) -> String {
    type Column = (&'static str, &'static str, fn(&HostSummary) -> Option<f64>);
    let columns: [Column; 7] = [
        ("datagrams lost in a socket's buffer", "RcvbufErrors", |host| Some(host.udp_rcvbuf_errors as f64)),
        ("datagrams not delivered", "InErrors", |host| Some(host.udp_other_errors as f64)),
        ("datagrams not sent", "SndbufErrors", |host| Some(host.udp_sndbuf_errors as f64)),
        ("connections not taken", "ListenDrops", |host| {
            Some((host.listen_overflows + host.listen_drops) as f64)
        }),
        ("segments lost while a program held the socket", "TCPBacklogDrop", |host| {
            Some(host.tcp_backlog_drops as f64)
        }),
        ("segments without room in a receive buffer", "TCPRcvQDrop", |host| {
            Some(host.tcp_rcvbuf_drops as f64)
        }),
        ("longest wait for a processor", "% of the time", |host| Some(host.waited_share? * 100.0)),
    ];
    let ends = [("near end", &emulated.hosts.near), ("far end", &emulated.hosts.far)];
    let mut out = String::from("<table class=\"summary\"><thead><tr><th scope=\"col\">host</th>");
    for (name, unit, _) in columns {
        let _ = write!(out, "<th scope=\"col\">{name} <small>{unit}</small></th>");
    }
    out += "</tr></thead><tbody>";
    for (name, host) in ends {
        let _ = write!(out, "<tr><th scope=\"row\">{name}</th>");
        for (_, unit, of) in columns {
            out += &cell(of(host), None, u8::from(unit.starts_with('%')).into());
        }
        out += "</tr>";
    }
    out + "</tbody></table>"
}

fn remarks(emulated: &Emulated) -> String {
    if emulated.notes.is_empty() {
        return String::new();
    }
    let notes = emulated.notes.iter().map(|note| format!("<li>{}</li>", escape_html(note)));
    format!("<section><h2>Remarks</h2><ul>{}</ul></section>", notes.collect::<String>())
}

//! The page of `tightlink size`: the limits, the curve around them, the results of rules, other circumstances and
//! policies, lines to paste.

use super::figure::chart;
use super::frame::Frame;
use super::picture::{Picture, swept};
use super::swept::{Mark, SweptChart, SweptCharts};
use super::text::{capitalized, decimals_for, escape_html, json_for_script, number, prose};
use lab::run::record::Engine;
use lab::study::curves::{Axis, Curve, CurveChart, CurvePoint};
use lab::study::size::{Call, Point, Sizing};
use std::fmt::Write as _;

const BODY: &str = include_str!("../assets/size.html");
const SCRIPT: &str = include_str!("../assets/figure.js");

/// The foot of the logarithmic axis of idle time, percent. Simulations of seconds do not resolve smaller values.
const FOOT: f64 = 0.001;

/// The place of the self-inflicted delay among the columns; only a link that changes has it.
const SELF_INFLICTED: usize = 7;

/// Returns the charts as pictures.
#[must_use]
pub fn pictures(sizing: &Sizing) -> Vec<Picture> {
    swept(charts(sizing), &[])
}

/// Writes the page about `sizing`, which `command` made: one HTML document that opens from a file and does not use the
/// network. The same answer gives the same bytes.
#[must_use]
pub fn html(sizing: &Sizing, command: &str) -> String {
    let data = SweptCharts { charts: charts(sizing) };
    let asked = &sizing.asked;
    let title = match &asked.cell {
        Some(cell) => format!(
            "Which queue for the access point? {}, {} Mbit/s, downloads: {}, uploads: {}",
            cell.phy,
            cell.frame_bps / 1e6,
            cell.downloads,
            cell.uploads
        ),
        None => format!(
            "Which buffer? {}{} Mbit/s, {} flows, {}",
            asked.changing.as_ref().map_or_else(String::new, |changing| match &changing.trace {
                Some(trace) => format!("{trace}, in the mean "),
                None => "In the mean ".into(),
            }),
            number(Some(asked.rate_bps / 1e6), decimals_for(asked.rate_bps / 1e6, 3)),
            range(asked.flows.map(|flows| flows as f64)),
            asked.control
        ),
    };
    // The question stands where other pages have their scenario.
    let question = serde_json::to_string_pretty(asked).unwrap_or_default();
    let frame = Frame {
        title: &title,
        source: None,
        scenario_text: &question,
        scenario_heading: "What was asked".into(),
        command,
        data: json_for_script(&data),
        script: SCRIPT,
    };
    frame.fill(BODY, |name| {
        Some(match name {
            "headline" => {
                let advice = sizing.advice.as_ref().map(|advice| format!("<p>{}.</p>", prose(advice)));
                format!("{}<p>{}</p>", advice.unwrap_or_default(), prose(&headline(sizing)))
            }
            "answer" => table(&[
                ("Least".into(), sizing.least),
                ("Recommended".into(), sizing.recommended),
                ("Most".into(), sizing.most),
            ]),
            "doubts" if sizing.remarks.is_empty() => String::new(),
            "doubts" => format!("<section><h2>Before you trust it</h2>{}</section>", list(&sizing.remarks)),
            "trade-off" => sizing.trade_off.as_ref().map_or_else(String::new, |trade_off| {
                let says = escape_html(&trade_off.says);
                format!("<section><h2>No limit meets every target</h2><p>{says}</p></section>")
            }),
            "proof" => sizing.proof.as_ref().map_or_else(String::new, |proof| {
                let word = match proof.held {
                    Some(true) => "held",
                    Some(false) => "not held",
                    None => "not judged: the machine was busy",
                };
                let table = table(&[("Recommended".into(), proof.point)]);
                format!("<section><h2>On the kernel: {word}</h2>{table}{}</section>", list(&proof.notes))
            }),
            "charts" => data.charts.iter().map(|one| &one.chart).enumerate().map(chart).collect(),
            "rules" => rules(sizing),
            "tables" => tables(sizing),
            "lines" => lines(sizing),
            "assumptions" => list(&sizing.assumptions),
            "remarks" => String::new(),
            _ => return None,
        })
    })
}

fn headline(sizing: &Sizing) -> String {
    let Point { packets, ms, bdp, utilization, queueing_delay_s, loss_rate, .. } = sizing.recommended;
    let by = if sizing.engine == Engine::Model { "By theory" } else { "By simulation" };
    let changing = sizing.asked.changing.is_some();
    let does = match bdp {
        Some(_) if changing => format!("({ms:.0} ms at the mean rate) delivers"),
        Some(bdp) => format!("({ms:.2} ms, {bdp:.3} bandwidth-delay products) keeps the link busy"),
        None => format!("({ms:.0} ms at this load) gives the downloads"),
    };
    let of = match bdp {
        Some(_) if changing => "of the bytes that the link offered",
        Some(_) => "of the time",
        None => "of their largest goodput behind any limit",
    };
    let preferred = sizing
        .preferred
        .as_ref()
        .map_or_else(String::new, |preferred| format!(" {}.", capitalized(&preferred.says)));
    format!(
        "{by}, a limit of {packets} packets {does} {:.2} % {of}, \
         with a queueing delay of {:.2} ms in the mean and {:.2} ms at the 95th percentile, and a loss of {:.3} %.{preferred}",
        utilization * 100.0,
        queueing_delay_s.mean * 1e3,
        queueing_delay_s.p95 * 1e3,
        loss_rate * 100.0
    )
}

fn range([least, most]: [f64; 2]) -> String {
    if least == most { least.to_string() } else { format!("{least} to {most}") }
}

fn axis(label: &str, unit: &str) -> Axis {
    Axis { label: label.into(), unit: unit.into() }
}

/// Makes the charts of idle time, delay and loss against the limit, and of idle time against delay. They show idle time
/// because utilization is near one everywhere.
fn charts(sizing: &Sizing) -> Vec<SweptChart> {
    type Take = fn(&Point) -> (f64, Option<f64>);
    let idle: Take =
        |point| (100.0 * (1.0 - point.utilization), point.utilization_ci95.map(|half| 100.0 * half));
    let goodput: Take = |point| (100.0 * point.utilization, point.utilization_ci95.map(|half| 100.0 * half));
    // In a cell the part that the downloads leave unused is not known, so the charts show their goodput.
    let (used, use_of) = if sizing.best_bps.is_some() {
        ("goodput, share of the largest behind any limit", goodput)
    } else {
        ("idle time", idle)
    };
    let takes: [(&str, &str, &str, Take); 4] = [
        (used, "%", "", use_of),
        ("queueing delay", "ms", "mean", |point| (1e3 * point.queueing_delay_s.mean, None)),
        ("queueing delay", "ms", "95th percentile", |point| (1e3 * point.queueing_delay_s.p95, None)),
        ("loss", "%", "", |point| (100.0 * point.loss_rate, point.loss_rate_ci95.map(|half| 100.0 * half))),
    ];
    let mut charts: Vec<CurveChart> = Vec::new();
    for (label, unit, name, take) in takes {
        let points = sizing.curve.iter().map(|point| {
            let (y, half_width) = take(point);
            CurvePoint { x: point.packets as f64, at: None, y, half_width, extent: None }
        });
        let curve = Curve { name: name.into(), points: points.collect() };
        match charts.last_mut().filter(|chart| chart.y.label == label) {
            Some(chart) => chart.curves.push(curve),
            None => charts.push(CurveChart {
                x: axis("buffer", "packets"),
                along: None,
                y: axis(label, unit),
                curves: vec![curve],
            }),
        }
    }
    let foot = |chart: &CurveChart| (chart.y.label == "idle time").then_some(FOOT);
    let marks = || {
        let mut marks = vec![Mark { x: sizing.recommended.packets as f64, label: "recommended" }];
        if sizing.least.packets == sizing.recommended.packets {
            marks[0].label = "least, recommended";
        } else {
            marks.insert(0, Mark { x: sizing.least.packets as f64, label: "least" });
        }
        marks
    };
    let over_limit = |chart| {
        let foot = foot(&chart);
        SweptChart::new(chart, marks(), foot, false)
    };
    let mut charts: Vec<SweptChart> = charts.into_iter().map(over_limit).collect();
    let mut policies: Vec<Curve> = Vec::new();
    for policy in &sizing.pareto {
        let (y, half_width) = use_of(&policy.point);
        let x = 1e3 * policy.point.queueing_delay_s.p95;
        let point = CurvePoint { x, at: None, y, half_width, extent: None };
        match policies.iter_mut().find(|curve| curve.name == policy.queue) {
            Some(curve) => curve.points.push(point),
            None => policies.push(Curve { name: policy.queue.clone(), points: vec![point] }),
        }
    }
    if !policies.is_empty() {
        let x = axis("95th percentile of the queueing delay", "ms");
        let chart = CurveChart { x, along: None, y: axis(used, "%"), curves: policies };
        let foot = foot(&chart);
        charts.push(SweptChart::new(chart, Vec::new(), foot, true));
    }
    charts
}

fn table(rows: &[(String, Point)]) -> String {
    table_with_calls(rows, &[])
}

/// Writes a table of points, with a column for the wait of a call if there was one.
fn table_with_calls(rows: &[(String, Point)], calls: &[Option<Call>]) -> String {
    let mut out =
        String::from("<div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\"></th>");
    let inflicted = rows.iter().any(|(_, point)| point.self_inflicted_delay_s.is_some());
    let heads = ["packets", "bytes", "ms", "BDP", "utilization, %", "mean delay, ms", "p95 delay, ms"];
    let more = if inflicted { &["self-inflicted, ms", "loss, %"][..] } else { &["loss, %"] };
    let call = calls.iter().any(Option::is_some);
    let more_of_call = if call { &["a call waits (p95), ms"][..] } else { &[] };
    let l4s = rows.iter().any(|(_, point)| point.l4s.is_some());
    let more_of_l4s = if l4s { &["L4S flows' share, %", "L4S packets wait (p95), ms"][..] } else { &[] };
    for head in heads.iter().chain(more).chain(more_of_call).chain(more_of_l4s) {
        let _ = write!(out, "<th scope=\"col\">{head}</th>");
    }
    out += "</tr></thead><tbody>";
    for (at, (name, point)) in rows.iter().enumerate() {
        let doubt = match point.doubt() {
            "" => String::new(),
            doubt => format!(" <small>{doubt}</small>"),
        };
        let _ = write!(out, "<tr><th scope=\"row\">{}{doubt}</th>", escape_html(name));
        let delay = point.queueing_delay_s;
        let cells = [
            (Some(point.packets as f64), 0, None),
            (Some(point.bytes as f64), 0, None),
            (Some(point.ms), 3, None),
            (point.bdp, 4, None),
            (Some(100.0 * point.utilization), 2, point.utilization_ci95),
            (Some(1e3 * delay.mean), 3, None),
            (Some(1e3 * delay.p95), 3, None),
            (point.self_inflicted_delay_s.map(|delay| 1e3 * delay), 3, None),
            (Some(100.0 * point.loss_rate), 4, point.loss_rate_ci95),
        ];
        for (place, (value, decimals, half)) in cells.into_iter().enumerate() {
            if place == SELF_INFLICTED && !inflicted {
                continue;
            }
            let raw = value.map_or_else(String::new, |value| value.to_string());
            let _ = write!(out, "<td data-value=\"{raw}\"><span>{}</span>", number(value, decimals));
            if let Some(half) = half {
                let _ = write!(out, "<small>± {}</small>", number(Some(100.0 * half), decimals));
            }
            out += "</td>";
        }
        let mut add = |value: Option<f64>, decimals| {
            let raw = value.map_or_else(String::new, |value| value.to_string());
            let _ = write!(out, "<td data-value=\"{raw}\"><span>{}</span></td>", number(value, decimals));
        };
        if call {
            add(calls.get(at).copied().flatten().map(|call| 1e3 * call.queueing_delay_p95_s), 3);
        }
        if l4s {
            add(point.l4s.map(|l4s| 100.0 * l4s.goodput_share), 1);
            add(point.l4s.and_then(|l4s| Some(1e3 * l4s.queueing_delay_p95_s?)), 3);
        }
        out += "</tr>";
    }
    out + "</tbody></table></div>"
}

fn rules(sizing: &Sizing) -> String {
    if sizing.rules.is_empty() {
        return "<p>There are none: rules describe links that stay as they are.</p>".into();
    }
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\">rule</th><th scope=\"col\">packets</th>\
         <th scope=\"col\">made for this</th><th scope=\"col\" class=\"reason\">takes for granted</th><th scope=\"col\" class=\"reason\">source</th></tr></thead><tbody>",
    );
    for rule in &sizing.rules {
        let _ = write!(
            out,
            "<tr><th scope=\"row\">{}</th><td>{}</td><td>{}</td><td class=\"reason\">{}</td><td class=\"reason\">{}</td></tr>",
            escape_html(&rule.name),
            number(rule.packets.map(|packets| packets as f64), 0),
            if rule.fits { "yes" } else { "no" },
            escape_html(&rule.because),
            escape_html(rule.source)
        );
    }
    out + "</tbody></table></div>"
}

fn tables(sizing: &Sizing) -> String {
    let curve: Vec<(String, Point)> = sizing
        .curve
        .iter()
        .map(|point| (if Some(point.packets) == sizing.knee { "Knee" } else { "" }.to_owned(), *point))
        .collect();
    let variants: Vec<(String, Point)> =
        sizing.sensitivity.iter().map(|variant| (capitalized(&variant.what), variant.point)).collect();
    let best = |best: bool| if best { ", best" } else { "" };
    let policies: Vec<(String, Point)> = sizing
        .pareto
        .iter()
        .map(|policy| (format!("{}{}", policy.queue, best(policy.best)), policy.point))
        .collect();
    let titled = |title: &str, rows: &[(String, Point)]| match rows.is_empty() {
        true => String::new(),
        false => format!("<h3>{title}</h3>{}", table(rows)),
    };
    let calls: Vec<Option<Call>> = sizing.pareto.iter().map(|policy| policy.call).collect();
    let against = "Utilization against delay; best: no other has more utilization and less delay";
    titled("The curve", &curve)
        + &titled("The recommended limit with", &variants)
        + &if policies.is_empty() {
            String::new()
        } else {
            format!("<h3>{against}</h3>{}", table_with_calls(&policies, &calls))
        }
}

fn lines(sizing: &Sizing) -> String {
    let line = |line: &lab::study::size::Line| {
        let says =
            if line.says.is_empty() { String::new() } else { format!(": {}", escape_html(&line.says)) };
        format!(
            "<p><b>{}</b>{says} <small>({})</small></p><pre>{}</pre>",
            escape_html(line.system),
            escape_html(line.source),
            escape_html(&line.line)
        )
    };
    sizing.lines.iter().map(line).collect()
}

fn list(items: &[String]) -> String {
    let item = |item: &String| format!("<li>{}</li>", escape_html(item));
    if items.is_empty() {
        String::new()
    } else {
        format!("<ul>{}</ul>", items.iter().map(item).collect::<String>())
    }
}

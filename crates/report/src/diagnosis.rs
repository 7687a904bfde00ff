//! The page of `tightlink diagnose`: for each direction of a connection the shares of its time as a bar, the change that
//! would help, and charts. `diagnosis/charts.rs` has the charts.

mod charts;

use super::chart::{CaseData, PageData};
use super::frame::Frame;
use super::page::{charts_of, legend, paragraphs};
use super::picture::{Picture, against_time};
use super::table::{cell, decimals_of};
use super::text::{bit_rate, delay, escape_html, json_for_script, prose, short, volume};
use estimate::diagnosis::{Diagnosis, Evidence, Vantage, WindowSizing};
use lab::study::diagnosis::Proposal;
use std::fmt::Write as _;

const BODY: &str = include_str!("../assets/diagnosis.html");
const SCRIPT: &str = include_str!("../assets/report.js");

/// The data of a page of diagnoses.
#[derive(Clone, Debug)]
pub struct DiagnosisPage<'a> {
    /// The headline.
    pub title: &'a str,
    /// The directions of connections, in the order of the page.
    pub connections: Vec<DiagnosedConnection<'a>>,
    /// Remarks, such as the number of connections that are not shown.
    pub remarks: Vec<String>,
    /// The whole result as text.
    pub numbers: String,
    /// The command that made the page.
    pub command: String,
}

/// One direction of a connection.
#[derive(Clone, Copy, Debug)]
pub struct DiagnosedConnection<'a> {
    /// Its evidence.
    pub evidence: &'a Evidence,
    /// Its limits.
    pub diagnosis: &'a Diagnosis,
    /// The change that would help.
    pub proposal: &'a Proposal,
    /// The process that has the socket, and its name, if they are known.
    pub program: Option<(u32, &'a str)>,
    /// The name of its part of the page: "up, from the sender to the receiver".
    pub name: Option<&'a str>,
    /// Further measurements, each with its name.
    pub facts: &'a [(&'static str, String)],
}

/// Returns the charts of all directions as pictures.
#[must_use]
pub fn pictures(connections: &[DiagnosedConnection<'_>]) -> Vec<Picture> {
    against_time(&connections.iter().map(charts::case_data).collect::<Vec<_>>())
}

impl DiagnosisPage<'_> {
    /// Returns the page: one HTML document, as [`Report::html`](crate::Report::html) does.
    #[must_use]
    pub fn html(&self) -> String {
        let data: Vec<CaseData> = self.connections.iter().map(charts::case_data).collect();
        let cases = self.cases(&data);
        let frame = Frame {
            title: self.title,
            source: None,
            scenario_text: &self.numbers,
            scenario_heading: "All numbers".into(),
            command: &self.command,
            data: json_for_script(&PageData { cases: data }),
            script: SCRIPT,
        };
        frame.fill(BODY, |name| {
            Some(match name {
                "connections" => cases.clone(),
                "remarks" => remarks(&self.remarks),
                _ => return None,
            })
        })
    }

    fn cases(&self, data: &[CaseData]) -> String {
        let several = self.connections.len() > 1;
        let both = self.connections.iter().zip(data).enumerate();
        both.map(|(place, (connection, data))| {
            let (n, name, body) = (place + 1, ends(connection), body(connection, data, place));
            if !several {
                return format!("<section id=\"case-1\"><h2>{name}</h2>{body}</section>");
            }
            let open = if place == 0 { " open" } else { "" };
            format!(
                "<details class=\"case\" id=\"case-{n}\"{open}><summary><h2><b>{n}</b> {name}</h2></summary>{body}</details>"
            )
        })
        .collect()
    }
}

/// Writes "192.0.2.1:443 → 198.51.100.7:43210, received by curl (process 4711)".
fn ends(connection: &DiagnosedConnection<'_>) -> String {
    let direction = connection.evidence.direction;
    let place = match connection.evidence.vantage {
        Vantage::SenderSocket => "sent",
        Vantage::ReceiverSocket => "received",
        Vantage::SenderCapture => "captured at the sender",
        Vantage::MiddleCapture => "captured between both hosts",
        Vantage::ReceiverCapture => "captured at the receiver",
    };
    let by = connection.program.map_or_else(String::new, |(pid, name)| format!(" by {name} (process {pid})"));
    let name = connection.name.map_or_else(String::new, |name| format!("{name}: "));
    escape_html(&format!("{name}{} → {}, {place}{by}", direction.source, direction.destination))
}

fn body(connection: &DiagnosedConnection<'_>, data: &CaseData, place: usize) -> String {
    let DiagnosedConnection { evidence, diagnosis, proposal, .. } = connection;
    let mut out = headline(connection) + &shares(diagnosis);
    out += "<h3>What to do</h3>";
    out += &paragraphs(&proposal.sentences);
    if !proposal.remedies.is_empty() {
        let lines = proposal.remedies.iter().map(|remedy| {
            format!(
                "<li><span class=\"place\">{}</span> <code>{}</code></li>",
                escape_html(&remedy.place),
                escape_html(&remedy.command)
            )
        });
        let _ = write!(out, "<ul class=\"remedies\">{}</ul>", lines.collect::<String>());
    }
    out += &effects(evidence, proposal);
    out += "<h3>Against time</h3>";
    if !data.charts.is_empty() {
        out += &legend(data);
    }
    out += &charts_of(&data.charts, &place.to_string());
    out + "<h3>Evidence</h3>" + &facts(evidence, connection.facts)
}

/// Writes the first cause with its confidence, and the goodput.
fn headline(connection: &DiagnosedConnection<'_>) -> String {
    let DiagnosedConnection { evidence, diagnosis, .. } = connection;
    let percents = diagnosis.shares.percents();
    let verdict = match diagnosis.cause {
        Some(cause) => format!(
            "First limit: {}, for {} % of the time. Confidence: {}.",
            cause.title(),
            percents.iter().find(|(other, _)| *other == cause).map_or(0, |(_, percent)| *percent),
            diagnosis.confidence.name()
        ),
        None => "The evidence does not show what limits it.".to_owned(),
    };
    let moved = format!(
        "{} in {} s: {}.",
        volume(evidence.delivered().get() as f64),
        short(evidence.observed().as_secs_f64()),
        bit_rate(evidence.goodput().as_bps_f64())
    );
    format!(
        "<p class=\"verdict\">{}</p><p>{} {}</p>",
        prose(&verdict),
        prose(&moved),
        prose(&diagnosis.reason)
    )
}

/// Writes the shares of time as a bar with its legend, the largest first.
fn shares(diagnosis: &Diagnosis) -> String {
    let parts = diagnosis.shares.percents();
    if parts.is_empty() {
        return String::new();
    }
    let (mut bar, mut legend, mut label) = (String::new(), String::new(), Vec::new());
    for (cause, percent) in parts {
        let (place, name, shown) = (cause as usize + 1, cause.title(), format!("{percent} %"));
        let _ = write!(bar, "<i class=\"share-{place}\" style=\"flex-grow:{percent}\"></i>");
        let _ =
            write!(legend, "<li><i class=\"share-{place}\"></i>{} {}</li>", escape_html(name), prose(&shown));
        label.push(format!("{name} {shown}"));
    }
    let label = escape_html(&label.join(", "));
    format!(
        "<div class=\"shares\" role=\"img\" aria-label=\"Shares of time: {label}\">{bar}</div><ul class=\"share-names\">{legend}</ul>"
    )
}

/// Writes the measured and the simulated numbers, if there are simulated ones.
fn effects(evidence: &Evidence, proposal: &Proposal) -> String {
    if proposal.now.or(proposal.after).is_none() {
        return String::new();
    }
    let capacity = evidence.capacity.map(units::Rate::as_bps_f64);
    let measured = [
        Some(proposal.measured_bps / 1e6),
        capacity.filter(|rate| *rate > 0.0).map(|rate| proposal.measured_bps / rate * 100.0),
        charts::queueing(evidence).map(|seconds| seconds * 1e3),
    ];
    let mut rows = vec![("measured", measured)];
    for (name, outcome) in
        [("simulated as it is", proposal.now), ("simulated after the change", proposal.after)]
    {
        rows.extend(outcome.map(|of| {
            (
                name,
                [Some(of.goodput_bps / 1e6), Some(of.utilization * 100.0), Some(of.queueing_delay_s * 1e3)],
            )
        }));
    }
    let mut out = String::from(
        "<div class=\"scroll\"><table class=\"summary\"><thead><tr><th scope=\"col\">state</th>",
    );
    for (name, unit) in [("goodput", "Mbit/s"), ("utilization", "%"), ("queueing delay", "ms")] {
        let _ = write!(out, "<th scope=\"col\">{name} <small>{unit}</small></th>");
    }
    out += "</tr></thead><tbody>";
    for (name, numbers) in &rows {
        let _ = write!(out, "<tr><th scope=\"row\">{name}</th>");
        for (column, number) in numbers.iter().enumerate() {
            out += &cell(
                *number,
                None,
                decimals_of(rows.iter().filter_map(|(_, numbers)| numbers[column])).min(1),
            );
        }
        out += "</tr>";
    }
    out += "</tbody></table></div>";
    if !proposal.assumptions.is_empty() {
        let _ = write!(
            out,
            "<p class=\"hint\">Simulated under assumptions: {}.</p>",
            escape_html(&proposal.assumptions.join("; "))
        );
    }
    out
}

/// Writes what is known about the path and the connection.
fn facts(evidence: &Evidence, further: &[(&'static str, String)]) -> String {
    let mut rows: Vec<(&str, String)> = Vec::new();
    let unknown = || "unknown".to_owned();
    let rtt = evidence.base_round_trip.map_or_else(unknown, |span| delay(span.as_secs_f64()));
    rows.push(("base RTT", rtt));
    let capacity = evidence.capacity.map(|rate| bit_rate(rate.as_bps_f64()));
    rows.push((
        "bottleneck's rate",
        capacity.unwrap_or_else(|| "unknown: the path was never full".to_owned()),
    ));
    let buffer = evidence.buffer.map_or_else(unknown, |buffer| {
        let least = if buffer.at_least { "at least " } else { "" };
        format!("{least}{}", volume(buffer.size.get() as f64))
    });
    rows.push(("buffer at the bottleneck", buffer));
    rows.push(("congestion control", evidence.control.clone().unwrap_or_else(unknown)));
    let again: u64 = evidence.intervals.iter().map(|interval| interval.retransmitted).sum();
    let needless = if evidence.needless > 0 {
        format!(", {} of them needless", evidence.needless)
    } else {
        String::new()
    };
    rows.push(("segments sent again", format!("{again}{needless}")));
    rows.push(("loss episodes", evidence.episode_count().to_string()));
    rows.push(("retransmission timeouts", evidence.timeouts.to_string()));
    if evidence.scaling_off {
        rows.push(("window scaling", "off: windows have 65,535 bytes at most".to_owned()));
    }
    if let Some(sizing) = evidence.sizing {
        let by = match sizing {
            WindowSizing::Kernel => "the kernel (autotuning)",
            WindowSizing::Program => "the program (SO_RCVBUF)",
            WindowSizing::AutotuningOff => "a fixed default, because autotuning is off",
        };
        rows.push(("receive window sized by", by.to_owned()));
    }
    if evidence.inferred_scale {
        rows.push(("scale of the window", "inferred: the handshake was not seen".to_owned()));
    }
    let rows = further
        .iter()
        .chain(&rows)
        .map(|(name, value)| format!("<tr><th scope=\"row\">{name}</th><td>{}</td></tr>", prose(value)));
    format!("<table class=\"facts\"><tbody>{}</tbody></table>", rows.collect::<String>())
}

fn remarks(remarks: &[String]) -> String {
    if remarks.is_empty() {
        return String::new();
    }
    let notes = remarks.iter().map(|note| format!("<li>{}</li>", escape_html(note)));
    format!("<section><h2>Remarks</h2><ul>{}</ul></section>", notes.collect::<String>())
}

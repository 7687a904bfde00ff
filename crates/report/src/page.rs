//! The page around the charts: the template and the parts that fill it.

use super::cell::station_table;
use super::chart::{CaseData, Chart, MAX_FLOWS, MAX_POINTS};
use super::charts::page_data;
use super::completion::user_table;
use super::flow_table::flow_table;
use super::flows::Role;
use super::frame::{Frame, scenario};
use super::sentences::change;
use super::table::{mark, table, table_hint, tag};
use super::text::{escape_html, in_words, json_for_script, prose, short};
use super::traffic::traffic_table;
use super::{Case, Report, Verdict};
use lab::run::record::Engine;
use std::collections::BTreeMap;
use std::fmt::Write as _;

const BODY: &str = include_str!("../assets/report.html");
const SCRIPT: &str = include_str!("../assets/report.js");

/// Writes the whole page.
#[must_use]
pub fn page(report: &Report) -> String {
    let data = page_data(report);
    let frame = Frame {
        title: &report.title,
        source: report.source.as_deref(),
        scenario_text: &report.scenario_text,
        scenario_heading: scenario(&report.scenario_name),
        command: &report.command,
        data: json_for_script(&data),
        script: SCRIPT,
    };
    frame.fill(BODY, |name| {
        Some(match name {
            "headline" => paragraphs(&headline(report)),
            "engines" => engines(report).into_iter().map(tag).collect::<Vec<_>>().join(" "),
            "table" => table(report),
            "table-hint" => table_hint(&table(report)),
            "verdicts" => verdicts(&report.verdicts),
            "overview" => overview(report),
            "cases" => cases(report, &data.cases),
            "thinning" => thinning(report),
            "remarks" => remarks(report),
            _ => return None,
        })
    })
}

/// Replaces each `{{name}}` of the template once; the text that is filled in is not searched again.
pub(super) fn fill(template: &str, part: impl Fn(&str) -> String) -> String {
    let mut pieces = template.split("{{");
    let mut out = pieces.next().unwrap_or_default().to_string();
    for piece in pieces {
        match piece.split_once("}}") {
            Some((name, rest)) => {
                out += &part(name);
                out += rest;
            }
            None => out += piece,
        }
    }
    out
}

/// The beginnings of our own scenarios' ids, which do not name a published result.
const OWN_SOURCES: [&str; 3] = ["compare:", "protocols:", "tightlink:"];

pub(super) fn source(id: &str) -> String {
    let own = OWN_SOURCES.iter().any(|own| id.starts_with(own));
    let what = if own { "Scenario" } else { "Published result" };
    format!("<p class=\"source\">{what} <code>{}</code></p>", escape_html(id))
}

pub(super) fn paragraphs(sentences: &[String]) -> String {
    sentences.iter().map(|s| format!("<p>{}</p>", prose(s))).collect()
}

fn engines(report: &Report) -> Vec<Engine> {
    let has = |e: &Engine| report.cases.iter().flat_map(|c| &c.records).any(|r| r.summary.engine == *e);
    Engine::ALL.into_iter().filter(has).collect()
}

/// Writes the headline. A lone case has its own sentences. Several get the changes between them, the range of each
/// engine's goodputs, and the numbers of cases and of claims that held.
fn headline(report: &Report) -> Vec<String> {
    if let [case] = report.cases.as_slice() {
        return case.sentences.clone();
    }
    let names: Vec<String> = engines(report).iter().map(ToString::to_string).collect();
    let names = if names.is_empty() { "no engine".into() } else { in_words(&names) };
    let mut out = change(&report.cases);
    for engine in engines(report).into_iter().filter(|&e| e != Engine::Model) {
        out.extend(spread(report, engine));
    }
    out.push(format!("The page has {} cases, answered by {names}.", report.cases.len()));
    out.extend(claims(&report.verdicts));
    out
}

/// Counts the claims that held, of those that an engine judged.
fn claims(verdicts: &[Verdict]) -> Option<String> {
    let judged = verdicts.iter().filter(|verdict| !verdict.is_left_out()).count();
    let held = verdicts.iter().filter(|verdict| verdict.held && !verdict.is_left_out()).count();
    (judged > 0).then(|| format!("{held} of {judged} checked claims held."))
}

/// Writes "sim: goodput between 41.2 and 88.0 Mbit/s; furthest from the model in case 2 (+2.1 %)."
fn spread(report: &Report, engine: Engine) -> Option<String> {
    let of = |case: &Case, e: Engine| {
        let record = case.records.iter().find(|r| r.summary.engine == e && r.summary.is_exact());
        record.map(|r| r.summary.goodput_bps())
    };
    let rates: Vec<f64> = report.cases.iter().filter_map(|c| of(c, engine)).collect();
    let least = rates.iter().copied().reduce(f64::min)? / 1e6;
    let most = rates.iter().copied().reduce(f64::max)? / 1e6;
    let (least, most) = (short(least), short(most));
    let mut text = match least == most {
        true => format!("{engine}: goodput of {least} Mbit/s"),
        false => format!("{engine}: goodput between {least} and {most} Mbit/s"),
    };
    let apart = report.cases.iter().enumerate().filter_map(|(i, c)| {
        let (value, model) = (of(c, engine)?, of(c, Engine::Model)?);
        (model > 0.0).then_some((i, value, model))
    });
    let furthest = apart.max_by(|a, b| (a.1 / a.2 - 1.0).abs().total_cmp(&(b.1 / b.2 - 1.0).abs()));
    if let Some((i, value, model)) = furthest
        && let Some(difference) = super::text::difference(value, model)
    {
        let _ = write!(text, "; furthest from the model in case {} ({difference})", i + 1);
    }
    Some(text + ".")
}

/// Writes the claims and their verdicts; empty without claims.
pub(super) fn verdicts(verdicts: &[Verdict]) -> String {
    if verdicts.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section><h2>Published claims</h2><ul class=\"verdicts\">");
    for v in verdicts {
        let word = v.word();
        let (class, mark) = match (v.held, v.is_left_out()) {
            (_, true) => ("", "–"),
            (true, _) => ("held", "✓"),
            (false, _) => ("failed", "✗"),
        };
        let (claim, mut detail) = (escape_html(&v.claim), escape_html(&v.detail));
        if let Some(reason) = &v.disagrees {
            let _ = write!(detail, "<br>{}", escape_html(reason));
        }
        let _ = write!(
            out,
            "<li class=\"{class}\"><b><i aria-hidden=\"true\">{mark}</i> {word}</b><div>{claim}<small>{detail}</small></div></li>"
        );
    }
    out + "</ul></section>"
}

/// A chart that compares all cases.
#[derive(Clone, Copy, Debug)]
pub(super) struct Overview {
    pub(super) kind: &'static str,
    pub(super) title: &'static str,
    pub(super) unit: &'static str,
    note: &'static str,
}

/// The charts that compare all cases.
pub(super) const OVERVIEWS: [Overview; 2] = [
    Overview {
        kind: "overview-goodput",
        title: "Goodput",
        unit: "Mbit/s",
        note: "all flows of a case; the tall mark is the available bandwidth",
    },
    Overview {
        kind: "overview-rtt",
        title: "Mean round-trip time",
        unit: "ms",
        note: "mean over the flows; the tall mark is the base RTT",
    },
];

fn overview(report: &Report) -> String {
    if report.cases.len() < 2 {
        return String::new();
    }
    format!(
        "<section><h2>All cases at a glance <span class=\"marks\">{}</span></h2><div class=\"pair\">{}</div></section>",
        engines(report).into_iter().map(mark).collect::<String>(),
        OVERVIEWS.map(|of| figure(of.title, of.unit, of.note, of.kind, "")).concat()
    )
}

/// Writes the HTML figure for a chart. `case` is the number of the case; it is empty for an overview.
pub(super) fn figure(title: &str, unit: &str, note: &str, kind: &str, case: &str) -> String {
    format!(
        "<figure><figcaption><b>{title}</b> <span class=\"unit\">{unit}</span> <span class=\"note\">{}</span>\
         <button type=\"button\" class=\"save\" title=\"Save this chart as an SVG file\">SVG</button></figcaption>\
         <div class=\"chart\" data-chart=\"{kind}\" data-case=\"{case}\"></div></figure>",
        escape_html(note)
    )
}

fn cases(report: &Report, data: &[CaseData]) -> String {
    let several = report.cases.len() > 1;
    let both = report.cases.iter().zip(data).enumerate();
    both.map(|(i, (case, data))| {
        let n = i + 1;
        if !several {
            let body = case_body(i, case, data, false);
            return format!("<section id=\"case-1\"><h2>Against time</h2>{body}</section>");
        }
        let (open, label) = (if i == 0 { " open" } else { "" }, escape_html(&case.label));
        format!(
            "<details class=\"case\" id=\"case-{n}\"{open}><summary><h2><b>{n}</b> {label}</h2></summary>{}</details>",
            case_body(i, case, data, true)
        )
    })
    .collect()
}

/// Writes the charts, then the tables of flows, stations, users and cross traffic. With several cases each section
/// repeats its sentences; a single case shows them at the top.
fn case_body(index: usize, case: &Case, data: &CaseData, several: bool) -> String {
    let mut out = String::new();
    if several {
        out += &paragraphs(&case.sentences);
    }
    for absent in &case.absent {
        let _ = write!(out, "<p class=\"absent\">{}</p>", escape_html(absent));
    }
    if !data.charts.is_empty() {
        out += &legend(data);
    }
    out += &charts_of(&data.charts, &index.to_string());
    let tables = [
        ("Flows", flow_table(case)),
        ("Stations", station_table(case)),
        ("Users", user_table(case)),
        ("Cross traffic", traffic_table(case)),
    ];
    for (title, table) in tables.into_iter().filter_map(|(title, table)| Some((title, table?))) {
        let _ = write!(out, "<h3>{title}</h3>{table}");
    }
    out + &runs(case)
}

/// Returns the HTML figures for the charts of the case with the number `case`.
pub(super) fn charts_of(charts: &[Chart], case: &str) -> String {
    if charts.is_empty() {
        return "<p class=\"absent\">Nothing was recorded against time.</p>".to_owned();
    }
    let figures = charts.iter().map(|chart| {
        let title = chart.panel.map_or_else(|| chart.title.clone(), |of| format!("{}, {of}", chart.title));
        figure(&title, &chart.unit, &chart.note, &chart.kind, case)
    });
    format!("<div class=\"charts\">{}</div>", figures.collect::<String>())
}

/// Writes switches for engines and, if there are several, for flows.
pub(super) fn legend(data: &CaseData) -> String {
    let mut engines: Vec<Engine> = Vec::new();
    let mut roles: Vec<(Role, String)> = Vec::new();
    for trace in data.charts.iter().flat_map(|c| &c.traces) {
        if !engines.contains(&trace.engine) {
            engines.push(trace.engine);
        }
        if let Some(role) = trace.role
            && !roles.iter().any(|(r, _)| *r == role)
        {
            let name = trace.name.strip_suffix(&format!(", {}", trace.engine)).unwrap_or(&trace.name);
            roles.push((role, name.to_string()));
        }
    }
    roles.sort_by_key(|(role, _)| match role {
        Role::All => (0, 0),
        Role::Flow(i) => (1, *i),
        Role::Others => (2, 0),
    });
    engines.sort_unstable();
    let colored = if data.colored_flows > 0 { " colored" } else { "" };
    let mut out = format!("<div class=\"legend{colored}\" role=\"group\" aria-label=\"Curves shown\">");
    // Pages of a transfer and of a program behind a link do not have an engine.
    if data.summaries.is_empty() {
        engines.clear();
    }
    let gap = if engines.is_empty() { "" } else { "<span class=\"gap\"></span>" };
    for engine in engines {
        let _ = write!(
            out,
            "<button type=\"button\" aria-pressed=\"true\" data-engine=\"{engine}\">{}</button>",
            tag(engine)
        );
    }
    if roles.len() > 1 {
        out += gap;
        for (role, name) in roles {
            let key = match role {
                Role::Flow(i) => i.to_string(),
                Role::Others => "others".into(),
                Role::All => "all".into(),
            };
            let name = escape_html(&name);
            // The sample next to the switch is the line that the flow has in every panel.
            let line = match role {
                _ if data.colored_flows == 0 => String::new(),
                Role::Flow(i) => format!("<i class=\"flow flow-{}\" aria-hidden=\"true\"></i>", i + 1),
                Role::Others | Role::All => "<i class=\"flow flow-all\" aria-hidden=\"true\"></i>".into(),
            };
            let _ = write!(
                out,
                "<button type=\"button\" aria-pressed=\"true\" data-role=\"{key}\">{line}{name}</button>"
            );
        }
    }
    out + "<button type=\"button\" class=\"reset\" hidden>Whole time</button></div>"
}

/// Writes "sim: 50 s measured, seed 1, took 0.12 s."
fn runs(case: &Case) -> String {
    let parts = case.records.iter().map(|r| &r.summary).filter(|s| s.engine != Engine::Model).map(|s| {
        let (measured, took) = (short(s.measured_s), short(s.wall_s));
        format!("{}: {measured} s measured, seed {}, took {took} s", s.engine, s.seed)
    });
    let hash = case.records.first().map(|r| escape_html(&r.summary.scenario_hash)).unwrap_or_default();
    let parts: Vec<String> = parts.chain([format!("scenario <code>{hash}</code>")]).collect();
    format!("<p class=\"runs\">{}</p>", parts.join(" · "))
}

/// Explains the thinning of the curves, and the samples behind the table's numbers.
fn thinning(report: &Report) -> String {
    let mut out = String::from("Numbers in the table come from all samples of the measured time");
    out += match report.cases.iter().any(|c| c.warmup_s > 0.0) {
        true => "; the warm-up, shaded, is left out of them. ",
        false => ". ",
    };
    let _ = write!(
        out,
        "To keep the page quick, a curve has at most {MAX_POINTS} points: round-trip time, window and backlog keep \
         the least and greatest value of each short stretch, goodput is averaged and drops are added up over the \
         interval each chart names."
    );
    if report
        .cases
        .iter()
        .flat_map(|c| &c.records)
        .any(|r| r.series.spread.is_empty() && r.series.flows.len() > MAX_FLOWS)
    {
        let _ = write!(
            out,
            " Of more than {MAX_FLOWS} flows the first {MAX_FLOWS} are drawn, the others as their mean."
        );
    }
    if let Some(record) = report.cases.iter().flat_map(|c| &c.records).find(|r| !r.series.spread.is_empty()) {
        let _ = write!(
            out,
            " Of {} flows {} have curves of their own; the median and the mean or sum are those of all flows.",
            record.summary.flows.len(),
            record.series.flows.len().min(MAX_FLOWS),
        );
    }
    out
}

/// Writes the remarks on the runs, each once with the cases that it is about.
fn remarks(report: &Report) -> String {
    let mut parts: BTreeMap<(Engine, &str), Vec<usize>> = BTreeMap::new();
    for (i, case) in report.cases.iter().enumerate() {
        for record in &case.records {
            for note in &record.notes {
                // The page shows the engine's name before the note.
                let text = note.text();
                let own = format!("{}: ", record.summary.engine);
                let text = text.strip_prefix(own.as_str()).unwrap_or(text);
                parts.entry((record.summary.engine, text)).or_default().push(i + 1);
            }
        }
    }
    if parts.is_empty() {
        return String::new();
    }
    let mut out = String::from("<section><h2>Remarks on the runs</h2><ul>");
    for ((engine, note), mut cases) in parts {
        cases.dedup();
        let place = match cases.len() {
            n if n == report.cases.len() => String::new(),
            _ => format!(
                " <small>case {}</small>",
                cases.iter().map(usize::to_string).collect::<Vec<_>>().join(", ")
            ),
        };
        let _ = write!(out, "<li>{} {}{place}</li>", tag(engine), escape_html(note));
    }
    out + "</ul></section>"
}

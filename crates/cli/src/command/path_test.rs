//! The report of a test of the path, at either end: as text, as JSON and as a page. The verdict on each load is that of
//! `tightlink diagnose`.

use super::diagnose::{Case, data, page, words};
use crate::problem::Problem;
use crate::source::command_line;
use lab::study::diagnosis::{End, Proposal, Subject, propose};
use report::diagnosis::{DiagnosedConnection, DiagnosisPage};
use serde_json::{Value, json};
use std::path::Path;
use transfer::{PathReport, TogetherReport, WayReport};
use units::{Rate, Span};

/// The directions, as the sender names them.
const UP: &str = "up, from the sender to the receiver";
const DOWN: &str = "down, from the receiver to the sender";

/// The report on a path, with the verdict on each load.
pub(super) struct Tested<'a> {
    report: &'a PathReport,
    up: Option<Load<'a>>,
    down: Option<Load<'a>>,
    /// Both at once: up, and down.
    together: Option<[Load<'a>; 2]>,
}

/// The load in one direction.
struct Load<'a> {
    name: &'static str,
    way: &'a WayReport,
    /// The verdict on the connection that moved the most data; `None` without any evidence.
    case: Option<Case>,
}

impl<'a> Tested<'a> {
    /// Finds the verdict on each load, for the reader at the end that sends up (`true`) or at the other one.
    pub(super) fn new(report: &'a PathReport, at_sender: bool) -> Self {
        let here = |name| if at_sender == (name == UP) { End::Sender } else { End::Receiver };
        let alone =
            |name, way: &'a Option<WayReport>| way.as_ref().map(|way| Load::new(name, way, Some(here(name))));
        let together = report.together.as_ref();
        Self {
            report,
            up: alone(UP, &report.up),
            down: alone(DOWN, &report.down),
            together: together.map(|both| [Load::new(UP, &both.up, None), Load::new(DOWN, &both.down, None)]),
        }
    }

    /// Returns the report as text.
    pub(super) fn text(&self) -> String {
        let mut parts: Vec<Vec<String>> = self.up.iter().chain(&self.down).map(Load::text).collect();
        if let (Some(both), Some(loads)) = (&self.report.together, &self.together) {
            parts.push(together(self.report, both));
            parts.extend(loads.iter().map(|load| {
                let mut lines = vec![format!("{}, while both run", load.name)];
                lines.extend(load.verdict());
                lines
            }));
        }
        let parts: Vec<String> = parts.iter().map(|lines| lines.join("\n")).collect();
        parts.join("\n\n")
    }

    /// Returns the report for programs: its measurements, and with each load the object of `diagnose`.
    pub(super) fn json(&self) -> Value {
        let load = |load: &Option<Load<'_>>| load.as_ref().map(Load::json);
        let together = self.report.together.as_ref().zip(self.together.as_ref());
        let together = together.map(|(both, [up, down])| {
            json!({
                "up": up.json(),
                "down": down.json(),
                "up_loses": both.up_loses,
                "down_loses": both.down_loses,
            })
        });
        json!({ "up": load(&self.up), "down": load(&self.down), "together": together })
    }

    /// Writes the report as a page.
    pub(super) fn write(&self, file: &Path) -> Result<(), Problem> {
        let alone = self.up.iter().chain(&self.down).map(|load| (load, load.name.to_owned()));
        let both = self.together.iter().flatten();
        let both = both.map(|load| (load, format!("{}, while both run", load.name)));
        let loads: Vec<_> =
            alone.chain(both).map(|(load, name)| (load.case.as_ref(), name, load.way.lines())).collect();
        let connections = loads.iter().filter_map(|(case, name, facts)| {
            let case = case.as_ref()?;
            Some(DiagnosedConnection {
                evidence: &case.evidence,
                diagnosis: &case.diagnosis,
                proposal: case.proposal.as_ref()?,
                program: None,
                name: Some(name),
                facts,
            })
        });
        let compared = compared(self.report).into_iter();
        let remarks = compared.map(|(way, line)| format!("Both at once, {way}: {line}."));
        let html = DiagnosisPage {
            title: "What limits this path",
            connections: connections.collect(),
            remarks: remarks.collect(),
            numbers: self.text(),
            command: command_line(),
        }
        .html();
        page::keep(file, &html)
    }
}

impl<'a> Load<'a> {
    /// Finds the verdict. `here` is the end at which the report is read, for a change that would help a load alone.
    fn new(name: &'static str, way: &'a WayReport, here: Option<End>) -> Self {
        let case = way.evidence.as_ref().map(|evidence| {
            let mut case = Case::new(evidence.clone(), None, false);
            let rate = way.capacity_bps.filter(|_| way.by_trains).map(Rate::from_bps);
            case.proposal = Some(match here {
                Some(_) => {
                    let subject = Subject { rate, here, ..Subject::default() };
                    let mut proposal = propose(&case.evidence, &case.diagnosis, &subject);
                    proposal.sentences.extend(shared(way));
                    proposal
                }
                None => with_the_other_direction(evidence.goodput()),
            });
            case
        });
        Self { name, way, case }
    }

    fn text(&self) -> Vec<String> {
        let Self { name, way, .. } = self;
        let mut lines = vec![format!("{name}, {}", length(way, ""))];
        lines.extend(way.lines().into_iter().map(line));
        lines.extend(self.verdict());
        lines
    }

    /// Returns the lines of the verdict.
    fn verdict(&self) -> Vec<String> {
        self.case.as_ref().map_or_else(
            || {
                vec![
                    "  The kernel does not list its connections, so what limits the load is unknown."
                        .to_owned(),
                ]
            },
            words::verdict,
        )
    }

    fn json(&self) -> Value {
        let mut object = json!(self.way);
        object["diagnosis"] = self.case.as_ref().map_or(Value::Null, data::of);
        object
    }
}

/// Returns the proposal while the other direction has a load: none, as the simulator has one direction.
fn with_the_other_direction(goodput: Rate) -> Proposal {
    let sentence =
        "A change is proposed for each direction alone, because the simulated path has one direction.";
    Proposal {
        sentences: vec![sentence.to_owned()],
        measured_bps: goodput.as_bps_f64(),
        ..Proposal::default()
    }
}

/// Returns the sentences about several connections that share a load.
fn shared(way: &WayReport) -> Vec<String> {
    if way.streams < 2 {
        return Vec::new();
    }
    vec![
        format!(
            "{} of {} connections have this first limit, and the one with most data is shown.",
            way.alike, way.streams
        ),
        "They share the path, so each needs its part of what the path needs.".to_owned(),
    ]
}

/// Returns the lines that compare both directions at once with each alone.
fn together(report: &PathReport, both: &TogetherReport) -> Vec<String> {
    let mut lines = vec![format!("both at once, {}", length(&both.up, " in each direction"))];
    lines.extend(compared(report).into_iter().map(line));
    let ms = |seconds: Option<f64>| {
        seconds.map_or_else(|| "not known".to_owned(), |seconds| Span::from_secs_f64(seconds).rounded())
    };
    let (mean, most) = (ms(both.up.loaded_rtt_s), ms(both.up.largest_rtt_s));
    lines.push(line(("round trip", format!("under both loads {mean} in the mean, {most} at most"))));
    for (name, way) in [("RPM up", &both.up), ("RPM down", &both.down)] {
        let rpm = way.responsiveness.map_or_else(|| "not known".to_owned(), |found| found.to_string());
        lines.push(line((name, rpm)));
    }
    lines
}

/// Returns what each direction loses when both run: "18.1 Mbit/s in the second half, 5 % less than alone (19 Mbit/s)".
fn compared(report: &PathReport) -> Vec<(&'static str, String)> {
    let Some(both) = &report.together else { return Vec::new() };
    let ways =
        [("up", &report.up, &both.up, both.up_loses), ("down", &report.down, &both.down, both.down_loses)];
    let rate = |way: &WayReport| Rate::from_bps(way.late_goodput_bps).rounded();
    let compared = ways.map(|(name, alone, way, loses)| {
        let than = alone.as_ref().zip(loses).map_or_else(String::new, |(alone, loses)| {
            let alone = rate(alone);
            match ((loses * 100.0).round(), loses > 0.0) {
                (0.0, _) => format!(", as alone ({alone})"),
                (percent, true) => format!(", {percent} % less than alone ({alone})"),
                (percent, false) => format!(", {} % more than alone ({alone})", -percent),
            }
        });
        (name, format!("{} in the second half{than}", rate(way)))
    });
    compared.into()
}

/// Returns "9.9 s over 1 TCP connection".
fn length(way: &WayReport, each: &str) -> String {
    let plural = if way.streams == 1 { "" } else { "s" };
    format!("{:.1} s over {} TCP connection{plural}{each}", way.load_s, way.streams)
}

fn line((name, value): (&'static str, String)) -> String {
    format!("  {name:<15} {value}")
}

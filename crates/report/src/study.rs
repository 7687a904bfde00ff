//! The page of a comparison, and the case that an answer becomes on it.

use crate::figure::FigurePage;
use crate::picture::Picture;
use crate::sentences::sentences;
use crate::{Case, Report};
use lab::run::resolve::ResolvedFlow;
use lab::study::experiment::{Comparison, Experiment};
use lab::study::task::Answer;

/// The content of a comparison's page: its figure, if the scenario has one, or its cases.
enum Page {
    Figure(FigurePage),
    Cases(Report),
}

/// Writes the page about the results of `experiment`: its figure, if the scenario has one, or its cases.
#[must_use]
pub fn page_of(experiment: &Experiment, compared: &Comparison) -> String {
    match content(experiment, compared) {
        Page::Figure(page) => page.html(),
        Page::Cases(report) => report.html(),
    }
}

/// Returns the charts of that page as pictures.
#[must_use]
pub fn pictures_of(experiment: &Experiment, compared: &Comparison) -> Vec<Picture> {
    match content(experiment, compared) {
        Page::Figure(page) => page.pictures(),
        Page::Cases(report) => report.pictures(),
    }
}

fn content(experiment: &Experiment, compared: &Comparison) -> Page {
    let (first, document) = (&experiment.tasks()[0].resolved, experiment.document());
    let (title, source) = (first.title.clone(), first.source.clone());
    let (scenario_text, scenario_name) = (document.text().to_owned(), document.name().to_owned());
    let (verdicts, command) = (compared.verdicts.clone(), experiment.command.clone());
    if let Some(drawn) = &compared.drawn {
        let (curves, headline) = (drawn.curves.clone(), drawn.headline.clone());
        let page =
            FigurePage { title, source, headline, curves, verdicts, scenario_text, scenario_name, command };
        Page::Figure(page)
    } else {
        let cases = compared.answers.iter().map(Case::of).collect();
        Page::Cases(Report { title, source, scenario_text, scenario_name, cases, verdicts, command })
    }
}

impl Case {
    /// Creates the case that shows the answer on a page.
    #[must_use]
    pub fn of(answer: &Answer) -> Self {
        let resolved = &answer.task.resolved;
        let flow = resolved.connections().next();
        Self {
            label: answer.task.label(),
            settings: answer.task.settings(),
            capacity_bps: resolved.link.rate.as_bps_f64(),
            available_bps: resolved.available().as_bps_f64(),
            base_rtt_s: flow.map_or(0.0, |flow| flow.base_rtt.as_secs_f64()),
            limit_bytes: resolved.limit_bytes().get() as f64,
            socket_buffer_bytes: flow
                .filter(|flow| flow.asked_sizer().is_none())
                .and_then(ResolvedFlow::per_round_trip)
                .map(|bytes| bytes.get() as f64),
            warmup_s: resolved.warmup.as_secs_f64(),
            sentences: sentences(answer),
            records: answer.records.clone(),
            absent: answer.absent.clone(),
        }
    }
}

//! The page of a comparison.

use crate::figure::FigurePage;
use crate::{Case, Report};
use lab::study::experiment::{Compared, Experiment};

/// The page about what `experiment` found: its figure, if the scenario has one, or its cases.
#[must_use]
pub fn page_of(experiment: &Experiment, compared: &Compared) -> String {
    let (first, document) = (&experiment.tasks()[0].resolved, experiment.document());
    let (title, source) = (first.title.clone(), first.source.clone());
    let (scenario_text, scenario_name) = (document.text().to_owned(), document.name().to_owned());
    let (verdicts, command) = (compared.verdicts.clone(), experiment.command.clone());
    if let Some(drawn) = &compared.drawn {
        let (curves, headline) = (drawn.curves.clone(), drawn.headline.clone());
        FigurePage { title, source, headline, curves, verdicts, scenario_text, scenario_name, command }.html()
    } else {
        let cases = compared.answers.iter().map(Case::of).collect();
        Report { title, source, scenario_text, scenario_name, cases, verdicts, command }.html()
    }
}

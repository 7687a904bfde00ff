//! The frame around the charts of every page: the same parts of a template, whatever the page is about.

use super::page::{fill, source};
use super::text::escape_html;

/// The template around the body of every page.
const TEMPLATE: &str = include_str!("../assets/frame.html");
/// The look of pages, and the colours of charts.
pub(super) const STYLE: &str = include_str!("../assets/report.css");
/// The dashes and markers of charts.
pub(super) const LOOKS: &str = include_str!("../assets/looks.json");
const WORDS: &str = include_str!("../assets/words.html");
const PLOTLY: &str = include_str!("../assets/plotly-basic-4.1.1.min.js");

/// The parts that pages share.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) source: Option<&'a str>,
    pub(super) scenario_text: &'a str,
    /// The heading above `scenario_text`, as HTML.
    pub(super) scenario_heading: String,
    pub(super) command: &'a str,
    /// The data that the page draws, as JSON fit for a script.
    pub(super) data: String,
    pub(super) script: &'a str,
}

impl Frame<'_> {
    /// Writes the page with `body` in the middle. `own` returns the parts of `body` by their names.
    pub(super) fn fill(&self, body: &str, own: impl Fn(&str) -> Option<String>) -> String {
        // The scripts' nonce depends on the page's content, so that the same page has the same bytes, and text in it
        // cannot name its own nonce.
        let hash = blake3::Hasher::new()
            .update(self.scenario_text.as_bytes())
            .update(self.data.as_bytes())
            .finalize();
        let own = |name: &str| {
            own(name).unwrap_or_else(|| unreachable!("the template names an unknown part: {name}"))
        };
        let body = fill(body, own);
        fill(TEMPLATE, |name| match name {
            "body" => body.clone(),
            "title" => escape_html(self.title),
            "source" => self.source.map(source).unwrap_or_default(),
            "scenario-heading" => self.scenario_heading.clone(),
            "scenario-text" => escape_html(self.scenario_text),
            "words" => words(&body, &self.data),
            "command" => escape_html(self.command),
            "version" => format!("{} ({})", env!("CARGO_PKG_VERSION"), lab::run::commit()),
            "nonce" => hash.to_hex()[..16].to_owned(),
            "style" => STYLE.into(),
            "data" => self.data.clone(),
            "looks" => LOOKS.into(),
            "plotly" => PLOTLY.into(),
            "script" => self.script.into(),
            other => own(other),
        })
    }
}

/// Writes the heading above the text of the scenario `name`.
pub(super) fn scenario(name: &str) -> String {
    format!("Scenario <code>{}</code>", escape_html(name))
}

/// Writes the explanations of the words that the page uses: those of `body`, and of the lines in the charts of `data`.
fn words(body: &str, data: &str) -> String {
    let lower = body.to_lowercase();
    let used = |term: &str| match term {
        "model" | "sim" | "live" => body.contains(&format!("class=\"engine {term}\"")),
        term => lower.contains(term) || data.to_lowercase().contains(&format!("\"text\":\"{term}")),
    };
    let kept = |line: &&str| {
        let term = line.split_once("<dt>").and_then(|(_, rest)| rest.split_once("</dt>"));
        // A line without a term is kept, because it opens or closes the list.
        term.is_none_or(|(terms, _)| terms.to_lowercase().split(", ").any(used))
    };
    WORDS.lines().filter(kept).fold(String::new(), |out, line| out + line + "\n")
}

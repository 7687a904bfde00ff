//! What every page has around its charts: the same parts of a template, whatever the page is about.

use super::page::{FNV_START, fill, fnv1a, source};
use super::text::escape_html;

const STYLE: &str = include_str!("../../assets/report.css");
const WORDS: &str = include_str!("../../assets/words.html");
const PLOTLY: &str = include_str!("../../assets/plotly-basic-4.1.1.min.js");

/// The parts that pages share.
pub(super) struct Frame<'a> {
    pub(super) title: &'a str,
    pub(super) source: Option<&'a str>,
    pub(super) scenario_text: &'a str,
    pub(super) scenario_name: &'a str,
    pub(super) command: &'a str,
    /// What the page draws, as JSON fit for a script, and the script that draws it.
    pub(super) data: String,
    pub(super) script: &'a str,
}

impl Frame<'_> {
    /// `template` with these parts, and with `own` for those of the page alone.
    pub(super) fn fill(&self, template: &str, own: impl Fn(&str) -> Option<String>) -> String {
        // The same page gives the same bytes, so the nonce is a hash of what is in it.
        let hash = fnv1a(self.data.as_bytes(), fnv1a(self.scenario_text.as_bytes(), FNV_START));
        fill(template, |name| match name {
            "title" => escape_html(self.title),
            "source" => self.source.map(source).unwrap_or_default(),
            "scenario-name" => escape_html(self.scenario_name),
            "scenario-text" => escape_html(self.scenario_text),
            "words" => WORDS.into(),
            "command" => escape_html(self.command),
            "version" => env!("CARGO_PKG_VERSION").into(),
            "nonce" => format!("{hash:016x}"),
            "style" => STYLE.into(),
            "data" => self.data.clone(),
            "plotly" => PLOTLY.into(),
            "script" => self.script.into(),
            other => {
                own(other).unwrap_or_else(|| unreachable!("the template names an unknown part: {other}"))
            }
        })
    }
}

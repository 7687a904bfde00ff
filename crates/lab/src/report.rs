//! The report: one self-contained HTML page about one or more cases, each answered by one or more engines.
//!
//! Reading order: the structs here are all a page shows; `charts` turns records into curves ([`flows`] chooses
//! them, [`decimate`] thins them), `table`, `flow_table` and `page` write the HTML within `frame`, [`text`] makes numbers and strangers' text fit
//! for it.
//! A figure over a sweep has its own page ([`figure`]). How a chart looks is decided in `assets/report.js` (`assets/figure.js`) and
//! `assets/report.css`.

mod case;
pub mod charts;
mod data;
pub mod decimate;
pub mod figure;
mod flow_table;
pub mod flows;
mod frame;
mod heat;
mod measures;
mod page;
mod table;
pub mod text;

use crate::study::claims::Verdict;
pub use case::Case;
use serde::Serialize;

/// All a page shows.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// Headline.
    pub title: String,
    /// Id of the published result, `sobas:fig1-4`.
    pub source: Option<String>,
    /// The scenario file as the person wrote it.
    pub scenario_text: String,
    /// Its file name.
    pub scenario_name: String,
    /// The cases: one, or the points of a sweep.
    pub cases: Vec<Case>,
    /// Verdicts on published relations, if any were checked.
    pub verdicts: Vec<Verdict>,
    /// The command that made the page, and the version.
    pub command: String,
}

impl Report {
    /// The page: one HTML document that opens from a file and asks the network for nothing. The same report gives
    /// the same bytes.
    #[must_use]
    pub fn html(&self) -> String {
        page::page(self)
    }
}

//! Pages, each one self-contained HTML file: of cases that engines answered ([`Report`]), and of a figure over a
//! sweep ([`figure`]). Others are of the buffer that a link needs ([`size`]), of a transfer ([`transfer`]), and of a
//! program behind an emulated link ([`emulated`]). What is not here: how a result comes about, and where a page is
//! kept.
//!
//! Reading order: the structs here are all that a page shows. [`charts`] turns records into the curves of [`chart`]: [`flows`] chooses
//! them, [`decimate`] thins them. `table`, `flow_table` and `page` write the HTML within `frame`. [`text`] escapes
//! text and rounds numbers. `cell` has what only a wireless cell shows, `completion` how long transfers took, `traffic` what
//! cross traffic met.
//! `sentences` says in words what a case found. How a chart looks is decided in `assets/report.js`
//! (`assets/figure.js`) and `assets/report.css`.
//!
//! ```
//! use lab::{run::record::Engine, study::{experiment::Experiment, watch::Unwatched}};
//! use scenario::Document;
//! let document = Document::parse("demo.toml", r#"
//! title = "one flow"
//! duration = "12s"
//! warmup = "2s"
//! [link]
//! rate = "20Mbit/s"
//! queue = { limit = "1 bdp" }
//! [[flow]]
//! rtt = "40ms"
//! "#)?;
//! let folder = tempfile::tempdir()?;
//! let mut experiment = Experiment::new(&document, folder.path())?;
//! experiment.engines = vec![Engine::Model, Engine::Sim];
//! let compared = experiment.compare(&[], &mut Unwatched)?;
//! let page = tightlink_report::page_of(&experiment, &compared);
//! assert!(page.contains("of goodput") && page.ends_with("</html>\n"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod case;
mod cell;
pub mod chart;
pub mod charts;
mod completion;
mod data;
pub mod decimate;
#[cfg(feature = "kernel")]
pub mod emulated;
pub mod figure;
mod flow_table;
pub mod flows;
mod frame;
mod heat;
mod measures;
mod page;
mod sentences;
pub mod size;
mod study;
mod table;
pub mod text;
mod traffic;
pub mod transfer;

pub use case::Case;
use lab::study::claims::Verdict;
use serde::Serialize;
pub use study::page_of;

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

//! Pages, each one a self-contained HTML file. [`Report`] is about cases that engines answered, and [`figure`] about a
//! figure over a sweep. [`size`] is about the buffer that a link needs, [`transfer`] about a transfer, [`emulated`]
//! about a program behind an emulated link, and [`diagnosis`] about what limits connections. The crate neither computes results nor decides where a page is kept.
//!
//! Reading order: the structs here are the content of a page. [`charts`] turns records into the curves of [`chart`]:
//! [`flows`] chooses them, [`decimate`] thins them. `table`, `flow_table` and `page` write the HTML within `frame`.
//! [`text`] escapes text and rounds numbers. `cell` has the parts for a wireless cell, `completion` the times of
//! transfers, `traffic` the delays and losses of cross traffic. `sentences` describes a case's results in words. The
//! look of a chart is decided in `assets/report.js` (`assets/figure.js`), `assets/report.css` and `assets/looks.json`.
//! `swept` decides about the axes of charts against a swept key. [`picture`] draws charts as SVG and PDF.
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
pub mod diagnosis;
#[cfg(feature = "kernel")]
pub mod emulated;
pub mod figure;
mod flow_table;
pub mod flows;
mod frame;
mod heat;
mod measures;
mod page;
pub mod picture;
mod sentences;
pub mod size;
mod study;
mod swept;
mod table;
pub mod text;
mod traffic;
pub mod transfer;

pub use case::Case;
use lab::study::claims::Verdict;
use picture::Picture;
use serde::Serialize;
pub use study::{page_of, pictures_of};

/// The content of a page.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The headline.
    pub title: String,
    /// The id of the published result, `sobas:fig1-4`.
    pub source: Option<String>,
    /// The scenario file as the user wrote it.
    pub scenario_text: String,
    /// Its file name.
    pub scenario_name: String,
    /// The cases: one, or the points of a sweep.
    pub cases: Vec<Case>,
    /// The verdicts on published relations, if any were checked.
    pub verdicts: Vec<Verdict>,
    /// The command that made the page, and the version.
    pub command: String,
}

impl Report {
    /// Writes the page: one HTML document that opens from a file and does not use the network. The same report gives
    /// the same bytes.
    #[must_use]
    pub fn html(&self) -> String {
        page::page(self)
    }

    /// Returns the charts as pictures: those of all cases, then each case's charts against time.
    #[must_use]
    pub fn pictures(&self) -> Vec<Picture> {
        let cases = charts::page_data(self).cases;
        let mut pictures = picture::overviews(&cases);
        pictures.extend(picture::against_time(&cases));
        pictures
    }
}

//! The report: one self-contained HTML page about one or more cases, each answered by one or more engines.
//!
//! Reading order: the structs here are all a page shows; `charts` turns records into curves ([`flows`] chooses
//! them, [`decimate`] thins them), `table`, `flow_table` and `page` write the HTML within `frame`, [`text`] makes numbers and strangers' text fit
//! for it.
//! A figure over a sweep has its own page ([`figure`]). How a chart looks is decided in `assets/report.js` (`assets/figure.js`) and
//! `assets/report.css`.

pub mod charts;
mod data;
pub mod decimate;
pub mod figure;
mod flow_table;
pub mod flows;
mod frame;
mod heat;
pub(crate) mod measures;
mod page;
mod table;
pub mod text;

use crate::record::{Engine, Record};
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

/// One resolved scenario and its answers.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// What tells this case from the others: "socket_buffer = 128kB, limit = 120kB"; empty for a lone case.
    pub label: String,
    /// Capacity of the tight link, bits per second.
    pub capacity_bps: f64,
    /// Available bandwidth left by unresponsive traffic, bits per second.
    pub available_bps: f64,
    /// Base RTT of the first flow, seconds.
    pub base_rtt_s: f64,
    /// Room in the queue, bytes.
    pub limit_bytes: f64,
    /// The socket buffer of the first flow, bytes; `None` for the maximum.
    pub socket_buffer_bytes: Option<f64>,
    /// Start of the run that the metrics leave out, seconds: shaded in the charts.
    pub warmup_s: f64,
    /// Two or three plain sentences that say what the picture means.
    pub sentences: Vec<String>,
    /// One record per engine that could answer, in [`Engine::ALL`](crate::record::Engine::ALL) order.
    pub records: Vec<Record>,
    /// Engines that could not, and why.
    pub absent: Vec<String>,
}

/// What became of one claim.
#[derive(Clone, Debug, Serialize)]
pub struct Verdict {
    /// The claim as a sentence.
    pub claim: String,
    /// Whether it held.
    pub held: bool,
    /// The numbers: "live 79.1 Mbit/s, model 77.2 Mbit/s, apart 1.9 Mbit/s, allowed 3.9 Mbit/s".
    pub detail: String,
    /// Of one that did not hold, as was known, and lies in its band: why.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disagrees: Option<String>,
    /// The engines that it was judged for; none if it was left out.
    pub judged: Vec<Engine>,
    /// The engines that it names and that were not asked, or are too few for a relation between engines.
    pub left_out: Vec<Engine>,
}

impl Verdict {
    /// No engine that was asked could judge it.
    #[must_use]
    pub fn is_left_out(&self) -> bool {
        self.judged.is_empty()
    }

    /// It did not hold, and that is news.
    #[must_use]
    pub fn failed(&self) -> bool {
        !self.held && self.disagrees.is_none() && !self.is_left_out()
    }

    /// "held", "disagrees", "failed" or "left out".
    #[must_use]
    pub fn word(&self) -> &'static str {
        match (self.held, &self.disagrees) {
            _ if self.is_left_out() => "left out",
            (true, _) => "held",
            (false, Some(_)) => "disagrees",
            (false, None) => "failed",
        }
    }
}

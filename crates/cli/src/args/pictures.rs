//! The options for pictures of a report's charts.

use clap::Args;
use report::picture::PictureSize;
use std::path::PathBuf;

#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Pictures for a paper")]
pub(crate) struct PictureOptions {
    /// Draw the report's charts as SVG, without a browser: one chart to FILE, several to FILE-NAME.svg each
    #[arg(long, value_name = "FILE")]
    pub(crate) svg: Option<PathBuf>,
    /// The same as PDF, with embedded fonts
    #[arg(long, value_name = "FILE")]
    pub(crate) pdf: Option<PathBuf>,
    /// Charts to draw, separated by commas (default: all). Runs have rate, rtt, window, backlog, drops and others; with
    /// several flows rate-sim, with several cases case-2-rate. `size` has idle-time, queueing-delay and loss, `emulate`
    /// delay, rate and drops, `diagnose` window, rtt, rate and sequence. A figure's chart has the name of its vertical
    /// axis. An unknown name lists all
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    pub(crate) chart: Vec<String>,
    /// Size of each picture, such as 170x80mm (default: 85x60mm)
    #[arg(long, value_name = "WIDTHxHEIGHT", allow_hyphen_values = true)]
    pub(crate) size: Option<PictureSize>,
}

impl PictureOptions {
    /// Returns true if a picture is asked for.
    pub(crate) fn are_wanted(&self) -> bool {
        self.svg.is_some() || self.pdf.is_some()
    }
}

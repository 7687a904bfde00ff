//! The page of a transfer: its rate, round-trip time and window against time, on a path that no scenario describes.

use super::chart::{CaseData, Chart, MAX_POINTS, MAX_RATE_POINTS, PageData, finish, trace};
use super::decimate::{envelope, interval_means};
use super::frame::Frame;
use super::page::{charts_of, paragraphs};
use super::text::{json_for_script, short};
use lab::run::record::Engine;

const BODY: &str = include_str!("../assets/transfer.html");
const SCRIPT: &str = include_str!("../assets/report.js");

/// The data of a transfer's page.
#[derive(Clone, Debug, Default)]
pub struct TransferPage {
    /// The headline.
    pub title: String,
    /// The sentences above the charts.
    pub sentences: Vec<String>,
    /// All numbers of the transfer, a line for each.
    pub numbers: String,
    /// The time from the origin of the samples' times to the end, seconds.
    pub elapsed_s: f64,
    /// The least round-trip time, seconds, if one was measured.
    pub min_rtt_s: Option<f64>,
    /// The receive window at the end, bytes, if it was limited.
    pub window_bytes: Option<f64>,
    /// The times of the samples, seconds.
    pub t_s: Vec<f64>,
    /// The goodput since the sample before, bits per second.
    pub rate_bps: Vec<f64>,
    /// The round-trip time, seconds.
    pub rtt_s: Vec<f64>,
    /// The smaller of the congestion window and the receive window, bytes.
    pub send_window_bytes: Vec<f64>,
    /// The command that made the page.
    pub command: String,
}

impl TransferPage {
    /// Returns the page: one HTML document, as [`Report::html`](crate::Report::html) does.
    #[must_use]
    pub fn html(&self) -> String {
        let data = CaseData { end_s: self.elapsed_s, charts: self.charts(), ..CaseData::default() };
        let charts = charts_of(&data.charts, "0");
        let frame = Frame {
            title: &self.title,
            source: None,
            scenario_text: &self.numbers,
            scenario_heading: "All numbers of the transfer".into(),
            command: &self.command,
            data: json_for_script(&PageData { cases: vec![data] }),
            script: SCRIPT,
        };
        frame.fill(BODY, |name| {
            Some(match name {
                "headline" => paragraphs(&self.sentences),
                "charts" => charts.clone(),
                "remarks" => String::new(),
                _ => return None,
            })
        })
    }

    fn charts(&self) -> Vec<Chart> {
        let rate = interval_means(&self.t_s, &self.rate_bps, MAX_RATE_POINTS);
        let rtt = envelope(&self.t_s, &self.rtt_s, MAX_POINTS);
        let window = envelope(&self.t_s, &self.send_window_bytes, MAX_POINTS);
        let mut rate_note = "useful data delivered per second".to_owned();
        if rate.every > 0.0 {
            rate_note += &format!("; each point is a mean over {} s", short(rate.every));
        }
        let drawn = |thin, scale| vec![trace(Engine::Live, None, "this transfer".to_owned(), thin, scale)];
        let rtt_note = "time from a segment to its acknowledgement, smoothed by the kernel".to_owned();
        let window_note = "the most data that may be in flight".to_owned();
        let least = self.min_rtt_s.map_or(0.0, |rtt| rtt * 1e3);
        let window_at_end = self.window_bytes.map_or(0.0, |bytes| bytes / 1e3);
        let mut charts = vec![
            finish("rate", "Goodput", "Mbit/s", rate_note, drawn(&rate, 1e-6), &[]),
            finish("rtt", "Round-trip time", "ms", rtt_note, drawn(&rtt, 1e3), &[("least RTT", least)]),
            finish(
                "window",
                "Send window",
                "kB",
                window_note,
                drawn(&window, 1e-3),
                &[("receive window", window_at_end)],
            ),
        ];
        // A lone sample does not make a curve.
        charts.retain(|chart| chart.traces.iter().any(|trace| trace.x.len() > 1));
        charts
    }
}

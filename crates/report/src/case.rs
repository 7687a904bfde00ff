//! The data of a page about one answer.

use lab::run::record::Record;
use serde::Serialize;

/// One resolved scenario and its answers.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// The settings that distinguish this case from the others: "socket_buffer = 128kB, limit = 120kB"; empty for a
    /// lone case.
    pub label: String,
    /// The same as pairs of a key and its value; empty for a lone case.
    pub settings: Vec<(String, String)>,
    /// Capacity of the tight link, bits per second.
    pub capacity_bps: f64,
    /// The available bandwidth that unresponsive traffic leaves, bits per second.
    pub available_bps: f64,
    /// Base RTT of the first flow, seconds.
    pub base_rtt_s: f64,
    /// The room in the queue, bytes.
    pub limit_bytes: f64,
    /// The socket buffer of the first flow, bytes; `None` for the maximum.
    pub socket_buffer_bytes: Option<f64>,
    /// The start of the run that the metrics leave out, seconds: shaded in the charts.
    pub warmup_s: f64,
    /// Two or three plain sentences that explain the picture.
    pub sentences: Vec<String>,
    /// One record per engine that could answer, in [`Engine::ALL`](lab::run::record::Engine::ALL) order.
    pub records: Vec<Record>,
    /// The engines that could not answer, and the reasons.
    pub absent: Vec<String>,
}

impl Case {
    /// Returns true if the case is of a wireless cell; `capacity_bps` is then not a rate that it could carry.
    #[must_use]
    pub fn is_cell(&self) -> bool {
        self.records.iter().any(|record| record.summary.wlan.is_some())
    }
}

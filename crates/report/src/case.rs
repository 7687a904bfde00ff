//! What a page shows of one answer.

use crate::sentences::sentences;
use lab::run::record::Record;
use lab::study::task::Answer;
use serde::Serialize;

/// One resolved scenario and its answers.
#[derive(Clone, Debug, Serialize)]
pub struct Case {
    /// What tells this case from the others: "socket_buffer = 128kB, limit = 120kB"; empty for a lone case.
    pub label: String,
    /// The same as pairs of a key and its value; empty for a lone case.
    pub settings: Vec<(String, String)>,
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
    /// One record per engine that could answer, in [`Engine::ALL`](lab::run::record::Engine::ALL) order.
    pub records: Vec<Record>,
    /// Engines that could not, and why.
    pub absent: Vec<String>,
}

impl Case {
    /// Whether it is of a wireless cell: `capacity_bps` is then no rate that it could carry.
    #[must_use]
    pub fn is_cell(&self) -> bool {
        self.records.iter().any(|record| record.summary.wlan.is_some())
    }

    /// The answer as a page shows it.
    #[must_use]
    pub fn of(answer: &Answer) -> Self {
        let resolved = &answer.task.resolved;
        let flow = resolved.connections().next();
        Self {
            label: answer.task.label(),
            settings: answer.task.settings(),
            capacity_bps: resolved.link.rate.as_bps_f64(),
            available_bps: resolved.available().as_bps_f64(),
            base_rtt_s: flow.map_or(0.0, |flow| flow.base_rtt.as_secs_f64()),
            limit_bytes: resolved.limit_bytes().get() as f64,
            socket_buffer_bytes: flow
                .filter(|flow| flow.asked_sizer().is_none())
                .and_then(|flow| flow.per_round_trip())
                .map(|bytes| bytes.get() as f64),
            warmup_s: resolved.warmup.as_secs_f64(),
            sentences: sentences(answer),
            records: answer.records.clone(),
            absent: answer.absent.clone(),
        }
    }
}

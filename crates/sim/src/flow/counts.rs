//! The counts of a flow over the measured interval.

use super::Flow;
use crate::outcome::FlowReport;
use link::Histogram;
use units::{Bytes, Span, Time};

/// Counts over the measured interval.
#[derive(Debug, Default)]
pub(super) struct Counts {
    pub(super) since: Time,
    pub(super) delivered_before: u64,
    /// Payload delivered by the connections that this one has replaced.
    pub(super) delivered_earlier: u64,
    pub(super) sent: u64,
    pub(super) dropped: u64,
    pub(super) again: u64,
    pub(super) marks: u64,
    pub(super) timeouts_before: u64,
    pub(super) timeouts_earlier: u64,
    /// The send window at the first drop.
    pub(super) first_loss_window: Option<Bytes>,
    pub(super) acknowledgements: u64,
    pub(super) acknowledgements_dropped: u64,
    pub(super) rtt: Histogram,
    /// The last round-trip sample.
    last_rtt: Option<Span>,
    /// The sum of the absolute differences between consecutive samples, nanoseconds.
    differences: u64,
    pub(super) min_rtt: Option<Span>,
    /// The greatest smoothed round-trip time; kept only where acknowledgements may cross queues.
    pub(super) max_smoothed_rtt: Option<Span>,
}

impl Counts {
    /// Counts a round-trip sample.
    #[inline]
    pub(super) fn observe(&mut self, rtt: Span) {
        self.rtt.record(rtt);
        self.min_rtt = Some(self.min_rtt.map_or(rtt, |min| min.min(rtt)));
        if let Some(last) = self.last_rtt.replace(rtt) {
            self.differences += last.as_nanos().abs_diff(rtt.as_nanos());
        }
    }

    fn rtt_jitter(&self) -> Option<Span> {
        let pairs = self.rtt.count().checked_sub(1).filter(|pairs| *pairs > 0)?;
        Some(Span::from_nanos(self.differences / pairs))
    }
}

impl Flow {
    /// Starts the measured interval.
    pub(crate) fn begin_measuring(&mut self, now: Time) {
        *self.counts = Counts {
            since: now,
            delivered_before: self.delivered(),
            timeouts_before: self.sender.timeouts(),
            ..Counts::default()
        };
    }

    /// Returns the flow's report from the start of measurement to `end`.
    pub(crate) fn report(self, end: Time) -> FlowReport {
        let delivered = self.delivered() - self.counts.delivered_before + self.counts.delivered_earlier;
        let handshake = self.handshake_took();
        let counts = self.counts;
        let established = self.established.unwrap_or(Time::NEVER);
        FlowReport {
            name: self.name,
            delivered: Bytes::new(delivered),
            size: self.size,
            active: self.completed.unwrap_or(end).since(counts.since.max(established)),
            handshake,
            sent: counts.sent,
            dropped: counts.dropped,
            retransmits: counts.again,
            timeouts: self.sender.timeouts() - counts.timeouts_before + counts.timeouts_earlier,
            first_loss_window: counts.first_loss_window,
            threshold: self.sender.threshold(),
            marks: counts.marks,
            acknowledgements: counts.acknowledgements,
            acknowledgements_dropped: counts.acknowledgements_dropped,
            rtt_jitter: counts.rtt_jitter(),
            rtt: counts.rtt,
            min_rtt: counts.min_rtt,
            max_smoothed_rtt: counts.max_smoothed_rtt,
            completion: if self.left { None } else { self.completed.map(|at| at.since(established)) },
            sized: self.probing.as_ref().and(self.receiver.wanted_window()),
            sizing: self.receiver.sizer_changes().to_vec(),
        }
    }
}

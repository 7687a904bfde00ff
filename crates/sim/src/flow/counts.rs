//! The counts of a flow over the measured interval.

use super::{Flow, Rare};
use crate::early;
use crate::outcome::FlowReport;
use link::Histogram;
use std::mem;
use units::{Bytes, Span, Time};

/// The round-trip samples of the measured interval.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct RoundTrips {
    rtt: Histogram,
    /// The last sample, and the least; without meaning before there is one.
    last: Span,
    min: Span,
    /// The sum of the absolute differences between consecutive samples, nanoseconds.
    differences: u64,
}

impl RoundTrips {
    /// Counts a sample.
    // Inlined always, because it runs with every acknowledgement.
    #[inline(always)]
    pub(super) fn observe(&mut self, rtt: Span) {
        if self.rtt.count() == 0 {
            (self.last, self.min) = (rtt, rtt);
        }
        self.rtt.record(rtt);
        self.min = self.min.min(rtt);
        self.differences += self.last.as_nanos().abs_diff(rtt.as_nanos());
        self.last = rtt;
    }

    /// Begins to load the place of the next sample into the processor's cache.
    #[inline]
    pub(super) fn load_early(&self) {
        if let Some(place) = self.rtt.next_place() {
            early::load(place, size_of::<u16>());
        }
    }

    fn min(&self) -> Option<Span> {
        (self.rtt.count() > 0).then_some(self.min)
    }

    fn jitter(&self) -> Option<Span> {
        let pairs = self.rtt.count().checked_sub(1).filter(|pairs| *pairs > 0)?;
        Some(Span::from_nanos(self.differences / pairs))
    }
}

/// The counts over the measured interval that few packets touch. Those of losses come first.
#[derive(Debug, Default)]
#[repr(C)]
pub(super) struct Counts {
    pub(super) dropped: u64,
    pub(super) again: u64,
    /// The send window at the first drop.
    pub(super) first_loss_window: Option<Bytes>,
    pub(super) since: Time,
    pub(super) delivered_before: u64,
    pub(super) timeouts_before: u64,
    /// Counts that most flows do not have, only if one of them is not zero.
    special: Option<Box<SpecialCounts>>,
}

/// The counts of marks, of acknowledgements that cross queues, and of connections that others have replaced.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SpecialCounts {
    pub(super) marks: u64,
    pub(super) acknowledgements: u64,
    pub(super) acknowledgements_dropped: u64,
    /// The greatest smoothed round-trip time; kept only where acknowledgements may cross queues.
    pub(super) max_smoothed_rtt: Option<Span>,
    /// Payload delivered by the connections that this one has replaced.
    pub(super) delivered_earlier: u64,
    pub(super) timeouts_earlier: u64,
}

impl Counts {
    /// Begins to load the counts of losses into the processor's cache.
    #[inline]
    pub(super) fn load_early(&self) {
        early::load(&self.dropped, mem::offset_of!(Self, since));
    }

    /// Returns the special counts, to be changed.
    #[inline]
    pub(super) fn special(&mut self) -> &mut SpecialCounts {
        self.special.get_or_insert_default()
    }
}

impl Flow {
    /// Records that a link dropped a segment of this flow.
    pub(crate) fn on_drop(&mut self) {
        self.rare.counts.dropped += 1;
        if self.opening.is_some() {
            return;
        }
        if self.rare.counts.first_loss_window.is_none() {
            self.rare.counts.first_loss_window = Some(self.sender.send_window());
        }
    }

    /// Records that a link dropped an acknowledgement of this flow.
    pub(crate) fn on_acknowledgement_drop(&mut self) {
        self.rare.counts.special().acknowledgements_dropped += 1;
    }

    /// Starts the measured interval.
    pub(crate) fn begin_measuring(&mut self, now: Time) {
        (self.sent, self.samples) = (0, RoundTrips::default());
        self.rare.counts = Counts {
            since: now,
            delivered_before: self.delivered(),
            timeouts_before: self.sender.timeouts(),
            ..Counts::default()
        };
    }

    /// Returns the flow's report from the start of measurement to `end`.
    pub(crate) fn report(self, end: Time) -> FlowReport {
        let payload = self.delivered();
        let handshake = self.handshake_took();
        let Rare { name, size, established, left, counts, .. } = self.rare;
        let special = counts.special.as_deref().copied().unwrap_or_default();
        let delivered = payload - counts.delivered_before + special.delivered_earlier;
        let established = established.unwrap_or(Time::NEVER);
        FlowReport {
            name: name.into_string(),
            delivered: Bytes::new(delivered),
            size,
            active: self.completed.unwrap_or(end).since(counts.since.max(established)),
            handshake,
            sent: self.sent,
            dropped: counts.dropped,
            retransmits: counts.again,
            timeouts: self.sender.timeouts() - counts.timeouts_before + special.timeouts_earlier,
            first_loss_window: counts.first_loss_window,
            threshold: self.sender.threshold(),
            marks: special.marks,
            acknowledgements: special.acknowledgements,
            acknowledgements_dropped: special.acknowledgements_dropped,
            rtt_jitter: self.samples.jitter(),
            min_rtt: self.samples.min(),
            rtt: self.samples.rtt,
            max_smoothed_rtt: special.max_smoothed_rtt,
            completion: if left { None } else { self.completed.map(|at| at.since(established)) },
            sized: self.probing.as_ref().and(self.receiver.wanted_window()),
            sizing: self.receiver.sizer_changes().to_vec(),
        }
    }
}

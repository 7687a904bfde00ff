//! The amount of data that BBR v3 has in flight [draft-ietf-ccwg-bbr:5.6.4].

use super::amount;
use super::bounds::{larger, smaller};
use crate::{RateSample, Start};
use units::Bytes;

/// `BBR.MinPipeCwnd`, segments.
const LEAST: f64 = 4.0;
/// The largest window, bytes.
pub(super) const MOST: f64 = 1e15;

/// The window and its limits, in bytes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Window {
    whole_segment: Bytes,
    segment: f64,
    least: f64,
    initial: f64,
    /// The window.
    size: f64,
    /// The window in the form that the transport gets.
    whole: Bytes,
    /// The window before a recovery or a probe for the RTT.
    prior: f64,
    /// The amount that the model wants in flight.
    wanted: f64,
    /// The bound that losses have taught.
    most: f64,
}

impl Window {
    pub(super) fn new(start: Start) -> Self {
        let segment = start.segment.get().max(1) as f64;
        let initial = (start.window.max(start.segment).get() as f64).min(MOST);
        let mut own = Self {
            whole_segment: start.segment,
            segment,
            least: LEAST * segment,
            initial,
            size: 0.0,
            whole: start.segment,
            prior: 0.0,
            wanted: 0.0,
            most: MOST,
        };
        own.resize(initial);
        own
    }

    /// Returns a segment's payload.
    pub(super) fn segment(&self) -> f64 {
        self.segment
    }

    /// Returns the smallest amount that a model wants in flight.
    pub(super) fn least(&self) -> f64 {
        self.least
    }

    pub(super) fn initial(&self) -> f64 {
        self.initial
    }

    #[inline]
    pub(super) fn size(&self) -> f64 {
        self.size
    }

    /// Returns the window as the transport gets it.
    pub(super) fn allowed(&self) -> Bytes {
        self.whole
    }

    /// Sets the amount `wanted` by the model, and the `bound` that losses have taught.
    pub(super) fn aim(&mut self, wanted: f64, bound: f64) {
        self.wanted = wanted;
        self.most = smaller(larger(bound, self.least), MOST);
    }

    /// Adds `quanta`, for segments that leave together, to `inflight` or the least window: `QuantizationBudget`.
    pub(super) fn with_quanta(&self, inflight: f64, quanta: f64) -> f64 {
        larger(inflight, self.least) + quanta
    }

    /// Grows with data delivered after startup, up to the amount that the model wants and `extra` for data that came
    /// together.
    #[inline]
    pub(super) fn grow(&mut self, sample: &RateSample, extra: f64, quanta: f64) {
        let grown = smaller(
            self.size + amount(sample.newly_delivered),
            self.with_quanta(self.wanted + extra, quanta),
        );
        self.resize(smaller(larger(grown, self.least), self.most));
    }

    /// Grows in startup, where the window does not fall to the amount that the model wants.
    pub(super) fn grow_in_startup(&mut self, sample: &RateSample, extra: f64, quanta: f64) {
        let most = self.with_quanta(self.wanted + extra, quanta);
        let grows = self.size < most || amount(sample.delivered_total) < self.initial;
        let grown = if grows { self.size + amount(sample.newly_delivered) } else { self.size };
        self.resize(smaller(larger(grown, self.least), self.most));
    }

    /// Sets the window to `size`; usually it has that size already.
    #[inline]
    fn resize(&mut self, size: f64) {
        if size != self.size {
            self.size = size;
            // The size is far below 2^63. The conversion by a signed integer is faster, as in `amount`.
            self.whole = Bytes::new(size as i64 as u64).max(self.whole_segment);
        }
    }

    /// Caps the window at `most`.
    pub(super) fn cap(&mut self, most: f64) {
        self.resize(self.size.min(most));
    }

    /// Sets the window to one segment, because everything is lost.
    pub(super) fn collapse(&mut self) {
        self.resize(self.segment);
    }

    /// Remembers the window. If the remembered one still `counts`, the larger of the two is kept.
    pub(super) fn save(&mut self, counts: bool) {
        self.prior = if counts { self.prior.max(self.size) } else { self.size };
    }

    /// Raises the window to the remembered one.
    pub(super) fn restore(&mut self) {
        self.resize(self.size.max(self.prior));
    }
}

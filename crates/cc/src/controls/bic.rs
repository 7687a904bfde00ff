//! BIC: a binary search for the window that the path holds.
//!
//! | where | segments per round trip |
//! |---|---|
//! | below 14 segments | 1: standard TCP |
//! | below the window of the last loss | half the distance to it, 0.01 at least, 32 at most |
//! | from there on (probing for a new maximum) | 1, 2, 4, ... 32 |

use crate::growth::Growth;
use crate::growth::share::{Remainder, in_use, part, segments};
use crate::{Ack, Congestion};
use units::Bytes;

/// The least step, segments per round trip: `Smin` [bic:III; madison:peers].
pub const S_MIN: f64 = 0.01;
/// The largest step, segments per round trip: `Smax` [bic:III; madison:peers].
pub const S_MAX: f64 = 32.0;
/// The share of the window that a loss takes [bic:III].
pub const BETA: f64 = 0.125;
/// The window in segments below which BIC is standard TCP: `low_window` [bic:III].
pub const LOW_WINDOW: f64 = 14.0;

/// L. Xu, K. Harfoush, I. Rhee, "Binary Increase Congestion Control for Fast, Long Distance Networks", 2004. As in the
/// paper's analysis the search takes one step per round trip, counted as one acknowledged window.
#[derive(Clone, Copy, Debug)]
pub struct Bic {
    segment: Bytes,
    rest: Remainder,
    fast_convergence: bool,
    search: Search,
    /// The search before the last congestion event.
    before: Search,
}

#[derive(Clone, Copy, Debug)]
struct Search {
    /// The window that the search aims at, segments; infinite before the first loss.
    maximum: f64,
    /// The last step beyond the maximum, segments.
    probing: Option<f64>,
    /// Bytes of growth per acknowledged byte.
    slope: f64,
    /// The bytes still to be acknowledged before the slope changes.
    left: Bytes,
}

impl Bic {
    /// Creates a growth rule for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        let search = Search { maximum: f64::INFINITY, probing: None, slope: 0.0, left: Bytes::ZERO };
        Self { segment, rest: Remainder::default(), fast_convergence: true, search, before: search }
    }

    /// Turns off fast convergence, as the paper's response function assumes. Then a loss at a smaller window than the
    /// last loss does not lower the maximum further to make room for others.
    #[must_use]
    pub fn without_fast_convergence(self) -> Self {
        Self { fast_convergence: false, ..self }
    }
}

impl Search {
    /// Returns the step of the round trip that begins with a window of `window` segments.
    fn step(&mut self, window: f64) -> f64 {
        if window < LOW_WINDOW {
            return 1.0;
        }
        if window < self.maximum {
            self.probing = None;
            return ((self.maximum - window) / 2.0).clamp(S_MIN, S_MAX);
        }
        let step = self.probing.map_or(1.0, |last| (2.0 * last).min(S_MAX));
        self.probing = Some(step);
        step
    }
}

impl Growth for Bic {
    #[inline]
    fn increase(&mut self, _ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        if self.search.left == Bytes::ZERO {
            let step = self.search.step(segments(window, self.segment));
            self.search.slope = step * part(self.segment, window);
            self.search.left = window;
        }
        self.search.left = self.search.left.saturating_sub(counted);
        self.rest.give(self.search.slope * counted.get() as f64, counted)
    }

    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        self.before = self.search;
        self.search.left = Bytes::ZERO;
        self.search.probing = None;
        let window = in_use(event, window);
        let lost_at = segments(window, self.segment);
        if lost_at < LOW_WINDOW {
            return window / 2;
        }
        let last = self.search.maximum;
        let converging = self.fast_convergence && last.is_finite() && lost_at < last;
        self.search.maximum = if converging { lost_at * (1.0 - BETA / 2.0) } else { lost_at };
        window.scale(1.0 - BETA)
    }

    fn undo(&mut self) {
        self.search = self.before;
    }
}

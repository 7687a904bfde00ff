//! The share of data that arrives with a congestion mark, averaged over round trips: the alpha of RFC 8257.

use crate::Marks;

/// The weight of a new share [rfc8257:4.2: g = 1/16].
const GAIN: f64 = 1.0 / 16.0;

/// A moving average of the marked share.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MarkedShare {
    alpha: f64,
    /// Bytes delivered since the average last moved.
    delivered: f64,
    /// The marked part of these bytes.
    marked: f64,
}

impl Default for MarkedShare {
    /// Returns an average of one, so that the first mark halves the window as RFC 3168 does [rfc8257:4.2].
    fn default() -> Self {
        Self { alpha: 1.0, delivered: 0.0, marked: 0.0 }
    }
}

impl MarkedShare {
    /// Counts what an acknowledgement reports.
    pub(crate) fn count(&mut self, marks: &Marks) {
        self.delivered += marks.delivered.get() as f64;
        self.marked += marks.marked.get() as f64;
    }

    /// Moves the average by the share since it last moved: `alpha = (1 - g) alpha + g M` [rfc8257:3.3].
    pub(crate) fn average(&mut self) {
        let share = if self.delivered > 0.0 { (self.marked / self.delivered).min(1.0) } else { 0.0 };
        self.alpha += GAIN * (share - self.alpha);
        self.restart();
    }

    /// Forgets what was counted, without an effect on the average.
    pub(crate) fn restart(&mut self) {
        (self.delivered, self.marked) = (0.0, 0.0);
    }

    /// Returns the average, from zero to one.
    pub(crate) fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Returns the part of a window that a round trip with marks leaves: `1 - alpha / 2` [rfc8257:3.3].
    pub(crate) fn kept(&self) -> f64 {
        1.0 - self.alpha / 2.0
    }
}

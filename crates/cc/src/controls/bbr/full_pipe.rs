//! The detection of a full pipe in both BBRs [draft-ietf-ccwg-bbr:5.3.1.2].

/// The least growth of the rate in a round that counts, and the number of rounds without growth that fill the pipe.
const FULL: (f64, u32) = (1.25, 3);

/// A detector of the full pipe: the rate has stopped growing.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullPipe {
    rate: f64,
    count: u32,
    now: bool,
    reached: bool,
}

impl FullPipe {
    /// Restarts the search for growth, from any rate.
    pub(crate) fn reset(&mut self) {
        *self = Self { reached: self.reached, ..Self::default() };
    }

    /// Restarts the search for growth, from `rate`.
    pub(crate) fn reset_at(&mut self, rate: f64) {
        self.reset();
        self.rate = rate;
    }

    /// Takes the `rate` of the round that has ended.
    pub(crate) fn on_round(&mut self, rate: f64) {
        if rate >= self.rate * FULL.0 {
            self.reset_at(rate);
            return;
        }
        self.count += 1;
        self.now = self.count >= FULL.1;
        self.reached |= self.now;
    }

    /// Returns true if the rate has stopped growing since the last reset.
    pub(crate) fn is_full(&self) -> bool {
        self.now
    }

    /// Returns true if startup has filled the pipe.
    #[inline]
    pub(crate) fn was_reached(&self) -> bool {
        self.reached
    }

    /// Sets, because of losses, whether startup has filled the pipe.
    pub(crate) fn set_reached(&mut self, reached: bool) {
        self.reached = reached;
    }
}

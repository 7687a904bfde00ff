//! When a BBR takes the pipe for full [draft-ietf-ccwg-bbr:5.3.1.2].

/// The least growth of the rate in a round that counts, and the number of rounds without growth that fill the pipe.
const FULL: (f64, u32) = (1.25, 3);

/// Whether the pipe is full: the rate does not grow any more.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FullPipe {
    rate: f64,
    count: u32,
    now: bool,
    reached: bool,
}

impl FullPipe {
    /// Growth is looked for anew, from any rate.
    pub(crate) fn reset(&mut self) {
        *self = Self { reached: self.reached, ..Self::default() };
    }

    /// Growth is looked for anew, from `rate`.
    pub(crate) fn reset_at(&mut self, rate: f64) {
        self.reset();
        self.rate = rate;
    }

    /// A round has ended in which the rate was `rate`.
    pub(crate) fn on_round(&mut self, rate: f64) {
        if rate >= self.rate * FULL.0 {
            self.reset_at(rate);
            return;
        }
        self.count += 1;
        self.now = self.count >= FULL.1;
        self.reached |= self.now;
    }

    /// Whether the rate has stopped to grow since growth is looked for.
    pub(crate) fn is_full(&self) -> bool {
        self.now
    }

    /// Whether startup has filled the pipe.
    #[inline]
    pub(crate) fn was_reached(&self) -> bool {
        self.reached
    }

    /// Losses say that startup has filled the pipe, or that it had not.
    pub(crate) fn set_reached(&mut self, reached: bool) {
        self.reached = reached;
    }
}

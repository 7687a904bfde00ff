//! When BBR v3 takes the pipe for full [draft-ietf-ccwg-bbr].

/// Growth of the rate in a round below this counts for none; the pipe is full after so many rounds without.
const FULL: (f64, u32) = (1.25, 3);

/// Whether the pipe is full: the rate does not grow any more.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FullPipe {
    pub(super) rate: f64,
    count: u32,
    pub(super) now: bool,
    pub(super) reached: bool,
}

impl FullPipe {
    pub(super) fn reset(&mut self) {
        *self = Self { reached: self.reached, ..Self::default() };
    }

    pub(super) fn on_round(&mut self, rate: f64) {
        if rate >= self.rate * FULL.0 {
            self.reset();
            self.rate = rate;
            return;
        }
        self.count += 1;
        self.now = self.count >= FULL.1;
        self.reached |= self.now;
    }
}

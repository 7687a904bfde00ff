//! SQRT: a binomial control, gentler than Reno and fair to it.

use crate::growth::Growth;
use crate::growth::share::{Remainder, in_use, part, segments};
use crate::{Ack, Congestion};
use units::Bytes;

/// What a loss takes, in square roots of the window [bansal:infocom01, III].
const BETA: f64 = 0.5;

/// D. Bansal, H. Balakrishnan, "Binomial congestion control algorithms", INFOCOM 2001, with k = l = 1/2.
#[derive(Clone, Copy, Debug)]
pub struct Sqrt {
    segment: Bytes,
    rest: Remainder,
}

impl Sqrt {
    /// For segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        Self { segment, rest: Remainder::default() }
    }
}

impl Growth for Sqrt {
    /// 1 / sqrt(w) segments per round trip.
    fn increase(&mut self, _ack: &Ack, counted: Bytes, window: Bytes) -> Bytes {
        let step = self.segment.get() as f64 / segments(window, self.segment).sqrt();
        self.rest.give(step * part(counted, window), counted)
    }

    /// w - beta sqrt(w), of what was in use.
    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes {
        let used = in_use(event, window);
        let taken = BETA * segments(used, self.segment).sqrt() * self.segment.get() as f64;
        used.saturating_sub(Bytes::new(taken as u64))
    }
}

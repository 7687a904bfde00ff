//! Random loss: each packet is lost with the same probability, independent of everything else.

use units::Fraction;
use units::random::Stream;

/// An independent coin per packet.
#[derive(Clone, Debug)]
pub(crate) struct RandomLoss {
    probability: f64,
    stream: Stream,
}

impl RandomLoss {
    pub(crate) fn new(probability: Fraction, stream: Stream) -> Self {
        Self { probability: probability.get(), stream }
    }

    pub(crate) fn strikes(&mut self) -> bool {
        self.probability > 0.0 && self.stream.chance(self.probability)
    }
}

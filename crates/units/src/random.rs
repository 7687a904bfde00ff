//! Randomness as named streams from one seed. The same seed and name give the same numbers, whatever else a run draws.
//! So adding a flow does not change the other flows' random numbers.
//!
//! The distributions are written out here rather than taken from a library so that "same seed, same bytes"
//! outlives the library's next version.

mod logarithm;

use logarithm::minus_ln;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Serialize;

/// A stream of random numbers (xoshiro256++), named within a run.
#[derive(Clone, Debug)]
pub struct Stream(Xoshiro256PlusPlus);

impl Stream {
    /// Creates the stream called `name` of the run with `seed`.
    #[must_use]
    pub fn new(seed: u64, name: &str) -> Self {
        // FNV-1a spreads the name over the seed; seed_from_u64 (SplitMix64) then fills the state.
        let mut hash = 0xcbf2_9ce4_8422_2325u64;
        for byte in seed.to_le_bytes().iter().chain(name.as_bytes()) {
            hash = (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self(Xoshiro256PlusPlus::seed_from_u64(hash))
    }

    /// Draws a uniform number in [0, 1) with 53 bits.
    #[inline]
    pub fn uniform(&mut self) -> f64 {
        // A signed number is converted to a fraction in a single step.
        (self.0.next_u64() >> 11) as i64 as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// Draws a uniform number in [low, high).
    pub fn uniform_in(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * self.uniform()
    }

    /// Draws a uniform whole number in [low, high].
    pub fn integer(&mut self, low: u64, high: u64) -> u64 {
        let width = u128::from(high.saturating_sub(low)) + 1;
        // Lemire's multiply-shift; the bias is below 2^-64 times the width.
        low + ((u128::from(self.0.next_u64()) * width) >> 64) as u64
    }

    /// Draws from an exponential distribution with the given mean.
    #[inline]
    pub fn exponential(&mut self, mean: f64) -> f64 {
        // 1 - u lies in (0, 1], so the logarithm is finite.
        mean * minus_ln(1.0 - self.uniform())
    }

    /// Draws from a Pareto distribution with `shape` > 1 and the given mean: P(X > x) = (x/scale)^-shape, where scale =
    /// mean (shape-1)/shape.
    pub fn pareto(&mut self, shape: f64, mean: f64) -> f64 {
        let scale = mean * (shape - 1.0) / shape;
        scale * libm::pow(1.0 - self.uniform(), -1.0 / shape)
    }

    /// Returns true with probability `p`.
    pub fn chance(&mut self, p: f64) -> bool {
        self.uniform() < p
    }
}

/// A distribution of numbers from 0 up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum Distribution {
    /// Always this number.
    Constant(f64),
    /// Any number from the first to the second, all equally likely.
    Uniform(f64, f64),
    /// An exponential distribution with this mean.
    Exponential(f64),
    /// The distribution of [`Stream::pareto`].
    Pareto {
        /// The tail index, above 1.
        shape: f64,
        /// The mean.
        mean: f64,
    },
}

impl Distribution {
    /// Draws one number.
    pub fn draw(&self, stream: &mut Stream) -> f64 {
        match *self {
            Self::Constant(value) => value,
            Self::Uniform(low, high) => stream.uniform_in(low, high),
            Self::Exponential(mean) => stream.exponential(mean),
            Self::Pareto { shape, mean } => stream.pareto(shape, mean),
        }
    }

    /// Draws a whole number of at least 1. A uniform distribution gives each from the first to the second number, both
    /// included, with the same probability; the others are rounded.
    pub fn draw_whole(&self, stream: &mut Stream) -> u64 {
        match *self {
            Self::Uniform(low, high) => stream.integer(low as u64, high as u64),
            _ => self.draw(stream).round() as u64,
        }
        .max(1)
    }

    /// Returns the mean of [`draw`](Distribution::draw).
    #[must_use]
    pub fn mean(&self) -> f64 {
        match *self {
            Self::Uniform(low, high) => (low + high) / 2.0,
            Self::Constant(mean) | Self::Exponential(mean) | Self::Pareto { mean, .. } => mean,
        }
    }
}

/// Returns the quantiles F^-1((i + 0.5)/count), i = 0 .. count - 1, of a Pareto distribution with `shape` > 1. They
/// ascend, and are scaled so that their mean is `mean`. They stand for a sample without chance. The mean of a drawn
/// sample is usually well below the distribution's, because the tail holds much of it.
#[must_use]
pub fn pareto_quantiles(shape: f64, mean: f64, count: u64) -> Vec<f64> {
    let tail = |index| 1.0 - (index as f64 + 0.5) / count as f64;
    let unscaled: Vec<f64> = (0..count).map(|index| libm::pow(tail(index), -1.0 / shape)).collect();
    let scale = mean * count as f64 / unscaled.iter().sum::<f64>();
    unscaled.into_iter().map(|value| value * scale).collect()
}

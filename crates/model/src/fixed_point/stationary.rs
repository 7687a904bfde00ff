//! The queue at a given load: a birth-death chain of packets in the system, which an arrival joins unless it is
//! dropped.
//!
//! Loads are given by `x = ln rho`, probabilities by their logarithms. So nothing overflows or cancels, however near
//! `rho` is to 1, on either side, or however many packets the system holds.

use crate::red::Red;
use units::Fraction;

/// The chain of one queue.
pub(super) enum System {
    /// M/M/1/K.
    DropTail {
        /// `K`.
        held: f64,
    },
    /// Drops that depend on the current length.
    Red {
        /// The probability with which an arrival that finds `n` packets is dropped; the last one is 1.
        drops: Vec<f64>,
        /// The logarithm of the product of `1 - p(i)` over `i < n`.
        ln_admitted: Vec<f64>,
    },
}

/// The long-run state of the queue.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stationary {
    /// The logarithm of the share of arrivals that are dropped.
    pub ln_loss: f64,
    /// The logarithm of the share of time in which the system is empty.
    pub ln_idle: f64,
    /// Packets that an admitted arrival finds, on average.
    pub found: f64,
}

impl System {
    pub(super) fn drop_tail(packets: u64) -> Self {
        Self::DropTail { held: packets as f64 }
    }

    pub(super) fn red(packets: u64, red: &Red) -> Self {
        let mut drops = Vec::new();
        let mut ln_admitted = vec![0.0];
        for n in 0..=packets {
            let probability = if n == packets { 1.0 } else { red.probability(n as f64) };
            drops.push(probability);
            if probability >= 1.0 {
                break;
            }
            ln_admitted.push(ln_admitted[ln_admitted.len() - 1] + libm::log1p(-probability));
        }
        Self::Red { drops, ln_admitted }
    }

    /// Returns the number of packets that the system can hold, at least 1.
    pub(super) fn states(&self) -> f64 {
        match self {
            Self::DropTail { held } => *held,
            Self::Red { drops, .. } => (drops.len() as f64 - 1.0).max(1.0),
        }
    }

    /// Returns the distribution of the length at the load `exp(x)`.
    pub(super) fn lengths(&self, x: f64) -> Lengths {
        match self {
            Self::DropTail { held } => Lengths(Shape::DropTail { held: *held, x }),
            Self::Red { ln_admitted, .. } => {
                let mut sum = 0.0;
                let sums = weights(ln_admitted, x).1.map(|weight| {
                    sum += weight;
                    sum
                });
                Lengths(Shape::Red { sums: sums.collect() })
            }
        }
    }

    /// Returns the long-run state at the load `exp(x)`.
    pub(super) fn at(&self, x: f64) -> Stationary {
        match self {
            Self::DropTail { held } => drop_tail(*held, x),
            Self::Red { drops, ln_admitted } => summed(drops, ln_admitted, x),
        }
    }
}

/// Solves M/M/1/K. Counted from the full end, the chain is that of the load `1/rho`, so one expression serves loads
/// below and above 1.
fn drop_tail(held: f64, x: f64) -> Stationary {
    let y = x.abs();
    // `ln_end` is the logarithm of the probability of the likelier end, empty or full. The other end's probability is
    // this one times exp(-K y).
    let ln_end = if y == 0.0 {
        -libm::log(held + 1.0)
    } else {
        libm::log(libm::expm1(-y) / libm::expm1(-(held + 1.0) * y))
    };
    Stationary {
        ln_loss: ln_end + held * x.min(0.0),
        ln_idle: ln_end - held * x.max(0.0),
        found: found(held, x),
    }
}

/// Returns the mean number of packets that an admitted one finds, `rho/(1 - rho) - K rho^K/(1 - rho^K)`, in [0, K - 1].
fn found(held: f64, x: f64) -> f64 {
    let span = held * x;
    if span.abs() < 1e-2 {
        // Near x = 0 both terms grow as 1/x, but their difference does not. So the difference is computed by its
        // series, whose next term is below 1e-14 of the first.
        let (half, square) = (0.5 * (held - 1.0), held * held);
        return half + (square - 1.0) * x / 12.0 - (square * square - 1.0) * x.powi(3) / 720.0;
    }
    (1.0 / libm::expm1(-x) - held / libm::expm1(-span)).clamp(0.0, held - 1.0)
}

/// Returns the logarithm of the largest weight, and all weights relative to the largest. The weight of the length `n`
/// is `rho^n` times the product of `1 - p(i)` over `i < n`.
fn weights(ln_admitted: &[f64], x: f64) -> (f64, impl Iterator<Item = f64>) {
    let ln_weights = ln_admitted.iter().enumerate().map(move |(n, ln_admitted)| n as f64 * x + ln_admitted);
    let largest = ln_weights.clone().fold(f64::NEG_INFINITY, f64::max);
    (largest, ln_weights.map(move |ln_weight| libm::exp(ln_weight - largest)))
}

fn summed(drops: &[f64], ln_admitted: &[f64], x: f64) -> Stationary {
    let (largest, weights) = weights(ln_admitted, x);
    let (mut total, mut dropped, mut admitted, mut met) = (0.0, 0.0, 0.0, 0.0);
    for (n, (weight, drop)) in weights.zip(drops).enumerate() {
        total += weight;
        dropped += weight * drop;
        admitted += weight * (1.0 - drop);
        met += weight * (1.0 - drop) * n as f64;
    }
    Stationary {
        ln_loss: libm::log(dropped / total),
        ln_idle: -largest - libm::log(total),
        found: if admitted > 0.0 { met / admitted } else { 0.0 },
    }
}

/// The share of time for which the queue has each length.
#[derive(Clone, Debug, PartialEq)]
pub struct Lengths(Shape);

#[derive(Clone, Debug, PartialEq)]
enum Shape {
    DropTail {
        held: f64,
        x: f64,
    },
    Red {
        /// The sums of the weights of all lengths up to each.
        sums: Vec<f64>,
    },
}

impl Lengths {
    /// Returns the number of waiting packets, the one being sent excluded, that is not exceeded for the `share` of the
    /// time.
    #[must_use]
    pub fn waiting(&self, share: Fraction) -> u64 {
        let reached = |packets: u64| self.up_to(packets) >= share.get();
        let (mut low, mut high) = (0, self.most());
        while low < high {
            let middle = low + (high - low) / 2;
            if reached(middle) {
                high = middle;
            } else {
                low = middle + 1;
            }
        }
        low.saturating_sub(1)
    }

    /// Returns the share of the time in which no packet waits: the system is empty or only sends.
    #[must_use]
    pub fn none_waits(&self) -> f64 {
        self.up_to(self.most().min(1))
    }

    /// Returns the most packets that the system holds.
    fn most(&self) -> u64 {
        match &self.0 {
            Shape::DropTail { held, .. } => *held as u64,
            Shape::Red { sums } => sums.len() as u64 - 1,
        }
    }

    /// Returns the share of the time with at most `packets` in the system.
    fn up_to(&self, packets: u64) -> f64 {
        match &self.0 {
            Shape::Red { sums } => sums[packets as usize] / sums[sums.len() - 1],
            Shape::DropTail { held, x } => {
                let (lengths, all, y) = (packets as f64 + 1.0, held + 1.0, -x.abs());
                if *x == 0.0 {
                    return lengths / all;
                }
                let share = libm::expm1(lengths * y) / libm::expm1(all * y);
                if *x < 0.0 { share } else { share * libm::exp((all - lengths) * y) }
            }
        }
    }
}

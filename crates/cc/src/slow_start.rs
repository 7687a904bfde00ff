//! Slow-start variants: how the window grows below the slow-start threshold.

mod standard;

pub use standard::Standard;

use crate::Ack;
use std::fmt::Debug;
use units::Bytes;

/// How the window grows below the threshold.
pub trait SlowStart: Send + Debug {
    /// What this acknowledgement adds to `window`.
    fn increase(&mut self, ack: &Ack, window: Bytes) -> Bytes;
}

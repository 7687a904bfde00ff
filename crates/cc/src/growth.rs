//! Growth functions: how a loss-based window grows above the slow-start threshold and what a loss leaves.

mod reno;

pub use reno::Reno;

use crate::{Ack, Congestion};
use std::fmt::Debug;
use units::Bytes;

/// Congestion avoidance of a loss-based controller.
pub trait Growth: Send + Debug {
    /// What this acknowledgement adds to `window`. It counts for `counted` bytes: what it acknowledges, or one
    /// segment where acknowledgements are counted (RFC 3465).
    fn increase(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Bytes;
    /// The slow-start threshold that congestion leaves, given the `window` before.
    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes;
    /// The last congestion event was a false alarm.
    fn undo(&mut self) {}
}

//! Growth functions: how a loss-based window grows above the slow-start threshold and what a loss leaves.
//!
//! One file each, in `controls/`; `growth/share.rs` is the arithmetic they share.

pub mod share;

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
    /// Every acknowledgement of new data passes here first, in slow start and recovery, too. What is returned is
    /// the lower window to which the controller gives way unasked: it is the threshold from now on.
    #[inline]
    fn observe(&mut self, ack: &Ack, window: Bytes) -> Option<Bytes> {
        let _ = (ack, window);
        None
    }
    /// The last congestion event was a false alarm.
    fn undo(&mut self) {}
}

//! Slow-start variants: the growth of the window below the slow-start threshold.
//!
//! `byte_counting.rs` decides, once for all slow starts, the number of bytes that an acknowledgement counts for. The
//! growth function decides the window after a loss.

mod hystart;
mod hystart_plus_plus;
mod limited;
mod standard;

pub use hystart::HyStart;
pub use hystart_plus_plus::HyStartPlusPlus;
pub use limited::{Limited, MAX_SSTHRESH};
pub use standard::Standard;

use crate::Ack;
use std::fmt::Debug;
use units::Bytes;

/// The effect of an acknowledgement in slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The window grows by this much, and slow start continues.
    Grow(Bytes),
    /// The window grows by this much and becomes the threshold: slow start is over.
    Leave(Bytes),
}

/// The growth of the window below the threshold.
pub trait SlowStart: Send + Debug {
    /// Returns the effect of this acknowledgement on `window`. It counts for `counted` bytes: zero if the window was
    /// not in use, because such a window must not grow.
    fn on_ack(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Step;
    /// Takes a sign of congestion, in slow start or later.
    fn on_congestion(&mut self) {}
    /// Takes the first expiry of the retransmission timer.
    fn on_timeout(&mut self) {}
    /// Takes back the last congestion event, which was a false alarm.
    fn undo(&mut self) {}
}

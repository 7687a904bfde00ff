//! Slow-start variants: how the window grows below the slow-start threshold.
//!
//! The number of bytes that an acknowledgement counts for is decided in `byte_counting.rs`, once for all slow starts.
//! The window after a loss is the growth function's.

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

/// What an acknowledgement does in slow start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// The window grows by so much, and slow start goes on.
    Grow(Bytes),
    /// The window grows by so much and is the threshold from now on: slow start is over.
    Leave(Bytes),
}

/// How the window grows below the threshold.
pub trait SlowStart: Send + Debug {
    /// What this acknowledgement does to `window`. It counts for `counted` bytes: nothing if the window was not
    /// in use, and then it must not grow.
    fn on_ack(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Step;
    /// The path shows congestion, in slow start or later.
    fn on_congestion(&mut self) {}
    /// The retransmission timer expired for the first time.
    fn on_timeout(&mut self) {}
    /// The last congestion event was a false alarm.
    fn undo(&mut self) {}
}

//! Growth functions: the growth of a loss-based window above the slow-start threshold, and the window after a loss.
//!
//! Each has a file in `controls/`; `growth/share.rs` is the arithmetic they share.

pub mod share;

use crate::{Ack, Congestion, Marks, Wants};
use std::fmt::Debug;
use units::Bytes;

/// Congestion avoidance of a loss-based controller.
pub trait Growth: Send + Debug {
    /// Returns the bytes that this acknowledgement adds to `window`. It counts for `counted` bytes: those that it
    /// acknowledges, or one segment where acknowledgements are counted (RFC 3465).
    fn increase(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Bytes;
    /// Returns the slow-start threshold that congestion leaves, given the `window` before.
    fn threshold_after(&mut self, event: &Congestion, window: Bytes) -> Bytes;
    /// Takes every acknowledgement of new data first, also in slow start and recovery. May return a lower window to
    /// which the controller gives way without a loss; it becomes the threshold, too.
    #[inline]
    fn observe(&mut self, ack: &Ack, window: Bytes) -> Option<Bytes> {
        let _ = (ack, window);
        None
    }
    /// Takes the share of marked data by an acknowledgement, before anything else of it. Called only if
    /// [`wants`](Growth::wants) asks for marks.
    fn on_marks(&mut self, marks: &Marks) {
        let _ = marks;
    }
    /// Returns the information that it needs beyond acknowledgements.
    fn wants(&self) -> Wants {
        Wants::default()
    }
    /// Passes each quantity that it has measured to `show`, as [`CongestionControl::measures`] does.
    ///
    /// [`CongestionControl::measures`]: crate::CongestionControl::measures
    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        let _ = show;
    }
    /// Takes back the last congestion event, which was a false alarm.
    fn undo(&mut self) {}
}

//! [`Fixed`]: a constant window.

use crate::{Action, BufferSizer, Input};
use units::{Bytes, Time};

/// A sizer with one window, as if a socket buffer was set by hand.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    window: Option<Bytes>,
}

impl Fixed {
    /// Makes a sizer with the window `window`.
    #[must_use]
    pub fn new(window: Bytes) -> Self {
        Self { window: Some(window) }
    }
}

impl BufferSizer for Fixed {
    fn handle(&mut self, _now: Time, _input: Input) {}
    fn poll(&mut self, _now: Time) -> Option<Action> {
        self.window.take().map(Action::Window)
    }
}

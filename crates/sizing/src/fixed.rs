//! A window that does not move.

use crate::{Action, BufferSizer, Input};
use units::{Bytes, Time};

/// One window, whatever happens: a socket buffer set by hand.
#[derive(Clone, Copy, Debug)]
pub struct Fixed {
    window: Option<Bytes>,
}

impl Fixed {
    /// A window of `window`.
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

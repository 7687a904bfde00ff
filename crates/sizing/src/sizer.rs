//! The trait every sizer implements.

use std::fmt::Debug;
use units::{Bytes, Span, Time};

/// What a receiver sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Input {
    /// So much payload, in order, was copied to the application.
    Delivered(Bytes),
    /// A round-trip time as the receiver measures it: from an acknowledgement to the first data that it let the
    /// sender send, by the echo of its time stamp (RFC 7323). Without time stamps none of these come.
    RoundTrip(Span),
}

/// What a sizer wants done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// Advertise this receive window, from now on: payload that may be unacknowledged.
    Window(Bytes),
}

/// Decides on a receive window, in the order in which things happen: each [`handle`](BufferSizer::handle) is
/// followed by [`poll`](BufferSizer::poll) until that has nothing more to say, and so is each time that
/// [`wakeup`](BufferSizer::wakeup) names. The first `poll`, before any input, says with which window to begin.
pub trait BufferSizer: Send + Debug {
    /// `input` happens at `now`, not before what was told last.
    fn handle(&mut self, now: Time, input: Input);
    /// What to do, one thing at a time.
    fn poll(&mut self, now: Time) -> Option<Action>;
    /// When the sizer wants to be polled although nothing happens; `None`: never.
    fn wakeup(&self) -> Option<Time> {
        None
    }
}

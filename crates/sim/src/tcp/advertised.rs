//! A receive window that moves: a sizer, told what the receiver sees.

use sizing::{Action, BufferSizer, Input};
use units::{Bytes, Time};

/// The receive window under a sizer. The application reads at once, so what is in order is delivered.
#[derive(Debug)]
pub(super) struct Advertised {
    sizer: Box<dyn BufferSizer>,
    payload: Bytes,
    /// Segments at most.
    most: u64,
    /// Segments now.
    window: u64,
    /// Segments that the sizer knows to be delivered.
    told: u64,
    timestamps: bool,
}

impl Advertised {
    /// A window of at most `most` segments with `payload` bytes each. Without `timestamps` the sizer is given no
    /// round-trip times.
    pub(super) fn new(sizer: Box<dyn BufferSizer>, payload: Bytes, most: u64, timestamps: bool) -> Self {
        let mut advertised = Self { sizer, payload, most, window: most, told: 0, timestamps };
        advertised.follow(Time::ZERO);
        advertised
    }

    /// The window, segments.
    pub(super) fn window(&self) -> u64 {
        self.window
    }

    /// A segment sent at `sent` has arrived, and everything below `expected` with it.
    ///
    /// The sender sends by the acknowledgements it gets, at once, so the time stamp that a segment echoes is that of
    /// the moment it was sent.
    pub(super) fn on_segment(&mut self, now: Time, sent: Time, expected: u64) {
        if expected == self.told {
            return;
        }
        if self.timestamps {
            self.sizer.handle(now, Input::RoundTrip(now.since(sent)));
        }
        self.sizer.handle(now, Input::Delivered(self.payload * (expected - self.told)));
        self.told = expected;
        self.follow(now);
    }

    fn follow(&mut self, now: Time) {
        while let Some(action) = self.sizer.poll(now) {
            if let Action::Window(window) = action {
                self.window = (window / self.payload).min(self.most).max(1);
            }
        }
    }
}

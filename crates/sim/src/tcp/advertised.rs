//! A receive window that moves: a sizer, told what the receiver sees.

use sizing::{Action, BufferSizer, Input, SizerState};
use units::{Bytes, Rate, Time};

/// The receive window under a sizer. The application reads at once, so what is in order is delivered.
#[derive(Debug)]
pub(super) struct Advertised {
    sizer: Box<dyn BufferSizer>,
    payload: Bytes,
    /// Segments at most.
    most: u64,
    /// Segments that the sizer wants now.
    window: u64,
    /// One past the last segment that has been promised room.
    edge: u64,
    /// Segments that the sizer knows to be delivered.
    told: u64,
    timestamps: bool,
    demands: Demands,
    /// When a withheld acknowledgement leaves: the receiver's own deadline is the earlier of this and the sizer's.
    pub(super) acknowledges: Time,
    /// When the flow's part of measuring is due, by [`Receiver::measure_at`](super::Receiver::measure_at).
    pub(super) measures: Time,
}

/// What a sizer wants of the sender.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Demands {
    /// So many trains.
    pub(crate) trains: u32,
    /// Another cap on the sender's rate.
    pub(crate) pace: Option<Option<Rate>>,
}

impl Advertised {
    /// A window of at most `most` segments with `payload` bytes each. Without `timestamps` the sizer is given no
    /// round-trip times.
    pub(super) fn new(sizer: Box<dyn BufferSizer>, payload: Bytes, most: u64, timestamps: bool) -> Self {
        let mut advertised = Self {
            sizer,
            payload,
            most,
            window: most,
            edge: 0,
            told: 0,
            timestamps,
            demands: Demands::default(),
            acknowledges: Time::NEVER,
            measures: Time::NEVER,
        };
        advertised.follow(Time::ZERO);
        advertised
    }

    /// The window that an acknowledgement of everything below `expected` carries, segments. What was promised stays
    /// promised: the right edge never moves to the left [rfc9293:3.8.6].
    pub(super) fn window(&mut self, expected: u64) -> u64 {
        self.edge = self.edge.max(expected.saturating_add(self.window));
        self.edge - expected
    }

    /// A segment sent at `sent` has arrived, and everything below `expected` with it; `early`: it did not come in order.
    ///
    /// The sender sends by the acknowledgements it gets, at once, so the time stamp that a segment echoes is that of
    /// the moment it was sent.
    pub(super) fn on_segment(&mut self, now: Time, sent: Time, expected: u64, early: bool) {
        if early {
            self.tell(now, Input::OutOfOrder(1));
        }
        if expected == self.told {
            return;
        }
        if self.timestamps {
            self.sizer.handle(now, Input::RoundTrip(now.since(sent)));
        }
        let delivered = self.payload * (expected - self.told);
        self.told = expected;
        self.tell(now, Input::Delivered(delivered));
    }

    /// `input` happens.
    pub(super) fn tell(&mut self, now: Time, input: Input) {
        self.sizer.handle(now, input);
        self.follow(now);
    }

    /// Does what the sizer says.
    pub(super) fn follow(&mut self, now: Time) {
        while let Some(action) = self.sizer.poll(now) {
            match action {
                Action::Window(window) => self.window = (window / self.payload).min(self.most).max(1),
                Action::Train => self.demands.trains += 1,
                Action::Pace(pace) => self.demands.pace = Some(pace),
            }
        }
    }

    /// What the sender is asked for since this was called last.
    pub(super) fn take_demands(&mut self) -> Demands {
        std::mem::take(&mut self.demands)
    }

    /// When the receiver next acts of itself.
    pub(super) fn deadline(&self, now: Time) -> Time {
        if self.demands.trains > 0 || self.demands.pace.is_some() {
            return now;
        }
        let sizer = self.sizer.wakeup().unwrap_or(Time::NEVER).max(now);
        self.acknowledges.min(self.measures).min(sizer)
    }

    pub(super) fn sizer(&self) -> &dyn BufferSizer {
        &*self.sizer
    }

    /// What the sizer is doing, and its window.
    pub(super) fn state(&self) -> (SizerState, Bytes) {
        (self.sizer.state(), self.payload * self.window)
    }
}

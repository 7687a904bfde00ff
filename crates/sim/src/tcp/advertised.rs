//! A receive window that moves: a sizer, told what the receiver sees.

use sizing::{BufferSizer, Demands, Driver, Input, PhaseChange};
use units::{Bytes, Time};

/// The receive window under a sizer. The application reads at once, so what is in order is delivered.
#[derive(Debug)]
pub(super) struct Advertised {
    driver: Driver,
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
    /// When a withheld acknowledgement leaves: the receiver's own deadline is the earlier of this and the sizer's.
    pub(super) acknowledges: Time,
    /// When the flow's next probe is due, by [`Receiver::probe_at`](super::Receiver::probe_at).
    pub(super) probes: Time,
}

impl Advertised {
    /// A window of at most `most` segments with `payload` bytes each. Without `timestamps` the sizer is given no
    /// round-trip times.
    pub(super) fn new(sizer: Box<dyn BufferSizer>, payload: Bytes, most: u64, timestamps: bool) -> Self {
        let mut advertised = Self {
            driver: Driver::new(sizer, Time::ZERO),
            payload,
            most,
            window: most,
            edge: 0,
            told: 0,
            timestamps,
            acknowledges: Time::NEVER,
            probes: Time::NEVER,
        };
        advertised.obey(true);
        advertised
    }

    /// The window that an acknowledgement of everything below `expected` carries, segments. What was promised stays
    /// promised: the right edge never moves to the left [rfc9293:3.8.6].
    pub(super) fn window(&mut self, expected: u64) -> u64 {
        self.edge = self.edge.max(expected.saturating_add(self.window));
        self.edge - expected
    }

    /// A segment sent at `sent` has arrived, and everything below `expected` with it; `early`: it did not come in
    /// order.
    ///
    /// The sender answers each acknowledgement at once. So the time stamp that a segment echoes is that of the moment
    /// at which the segment was sent.
    pub(super) fn on_segment(&mut self, now: Time, sent: Time, expected: u64, early: bool) {
        if early {
            self.tell(now, Input::OutOfOrder(1));
        }
        if expected == self.told {
            return;
        }
        if self.timestamps {
            self.driver.handle(now, Input::RoundTrip(now.since(sent)));
        }
        let delivered = self.payload * (expected - self.told);
        self.told = expected;
        self.tell(now, Input::Delivered(delivered));
    }

    /// `input` happens.
    pub(super) fn tell(&mut self, now: Time, input: Input) {
        let asked = self.driver.tell(now, input);
        self.obey(asked);
    }

    /// Does what the sizer says.
    pub(super) fn follow(&mut self, now: Time) {
        let asked = self.driver.follow(now);
        self.obey(asked);
    }

    /// The sizer `asked` for another window.
    fn obey(&mut self, asked: bool) {
        if let Some(window) = self.driver.window().filter(|_| asked) {
            self.window = (window / self.payload).min(self.most).max(1);
        }
    }

    /// What the sender is asked for since this was called last.
    pub(super) fn take_demands(&mut self) -> Demands {
        self.driver.take_demands()
    }

    /// When the receiver next acts of itself.
    pub(super) fn deadline(&self, now: Time) -> Time {
        if self.driver.has_demands() {
            return now;
        }
        let sizer = self.driver.sizer().wakeup().unwrap_or(Time::NEVER).max(now);
        self.acknowledges.min(self.probes).min(sizer)
    }

    pub(super) fn sizer(&self) -> &dyn BufferSizer {
        self.driver.sizer()
    }

    /// The window that the sizer wants.
    pub(super) fn wanted(&self) -> Bytes {
        self.payload * self.window
    }

    /// Keeps what the sizer says of itself, if that is new.
    pub(super) fn note_state(&mut self, now: Time) {
        let window = self.wanted();
        self.driver.note_state(now, window);
    }

    pub(super) fn changes(&self) -> &[PhaseChange] {
        self.driver.changes()
    }
}

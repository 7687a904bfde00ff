//! A receive window that moves: a sizer sets it from the receiver's observations.

use sizing::{BufferSizer, Demands, Driver, Input, PhaseChange};
use units::{Bytes, Time};

/// The receive window under a sizer. The application reads at once, so that segments in order are delivered.
#[derive(Debug)]
pub(super) struct Advertised {
    driver: Driver,
    payload: Bytes,
    /// The largest window, in segments.
    most: u64,
    /// The window that the sizer wants now, in segments.
    window: u64,
    /// One past the last segment for which room has been promised.
    edge: u64,
    /// The number of segments in order that the sizer has been informed of.
    reported: u64,
    timestamps: bool,
    /// The time at which a withheld acknowledgement leaves. The receiver's own deadline is the earliest of this, the
    /// probe's and the sizer's.
    pub(super) acknowledges: Time,
    /// The time at which the flow's next probe is due, by [`Receiver::probe_at`](super::Receiver::probe_at).
    pub(super) probes: Time,
}

impl Advertised {
    /// Creates a window of at most `most` segments with `payload` bytes each. Without `timestamps` the sizer gets no
    /// round-trip times.
    pub(super) fn new(sizer: Box<dyn BufferSizer>, payload: Bytes, most: u64, timestamps: bool) -> Self {
        let mut advertised = Self {
            driver: Driver::new(sizer, Time::ZERO),
            payload,
            most,
            window: most,
            edge: 0,
            reported: 0,
            timestamps,
            acknowledges: Time::NEVER,
            probes: Time::NEVER,
        };
        advertised.obey(true);
        advertised
    }

    /// Returns the window, in segments, that an acknowledgement of everything below `expected` carries. A promise of
    /// room is kept: the right edge never moves to the left [rfc9293:3.8.6].
    pub(super) fn window(&mut self, expected: u64) -> u64 {
        self.edge = self.edge.max(expected.saturating_add(self.window));
        self.edge - expected
    }

    /// Takes the arrival of a segment sent at `sent`, after which everything below `expected` has arrived; `early`: the
    /// segment came out of order.
    ///
    /// The sender answers each acknowledgement at once. So the time stamp that a segment echoes equals the time at
    /// which the segment itself was sent.
    pub(super) fn on_segment(&mut self, now: Time, sent: Time, expected: u64, early: bool) {
        if early {
            self.tell(now, Input::OutOfOrder(1));
        }
        if expected == self.reported {
            return;
        }
        if self.timestamps {
            self.driver.handle(now, Input::RoundTrip(now.since(sent)));
        }
        let delivered = self.payload * (expected - self.reported);
        self.reported = expected;
        self.tell(now, Input::Delivered(delivered));
    }

    /// Gives `input` to the sizer.
    pub(super) fn tell(&mut self, now: Time, input: Input) {
        let asked = self.driver.tell(now, input);
        self.obey(asked);
    }

    /// Carries out the sizer's requests.
    pub(super) fn follow(&mut self, now: Time) {
        let asked = self.driver.follow(now);
        self.obey(asked);
    }

    /// Takes over the sizer's window if `asked` is true: the sizer wants another one.
    fn obey(&mut self, asked: bool) {
        if let Some(window) = self.driver.window().filter(|_| asked) {
            self.window = (window / self.payload).min(self.most).max(1);
        }
    }

    /// Returns the sizer's demands on the sender since the last call.
    pub(super) fn take_demands(&mut self) -> Demands {
        self.driver.take_demands()
    }

    /// Returns the time at which the receiver next acts on its own.
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

    /// Returns the window that the sizer wants.
    pub(super) fn wanted(&self) -> Bytes {
        self.payload * self.window
    }

    /// Records the sizer's state, if it is new.
    pub(super) fn note_state(&mut self, now: Time) {
        let window = self.wanted();
        self.driver.note_state(now, window);
    }

    pub(super) fn changes(&self) -> &[PhaseChange] {
        self.driver.changes()
    }
}

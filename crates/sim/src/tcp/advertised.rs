//! A receive window that moves: a sizer sets it from the receiver's observations.

use crate::early;
use sizing::{BufferSizer, Demands, Driver, Input, PhaseChange};
use units::{Bytes, Time};

/// The receive window under a sizer. The application reads at once, so that segments in order are delivered.
#[derive(Debug)]
#[repr(C)]
pub(super) struct Advertised {
    payload: Bytes,
    driver: Driver,
    /// The largest window, in segments.
    most: u64,
    /// The window that the sizer wants now, in segments.
    window: u64,
    /// One past the last segment for which room has been promised.
    edge: u64,
    /// The number of segments in order that the sizer has been informed of.
    reported: u64,
    /// The time at which a withheld acknowledgement leaves. The receiver's own deadline is the earliest of this, the
    /// probe's and the sizer's.
    pub(super) acknowledges: Time,
    timestamps: bool,
    /// True if the sizer wants to know of segments that arrive out of order.
    counts_early: bool,
    /// True if the sizer has neither a demand nor a wake-up.
    idle: bool,
    /// The time at which the flow's next probe is due, by [`Receiver::probe_at`](super::Receiver::probe_at).
    pub(super) probes: Time,
}

impl Advertised {
    /// Begins to load the window into the processor's cache.
    #[inline]
    pub(super) fn load_early(&self) {
        early::load(&self.payload, size_of::<Self>());
    }

    /// Creates a window of at most `most` segments with `payload` bytes each. Without `timestamps` the sizer gets no
    /// round-trip times.
    pub(super) fn new(sizer: Box<dyn BufferSizer>, payload: Bytes, most: u64, timestamps: bool) -> Self {
        let counts_early = sizer.counts_out_of_order();
        let mut advertised = Self {
            counts_early,
            driver: Driver::new(sizer, Time::ZERO),
            payload,
            most,
            window: most,
            edge: 0,
            reported: 0,
            timestamps,
            acknowledges: Time::NEVER,
            idle: false,
            probes: Time::NEVER,
        };
        advertised.obey(true);
        advertised
    }

    /// Returns the window, in segments, that an acknowledgement of everything below `expected` carries. A promise of
    /// room is kept: the right edge never moves to the left [rfc9293:3.8.6].
    #[inline]
    pub(super) fn window(&mut self, expected: u64) -> u64 {
        self.edge = self.edge.max(expected.saturating_add(self.window));
        self.edge - expected
    }

    /// Takes the arrival of a segment sent at `sent`, after which everything below `expected` has arrived; `early`: the
    /// segment came out of order.
    ///
    /// The sender answers each acknowledgement at once. So the time stamp that a segment echoes equals the time at
    /// which the segment itself was sent.
    #[inline]
    pub(super) fn on_segment(&mut self, now: Time, sent: Time, expected: u64, early: bool) {
        if early && self.counts_early {
            self.tell(now, Input::OutOfOrder(1));
        }
        if expected == self.reported {
            return;
        }
        let delivered = self.payload * (expected - self.reported);
        self.reported = expected;
        self.take(now, sent, 1, delivered);
    }

    /// Takes the arrival of segments in order up to `expected`, the first sent at `first` and the others at `rest`, and
    /// promises room after each of them.
    #[inline]
    pub(super) fn on_batch(&mut self, now: Time, (first, rest): (Time, Time), expected: u64) {
        let mut sent = first;
        while self.reported < expected {
            let count = if sent == first && rest != first { 1 } else { expected - self.reported };
            self.reported += self.take(now, sent, count, self.payload);
            self.window(self.reported);
            sent = rest;
        }
    }

    /// Gives the sizer some of `count` segments, each with `payload`; returns the number that it has handled.
    #[inline]
    fn take(&mut self, now: Time, sent: Time, count: u64, payload: Bytes) -> u64 {
        let round_trip = self.timestamps.then(|| now.since(sent));
        let (handled, polled) = self.driver.on_segments(now, count, payload, round_trip);
        if polled {
            self.idle = false;
            self.obey(true);
        }
        handled
    }

    /// Gives `input` to the sizer.
    pub(super) fn tell(&mut self, now: Time, input: Input) {
        self.idle = false;
        let asked = self.driver.tell(now, input);
        self.obey(asked);
    }

    /// Carries out the sizer's requests.
    pub(super) fn follow(&mut self, now: Time) {
        self.idle = false;
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
        self.idle = false;
        self.driver.take_demands()
    }

    /// Returns the time at which the receiver next acts on its own.
    #[inline]
    pub(super) fn deadline(&mut self, now: Time) -> Time {
        let own = self.acknowledges.min(self.probes);
        if self.idle { own } else { own.min(self.sizer_deadline(now)) }
    }

    /// Returns the time at which the sizer wants to be polled, or the sender is to meet its demands.
    fn sizer_deadline(&mut self, now: Time) -> Time {
        let wakeup = if self.driver.has_demands() { Some(now) } else { self.driver.sizer().wakeup() };
        self.idle = wakeup.is_none();
        wakeup.map_or(Time::NEVER, |at| at.max(now))
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

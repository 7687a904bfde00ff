//! Dynamic right-sizing: the window follows the data that the application receives per round trip.

use crate::{Action, BufferSizer, Input};
use units::{Bytes, Span, Time};

/// The window with which a connection begins: the largest that a SYN, whose window is never scaled, can advertise
/// [rfc7323:2.2]; Linux begins with it as well.
pub const INITIAL_WINDOW: Bytes = Bytes::new(65_535);

/// The window once the receiver knows the memory that a packet takes: the payload for which its first buffer, 131072 B
/// (`tcp_rmem`), has room. If a packet arrives alone behind a TUN device, 160 of each 256 bytes of memory are payload
/// (`scaling_ratio`; 170 of a pair).
const FIRST_WINDOW: Bytes = Bytes::new(131_072 * 160 / 256);

/// The segments with which a sender begins [rfc6928:2]: a round trip that delivers less needs no growth.
const INITIAL_SEGMENTS: u64 = 10;

/// Dynamic right-sizing (Fisk & Feng 2001) by the rules of Linux 6.18 (`tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`,
/// `tcp_rcv_rtt_update`).
///
/// If a round trip delivers c bytes, more than the `old` bytes of the largest one before, the window becomes 2 c + 4 c
/// (c - old) / old. So the window stays ahead of a sender that doubles. It never shrinks, and never exceeds the
/// maximum.
///
/// Three parts of Linux are left out. `rcv_ssthresh` grows by two segments for each that arrives, and so stays ahead of
/// a sender. Memory is not modelled, so windows here are payload. Linux subtracts data that is queued and not read yet
/// from c; here data counts as delivered when the application has read it.
#[derive(Clone, Copy, Debug)]
pub struct Drs {
    maximum: Bytes,
    window: Bytes,
    /// True if the window has changed since the last poll.
    changed: bool,
    round_trip: RoundTrip,
    /// The bytes delivered in the round trip being measured.
    delivered: Bytes,
    /// The time at which this round trip began.
    since: Option<Time>,
    /// The bytes delivered in the largest round trip so far (`rcvq_space.space`).
    largest: Bytes,
}

impl Drs {
    /// Makes a sizer for segments with `segment` bytes of payload and a window of at most `maximum`.
    #[must_use]
    pub fn new(segment: Bytes, maximum: Bytes) -> Self {
        let window = INITIAL_WINDOW.min(maximum);
        Self {
            maximum,
            window,
            changed: true,
            round_trip: RoundTrip::default(),
            delivered: Bytes::ZERO,
            since: None,
            largest: window.min(segment * INITIAL_SEGMENTS).max(Bytes::new(1)),
        }
    }

    #[inline(always)]
    fn count(&mut self, now: Time, bytes: Bytes) {
        self.round_trip.on_delivered(now, bytes, self.window);
        self.rise_to(FIRST_WINDOW);
        self.delivered += bytes;
        let since = *self.since.get_or_insert(now);
        if self.round_trip.estimate.is_none_or(|round_trip| now.since(since) < round_trip) {
            return;
        }
        if self.delivered > self.largest {
            self.grow();
            self.largest = self.delivered;
        }
        self.delivered = Bytes::ZERO;
        self.since = Some(now);
    }

    #[cold]
    fn grow(&mut self) {
        let (delivered, largest) = (u128::from(self.delivered.get()), u128::from(self.largest.get()));
        let base = 2 * delivered;
        let growth = base.saturating_mul(delivered - largest) / largest;
        let window = u64::try_from(base.saturating_add(growth.saturating_mul(2))).unwrap_or(u64::MAX);
        self.rise_to(Bytes::new(window));
    }

    fn rise_to(&mut self, window: Bytes) {
        let window = window.min(self.maximum);
        if window > self.window {
            self.window = window;
            self.changed = true;
        }
    }
}

impl BufferSizer for Drs {
    fn handle(&mut self, now: Time, input: Input) {
        match input {
            Input::Delivered(bytes) => self.count(now, bytes),
            Input::RoundTrip(sample) => self.round_trip.on_sample(sample),
            _ => {}
        }
    }

    fn on_segments(
        &mut self,
        now: Time,
        count: u64,
        payload: Bytes,
        round_trip: Option<Span>,
    ) -> (u64, bool) {
        let mut handled = 0;
        while handled < count && !self.changed {
            handled += 1;
            if let Some(round_trip) = round_trip {
                self.round_trip.on_sample(round_trip);
            }
            self.count(now, payload);
        }
        (handled, self.changed)
    }

    fn counts_out_of_order(&self) -> bool {
        false
    }

    fn poll(&mut self, _now: Time) -> Option<Action> {
        std::mem::take(&mut self.changed).then_some(Action::Window(self.window))
    }
}

/// The round-trip time as a receiver knows it.
#[derive(Clone, Copy, Debug, Default)]
struct RoundTrip {
    estimate: Option<Span>,
    /// True if there are samples by time stamps.
    sampled: bool,
    /// The payload that is still missing of the window whose arrival is timed.
    awaited: Bytes,
    /// The time at which the arrival of that window began.
    began: Option<Time>,
}

impl RoundTrip {
    /// Adds a sample by time stamps: a lower one counts at once, a higher one by 1/8.
    #[inline]
    fn on_sample(&mut self, sample: Span) {
        self.estimate = match self.estimate.filter(|smoothed| self.sampled && sample >= *smoothed) {
            Some(smoothed) => Some(smoothed - smoothed / 8 + sample / 8),
            None => Some(sample),
        };
        self.sampled = true;
    }

    /// Measures the round trip without time stamps. A whole window takes at least a round trip to arrive, so the least
    /// of these times is nearest to the round trip.
    #[inline]
    fn on_delivered(&mut self, now: Time, bytes: Bytes, window: Bytes) {
        if !self.sampled {
            self.time_window(now, bytes, window);
        }
    }

    #[cold]
    fn time_window(&mut self, now: Time, bytes: Bytes, window: Bytes) {
        self.awaited = self.awaited.saturating_sub(bytes);
        if self.awaited > Bytes::ZERO {
            return;
        }
        if let Some(began) = self.began {
            let took = now.since(began);
            self.estimate = Some(self.estimate.map_or(took, |least| least.min(took)));
        }
        self.awaited = window;
        self.began = Some(now);
    }
}

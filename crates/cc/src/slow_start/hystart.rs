//! HyStart: it leaves slow start when the delay rises, or when a round's acknowledgements come close together for half
//! of the least RTT. If the sender is paced, they must do so for the whole least RTT.
//!
//! Linux's CUBIC uses it (`hystart_update` in `net/ipv4/tcp_cubic.c`), after S. Ha and I. Rhee, "Taming the elephants:
//! new TCP slow start", Computer Networks 55, 2011. RFC 9406 is its successor, which has only the rule of the delay,
//! and returns to slow start if the rise was jitter.

use super::{SlowStart, Step};
use crate::Ack;
use units::{Bytes, Span, Time};

/// The window, in segments, below which slow start does not end (`hystart_low_window`).
const LOW_WINDOW: u64 = 16;
/// The longest time between acknowledgements of one train (`hystart_ack_delta_us`).
const TRAIN_GAP: Span = Span::from_millis(2);
/// The bytes whose sending at the pacing rate may delay an acknowledgement: four super-packets of 64 kB
/// (`hystart_ack_delay`).
const HELD_UP: u64 = 4 * 65_536;
/// The longest such delay of an acknowledgement.
const HELD_UP_MOST: Span = Span::from_millis(1);
/// Samples of a round after which its least RTT counts (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// The bounds of the rise that counts, which is an eighth of the least RTT (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const RISE: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));

/// The state of a flow's slow start.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    segment: Bytes,
    /// The round whose samples count; [`u64::MAX`] before the first.
    round: u64,
    /// True from a timeout to the first acknowledgement after it.
    timed_out: bool,
    began: Time,
    latest: Time,
    /// Least RTT of the flow.
    least: Span,
    /// Least RTT of the round.
    current: Span,
    samples: u32,
    /// True once it has ended slow start; then it is inactive until a timeout (`found`).
    over: bool,
}

impl HyStart {
    /// Creates a slow start for segments with `segment` bytes of payload.
    #[must_use]
    pub fn new(segment: Bytes) -> Self {
        Self {
            segment,
            round: u64::MAX,
            timed_out: false,
            began: Time::ZERO,
            latest: Time::ZERO,
            least: Span::MAX,
            current: Span::MAX,
            samples: 0,
            over: false,
        }
    }

    /// Returns true if `ack` shows that the path is full.
    fn is_full(&mut self, ack: &Ack, window: Bytes) -> bool {
        let Some(sample) = ack.rtt.latest else { return false };
        self.least = self.least.min(sample);
        if std::mem::take(&mut self.timed_out) {
            // Linux's round after a timeout begins with it, so no train has gone on since. This sample comes while the
            // window is still one segment, even if the same acknowledgement shows that the timeout was needless.
            self.round = ack.round;
            return false;
        }
        if self.round != ack.round {
            self.round = ack.round;
            (self.began, self.latest) = (ack.now, ack.now);
            (self.current, self.samples) = (Span::MAX, 0);
        }
        if window < self.segment * LOW_WINDOW {
            return false;
        }
        let mut full = false;
        if ack.now.since(self.latest) <= TRAIN_GAP {
            self.latest = ack.now;
            // Pacing alone spreads a window over half of a round trip.
            let part = if ack.paced { 1 } else { 2 };
            full = ack.now.since(self.began) > (self.least + held_up(ack.rtt.smoothed, window)) / part;
        }
        self.current = self.current.min(sample);
        if self.samples < SAMPLES {
            self.samples += 1;
        } else {
            let rise = (self.least / 8).max(RISE.0).min(RISE.1);
            full |= self.current > self.least + rise;
        }
        full
    }
}

/// Returns the time for which the sender's and the receiver's super-packets may hold an acknowledgement up, at a pace
/// of twice `window` in `smoothed`.
fn held_up(smoothed: Span, window: Bytes) -> Span {
    let bytes = u128::from(window.get()) * 2;
    let nanos = u128::from(HELD_UP) * u128::from(smoothed.as_nanos()) / bytes.max(1);
    Span::from_nanos(u64::try_from(nanos).unwrap_or(u64::MAX)).min(HELD_UP_MOST)
}

impl SlowStart for HyStart {
    fn on_ack(&mut self, ack: &Ack, counted: Bytes, window: Bytes) -> Step {
        if !self.over && self.is_full(ack, window) {
            self.over = true;
            return Step::Leave(Bytes::ZERO);
        }
        Step::Grow(counted)
    }

    fn on_timeout(&mut self) {
        *self = Self { timed_out: true, ..Self::new(self.segment) };
    }
}

//! HyStart: it leaves slow start when a round's acknowledgements span half the path, or all of it if the sender is
//! paced, or when the delay rises.
//!
//! Linux's CUBIC uses it (`hystart_update` in `net/ipv4/tcp_cubic.c`), after S. Ha and I. Rhee, "Taming the elephants:
//! new TCP slow start", Computer Networks 55, 2011. RFC 9406 is its successor, without the first rule, and with a
//! second rule that forgives.

use super::{SlowStart, Step};
use crate::Ack;
use units::{Bytes, Span, Time};

/// The window, in segments, below which slow start does not end (`hystart_low_window`).
const LOW_WINDOW: u64 = 16;
/// The longest time between acknowledgements of one train (`hystart_ack_delta_us`).
const TRAIN_GAP: Span = Span::from_millis(2);
/// The super-packets that may hold an acknowledgement up, in bytes at the pacing rate: four of 64 kB
/// (`hystart_ack_delay`).
const HELD_UP: u64 = 4 * 65_536;
/// The longest time for which they may hold it up.
const HELD_UP_MOST: Span = Span::from_millis(1);
/// Samples of a round after which its least RTT counts (`HYSTART_MIN_SAMPLES`).
const SAMPLES: u32 = 8;
/// The rise that counts is an eighth of the least RTT, within these (`HYSTART_DELAY_MIN`, `HYSTART_DELAY_MAX`).
const RISE: (Span, Span) = (Span::from_millis(4), Span::from_millis(16));

/// The state of a flow's slow start.
#[derive(Clone, Copy, Debug)]
pub struct HyStart {
    segment: Bytes,
    round: Option<u64>,
    began: Time,
    latest: Time,
    /// Least RTT of the flow, and of the round.
    least: Span,
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
            round: None,
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
        if self.round != Some(ack.round) {
            self.round = Some(ack.round);
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
        *self = Self::new(self.segment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::RttView;

    const SEGMENT: Bytes = Bytes::new(1000);

    /// Returns true if acknowledgements in round `round`, each a time and an RTT in ms, end the slow start of a window
    /// of `segments`.
    fn ends(hystart: &mut HyStart, round: u64, segments: u64, acks: &[(u64, u64)]) -> bool {
        acks.iter().any(|&(at, rtt)| {
            let rtt = Span::from_millis(rtt);
            let ack = Ack {
                now: Time::from_nanos(at * 1_000_000),
                acked: SEGMENT,
                delivered: SEGMENT,
                newest_sent: Time::ZERO,
                in_flight: Bytes::ZERO,
                rtt: RttView { latest: Some(rtt), smoothed: rtt, min: rtt },
                rate: None,
                window_limited: true,
                paced: false,
                recovering: false,
                round,
            };
            matches!(hystart.on_ack(&ack, SEGMENT, SEGMENT * segments), Step::Leave(_))
        })
    }

    /// 64 segments on 40 ms: 262 144 bytes take 82 ms at twice the window per round trip. So the allowed delay is 1 ms.
    #[test]
    fn a_train_longer_than_half_the_path_ends_it() {
        let train = |until| (100..=until).map(|at| (at, 40)).collect::<Vec<_>>();
        assert!(!ends(&mut HyStart::new(SEGMENT), 1, 64, &train(120)));
        assert!(ends(&mut HyStart::new(SEGMENT), 1, 64, &train(121)));
        // Below sixteen segments it is inactive.
        assert!(!ends(&mut HyStart::new(SEGMENT), 1, 15, &train(130)));
        // A pause of more than 2 ms ends the train. The acknowledgements after it in the round belong to no train.
        let paused: Vec<_> = (100..110).chain(113..140).map(|at| (at, 40)).collect();
        assert!(!ends(&mut HyStart::new(SEGMENT), 1, 64, &paused));
    }

    #[test]
    fn a_rise_of_an_eighth_in_a_round_of_more_than_eight_samples_ends_it() {
        let round = |rtt, count| (0..count).map(move |ack| (100 + ack / 8, rtt)).collect::<Vec<_>>();
        let mut hystart = HyStart::new(SEGMENT);
        assert!(!ends(&mut hystart, 1, 64, &round(64, 9)));
        assert!(!ends(&mut hystart, 2, 64, &round(72, 9)), "8 ms are not more than an eighth");
        assert!(!ends(&mut hystart, 3, 64, &round(73, 8)), "too few");
        assert!(ends(&mut hystart, 4, 64, &round(73, 9)));
    }

    #[test]
    fn it_looks_again_after_a_timeout_only() {
        let rise = |hystart: &mut HyStart| {
            ends(hystart, 1, 64, &[(100, 40)]);
            ends(hystart, 2, 64, &[(200, 60); 9])
        };
        let mut hystart = HyStart::new(SEGMENT);
        assert!(rise(&mut hystart));
        hystart.on_congestion();
        assert!(!rise(&mut hystart));
        hystart.on_timeout();
        assert!(rise(&mut hystart));
    }
}

//! Data that acknowledgements report together, beyond those that the rate explains, as Linux counts them
//! (`bbr_update_ack_aggregation()` of 6.18). The draft of BBR v1 has no such rule.

use units::{Bytes, Span, Time};

/// `bbr_extra_acked_win_rtts`: the number of rounds in each of the filter's two windows.
const ROUNDS: u64 = 5;
/// `bbr_extra_acked_max_us`: extra data count up to the amount that the rate delivers in this time, in seconds.
const LONGEST: f64 = 0.1;

/// The most that arrived together in the last five to ten rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// The largest amounts of the current window and of the one before.
    extra: [Bytes; 2],
    rounds: u64,
    /// The start of an epoch in which more arrives than the rate explains.
    since: Time,
    /// The amount that has arrived in that epoch.
    delivered: Bytes,
}

impl Aggregation {
    /// Takes an acknowledgement of `delivered` at `now`, of a path with `rate` (bits per second). At most `window` can
    /// arrive together. Returns true if more has arrived together than ever in the current window.
    #[inline]
    pub(super) fn observe(&mut self, now: Time, delivered: Bytes, rate: f64, window: Bytes) -> bool {
        let expected = |since: Span| Bytes::new((rate / 8.0 * since.as_secs_f64()) as u64);
        let mut explained = expected(now.since(self.since));
        if self.delivered <= explained {
            (self.since, self.delivered, explained) = (now, Bytes::ZERO, Bytes::ZERO);
        }
        self.delivered += delivered;
        let extra = self.delivered.saturating_sub(explained).min(window);
        let more = extra > self.extra[0];
        if more {
            self.extra[0] = extra;
        }
        more
    }

    /// Begins a round.
    pub(super) fn begin_round(&mut self) {
        self.rounds += 1;
        if self.rounds == ROUNDS {
            self.rounds = 0;
            self.extra = [Bytes::ZERO, self.extra[0]];
        }
    }

    /// Returns the room that a window needs beyond twice the product, on a path with `rate` (bits per second).
    pub(super) fn room(&self, rate: f64) -> Bytes {
        self.extra[0].max(self.extra[1]).min(Bytes::new((rate / 8.0 * LONGEST) as u64))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    /// At 8 Mbit/s 1000 bytes arrive in a millisecond.
    #[test]
    fn what_the_rate_explains_does_not_count_and_a_burst_counts_for_five_to_ten_rounds() {
        let mut own = Aggregation::default();
        let observe = |own: &mut Aggregation, ms, bytes| {
            own.observe(at(ms), Bytes::new(bytes), 8e6, Bytes::new(1 << 20))
        };
        observe(&mut own, 10, 2000);
        observe(&mut own, 12, 2000);
        observe(&mut own, 14, 2000);
        assert_eq!(own.room(8e6), Bytes::new(2000));
        // 6000 more arrive in the same millisecond as the last 2000.
        assert!(observe(&mut own, 14, 6000));
        assert_eq!(own.room(8e6), Bytes::new(8000));
        for _ in 0..9 {
            own.begin_round();
        }
        assert_eq!(own.room(8e6), Bytes::new(8000));
        own.begin_round();
        assert_eq!(own.room(8e6), Bytes::ZERO);
        observe(&mut own, 1000, 500_000);
        assert_eq!(own.room(8e6), Bytes::new(100_000), "what 100 ms deliver");
    }
}

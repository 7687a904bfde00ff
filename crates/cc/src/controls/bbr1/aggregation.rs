//! Data that acknowledgements report together, beyond what the rate explains, as Linux counts them
//! (`bbr_update_ack_aggregation()` of 6.18). The draft of BBR v1 has nothing of the kind.

use units::{Bytes, Span, Time};

/// `bbr_extra_acked_win_rtts`: each of the two windows of the filter has this many rounds.
const ROUNDS: u64 = 5;
/// `bbr_extra_acked_max_us`: no more counts than the rate delivers in this time.
const LONGEST: f64 = 0.1;

/// The most that arrived together in the last five to ten rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Aggregation {
    /// The largest of the window at hand, and of the one before.
    extra: [Bytes; 2],
    rounds: u64,
    /// The start of an epoch in which more arrives than the rate explains, and what has arrived in it.
    since: Time,
    delivered: Bytes,
}

impl Aggregation {
    /// Takes an acknowledgement of `delivered` at `now`, of a path with `rate` (bits per second). No more than `window`
    /// arrives together.
    #[inline]
    pub(super) fn observe(&mut self, now: Time, delivered: Bytes, rate: f64, window: Bytes) {
        let expected = |since: Span| Bytes::new((rate / 8.0 * since.as_secs_f64()) as u64);
        let mut explained = expected(now.since(self.since));
        if self.delivered <= explained {
            (self.since, self.delivered, explained) = (now, Bytes::ZERO, Bytes::ZERO);
        }
        self.delivered += delivered;
        let extra = self.delivered.saturating_sub(explained).min(window);
        self.extra[0] = self.extra[0].max(extra);
    }

    /// A round begins.
    pub(super) fn begin_round(&mut self) {
        self.rounds += 1;
        if self.rounds == ROUNDS {
            self.rounds = 0;
            self.extra = [Bytes::ZERO, self.extra[0]];
        }
    }

    /// Returns what a window has room for beyond twice the product, on a path with `rate` (bits per second).
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

    /// 8 Mbit/s are 1000 bytes a millisecond.
    #[test]
    fn what_the_rate_explains_does_not_count_and_a_burst_counts_for_five_to_ten_rounds() {
        let mut own = Aggregation::default();
        let observe = |own: &mut Aggregation, ms, bytes| {
            own.observe(at(ms), Bytes::new(bytes), 8e6, Bytes::new(1 << 20));
        };
        observe(&mut own, 10, 2000);
        observe(&mut own, 12, 2000);
        observe(&mut own, 14, 2000);
        assert_eq!(own.room(8e6), Bytes::new(2000));
        // Six more in the same millisecond as the last two.
        observe(&mut own, 14, 6000);
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

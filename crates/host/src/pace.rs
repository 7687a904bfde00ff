//! [`Pace`]: a rate that a program keeps when it writes, so that it can be taken back.
//!
//! Once Linux was told a rate (`SO_MAX_PACING_RATE`), it paces the socket until that closes. Without a cap it then paces
//! at 1.2 windows per round trip. Beside short transfers such a sender has less goodput than without a pace.

use units::{Bytes, Rate, Span, Time};

/// A quantum takes this long at the pace, as in Linux (`sk_pacing_shift`).
const TOGETHER: Span = Span::from_millis(1);
/// A quantum has two full segments at least, and a super-packet at most.
const LEAST: Bytes = Bytes::new(2896);
const MOST: Bytes = Bytes::new(64 << 10);
/// Or as much as passes in this time: a program is not woken more often.
const SOONEST: Span = Span::from_micros(200);
/// After a late wake-up at most this many quanta leave together.
const LATE: u64 = 2;
/// When to look again whether the kernel takes more.
const AGAIN: Span = Span::from_millis(1);

/// Whether a program may write, and how much. Without a rate it may write as much as it likes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    rate: Option<Rate>,
    /// When all that was written has had its time.
    free_at: Time,
    /// Not before this time: the kernel took no more.
    again: Time,
}

impl Pace {
    /// The rate from `now` on; `None`: none.
    pub fn set(&mut self, now: Time, rate: Option<Rate>) {
        let was_on = self.is_on();
        self.rate = rate.filter(|rate| *rate > Rate::ZERO);
        if !was_on {
            self.free_at = before(now, self.interval());
        }
    }

    /// Whether there is a rate.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.rate.is_some()
    }

    /// Bytes that may be written at `now`.
    #[must_use]
    pub fn room(&self, now: Time) -> usize {
        let Some(rate) = self.rate else { return usize::MAX };
        if now < self.due() {
            return 0;
        }
        rate.volume(now.since(self.free_at).min(self.interval() * LATE)).get() as usize
    }

    /// Of the room at `now`, `bytes` were written, and the kernel took no more if `full`.
    pub fn wrote(&mut self, now: Time, bytes: usize, full: bool) {
        let Some(rate) = self.rate else { return };
        let passes = rate.serialization(Bytes::new(bytes as u64));
        self.free_at = self.free_at.max(before(now, self.interval() * LATE)) + passes;
        if full {
            self.again = now + AGAIN;
        }
    }

    /// When there is room again. Without a rate there always is, and this is never.
    #[must_use]
    pub fn due(&self) -> Time {
        if self.is_on() { (self.free_at + self.interval()).max(self.again) } else { Time::NEVER }
    }

    /// How long a quantum takes at the pace.
    fn interval(&self) -> Span {
        self.rate.map_or(Span::ZERO, |rate| rate.serialization(quantum(rate)))
    }

    /// What should wait unsent in the socket at most ([`set_unsent_limit`](crate::options::set_unsent_limit)), so that
    /// a window that opens lets out no more than that at once. Without a rate it is zero: the host's default.
    #[must_use]
    pub fn unsent(&self) -> Bytes {
        self.rate.map_or(Bytes::ZERO, quantum)
    }
}

fn before(at: Time, span: Span) -> Time {
    Time::from_nanos(at.as_nanos().saturating_sub(span.as_nanos()))
}

/// The bytes that may leave together.
fn quantum(rate: Rate) -> Bytes {
    rate.volume(TOGETHER).min(MOST).max(rate.volume(SOONEST)).max(LEAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn us(micros: u64) -> Time {
        Time::ZERO + Span::from_micros(micros)
    }

    /// Bytes written until `end`, looking every `step` microseconds.
    fn written(pace: &mut Pace, end: u64, step: u64) -> usize {
        let mut sum = 0;
        for at in (0..end).step_by(step as usize).map(us) {
            let room = pace.room(at);
            if room > 0 {
                pace.wrote(at, room, false);
                sum += room;
            }
        }
        sum
    }

    #[test]
    fn what_is_written_keeps_to_the_rate_however_often_it_is_looked() {
        for (mbps, step) in [(1, 100), (10, 130), (100, 700), (1000, 130), (100, 1900)] {
            let mut pace = Pace::default();
            pace.set(Time::ZERO, Some(Rate::from_bps(mbps * 1_000_000)));
            let (sum, all) = (written(&mut pace, 1_000_000, step) as f64, mbps as f64 * 125_000.0);
            assert!((0.96..=1.03).contains(&(sum / all)), "{mbps} Mbit/s, each {step} us: {sum} of {all}");
        }
    }

    #[test]
    fn after_a_late_wake_up_two_quanta_leave_and_no_more() {
        let mut pace = Pace::default();
        pace.set(Time::ZERO, Some(Rate::from_bps(80_000_000)));
        pace.wrote(us(0), 0, false);
        assert_eq!(pace.room(us(999)), 0);
        assert_eq!(pace.room(us(1_500)), 15_000);
        assert_eq!(pace.room(us(500_000)), 20_000);
    }

    #[test]
    fn without_a_rate_there_is_room() {
        let mut pace = Pace::default();
        assert_eq!((pace.room(us(0)), pace.due(), pace.unsent()), (usize::MAX, Time::NEVER, Bytes::ZERO));
        pace.set(us(5_000), Some(Rate::from_bps(80_000_000)));
        assert_eq!((pace.room(us(5_000)), pace.unsent()), (10_000, Bytes::new(10_000)));
        pace.wrote(us(5_000), 10_000, false);
        assert_eq!((pace.room(us(5_999)), pace.due()), (0, us(6_000)));
        // Another rate is no more room.
        pace.set(us(5_500), Some(Rate::from_bps(40_000_000)));
        assert_eq!((pace.room(us(5_500)), pace.due()), (0, us(6_000)));
        pace.set(us(5_600), None);
        assert_eq!((pace.room(us(5_600)), pace.due()), (usize::MAX, Time::NEVER));
    }

    #[test]
    fn a_full_socket_is_asked_again_soon() {
        let mut pace = Pace::default();
        pace.set(us(9_000), Some(Rate::from_bps(8_000_000_000)));
        pace.wrote(us(9_000), 0, true);
        assert_eq!(pace.due(), us(10_000));
    }
}

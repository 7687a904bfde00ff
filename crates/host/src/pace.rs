//! [`Pace`]: a rate that a program keeps when it writes, and that can be removed again.
//!
//! Once a rate is set in Linux (`SO_MAX_PACING_RATE`), the kernel paces the socket until it closes. After the rate is
//! removed, the kernel still paces at 1.2 windows per round trip. In competition with short transfers, such a sender
//! has less goodput than a sender without a pace.

use crate::{HostError, TcpInfo};
use std::os::fd::AsFd;
use units::{Bytes, Rate, Span, Time};

/// The time that a quantum, the bytes that leave together, takes at the pace. It is half of the time in Linux
/// (`sk_pacing_shift`).
const TOGETHER: Span = Span::from_micros(500);
/// The least quantum: two full segments.
const LEAST: Bytes = Bytes::new(2896);
/// The largest quantum, a super-packet, unless [`SOONEST`] requires a larger one.
const MOST: Bytes = Bytes::new(64 << 10);
/// The least time for which a quantum lasts, so that the program is not woken more often.
const SOONEST: Span = Span::from_micros(200);
/// The greatest number of quanta that are made up for after a late wake-up.
const REGAINED: u64 = 2;
/// The number of quanta that may wait unsent. With two, a transfer had 0.9 of the goodput that it had with three
/// (docs/papers/notes/sobas.md).
const UNSENT: u64 = 3;
/// The lateness at which a wake-up no longer counts in the mean, because there was nothing to write, or the machine
/// stood still.
const LATEST: Span = Span::from_millis(2);
/// The divisor of the last wake-up's weight in the mean lateness.
const MEAN_OF: u64 = 16;

/// A pace of writing: the time and amount of the next write. Without a rate, writes are not limited.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    rate: Option<Rate>,
    /// The time at which all written data will have passed at the rate.
    free_at: Time,
    /// The earliest time of the next write: after half of the time that the last write takes at the rate, or after an
    /// interval if the kernel accepted no more.
    again: Time,
    /// The mean lateness of wake-ups.
    late: Span,
}

impl Pace {
    /// Sets the rate from `now` on; `None` removes it.
    pub fn set(&mut self, now: Time, rate: Option<Rate>) {
        let was_on = self.is_on();
        self.rate = rate.filter(|rate| *rate > Rate::ZERO);
        if !was_on {
            self.free_at = before(now, self.interval());
        }
    }

    /// Returns true if there is a rate.
    #[must_use]
    pub const fn is_on(&self) -> bool {
        self.rate.is_some()
    }

    /// Returns the number of bytes that may be written at `now`.
    #[must_use]
    pub fn room(&self, now: Time) -> usize {
        let Some(rate) = self.rate else { return usize::MAX };
        if now < self.due() {
            return 0;
        }
        rate.volume(now.since(self.free_at).min(self.interval())).get() as usize
    }

    /// Records that `bytes` of the room at `now` were written, and that the kernel accepted no more if `full`.
    pub fn wrote(&mut self, now: Time, bytes: usize, full: bool) {
        let Some(rate) = self.rate else { return };
        let late = now.since(self.due());
        if late < LATEST {
            self.late = self.late - self.late / MEAN_OF + late / MEAN_OF;
        }
        let passes = rate.serialization(Bytes::new(bytes as u64));
        self.free_at = self.free_at.max(before(now, self.interval() * REGAINED)) + passes;
        self.again = now + if full { self.interval() } else { passes / 2 };
    }

    /// Returns the time at which the pace allows the next write. Without a rate, returns [`Time::NEVER`], because there
    /// is always room.
    #[must_use]
    pub fn due(&self) -> Time {
        if self.is_on() { (self.free_at + self.interval()).max(self.again) } else { Time::NEVER }
    }

    /// Returns the interval between two writes: the time that a quantum takes at the pace, but at least twice the mean
    /// lateness of wake-ups.
    fn interval(&self) -> Span {
        self.rate.map_or(Span::ZERO, |rate| rate.serialization(quantum(rate)).max(self.late * 2))
    }

    /// Returns the most bytes that may wait unsent in the socket, so that a window that opens releases little at once.
    /// The value is for the kernel ([`set_unsent_limit`](crate::options::set_unsent_limit)). But the kernel adds up to
    /// 64 kB to a super-packet that waits, so [`is_full`](Self::is_full) checks as well. Without a rate, returns zero,
    /// which means the host's default.
    #[must_use]
    pub fn unsent(&self) -> Bytes {
        self.rate.map_or(Bytes::ZERO, |rate| quantum(rate) * UNSENT)
    }

    /// Returns true if `socket` holds [`unsent`](Self::unsent) bytes or more that are not sent yet. Then nothing may be
    /// written.
    ///
    /// # Errors
    /// [`HostError`](crate::HostError) if `TCP_INFO` of the socket cannot be read.
    pub fn is_full(&self, socket: &impl AsFd) -> Result<bool, HostError> {
        Ok(self.is_on() && TcpInfo::of(socket)?.notsent_bytes >= self.unsent())
    }
}

/// Returns the quantum at `rate`: the bytes that leave together if wake-ups are not late.
fn quantum(rate: Rate) -> Bytes {
    rate.volume(TOGETHER).min(MOST).max(rate.volume(SOONEST)).max(LEAST)
}

fn before(at: Time, span: Span) -> Time {
    Time::from_nanos(at.as_nanos().saturating_sub(span.as_nanos()))
}

#[cfg(test)]
#[path = "../tests/within/pace.rs"]
mod tests;

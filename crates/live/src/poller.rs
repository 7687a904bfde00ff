//! [`Poller`]: waits for sockets with a deadline; [`Ticks`]: when to sample. Both sides use them.

use crate::error::LiveError;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use std::os::fd::AsFd;
use units::{Span, Time};

/// No wait is longer: the stop flag is looked at this often.
pub(crate) const STOP_CHECK: Span = Span::from_millis(20);
const EVENTS_AT_ONCE: usize = 256;

/// A level-triggered epoll set; tokens are the caller's.
#[derive(Debug)]
pub(crate) struct Poller {
    epoll: Epoll,
    events: Vec<EpollEvent>,
}

impl Poller {
    pub(crate) fn new() -> Result<Self, LiveError> {
        let epoll =
            Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(LiveError::system("create an epoll set"))?;
        Ok(Self { epoll, events: vec![EpollEvent::empty(); EVENTS_AT_ONCE] })
    }

    pub(crate) fn add(&self, socket: &impl AsFd, token: u64, flags: EpollFlags) -> Result<(), LiveError> {
        self.epoll.add(socket, EpollEvent::new(flags, token)).map_err(LiveError::system("watch a socket"))
    }

    pub(crate) fn change(&self, socket: &impl AsFd, token: u64, flags: EpollFlags) -> Result<(), LiveError> {
        self.epoll
            .modify(socket, &mut EpollEvent::new(flags, token))
            .map_err(LiveError::system("watch a socket"))
    }

    pub(crate) fn remove(&self, socket: &impl AsFd) -> Result<(), LiveError> {
        self.epoll.delete(socket).map_err(LiveError::system("stop watching a socket"))
    }

    /// Waits until a socket is ready or `until` has come, rounded up to a millisecond. The ready tokens.
    pub(crate) fn wait(&mut self, now: Time, until: Time) -> Result<Vec<(u64, EpollFlags)>, LiveError> {
        let wait = until.since(now).min(STOP_CHECK);
        let millis = wait.as_nanos().div_ceil(1_000_000) as u16;
        let ready = match self.epoll.wait(&mut self.events, EpollTimeout::from(millis)) {
            Ok(ready) => ready,
            // A signal: the caller looks at its stop flag.
            Err(nix::errno::Errno::EINTR) => 0,
            Err(error) => return Err(LiveError::system("wait for sockets")(error)),
        };
        Ok(self.events[..ready].iter().map(|event| (event.data(), event.events())).collect())
    }
}

/// The times to sample at: multiples of `every` since the start of the run, so that both sides sample together,
/// and once at the end of the warm-up.
#[derive(Debug)]
pub(crate) struct Ticks {
    every: Span,
    next: Time,
    warmup: Option<Time>,
}

impl Ticks {
    pub(crate) fn new(every: Span, warmup: Span, now: Time) -> Self {
        let mut ticks = Self { every, next: now, warmup: Some(Time::ZERO + warmup) };
        ticks.advance(now);
        ticks
    }

    /// When the next sample is due.
    pub(crate) fn due(&self) -> Time {
        self.warmup.map_or(self.next, |warmup| warmup.min(self.next))
    }

    /// Whether a sample is due; moves on, leaving out what was missed.
    pub(crate) fn take(&mut self, now: Time) -> bool {
        if now < self.due() {
            return false;
        }
        self.warmup = self.warmup.filter(|&warmup| warmup > now);
        if self.next <= now {
            self.advance(now);
        }
        true
    }

    fn advance(&mut self, now: Time) {
        let passed = now.as_nanos() / self.every.as_nanos();
        self.next = Time::ZERO + self.every * (passed + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::ZERO + Span::from_millis(millis)
    }

    #[test]
    fn samples_fall_on_multiples_and_on_the_end_of_warmup() {
        let mut ticks = Ticks::new(Span::from_millis(20), Span::from_millis(50), at(3));
        assert_eq!(ticks.due(), at(20));
        assert!(!ticks.take(at(19)));
        assert!(ticks.take(at(21)));
        assert!(ticks.take(at(41)));
        assert_eq!(ticks.due(), at(50));
        assert!(ticks.take(at(50)));
        assert_eq!(ticks.due(), at(60));
        assert!(ticks.take(at(95)), "late");
        assert_eq!(ticks.due(), at(100), "missed samples are left out");
    }
}

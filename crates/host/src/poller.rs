//! Waiting for descriptors: [`wait`] for a few of them, [`Poller`] for a set that stays. Every room waits here.

use crate::error::HostError;
use rustix::event::{EventfdFlags, Timespec, epoll, eventfd, poll};
use rustix::io::Errno;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use units::{Span, Time};

pub use rustix::event::epoll::EventFlags as Interest;
pub use rustix::event::{PollFd, PollFlags};

const EVENTS_AT_ONCE: usize = 256;

/// The reason why [`wait`] returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WaitResult {
    /// A descriptor is ready or in error, as its `revents` show.
    Ready,
    /// The time has passed.
    TimedOut,
    /// A signal arrived.
    Interrupted,
}

/// Waits until one of `descriptors` is ready, for at most `limit`; without a limit, until something happens.
///
/// # Errors
/// The kernel's error, except for a signal, which is [`WaitResult::Interrupted`].
pub fn wait(descriptors: &mut [PollFd<'_>], limit: Option<Span>) -> io::Result<WaitResult> {
    match poll(descriptors, limit.map(timespec).as_ref()) {
        Ok(0) => Ok(WaitResult::TimedOut),
        Ok(_) => Ok(WaitResult::Ready),
        Err(Errno::INTR) => Ok(WaitResult::Interrupted),
        Err(error) => Err(error.into()),
    }
}

/// An event that one thread causes, for another thread that waits for descriptors.
#[derive(Debug)]
pub struct Waker(OwnedFd);

impl Waker {
    /// Makes an event that has not happened.
    ///
    /// # Errors
    /// If the system has no room for another descriptor.
    pub fn new() -> io::Result<Self> {
        Ok(Self(eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?))
    }

    /// Wakes the thread that waits for this event.
    pub fn wake(&self) {
        // This fails only if the event has been caused 2^64 - 2 times.
        let _ = rustix::io::write(&self.0, &1_u64.to_ne_bytes());
    }

    /// Resets the event, so that a thread that waits for it is woken only by the next one.
    pub fn clear(&self) {
        // The read fails only if the event has not happened.
        let _ = rustix::io::read(&self.0, &mut [0; 8]);
    }
}

impl AsFd for Waker {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

/// A level-triggered epoll set; the caller chooses the tokens.
#[derive(Debug)]
pub struct Poller {
    epoll: OwnedFd,
}

impl Poller {
    /// Makes an empty set.
    ///
    /// # Errors
    /// [`HostError::System`], as for all methods below.
    pub fn new() -> Result<Self, HostError> {
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC);
        let epoll = epoll.map_err(HostError::system("create an epoll set"))?;
        Ok(Self { epoll })
    }

    /// Watches `socket` from now on.
    ///
    /// # Errors
    /// [`HostError::System`].
    pub fn add(&self, socket: &impl AsFd, token: u64, interest: Interest) -> Result<(), HostError> {
        epoll::add(&self.epoll, socket, epoll::EventData::new_u64(token), interest)
            .map_err(HostError::system("watch a socket"))
    }

    /// Watches `socket`, which is in the set, for other events, or by another token.
    ///
    /// # Errors
    /// [`HostError::System`].
    pub fn change(&self, socket: &impl AsFd, token: u64, interest: Interest) -> Result<(), HostError> {
        epoll::modify(&self.epoll, socket, epoll::EventData::new_u64(token), interest)
            .map_err(HostError::system("watch a socket"))
    }

    /// Removes `socket` from the set.
    ///
    /// # Errors
    /// [`HostError::System`].
    pub fn remove(&self, socket: &impl AsFd) -> Result<(), HostError> {
        epoll::delete(&self.epoll, socket).map_err(HostError::system("stop watching a socket"))
    }

    /// Waits until a socket is ready, `until` has passed or a signal has arrived. Returns the ready tokens.
    ///
    /// # Errors
    /// [`HostError::System`].
    pub fn wait(&self, now: Time, until: Time) -> Result<Vec<(u64, Interest)>, HostError> {
        let limit = (until != Time::NEVER).then(|| until.since(now));
        // This can wait for less than a millisecond, even where `epoll_pwait2` (Linux 5.11) is missing.
        let woken = wait(&mut [PollFd::new(&self.epoll, PollFlags::IN)], limit);
        if woken.map_err(HostError::system("wait for sockets"))? != WaitResult::Ready {
            return Ok(Vec::new());
        }
        let mut room = [const { MaybeUninit::uninit() }; EVENTS_AT_ONCE];
        match epoll::wait(&self.epoll, &mut room, Some(&timespec(Span::ZERO))) {
            Ok((events, _)) => Ok(events.iter().map(|event| (event.data.u64(), event.flags)).collect()),
            Err(Errno::INTR) => Ok(Vec::new()),
            Err(error) => Err(HostError::system("wait for sockets")(error)),
        }
    }
}

fn timespec(span: Span) -> Timespec {
    let nanos = span.as_nanos();
    // Ten digits of seconds and nine of nanoseconds fit.
    Timespec { tv_sec: (nanos / 1_000_000_000) as i64, tv_nsec: (nanos % 1_000_000_000) as _ }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Clock;
    use std::io::Write;
    use std::os::unix::net::UnixStream;

    #[test]
    fn a_wait_ends_when_something_can_be_read_and_not_before_its_time() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let (clock, limit) = (Clock::start(), Span::from_millis(3));
        let mut waited = [PollFd::new(&theirs, PollFlags::IN)];
        assert_eq!(wait(&mut waited, Some(limit)).unwrap(), WaitResult::TimedOut);
        assert!(clock.now() >= Time::ZERO + limit);
        ours.write_all(b"!").unwrap();
        assert_eq!(wait(&mut waited, None).unwrap(), WaitResult::Ready);
        assert_eq!(waited[0].revents(), PollFlags::IN);
    }

    #[test]
    fn a_poller_tells_the_tokens_that_are_ready() {
        let (mut ours, theirs) = UnixStream::pair().unwrap();
        let (clock, poller) = (Clock::start(), Poller::new().unwrap());
        poller.add(&theirs, 7, Interest::IN).unwrap();
        let soon = Time::ZERO + Span::from_micros(2_500);
        assert_eq!(poller.wait(Time::ZERO, soon).unwrap(), []);
        assert!(clock.now() >= soon);
        ours.write_all(b"!").unwrap();
        assert_eq!(poller.wait(Time::ZERO, Time::NEVER).unwrap(), [(7, Interest::IN)]);
        poller.change(&theirs, 8, Interest::IN).unwrap();
        assert_eq!(poller.wait(Time::ZERO, Time::NEVER).unwrap(), [(8, Interest::IN)]);
        poller.remove(&theirs).unwrap();
        assert_eq!(poller.wait(Time::ZERO, Time::ZERO).unwrap(), []);
    }
}

//! [`SizedGroup`]: one [`BufferSizer`] sets the receive windows of one connection, or of several over one path.
//!
//! ```text
//!   TCP_INFO ──► Delivered, RoundTrip, OutOfOrder ─┐
//!   probes, trains, the sender's word ── tell() ───┼─► Driver ──► window ──► WindowControl ──► the kernel
//!                                                  │         └──► Demands ──► the caller
//! ```
//!
//! If each of several parallel connections had a sizer, they would take one another for cross traffic. Each would
//! measure the rate that the others leave, and each would test whether the others give way. A group has one sizer,
//! which sees the sum of their deliveries and losses. The window that it requests is divided among them in whole
//! segments; a single connection gets it unchanged.
//!
//! A group has no thread and reads no clock. The caller lends the sockets for each call, in the order in which they
//! joined, and stays their owner. `window.rs` makes the kernel keep a window, and `probed_group.rs` probes for
//! the sizer.
//!
//! The time between two measurements is an eighth of the round trip, at least 1 ms and at most 10 ms. The sizer gets
//! all data that arrived in between as one delivery. So a sizer that counts in round trips sees eight or more
//! deliveries in each.

use crate::error::LiveError;
use crate::window::{Window, WindowControl};
use host::TcpInfo;
use sizing::{BufferSizer, Demands, Driver, Input, LEAST_SEGMENTS, PhaseChange};
use std::os::fd::AsFd;
use units::{Bytes, Span, Time};

/// The least time between two measurements, because the kernel's own estimate of the round trip has steps of 1 ms.
const OFTEN: Span = Span::from_millis(1);
/// The greatest time between two measurements, after which a window that the kernel has overwritten is set again.
const SELDOM: Span = Span::from_millis(10);
/// Measurements in each round trip.
const PER_ROUND_TRIP: u64 = 8;

/// A connection of a group.
#[derive(Debug)]
struct Member {
    control: WindowControl,
    /// The payload received that has been reported to the sizer.
    received: Bytes,
    /// The segments out of order that have been reported to the sizer.
    out_of_order: u32,
}

/// A sizer and the connections that it sizes together.
#[derive(Debug)]
pub struct SizedGroup {
    driver: Driver,
    members: Vec<Member>,
    /// The payload of a full segment: windows are divided into whole segments.
    segment: Bytes,
    /// The sizer's maximum, which means "without limit". If the sizer requests it, each member may have all of it.
    maximum: Bytes,
    /// The time of the next measurement.
    due: Time,
    /// The round-trip time reported last. The next report follows after this time.
    round_trip: Option<Span>,
    round_trip_reported: Time,
}

impl SizedGroup {
    /// Makes a group without members. `sizer` counts in segments of `segment` and treats a window of `maximum` as no
    /// limit.
    #[must_use]
    pub fn new(sizer: Box<dyn BufferSizer>, segment: Bytes, maximum: Bytes, now: Time) -> Self {
        let mut driver = Driver::new(sizer, now);
        driver.note_phase(now);
        Self {
            driver,
            members: Vec::new(),
            segment: segment.max(Bytes::new(1)),
            maximum,
            due: now,
            round_trip: None,
            round_trip_reported: now,
        }
    }

    /// Adds one *established* connection, the last of `sockets`. Data that it received before does not count for the
    /// sizer.
    ///
    /// # Errors
    /// [`LiveError::Host`] if the kernel refuses; the connection's window may then be limited already.
    ///
    /// # Panics
    /// If `sockets` are not those of the members and one more.
    pub fn join<S: AsFd>(&mut self, sockets: &[S]) -> Result<(), LiveError> {
        let place = self.members.len();
        assert_eq!(sockets.len(), place + 1, "the members' sockets, then the new one");
        let socket = &sockets[place];
        let info = TcpInfo::of(socket)?;
        // The window is limited at the takeover, even if the sizer has not requested one yet: see
        // `WindowControl::take`.
        let control = WindowControl::take(socket, self.share(place, place + 1))?;
        let (received, out_of_order) = (info.stream_received(), info.rcv_ooopack.unwrap_or(0));
        self.members.push(Member { control, received, out_of_order });
        if place == 0 {
            return Ok(());
        }
        self.divide();
        self.assert(sockets)
    }

    /// Removes the member at `place`, which has ended; the others, with `sockets`, get their new parts.
    ///
    /// # Errors
    /// [`LiveError::Host`].
    pub fn leave<S: AsFd>(&mut self, place: usize, sockets: &[S]) -> Result<(), LiveError> {
        self.members.remove(place);
        self.divide();
        self.assert(sockets)
    }

    /// Returns the number of members.
    #[must_use]
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// Measures if that is due, gives the sizer the measurements, and hands the windows to the kernel. Sets those again
    /// that the kernel had overwritten. Cheap when nothing is due.
    ///
    /// # Errors
    /// [`LiveError::Host`].
    pub fn poll<S: AsFd>(&mut self, sockets: &[S], now: Time) -> Result<(), LiveError> {
        if now >= self.due {
            self.observe(sockets, now)?;
            self.due =
                now + self.round_trip.map_or(OFTEN, |time| (time / PER_ROUND_TRIP).max(OFTEN).min(SELDOM));
        } else if self.driver.sizer().wakeup().is_none_or(|wakeup| now < wakeup) {
            return Ok(());
        }
        let asked = self.driver.follow(now);
        self.obey(asked, sockets, now)
    }

    /// Gives the sizer what the sockets cannot know: the fate of probes and trains, and the sender's report on all its
    /// connections together.
    ///
    /// # Errors
    /// [`LiveError::Host`].
    pub fn tell<S: AsFd>(&mut self, sockets: &[S], now: Time, input: Input) -> Result<(), LiveError> {
        let asked = self.driver.tell(now, input);
        self.obey(asked, sockets, now)
    }

    /// Returns the time of the next poll.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.driver.sizer().wakeup().map_or(self.due, |wakeup| wakeup.min(self.due))
    }

    /// Returns the sizer, so that the caller can read its state.
    #[must_use]
    pub fn sizer(&self) -> &dyn BufferSizer {
        self.driver.sizer()
    }

    /// Returns the sizer's requests to others since the last call. A pace is that of all connections together.
    pub fn take_demands(&mut self) -> Demands {
        self.driver.take_demands()
    }

    /// Returns the window that the sizer requests; `None` before its first request.
    #[must_use]
    pub const fn requested(&self) -> Option<Bytes> {
        self.driver.window()
    }

    /// Returns the current window over all connections; `None` for the maximum.
    #[must_use]
    pub fn window(&self) -> Option<Bytes> {
        let count = self.members.len().max(1);
        self.limit()?;
        (0..count).map(|place| self.part(place, count)).sum()
    }

    /// Returns the phases so far, the first one with the beginning; at most a thousand.
    #[must_use]
    pub fn changes(&self) -> &[PhaseChange] {
        self.driver.changes()
    }

    /// Returns the actuator of the member at `place`, with its buffer and the number of times that the kernel overwrote
    /// the window.
    ///
    /// # Panics
    /// If the group has no member at `place`.
    #[must_use]
    pub fn control(&self, place: usize) -> &WindowControl {
        &self.members[place].control
    }

    /// Sets the windows again that the kernel has overwritten, without measuring.
    ///
    /// # Errors
    /// [`LiveError::Host`].
    pub fn assert<S: AsFd>(&mut self, sockets: &[S]) -> Result<(), LiveError> {
        debug_assert_eq!(sockets.len(), self.members.len(), "a socket for each member");
        for (member, socket) in self.members.iter_mut().zip(sockets) {
            member.control.assert(socket)?;
        }
        Ok(())
    }

    /// Returns the window that the sizer requests, unless that is the maximum; requests are in whole segments.
    fn limit(&self) -> Option<Bytes> {
        self.requested().filter(|&asked| asked + self.segment <= self.maximum)
    }

    /// Returns the part of the member at `place` of `count`, if there is a limit. The first members get the segments
    /// that are left after the division.
    fn part(&self, place: usize, count: usize) -> Option<Bytes> {
        if count == 1 {
            return self.requested();
        }
        let (count, segments) = (count as u64, self.limit()? / self.segment);
        let part = segments / count + u64::from((place as u64) < segments % count);
        Some(self.segment * part.max(LEAST_SEGMENTS))
    }

    fn share(&self, place: usize, count: usize) -> Window {
        Window::AtMost(self.part(place, count).unwrap_or(self.maximum))
    }

    fn observe<S: AsFd>(&mut self, sockets: &[S], now: Time) -> Result<(), LiveError> {
        let (mut gained, mut strays) = (Bytes::ZERO, 0);
        let (mut round_trips, mut readings) = (Span::ZERO, 0);
        for (member, socket) in self.members.iter_mut().zip(sockets) {
            let info = TcpInfo::of(socket)?;
            let received = info.stream_received();
            gained += received.saturating_sub(member.received);
            member.received = member.received.max(received);
            let out_of_order = info.rcv_ooopack.unwrap_or(0);
            strays += u64::from(out_of_order.saturating_sub(member.out_of_order));
            member.out_of_order = out_of_order;
            if let Some(round_trip) = info.rcv_rtt {
                (round_trips, readings) = (round_trips + round_trip, readings + 1);
            }
        }
        // The round trip goes first, because a delivery may end a period that is counted in round trips.
        if readings > 0 {
            // The kernel's estimate is already smoothed. It is passed on once per round trip, which is as often as the
            // kernel took samples itself.
            let round_trip = round_trips / readings;
            let due = self.round_trip.is_none() || now.since(self.round_trip_reported) >= round_trip;
            self.round_trip = Some(round_trip);
            if due {
                self.round_trip_reported = now;
                self.driver.handle(now, Input::RoundTrip(round_trip));
            }
        }
        if strays > 0 {
            self.driver.handle(now, Input::OutOfOrder(strays));
        }
        if gained > Bytes::ZERO {
            self.driver.handle(now, Input::Delivered(gained));
        }
        Ok(())
    }

    /// Hands the windows to the kernel, divided anew if the sizer `asked` for another.
    fn obey<S: AsFd>(&mut self, asked: bool, sockets: &[S], now: Time) -> Result<(), LiveError> {
        self.driver.note_phase(now);
        if asked {
            self.divide();
        }
        self.assert(sockets)
    }

    fn divide(&mut self) {
        let count = self.members.len();
        for place in 0..count {
            let share = self.share(place, count);
            self.members[place].control.request(share);
        }
    }
}

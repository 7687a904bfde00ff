//! [`SizedGroup`]: one [`BufferSizer`] holds the receive windows of several connections over one path.
//!
//! Parallel connections with a sizer each would take one another for cross traffic: each would measure what the others leave,
//! and each would try whether the others give way. A group has one sizer, which sees the sum: what all of them deliver, lose
//! and wait for. What it asks for is divided among them in whole segments. With one member a group does what
//! [`SizedWindow`](crate::SizedWindow) does.

use crate::error::LiveError;
use crate::sized::{Demand, carry_out, period};
use crate::window::{Window, WindowControl};
use host::TcpInfo;
use sizing::{BufferSizer, Input, SizerState};
use std::os::fd::AsFd;
use units::{Bytes, Span, Time};

/// No member gets less: three duplicate acknowledgements need four segments.
const LEAST_SEGMENTS: u64 = 4;

/// A connection of a group.
#[derive(Debug)]
struct Member<S> {
    socket: S,
    control: WindowControl,
    /// What the sizer has been told of.
    received: Bytes,
    out_of_order: u32,
}

/// A sizer and the connections that it sizes together.
#[derive(Debug)]
pub struct SizedGroup<S> {
    sizer: Box<dyn BufferSizer>,
    members: Vec<Member<S>>,
    /// Payload of a full segment: windows are divided in these.
    segment: Bytes,
    /// Asked for, this is no limit: each member may have all of it.
    maximum: Bytes,
    due: Time,
    round_trip: Option<Span>,
    round_trip_told: Time,
    requested: Option<Bytes>,
    demands: Vec<Demand>,
}

impl<S: AsFd> SizedGroup<S> {
    /// A group without members. `sizer` counts in segments of `segment` and takes windows of `maximum` as no limit.
    #[must_use]
    pub fn new(sizer: Box<dyn BufferSizer>, segment: Bytes, maximum: Bytes, now: Time) -> Self {
        let segment = segment.max(Bytes::new(1));
        let mut group = Self {
            sizer,
            members: Vec::new(),
            segment,
            maximum,
            due: now,
            round_trip: None,
            round_trip_told: now,
            requested: None,
            demands: Vec::new(),
        };
        group.follow(now);
        group
    }

    /// One more connection, *established*. What it received before is not told to the sizer.
    ///
    /// # Errors
    /// [`LiveError::Option`] or [`LiveError::System`] if the kernel refuses; its window may then be limited already.
    pub fn join(&mut self, socket: S) -> Result<(), LiveError> {
        let info = TcpInfo::of(&socket)?;
        let window = self.share(self.members.len(), self.members.len() + 1);
        let control = WindowControl::take(&socket, window)?;
        let (received, out_of_order) = (info.stream_received(), info.rcv_ooopack.unwrap_or(0));
        self.members.push(Member { socket, control, received, out_of_order });
        self.divide();
        self.assert()
    }

    /// Connections of which `stays` is false have ended: the others get their parts.
    ///
    /// # Errors
    /// [`LiveError::Option`] or [`LiveError::System`].
    pub fn retain(&mut self, mut stays: impl FnMut(&S) -> bool) -> Result<(), LiveError> {
        let before = self.members.len();
        self.members.retain(|member| stays(&member.socket));
        if self.members.len() == before {
            return Ok(());
        }
        self.divide();
        self.assert()
    }

    /// How many connections it has.
    #[must_use]
    pub fn size(&self) -> usize {
        self.members.len()
    }

    /// Measures if it is time to, tells the sizer, and hands the windows to the kernel; sets those again that the kernel
    /// had overwritten. Cheap when nothing is due.
    ///
    /// # Errors
    /// [`LiveError::Option`] or [`LiveError::System`].
    pub fn poll(&mut self, now: Time) -> Result<(), LiveError> {
        if now >= self.due {
            self.measure(now)?;
            self.due = now + period(self.round_trip);
        } else if self.sizer.wakeup().is_none_or(|wakeup| now < wakeup) {
            return Ok(());
        }
        self.follow(now);
        self.assert()
    }

    /// Tells the sizer what the sockets cannot know: what became of probes and trains, what the sender says of all its
    /// connections together.
    ///
    /// # Errors
    /// [`LiveError::Option`] or [`LiveError::System`].
    pub fn tell(&mut self, now: Time, input: Input) -> Result<(), LiveError> {
        self.sizer.handle(now, input);
        self.follow(now);
        self.assert()
    }

    /// When to poll next.
    #[must_use]
    pub fn wakeup(&self) -> Time {
        self.sizer.wakeup().map_or(self.due, |wakeup| wakeup.min(self.due))
    }

    /// How often the sizer wants the round trip probed; `None`: not at all.
    #[must_use]
    pub fn probe_interval(&self) -> Option<Span> {
        self.sizer.probe_interval()
    }

    /// Whether the sizer is measuring the path without the transfer, and the data should wait.
    #[must_use]
    pub fn wants_quiet(&self) -> bool {
        self.sizer.wants_quiet()
    }

    /// What the sizer wants of others, oldest first; each is given once. A pace is that of all connections together.
    pub fn take_demands(&mut self) -> Vec<Demand> {
        std::mem::take(&mut self.demands)
    }

    /// The window in force over all connections; `None` for the maximum.
    #[must_use]
    pub fn window(&self) -> Option<Bytes> {
        let count = self.members.len().max(1);
        (0..count).map(|place| self.part(place, count)).sum()
    }

    /// What the sizer is doing and why.
    #[must_use]
    pub fn state(&self) -> SizerState {
        self.sizer.state()
    }

    /// The part of the member at `place` of `count`, if there is a limit. The first ones get the segments that cannot be
    /// divided.
    fn part(&self, place: usize, count: usize) -> Option<Bytes> {
        // A sizer says its maximum in whole segments.
        let asked = self.requested.filter(|&asked| asked + self.segment <= self.maximum)?;
        let (count, segments) = (count.max(1) as u64, asked / self.segment);
        let part = segments / count + u64::from((place as u64) < segments % count);
        Some(self.segment * part.max(LEAST_SEGMENTS))
    }

    fn share(&self, place: usize, count: usize) -> Window {
        Window::Limit(self.part(place, count).unwrap_or(self.maximum))
    }

    fn measure(&mut self, now: Time) -> Result<(), LiveError> {
        let (mut gained, mut strays) = (Bytes::ZERO, 0);
        let (mut round_trips, mut measured) = (Span::ZERO, 0);
        for member in &mut self.members {
            let info = TcpInfo::of(&member.socket)?;
            let received = info.stream_received();
            gained += received.saturating_sub(member.received);
            member.received = member.received.max(received);
            let out_of_order = info.rcv_ooopack.unwrap_or(0);
            strays += u64::from(out_of_order.saturating_sub(member.out_of_order));
            member.out_of_order = out_of_order;
            if let Some(round_trip) = info.rcv_rtt {
                (round_trips, measured) = (round_trips + round_trip, measured + 1);
            }
        }
        // In the order in which `SizedWindow` tells, for its reasons.
        if measured > 0 {
            let round_trip = round_trips / measured;
            let due = self.round_trip.is_none() || now.since(self.round_trip_told) >= round_trip;
            self.round_trip = Some(round_trip);
            if due {
                self.round_trip_told = now;
                self.sizer.handle(now, Input::RoundTrip(round_trip));
            }
        }
        if strays > 0 {
            self.sizer.handle(now, Input::OutOfOrder(strays));
        }
        if gained > Bytes::ZERO {
            self.sizer.handle(now, Input::Delivered(gained));
        }
        Ok(())
    }

    fn follow(&mut self, now: Time) {
        let mut changed = false;
        while let Some(action) = self.sizer.poll(now) {
            if let Some(window) = carry_out(action, &mut self.demands) {
                (self.requested, changed) = (Some(window), true);
            }
        }
        if changed {
            self.divide();
        }
    }

    fn divide(&mut self) {
        let count = self.members.len();
        for place in 0..count {
            let share = self.share(place, count);
            self.members[place].control.request(share);
        }
    }

    fn assert(&mut self) -> Result<(), LiveError> {
        for member in &mut self.members {
            member.control.assert(&member.socket)?;
        }
        Ok(())
    }
}

//! [`SizedWindow`]: any [`BufferSizer`] holds the receive window of a real TCP connection.
//!
//! ```text
//!   TCP_INFO ──► Delivered, RoundTrip, OutOfOrder ─┐
//!   probes, trains, the sender's word ── tell() ───┼─► BufferSizer ──► Window ──► WindowControl ──► the kernel
//!                                                  │               └─► Train, Pace ──► the caller (Demand)
//! ```
//!
//! It has no thread and reads no clock: whoever owns the connection calls [`SizedWindow::poll`] when
//! [`SizedWindow::wakeup`] says so, and carries out the [`Demand`]s that need more than this socket. How the kernel is
//! made to keep a window is in `window.rs`; probes are in `probe.rs`; both together for a program of its own is
//! [`SobasSocket`](crate::SobasSocket).
//!
//! Between two measurements lies an eighth of the round trip, within 1 to 10 ms. What a sizer is told as one delivery
//! is all that came in between, so a sizer that thinks in round trips sees eight or more deliveries in each.

use crate::error::LiveError;
use crate::window::{Window, WindowControl, WindowReading};
use host::TcpInfo;
use sizing::{Action, BufferSizer, Input, SizerState};
use std::os::fd::AsFd;
use units::{Bytes, Span, Time};

/// The nearest and the farthest apart that two measurements are. The kernel's own estimate of the round trip comes in
/// steps of 1 ms; 10 ms keep a window that the kernel has overwritten from standing long.
const OFTEN: Span = Span::from_millis(1);
const SELDOM: Span = Span::from_millis(10);
/// Measurements in each round trip.
const PER_ROUND_TRIP: u64 = 8;
/// Changes of phase that are kept; a sizer that has more of them is broken, and shall not take the memory, too.
const MOST_CHANGES: usize = 1000;

/// What a sizer wants that its socket cannot do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Demand {
    /// One packet train from the other side, answered by [`Input::Train`].
    Train,
    /// The sender's pacing rate; `None` takes the cap away.
    Pace(Option<units::Rate>),
}

/// A sizer has entered a phase, or was there when it took over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseChange {
    /// When.
    pub at: Time,
    /// Which phase, and why.
    pub state: SizerState,
    /// The window it asked for by then; `None` for the maximum.
    pub window: Option<Bytes>,
}

/// A sizer and the connection that it sizes. The socket is lent for each call, so that its owner keeps it.
#[derive(Debug)]
pub struct SizedWindow {
    sizer: Box<dyn BufferSizer>,
    control: WindowControl,
    /// When the next measurement is due.
    due: Time,
    /// What the sizer has been told of so far.
    received: Bytes,
    out_of_order: u32,
    /// The round-trip time is told again this long after the last time.
    round_trip: Option<Span>,
    round_trip_told: Time,
    requested: Option<Bytes>,
    changes: Vec<PhaseChange>,
    demands: Vec<Demand>,
}

impl SizedWindow {
    /// Lets `sizer` take over the window of an *established* connection at `now`. What the connection received before
    /// is not told to it.
    ///
    /// # Errors
    /// [`LiveError::Option`] or [`LiveError::System`] if the kernel refuses; the window may then be limited already.
    pub fn take(socket: &impl AsFd, mut sizer: Box<dyn BufferSizer>, now: Time) -> Result<Self, LiveError> {
        let info = TcpInfo::of(socket)?;
        let (mut requested, mut demands) = (None, Vec::new());
        while let Some(action) = sizer.poll(now) {
            requested = carry_out(action, &mut demands).or(requested);
        }
        // Limited from the beginning even if the sizer has not said to what: see `WindowControl::take`.
        let control = WindowControl::take(socket, requested.map_or(Window::Max, Window::Limit))?;
        let mut sized = Self {
            sizer,
            control,
            due: now + OFTEN,
            received: info.stream_received(),
            out_of_order: info.rcv_ooopack.unwrap_or(0),
            round_trip: None,
            round_trip_told: now,
            requested,
            changes: Vec::new(),
            demands,
        };
        sized.note_phase(now);
        Ok(sized)
    }

    /// Measures if it is time to, tells the sizer, and hands its window to the kernel; sets the window again if the
    /// kernel had overwritten it. Cheap when nothing is due.
    ///
    /// # Errors
    /// [`LiveError::Option`] or [`LiveError::System`].
    pub fn poll(&mut self, socket: &impl AsFd, now: Time) -> Result<(), LiveError> {
        if now >= self.due {
            self.measure(now, &TcpInfo::of(socket)?);
            self.due = now + period(self.round_trip);
        } else if self.sizer.wakeup().is_none_or(|wakeup| now < wakeup) {
            return Ok(());
        }
        self.follow(now);
        self.control.assert(socket).map(drop)
    }

    /// Tells the sizer what its socket cannot know: what became of probes and trains, what the sender says.
    ///
    /// # Errors
    /// [`LiveError::Option`] or [`LiveError::System`].
    pub fn tell(&mut self, socket: &impl AsFd, now: Time, input: Input) -> Result<(), LiveError> {
        self.sizer.handle(now, input);
        self.follow(now);
        self.control.assert(socket).map(drop)
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

    /// What the sizer wants of others, oldest first; each is given once.
    pub fn take_demands(&mut self) -> Vec<Demand> {
        std::mem::take(&mut self.demands)
    }

    /// The window the sizer asks for; `None` for the maximum.
    #[must_use]
    pub const fn requested(&self) -> Option<Bytes> {
        self.requested
    }

    /// The base RTT as the sizer has measured it in a transfer under way, if it did.
    #[must_use]
    pub fn base_rtt(&self) -> Option<Span> {
        self.sizer.base_rtt()
    }

    /// What the sizer is doing and why.
    #[must_use]
    pub fn state(&self) -> SizerState {
        self.sizer.state()
    }

    /// The phases so far, the first one with the beginning; at most a thousand.
    #[must_use]
    pub fn changes(&self) -> &[PhaseChange] {
        &self.changes
    }

    /// The actuator: its buffer, and how often the kernel had overwritten the window.
    #[must_use]
    pub const fn control(&self) -> &WindowControl {
        &self.control
    }

    /// The three windows now: requested, granted, observed.
    ///
    /// # Errors
    /// [`LiveError::System`].
    pub fn read(&self, socket: &impl AsFd, info: &TcpInfo) -> Result<WindowReading, LiveError> {
        self.control.read(socket, info)
    }

    /// Sets the window again if the kernel has overwritten it, without measuring.
    ///
    /// # Errors
    /// [`LiveError::Option`] or [`LiveError::System`].
    pub fn assert(&mut self, socket: &impl AsFd) -> Result<bool, LiveError> {
        self.control.assert(socket)
    }

    fn measure(&mut self, now: Time, info: &TcpInfo) {
        // The round trip first: a delivery may end a period that is counted in round trips.
        if let Some(round_trip) = info.rcv_rtt {
            // The kernel's is smoothed already; told once per round trip, as many samples as it took itself.
            let due = self.round_trip.is_none() || now.since(self.round_trip_told) >= round_trip;
            self.round_trip = Some(round_trip);
            if due {
                self.round_trip_told = now;
                self.sizer.handle(now, Input::RoundTrip(round_trip));
            }
        }
        let out_of_order = info.rcv_ooopack.unwrap_or(0);
        let strays = out_of_order.saturating_sub(self.out_of_order);
        if strays > 0 {
            self.out_of_order = out_of_order;
            self.sizer.handle(now, Input::OutOfOrder(u64::from(strays)));
        }
        let received = info.stream_received();
        let gained = received.saturating_sub(self.received);
        if gained > Bytes::ZERO {
            self.received = received;
            self.sizer.handle(now, Input::Delivered(gained));
        }
    }

    fn follow(&mut self, now: Time) {
        while let Some(action) = self.sizer.poll(now) {
            if let Some(window) = carry_out(action, &mut self.demands) {
                self.requested = Some(window);
                self.control.request(Window::Limit(window));
            }
        }
        self.note_phase(now);
    }

    fn note_phase(&mut self, now: Time) {
        let state = self.sizer.state();
        let known = self.changes.last().is_some_and(|last| last.state.phase == state.phase);
        if !known && self.changes.len() < MOST_CHANGES {
            self.changes.push(PhaseChange { at: now, state, window: self.requested });
        }
    }
}

/// Between two measurements at this round-trip time.
pub(crate) fn period(round_trip: Option<Span>) -> Span {
    round_trip.map_or(OFTEN, |round_trip| (round_trip / PER_ROUND_TRIP).max(OFTEN).min(SELDOM))
}

/// The window of an action, if it is one; what else it is goes to `demands`.
pub(crate) fn carry_out(action: Action, demands: &mut Vec<Demand>) -> Option<Bytes> {
    match action {
        Action::Window(window) => return Some(window),
        Action::Train => demands.push(Demand::Train),
        Action::Pace(rate) => demands.push(Demand::Pace(rate)),
        // A newer sizer may want what this driver does not know.
        _ => {}
    }
    None
}

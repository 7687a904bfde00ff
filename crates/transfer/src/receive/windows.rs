//! Holding the receive windows of a sender's data connections: fixed, or as SOBAS finds them.
//!
//! There is one SOBAS for all of a sender's data connections, because they share a path and its capacity
//! (`live::SizedGroup`).

use super::registry::SessionHandle;
use super::session::Event;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::history::PhaseEntry;
use crate::window::WindowChoice;
use crate::wire::control::Report;
use host::{Clock, PollFd, PollFlags, TcpInfo, Waker};
use live::{ProbedGroup, SETTLING, SizedGroup, Window, WindowControl};
use probe::{ProbeKey, Prober};
use sizing::{Input, Regret, SenderReport, SizerConfig, USUAL_MAXIMUM};
use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use units::{Bytes, Span, Time};

/// The interval at which a fixed window is set again soon after the beginning, when the kernel may overwrite it.
const SOON: Span = Span::from_millis(10);
/// The interval at which a fixed window is set again later.
const LATER: Span = Span::from_millis(200);
/// The greatest number of phases that wait to be reported.
const MOST_UNTOLD: usize = 16;

/// The place at which a sender echoes probes.
#[derive(Clone, Debug)]
pub(super) struct Echo {
    pub(super) address: SocketAddr,
    pub(super) key: ProbeKey,
}

/// The window over all data connections.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct WindowState {
    /// The current window; `None` for the maximum.
    pub(super) window: Option<Bytes>,
    pub(super) phase: String,
    pub(super) reason: String,
    /// Phases that were entered and not reported yet.
    pub(super) entered: Vec<PhaseEntry>,
}

impl WindowState {
    /// Takes the state `new`, which began at the time `at` of the session. The number of recorded phases is limited.
    pub(super) fn change_to(&mut self, new: Self, at: Span) {
        if !new.phase.is_empty() && self.phase != new.phase && self.entered.len() < MOST_UNTOLD {
            let at_ms = at.as_nanos() / 1_000_000;
            let (phase, reason) = (new.phase.clone(), new.reason.clone());
            self.entered.push(PhaseEntry { at_ms, phase, reason });
        }
        *self = Self { entered: std::mem::take(&mut self.entered), ..new };
    }
}

/// A message to the holder of the windows.
#[derive(Debug)]
pub(super) enum Note {
    /// A data connection has begun.
    Began(Arc<Channel>),
    /// A data connection has ended.
    Ended(Arc<Channel>),
    /// The number of data connections that are present or will soon be.
    Streams(u16),
    /// The sender's report on its connections.
    Report(Report),
}

/// The session's end of the queue to the holder of the windows. Dropping it ends the holder.
#[derive(Debug)]
pub(super) struct Notes {
    notes: Option<Sender<Note>>,
    wake: Arc<Waker>,
}

impl Notes {
    /// Makes the queue to the holder of the windows.
    ///
    /// # Errors
    /// If the receiver has no room for another descriptor; the sender may come back later.
    pub(super) fn new() -> Result<(Self, Receiver<Note>), TransferError> {
        let (notes, heard) = channel();
        let wake = Arc::new(Waker::new().map_err(TransferError::gone)?);
        Ok((Self { notes: Some(notes), wake }, heard))
    }

    pub(super) fn wake(&self) -> Arc<Waker> {
        Arc::clone(&self.wake)
    }

    pub(super) fn send(&self, note: Note) {
        if let Some(notes) = &self.notes
            && notes.send(note).is_ok()
        {
            self.wake.wake();
        }
    }
}

impl Drop for Notes {
    fn drop(&mut self) {
        self.notes = None;
        self.wake.wake();
    }
}

/// The holder of the windows of a sender's data connections.
#[derive(Debug)]
pub(super) struct Windows<'a> {
    choice: WindowChoice,
    link: &'a SessionHandle,
    /// The control connection, for its address.
    control: &'a Channel,
    clock: &'a Clock,
    notes: Receiver<Note>,
    wake: Arc<Waker>,
    members: Vec<Arc<Channel>>,
    /// The number of data connections that are present or will soon be.
    streams: u16,
    report: Report,
    sent: WindowState,
    /// True once the session knows that the path has been measured.
    measured: bool,
}

/// Returns true if data must wait until the path has been measured without it.
pub(super) fn wants_quiet(link: &SessionHandle, choice: WindowChoice) -> bool {
    choice == WindowChoice::Sobas && !link.peer.ip().is_loopback() && link.echo.is_some()
}

impl<'a> Windows<'a> {
    pub(super) fn new(
        (choice, link): (WindowChoice, &'a SessionHandle),
        control: &'a Channel,
        clock: &'a Clock,
        (notes, wake): (Receiver<Note>, Arc<Waker>),
    ) -> Self {
        let (members, report, sent) = Default::default();
        let streams = link.streams;
        Self { choice, link, control, clock, notes, wake, members, streams, report, sent, measured: false }
    }

    /// Holds the windows until the session ends.
    pub(super) fn hold(mut self) {
        let kept = match self.choice {
            // Loopback has no path to size, and a probe would only measure how busy the machine is.
            WindowChoice::Sobas if self.link.peer.ip().is_loopback() => {
                self.note(WindowState {
                    reason: "loopback: nothing to size".into(),
                    ..WindowState::default()
                });
                self.fixed(None)
            }
            WindowChoice::Sobas => self.sized(),
            WindowChoice::Max => self.fixed(None),
            WindowChoice::Size(size) => {
                self.note(WindowState { window: Some(size), ..WindowState::default() });
                self.fixed(Some(size))
            }
        };
        self.end_quiet();
        // The transfer continues if a window cannot be kept, because the kernel's own window applies in that case.
        if let Err(error) = kept {
            let reason = format!("the window is left to the kernel: {}", error.complaint().head());
            self.note(WindowState { window: None, reason, ..self.sent.clone() });
        }
    }

    /// Holds one size over all data connections, in equal parts; `None` for the maximum.
    fn fixed(&mut self, size: Option<Bytes>) -> Result<(), TransferError> {
        let mut held: Vec<(Arc<Channel>, WindowControl, Time)> = Vec::new();
        let mut parts = 0;
        while self.handle_notes() {
            let now = self.clock.now();
            let streams = u64::from(self.streams);
            let window = size.map_or(Window::Max, |size| Window::AtMost(size / streams));
            if std::mem::replace(&mut parts, streams) != streams {
                held.iter_mut().for_each(|(_, control, _)| control.request(window));
            }
            held.retain(|(channel, ..)| self.members.iter().any(|member| Arc::ptr_eq(member, channel)));
            for channel in &self.members {
                if held.iter().all(|(known, ..)| !Arc::ptr_eq(known, channel)) {
                    let control = WindowControl::take(channel.tcp(), window)?;
                    held.push((Arc::clone(channel), control, now));
                }
            }
            for (channel, control, _) in &mut held {
                control.assert(channel.tcp())?;
            }
            let settling = held.iter().any(|&(.., since)| now.since(since) < SETTLING);
            // The kernel never enlarges a window at the maximum, so it need not be set again.
            let until = match (settling, size) {
                (true, _) => now + SOON,
                (false, Some(_)) if !held.is_empty() => now + LATER,
                (false, _) => Time::NEVER,
            };
            self.wait(None, until);
        }
        Ok(())
    }

    fn sized(&mut self) -> Result<(), TransferError> {
        while self.handle_notes() && self.members.is_empty() {
            self.wait(None, Time::NEVER);
        }
        let Some(first) = self.members.first().cloned() else { return Ok(()) };
        let mut prober = None;
        if let Some(echo) = &self.link.echo {
            // Probes come from the address that the sender sees, because it answers no other.
            let local = self.control.tcp().local_addr().ok();
            prober = local.and_then(|local| {
                let local = SocketAddr::new(local.ip(), 0);
                Prober::connect_from(local, echo.address, &echo.key, 0).ok()
            });
        }
        let segment = TcpInfo::of(first.tcp())?.snd_mss;
        let config = SizerConfig::new(segment, USUAL_MAXIMUM);
        let trains = if prober.is_some() { config.trains } else { 0 };
        let sizer = Regret::new(SizerConfig { can_pace: true, trains, ..config });
        let group = SizedGroup::new(Box::new(sizer), segment, USUAL_MAXIMUM, self.clock.now());
        let mut pilot = ProbedGroup::new(group, prober);
        // The data connections that the sizer knows, in its order.
        let mut known: Vec<Arc<Channel>> = Vec::new();
        let (mut seen, mut rate_based, mut pace) = (None, false, None);
        while self.handle_notes() {
            let now = self.clock.now();
            let is_member = |channel: &Arc<Channel>| self.members.iter().any(|one| Arc::ptr_eq(one, channel));
            while let Some(over) = known.iter().position(|channel| !is_member(channel)) {
                known.remove(over);
                pilot.group.leave(over, &known)?;
            }
            for channel in &self.members {
                if known.iter().all(|other| !Arc::ptr_eq(other, channel)) {
                    known.push(Arc::clone(channel));
                    pilot.group.join(&known)?;
                    // The session divides the pace among all data connections, so it gets the pace again.
                    if pace.is_some() {
                        self.send(Event::Pace(pace));
                    }
                }
            }
            let word = sum(&self.report);
            if self.report.rate_based && !rate_based {
                rate_based = true;
                pilot.group.tell(&known, now, Input::RateBased)?;
            }
            if word.is_some() && word != seen {
                seen = word;
                pilot.group.tell(&known, now, Input::Sender(word.unwrap_or_default()))?;
            }
            if let Some(rate) = pilot.poll(&known, self.clock)? {
                pace = rate;
                self.send(Event::Pace(rate));
            }
            if known.len() >= usize::from(self.streams) && !pilot.wants_quiet() {
                self.end_quiet();
            }
            let state = pilot.group.sizer().state();
            let (window, phase) = (pilot.group.window(), state.phase.to_owned());
            self.note(WindowState { window, phase, reason: state.reason, entered: Vec::new() });
            self.wait(pilot.prober(), pilot.wakeup());
        }
        Ok(())
    }

    /// Takes the session's messages. Returns false if the session is over.
    fn handle_notes(&mut self) -> bool {
        loop {
            match self.notes.try_recv() {
                Ok(Note::Began(channel)) => self.members.push(channel),
                Ok(Note::Ended(channel)) => self.members.retain(|other| !Arc::ptr_eq(other, &channel)),
                Ok(Note::Streams(streams)) => self.streams = streams,
                Ok(Note::Report(report)) => self.report = report,
                Err(TryRecvError::Empty) => return true,
                Err(TryRecvError::Disconnected) => return false,
            }
        }
    }

    fn end_quiet(&mut self) {
        if !std::mem::replace(&mut self.measured, true) {
            self.send(Event::PathMeasured);
        }
    }

    /// Reports the state of the windows to the session, if it is new.
    fn note(&mut self, state: WindowState) {
        if self.sent != state {
            self.sent = state.clone();
            self.send(Event::WindowChanged(state));
        }
    }

    fn send(&self, event: Event) {
        let _ = self.link.events.send(event);
    }

    /// Waits for the prober's input or a message of the session, until `until`.
    fn wait(&self, prober: Option<&Prober>, until: Time) {
        let limit = (until != Time::NEVER).then(|| until.since(self.clock.now()));
        let mut sockets = vec![PollFd::new(&*self.wake, PollFlags::IN)];
        sockets.extend(prober.map(|prober| PollFd::new(prober, PollFlags::IN)));
        // An interruption does no harm, because the caller looks at everything again.
        let _ = host::wait(&mut sockets, limit);
        self.wake.clear();
    }
}

/// Adds up the sender's report over all its connections.
fn sum(report: &Report) -> Option<SenderReport> {
    let streams = report.streams.iter();
    let sum = streams.fold(SenderReport::default(), |sum, stream| SenderReport {
        busy: sum.busy + Span::from_nanos(stream.busy),
        window_limited: sum.window_limited + Span::from_nanos(stream.window_limited),
        retransmits: sum.retransmits.saturating_add(stream.retransmits),
    });
    (!report.streams.is_empty()).then_some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::control::StreamReport;

    #[test]
    fn the_sum_of_the_largest_numbers_is_the_largest() {
        let (busy, retransmits) = (u64::MAX, u64::MAX);
        let stream = StreamReport { busy, window_limited: busy, retransmits, ..StreamReport::default() };
        let sum = sum(&Report { streams: vec![stream; 2], ..Report::default() }).unwrap();
        assert_eq!((sum.busy, sum.retransmits), (Span::MAX, u64::MAX));
    }
}

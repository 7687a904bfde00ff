//! Holding the receive windows of a sender's data connections: fixed, or as SOBAS finds them.
//!
//! There is one SOBAS for all of a sender's data connections: they share a path, and what fits into it is
//! theirs together (`live::SizedGroup`).

use super::sender::SenderSession;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::history::PhaseEntry;
use crate::lock::locked;
use crate::window::WindowChoice;
use crate::wire::control::{Report, ToSender};
use crate::wire::frame;
use host::{Clock, PollFd, PollFlags, TcpInfo};
use live::{Pilot, SETTLING, SizedGroup, Window, WindowControl};
use probe::{ProbeKey, Prober};
use sizing::{Input, Regret, SenderReport, SizerConfig, USUAL_MAXIMUM};
use std::net::SocketAddr;
use std::sync::Arc;
use units::{Bytes, Rate, Span, Time};

/// A fixed window is set again at these intervals: soon after the beginning, when the kernel overwrites it, and later.
const SOON: Span = Span::from_millis(10);
const LATER: Span = Span::from_millis(200);
/// No wait is longer: the end of the sender session is looked for this often.
const END_CHECK: Span = Span::from_millis(50);
/// Phases that wait to be told, at most.
const MOST_UNTOLD: usize = 16;
/// Between looks for data connections that are still to come.
const JOINING: Span = Span::from_millis(5);

/// Where a sender echoes probes.
#[derive(Clone, Debug)]
pub(super) struct Echo {
    pub(super) address: SocketAddr,
    pub(super) key: ProbeKey,
}

/// The window over all data connections, for who asks.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowState {
    /// In force; `None`: the maximum.
    pub(super) window: Option<Bytes>,
    pub(super) phase: String,
    pub(super) reason: String,
    /// Phases entered that were not told yet.
    pub(super) entered: Vec<PhaseEntry>,
}

impl WindowState {
    /// It is in `phase` now, `at` from the beginning. A machine that never rests is not followed without end.
    fn enter(&mut self, phase: &str, reason: String, at: Span) {
        if self.phase != phase && self.entered.len() < MOST_UNTOLD {
            let at_ms = at.as_nanos() / 1_000_000;
            self.entered.push(PhaseEntry { at_ms, phase: phase.to_owned(), reason: reason.clone() });
        }
        phase.clone_into(&mut self.phase);
        self.reason = reason;
    }
}

/// The windows of a sender's data connections, and what it takes to hold them.
pub(super) struct Windows<'a> {
    pub(super) sender: &'a SenderSession,
    /// The control connection: what the sender is asked for goes there at once.
    pub(super) control: &'a Channel,
    pub(super) clock: &'a Clock,
}

/// Whether the data waits until the path was measured without it.
pub(super) fn wants_quiet(sender: &SenderSession, choice: WindowChoice) -> bool {
    choice == WindowChoice::Sobas && !sender.peer.ip().is_loopback() && sender.echo.is_some()
}

impl Windows<'_> {
    /// Holds the windows until the sender session ends.
    pub(super) fn hold(&self, choice: WindowChoice) {
        let kept = match choice {
            // There is no path to size, and a probe would only find out how busy the machine is.
            WindowChoice::Sobas if self.sender.peer.ip().is_loopback() => {
                self.note(|state| "loopback: nothing to size".clone_into(&mut state.reason));
                self.fixed(None)
            }
            WindowChoice::Sobas => self.sized(),
            WindowChoice::Max => self.fixed(None),
            WindowChoice::Size(size) => {
                self.note(|state| state.window = Some(size));
                self.fixed(Some(size))
            }
        };
        self.sender.end_quiet();
        // A window that cannot be held is no reason to stop; the kernel's own is in force then.
        if let Err(error) = kept {
            self.note(|state| {
                state.window = None;
                state.reason = format!("the window is left to the kernel: {}", error.complaint().head());
            });
        }
    }

    /// One size over all data connections, in equal parts; `None`: the maximum.
    fn fixed(&self, size: Option<Bytes>) -> Result<(), TransferError> {
        let mut held: Vec<(Arc<Channel>, WindowControl, Time)> = Vec::new();
        let mut parts = 0;
        while !self.sender.is_closed() {
            let now = self.clock.now();
            let streams = u64::from(self.sender.streams());
            let window = size.map_or(Window::Max, |size| Window::AtMost(size / streams));
            if std::mem::replace(&mut parts, streams) != streams {
                held.iter_mut().for_each(|(_, control, _)| control.request(window));
            }
            held.retain(|(channel, ..)| !channel.is_over());
            for channel in self.sender.channels() {
                if !channel.is_over() && held.iter().all(|(known, ..)| !Arc::ptr_eq(known, &channel)) {
                    let control = WindowControl::take(channel.tcp(), window)?;
                    held.push((channel, control, now));
                }
            }
            for (channel, control, _) in &mut held {
                control.assert(channel.tcp())?;
            }
            let settling = held.iter().any(|&(.., since)| now.since(since) < SETTLING);
            let pause = if !self.is_complete(held.len()) {
                JOINING
            } else if settling {
                SOON
            } else {
                LATER
            };
            self.wait(None, now + pause);
        }
        Ok(())
    }

    fn sized(&self) -> Result<(), TransferError> {
        let Some(first) = self.first() else { return Ok(()) };
        let mut prober = None;
        if let Some(echo) = &self.sender.echo {
            // From the address that the sender sees: it answers no other.
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
        let mut pilot = Pilot::new(group, prober);
        let mut members: Vec<Arc<Channel>> = Vec::new();
        let (mut seen, mut rate_based, began) = (None, false, self.clock.now());
        let mut pace = None;
        while !self.sender.is_closed() {
            let now = self.clock.now();
            while let Some(over) = members.iter().position(|channel| channel.is_over()) {
                members.remove(over);
                pilot.group.leave(over, &members)?;
            }
            for channel in self.sender.channels() {
                if !channel.is_over() && members.iter().all(|known| !Arc::ptr_eq(known, &channel)) {
                    members.push(channel);
                    pilot.group.join(&members)?;
                    // The pace is divided anew.
                    if pace.is_some() {
                        self.pace(pace);
                    }
                }
            }
            let report = locked(&self.sender.report).clone();
            let word = sum(&report);
            if report.rate_based && !rate_based {
                rate_based = true;
                pilot.group.tell(&members, now, Input::RateBased)?;
            }
            if word.is_some() && word != seen {
                seen = word;
                pilot.group.tell(&members, now, Input::Sender(word.unwrap_or_default()))?;
            }
            if let Some(rate) = pilot.poll(&members, self.clock)? {
                pace = rate;
                self.pace(rate);
            }
            if self.is_complete(members.len()) && !pilot.wants_quiet() {
                self.sender.end_quiet();
            }
            let state = pilot.group.sizer().state();
            self.note(|kept| {
                kept.window = pilot.group.window();
                kept.enter(state.phase, state.reason, now.since(began));
            });
            let join = if self.is_complete(members.len()) { Time::NEVER } else { now + JOINING };
            self.wait(pilot.prober(), pilot.wakeup().min(join));
        }
        Ok(())
    }

    /// Waits for the first data connection; `None` if the sender session ends before.
    fn first(&self) -> Option<Arc<Channel>> {
        loop {
            if let Some(first) = self.sender.channels().into_iter().find(|channel| !channel.is_over()) {
                return Some(first);
            }
            if self.sender.is_closed() {
                return None;
            }
            self.wait(None, self.clock.now() + JOINING);
        }
    }

    fn is_complete(&self, members: usize) -> bool {
        members >= usize::from(self.sender.streams())
    }

    /// Asks the sender to pace, each connection at its part. If that cannot be said, the sender session is about to end.
    fn pace(&self, rate: Option<Rate>) {
        let streams = self.sender.streams();
        let bps = rate.map(|rate| (rate.as_bps() / u64::from(streams)).max(1));
        let mut out = Vec::new();
        for stream in 0..streams {
            frame::append(&mut out, &ToSender::Pace { stream, bps });
        }
        let _ = self.control.write(&out);
    }

    fn note(&self, change: impl FnOnce(&mut WindowState)) {
        change(&mut locked(&self.sender.window));
    }

    /// Until the prober has something to read, or `until`.
    fn wait(&self, prober: Option<&Prober>, until: Time) {
        let left = until.since(self.clock.now()).min(END_CHECK);
        let mut sockets: Vec<PollFd<'_>> =
            prober.iter().map(|prober| PollFd::new(*prober, PollFlags::IN)).collect();
        // Interrupted or not: it is looked again.
        let _ = host::wait(&mut sockets, Some(left));
    }
}

/// What the sender says of all its connections together.
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

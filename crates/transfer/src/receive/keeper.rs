//! Holding the receive window of one data connection: fixed, or as SOBAS finds it.

use super::gate::locked;
use super::visit::Visit;
use crate::channel::Channel;
use crate::error::TransferError;
use crate::window::WindowChoice;
use live::probe::{ProbeKey, Prober};
use live::{Clock, Demand, SizedWindow, TcpInfo, Window, WindowControl};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use sizing::{Input, SenderReport, Sobas, SobasConfig};
use std::net::SocketAddr;
use units::{Bytes, Rate, Span, Time};

/// 32 MB fill 1 Gbit/s over 250 ms, and fit into the buffer that a window is taken with.
const MAXIMUM: Bytes = Bytes::new(32_000_000);
/// A fixed window is set again so often: soon after the beginning, when the kernel overwrites it, and later.
const SOON: Span = Span::from_millis(10);
const LATER: Span = Span::from_millis(200);
const SETTLING: Span = Span::from_millis(500);
/// No wait is longer: the end of the connection is looked for this often.
const LOOK: Span = Span::from_millis(50);

/// Where a sender echoes probes.
#[derive(Clone, Debug)]
pub(super) struct Echo {
    pub(super) address: SocketAddr,
    pub(super) key: ProbeKey,
}

/// The window of one data connection, for who asks.
#[derive(Clone, Debug, Default)]
pub(super) struct WindowState {
    /// Asked for; `None`: the maximum.
    pub(super) window: Option<Bytes>,
    pub(super) phase: String,
    pub(super) reason: String,
    /// The sender shall pace at this, and was not told yet.
    pub(super) pace: Option<Option<Rate>>,
}

/// Holds the window of connection `stream` until that ends.
pub(super) fn keep(visit: &Visit, channel: &Channel, stream: u16, choice: WindowChoice, clock: &Clock) {
    let kept = match choice {
        // There is no path to size, and a probe would only find out how busy the machine is.
        WindowChoice::Sobas if channel.peer().ip().is_loopback() => {
            note(visit, stream, |state| "loopback: nothing to size".clone_into(&mut state.reason));
            fixed(visit, channel, Window::Max, clock)
        }
        WindowChoice::Sobas => sized(visit, channel, stream, clock),
        WindowChoice::Max => fixed(visit, channel, Window::Max, clock),
        WindowChoice::Limit(size) => {
            let share = size / u64::from(visit.streams());
            note(visit, stream, |state| state.window = Some(share));
            fixed(visit, channel, Window::Limit(share), clock)
        }
    };
    // A window that cannot be held is no reason to stop; the kernel's own is in force then.
    if let Err(error) = kept {
        note(visit, stream, |state| state.reason = format!("the window is left to the kernel: {error}"));
    }
}

fn fixed(visit: &Visit, channel: &Channel, window: Window, clock: &Clock) -> Result<(), TransferError> {
    let began = clock.now();
    let mut control = WindowControl::take(channel.tcp(), window)?;
    while !visit.is_closed() && !channel.is_over() {
        let settling = clock.now().since(began) < SETTLING;
        wait(None, clock, clock.now() + if settling { SOON } else { LATER });
        control.assert(channel.tcp())?;
    }
    Ok(())
}

fn sized(visit: &Visit, channel: &Channel, stream: u16, clock: &Clock) -> Result<(), TransferError> {
    let socket = channel.tcp();
    let mut prober = None;
    if let Some(echo) = &visit.echo {
        prober = Prober::connect(echo.address, &echo.key, u64::from(stream)).ok();
    }
    let config = SobasConfig::new(TcpInfo::of(socket)?.snd_mss, MAXIMUM);
    let trains = if prober.is_some() { config.trains } else { 0 };
    let sobas = Sobas::new(SobasConfig { can_pace: true, trains, ..config });
    let mut window = SizedWindow::take(socket, Box::new(sobas), clock.now())?;
    let mut report_seen = None;
    while !visit.is_closed() && !channel.is_over() {
        let now = clock.now();
        let report = locked(&visit.report).streams.get(usize::from(stream)).copied();
        if let Some(report) = report
            && report_seen != Some(report)
        {
            report_seen = Some(report);
            let word = SenderReport {
                busy: Span::from_nanos(report.busy),
                window_limited: Span::from_nanos(report.window_limited),
                retransmits: report.retransmits,
            };
            window.tell(socket, now, Input::Sender(word))?;
        }
        window.poll(socket, now)?;
        let mut pace = None;
        for demand in window.take_demands() {
            match (demand, &mut prober) {
                (Demand::Train, Some(prober)) => prober.ask_train(),
                (Demand::Train, None) => window.tell(socket, now, Input::Train(None))?,
                (Demand::Pace(rate), _) => pace = Some(rate),
            }
        }
        if let Some(prober) = &mut prober {
            prober.set_interval(window.probe_interval(), now);
            for event in prober.poll(clock) {
                window.tell(socket, now, event.into())?;
            }
        }
        let state = window.state();
        note(visit, stream, |kept| {
            kept.window = window.requested().filter(|&asked| asked < MAXIMUM);
            state.phase.clone_into(&mut kept.phase);
            kept.reason = state.reason;
            kept.pace = pace.or(kept.pace);
        });
        let probe = prober.as_ref().map_or(Time::NEVER, Prober::wakeup);
        wait(prober.as_ref(), clock, window.wakeup().min(probe));
    }
    Ok(())
}

fn note(visit: &Visit, stream: u16, change: impl FnOnce(&mut WindowState)) {
    if let Some(state) = locked(&visit.windows).get_mut(usize::from(stream)) {
        change(state);
    }
}

/// Until the prober has something to read, or `until`.
fn wait(prober: Option<&Prober>, clock: &Clock, until: Time) {
    let left = until.since(clock.now()).min(LOOK);
    let left = Timespec { tv_sec: 0, tv_nsec: left.as_nanos() as _ };
    let mut sockets: Vec<PollFd<'_>> =
        prober.iter().map(|prober| PollFd::new(*prober, PollFlags::IN)).collect();
    // Interrupted or not: it is looked again.
    let _ = poll(&mut sockets, Some(&left));
}

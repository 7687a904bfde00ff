//! One flow at its receiver: its settings, its connection and its result.

use super::UnidentifiedConnection;
use crate::error::LiveError;
use crate::load::results::{Measured, ReceivedFlow, ReceiverSample};
use crate::load::session::{FlowConfig, PREAMBLE, STALLED_AFTER, SizerChoice};
use crate::load::side_channel::SideChannel;
use crate::probed_group::ProbedGroup;
use crate::sized_group::SizedGroup;
use crate::window::{SETTLING, Window, WindowControl};
use host::Clock;
use host::options::{self, BufferGrant, ReceiveBuffer};
use host::{TcpInfo, TcpOptions};
use probe::{ProbeCounts, Prober};
use sizing::Input;
use socket2::Socket;
use std::slice::from_ref;
use units::{Bytes, Rate, Span, Time};

/// The silence after which a greedy flow past its stop counts as ended, because the path may have dropped the sender's
/// RST.
const SILENT_AFTER_STOP: Span = Span::from_secs(1);

/// The connection of a flow.
pub(super) struct Incoming {
    pub(super) socket: Socket,
    owner: WindowOwner,
    pub(super) accepted: Time,
    /// Payload discarded so far.
    pub(super) read: u64,
    /// Payload at the last sample.
    seen: Bytes,
    /// The time of the last sample at which the payload had grown.
    moved: Time,
}

/// The owner of the window, which decides on its size.
enum WindowOwner {
    /// The session: one window for the flow's whole life.
    Fixed(WindowControl),
    /// A sizer, with a prober for its path if there is an echoer.
    Sized(Box<ProbedGroup>),
}

impl WindowOwner {
    /// Takes over the window of flow `id` of the session, which was accepted at `now`.
    fn take(
        socket: &Socket,
        config: &FlowConfig,
        now: Time,
        id: usize,
        side_channel: Option<&SideChannel>,
    ) -> Result<Self, LiveError> {
        let Some(choice) = &config.sizer else {
            return WindowControl::take(socket, config.window).map(Self::Fixed);
        };
        let sizer = choice.build(config.segment, TcpInfo::of(socket)?.options.timestamps, socket)?;
        let echo = side_channel.and_then(SideChannel::echo);
        let connect = |(echoer, key)| {
            let local = options::any_address(echoer, config.port.unwrap_or(0));
            Prober::connect_from(local, echoer, key, id as u64)
        };
        let prober = echo.map(connect).transpose()?;
        let mut group = SizedGroup::new(sizer, config.segment, choice.maximum, now);
        group.join(&[socket])?;
        if options::is_rate_based(&config.control) {
            group.tell(&[socket], now, Input::RateBased)?;
        }
        Ok(Self::Sized(Box::new(ProbedGroup::new(group, prober))))
    }

    fn control(&self) -> &WindowControl {
        match self {
            Self::Fixed(control) => control,
            Self::Sized(probed_group) => probed_group.group.control(0),
        }
    }

    fn assert(&mut self, socket: &Socket) -> Result<(), LiveError> {
        match self {
            Self::Fixed(control) => control.assert(socket).map(drop),
            Self::Sized(probed_group) => probed_group.group.assert(&[socket]),
        }
    }
}

/// One flow.
pub(super) struct Slot<'a> {
    pub(super) config: &'a FlowConfig,
    warmup: Time,
    pub(super) incoming: Option<Incoming>,
    /// The time at which measuring began, and the payload and the marks until that time.
    base: Option<(Time, Bytes, u32)>,
    pub(super) result: ReceivedFlow,
}

impl<'a> Slot<'a> {
    pub(super) fn new(config: &'a FlowConfig, warmup: Time) -> Self {
        let result = ReceivedFlow {
            name: config.name.clone(),
            peer: None,
            accepted: None,
            ended: None,
            payload: Bytes::ZERO,
            measured: Measured::default(),
            marks: None,
            options: TcpOptions::default(),
            window_scale: 0,
            buffer: None,
            window_overwritten: 0,
            phases: Vec::new(),
            final_window: None,
            probes: ProbeCounts::default(),
            samples: Vec::new(),
            notes: Vec::new(),
        };
        Self { config, warmup, incoming: None, base: None, result }
    }

    /// Begins the flow, `id` of the session, on the connection `unknown`.
    pub(super) fn begin(
        &mut self,
        unknown: UnidentifiedConnection,
        id: usize,
        side_channel: Option<&SideChannel>,
    ) -> Result<(), LiveError> {
        let UnidentifiedConnection { socket, peer, accepted, .. } = unknown;
        let owner = WindowOwner::take(&socket, self.config, accepted, id, side_channel)?;
        let info = TcpInfo::of(&socket)?;
        self.result.peer = Some(peer);
        self.result.accepted = Some(accepted);
        self.result.options = info.options;
        self.result.window_scale = info.rcv_wscale;
        self.result.buffer = Some(owner.control().buffer());
        self.incoming =
            Some(Incoming { socket, owner, accepted, read: 0, seen: Bytes::ZERO, moved: accepted });
        Ok(())
    }

    /// Returns the prober of the flow's sizer, if it has one.
    pub(super) fn prober(&self) -> Option<&Prober> {
        match &self.incoming.as_ref()?.owner {
            WindowOwner::Sized(probed_group) => probed_group.prober(),
            WindowOwner::Fixed(_) => None,
        }
    }

    /// Returns the time at which the sizer or its prober has to be polled; never without a sizer.
    pub(super) fn wakeup(&self) -> Time {
        match &self.incoming {
            Some(Incoming { owner: WindowOwner::Sized(probed_group), .. }) => probed_group.wakeup(),
            _ => Time::NEVER,
        }
    }

    /// Lets the sizer measure and decide, and carries its requests to the prober and to the sender of the flow, `id` of
    /// the session.
    pub(super) fn size(
        &mut self,
        id: usize,
        clock: &Clock,
        side_channel: Option<&SideChannel>,
    ) -> Result<(), LiveError> {
        let Some(Incoming { socket, owner: WindowOwner::Sized(probed_group), .. }) = &mut self.incoming
        else {
            return Ok(());
        };
        let sockets = from_ref(socket);
        if let Some(report) = side_channel.and_then(|side_channel| side_channel.take_report(id)) {
            probed_group.group.tell(sockets, clock.now(), Input::Sender(report))?;
        }
        let pace = probed_group.poll(sockets, clock)?;
        if let Some(side_channel) = side_channel {
            if let Some(rate) = pace {
                side_channel.pace(id, rate);
            }
            if !probed_group.wants_quiet() {
                side_channel.release(id);
            }
        }
        if let Some(prober) = probed_group.prober() {
            self.result.probes = prober.counts();
        }
        Ok(())
    }

    /// Sets the window again while the kernel is likely to overwrite it.
    pub(super) fn settle(&mut self, now: Time) -> Result<(), LiveError> {
        match &mut self.incoming {
            Some(incoming) if now.since(incoming.accepted) < SETTLING => {
                incoming.owner.assert(&incoming.socket)
            }
            _ => Ok(()),
        }
    }

    /// Takes one reading at `now`, and asserts the window.
    pub(super) fn sample(&mut self, now: Time) -> Result<(), LiveError> {
        let Some(incoming) = &self.incoming else { return Ok(()) };
        let info = TcpInfo::of(&incoming.socket)?;
        let payload = info.stream_received().saturating_sub(Bytes::new(PREAMBLE));
        self.record(now, &info, payload)?;
        let Some(incoming) = &self.incoming else { return Ok(()) };
        let idle = now.since(incoming.moved);
        let past_stop =
            self.config.size.is_none() && self.config.stop.is_some_and(|at| now > Time::ZERO + at);
        if past_stop && idle > SILENT_AFTER_STOP {
            self.result.ended = Some(incoming.moved);
            self.close();
        } else if idle > STALLED_AFTER {
            return Err(LiveError::Stalled { flow: self.config.name.clone(), idle, moved: payload });
        }
        Ok(())
    }

    /// Ends the flow: the sender has finished, and all its data has been read, or it has reset the connection.
    pub(super) fn end(&mut self, now: Time) -> Result<(), LiveError> {
        if let Some(incoming) = &self.incoming {
            let (info, payload) = (TcpInfo::of(&incoming.socket)?, Bytes::new(incoming.read));
            self.record(now, &info, payload)?;
        }
        self.result.ended = Some(now);
        self.close();
        Ok(())
    }

    /// Closes the connection and keeps the phases and the last window of its sizer.
    pub(super) fn close(&mut self) {
        let Some(Incoming { owner: WindowOwner::Sized(probed_group), .. }) = self.incoming.take() else {
            return;
        };
        self.result.phases = probed_group.group.changes().to_vec();
        self.result.final_window = probed_group.group.requested();
    }

    fn record(&mut self, now: Time, info: &TcpInfo, payload: Bytes) -> Result<(), LiveError> {
        let Some(incoming) = &mut self.incoming else { return Ok(()) };
        let before = self.result.samples.last().map_or(incoming.accepted, |sample| sample.at);
        let gained = payload.saturating_sub(incoming.seen);
        let window = incoming.owner.control().read(&incoming.socket, info)?;
        incoming.owner.assert(&incoming.socket)?;
        if gained > Bytes::ZERO {
            incoming.moved = now;
        }
        incoming.seen = payload;
        self.result.samples.push(ReceiverSample {
            at: now,
            payload,
            goodput: Rate::of(gained, now.since(before)),
            rcv_rtt: info.rcv_rtt,
            out_of_order: info.rcv_ooopack,
            window,
        });
        self.result.payload = payload;
        self.result.window_overwritten = incoming.owner.control().overwritten();
        if now >= self.warmup {
            let late = incoming.accepted >= self.warmup;
            let marks = info.received_ce.unwrap_or(0);
            let first = if late { (incoming.accepted, Bytes::ZERO, 0) } else { (now, payload, marks) };
            let (from, base, marks_before) = *self.base.get_or_insert(first);
            self.result.marks = info.received_ce.map(|all| u64::from(all.wrapping_sub(marks_before)));
            self.result.measured = Measured { from, to: now, payload: payload.saturating_sub(base) };
        }
        Ok(())
    }

    /// Adds the notes that a reader of the results needs.
    pub(super) fn remark(&mut self) {
        let result = &mut self.result;
        if let (Some(size), Some(ended)) = (self.config.size, result.ended)
            && result.payload < size
        {
            result.notes.push(format!(
                "ended after {} with {} of {}",
                ended.since(Time::ZERO).rounded(),
                result.payload.rounded(),
                size.rounded()
            ));
        }
        if let Some(buffer) = result.buffer {
            result.notes.extend(room_note(buffer, self.config));
        }
    }
}

/// Returns a note if the buffer has no room for the requested window.
fn room_note(buffer: ReceiveBuffer, config: &FlowConfig) -> Option<String> {
    let most = match (&config.sizer, config.window) {
        (Some(SizerChoice { maximum, .. }), _) => Some(*maximum),
        (None, Window::AtMost(limit)) => Some(limit),
        (None, Window::Max) => None,
        (None, Window::Autotuned) => return None,
    };
    let room = buffer.size / 2;
    match (buffer.grant, most) {
        (BufferGrant::Limited, Some(most)) if room < most => Some(format!(
            "a window of up to {} was asked for, but net.core.rmem_max leaves room for about {}; run as root",
            most.rounded(),
            room.rounded()
        )),
        (BufferGrant::Autotuned, None) => Some(
            "the maximum window is the kernel's autotuning, up to tcp_rmem; root can force it".to_owned(),
        ),
        _ => None,
    }
}

//! One flow at its receiver: what it should be, what it is, what it leaves.

use super::Unknown;
use crate::error::LiveError;
use crate::liaison::Liaison;
use crate::pilot::input;
use crate::results::{Measured, ReceivedFlow, ReceiverSample};
use crate::session::{FlowConfig, PREAMBLE, STALLED_AFTER, SizerChoice};
use crate::sized::{Demand, SizedWindow};
use crate::window::{Window, WindowControl, WindowReading};
use host::Clock;
use host::options::{self, BufferGrant, ReceiveBuffer};
use host::{TcpInfo, TcpOptions};
use probe::{ProbeCounts, Prober};
use sizing::Input;
use socket2::Socket;
use units::{Bytes, Rate, Span, Time};

/// A greedy flow past its stop that is silent for this long has ended: the path may have dropped the sender's RST.
const SILENT_AFTER_STOP: Span = Span::from_secs(1);
/// For this long after the accept the window is asserted after every read: the kernel overwrites the clamp when it
/// learns the segment size.
const SETTLING: Span = Span::from_millis(500);

/// A connected flow.
pub(super) struct Incoming {
    pub(super) socket: Socket,
    holder: Holder,
    pub(super) accepted: Time,
    /// Payload thrown away so far.
    pub(super) read: u64,
    /// Payload at the last sample, and when it last had grown.
    seen: Bytes,
    moved: Time,
}

/// Who decides on the window.
enum Holder {
    /// The session: one window for the flow's whole life.
    Fixed(WindowControl),
    /// A sizer.
    Sized(Box<Sizing>),
}

/// A sizer at work, and what probes the path for it, if anything can.
struct Sizing {
    window: SizedWindow,
    prober: Option<Prober>,
}

impl Holder {
    /// For flow `id` of the session, accepted at `now`.
    fn take(
        socket: &Socket,
        config: &FlowConfig,
        now: Time,
        id: usize,
        liaison: Option<&Liaison>,
    ) -> Result<Self, LiveError> {
        let Some(choice) = &config.sizer else {
            return WindowControl::take(socket, config.window).map(Self::Fixed);
        };
        let sizer = choice.build(config.segment, TcpInfo::of(socket)?.options.timestamps, socket)?;
        let echo = liaison.and_then(Liaison::echo);
        let connect = |(echoer, key)| {
            let local = options::any_address(echoer, config.port.unwrap_or(0));
            Prober::connect_from(local, echoer, key, id as u64)
        };
        let prober = echo.map(connect).transpose()?;
        let mut window = SizedWindow::take(socket, sizer, now)?;
        if options::is_rate_based(&config.control) {
            window.tell(socket, now, Input::RateBased)?;
        }
        Ok(Self::Sized(Box::new(Sizing { window, prober })))
    }

    fn control(&self) -> &WindowControl {
        match self {
            Self::Fixed(control) => control,
            Self::Sized(sizing) => sizing.window.control(),
        }
    }

    fn assert(&mut self, socket: &Socket) -> Result<bool, LiveError> {
        match self {
            Self::Fixed(control) => control.assert(socket),
            Self::Sized(sizing) => sizing.window.assert(socket),
        }
    }

    fn read(&self, socket: &Socket, info: &TcpInfo) -> Result<WindowReading, LiveError> {
        self.control().read(socket, info)
    }
}

/// One flow.
pub(super) struct Slot<'a> {
    pub(super) config: &'a FlowConfig,
    warmup: Time,
    pub(super) incoming: Option<Incoming>,
    /// Where measuring began.
    base: Option<(Time, Bytes)>,
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

    /// The flow, `id` of the session, has connected.
    pub(super) fn begin(
        &mut self,
        unknown: Unknown,
        id: usize,
        liaison: Option<&Liaison>,
    ) -> Result<(), LiveError> {
        let Unknown { socket, peer, accepted, .. } = unknown;
        let holder = Holder::take(&socket, self.config, accepted, id, liaison)?;
        let info = TcpInfo::of(&socket)?;
        self.result.peer = Some(peer);
        self.result.accepted = Some(accepted);
        self.result.options = info.options;
        self.result.window_scale = info.rcv_wscale;
        self.result.buffer = Some(holder.control().buffer());
        self.incoming =
            Some(Incoming { socket, holder, accepted, read: 0, seen: Bytes::ZERO, moved: accepted });
        Ok(())
    }

    /// What probes for the flow's sizer.
    pub(super) fn prober(&self) -> Option<&Prober> {
        match &self.incoming.as_ref()?.holder {
            Holder::Sized(sizing) => sizing.prober.as_ref(),
            Holder::Fixed(_) => None,
        }
    }

    /// When the sizer or its prober wants to be polled; never without one.
    pub(super) fn wakeup(&self) -> Time {
        let Some(Incoming { holder: Holder::Sized(sizing), .. }) = &self.incoming else { return Time::NEVER };
        let probe = sizing.prober.as_ref().map_or(Time::NEVER, Prober::wakeup);
        sizing.window.wakeup().min(probe)
    }

    /// Has the sizer measure and decide, and carries its wishes to the prober and to the sender, flow `id` of the session.
    pub(super) fn size(
        &mut self,
        id: usize,
        clock: &Clock,
        liaison: Option<&Liaison>,
    ) -> Result<(), LiveError> {
        let Some(Incoming { socket, holder: Holder::Sized(sizing), .. }) = &mut self.incoming else {
            return Ok(());
        };
        let Sizing { window, prober } = &mut **sizing;
        let now = clock.now();
        if let Some(report) = liaison.and_then(|liaison| liaison.take_report(id)) {
            window.tell(socket, now, Input::Sender(report))?;
        }
        window.poll(socket, now)?;
        for demand in window.take_demands() {
            match (demand, &mut *prober, liaison) {
                (Demand::Train, Some(prober), _) => prober.ask_train(),
                // Nobody there who could: a train that never comes is one that was lost.
                (Demand::Train, None, _) => window.tell(socket, now, Input::Train(None))?,
                (Demand::Pace(rate), _, Some(liaison)) => liaison.pace(id, rate),
                (Demand::Pace(_), _, None) => {}
            }
        }
        if let Some(liaison) = liaison.filter(|_| prober.is_none() || !window.wants_quiet()) {
            liaison.release(id);
        }
        if let Some(prober) = prober {
            prober.set_interval(window.probe_interval(), now);
            if prober.wakeup() <= now {
                self.probe(now, clock)?;
            }
        }
        Ok(())
    }

    /// Has the prober read and send, and tells the sizer what it found.
    pub(super) fn probe(&mut self, now: Time, clock: &Clock) -> Result<(), LiveError> {
        let Some(Incoming { socket, holder: Holder::Sized(sizing), .. }) = &mut self.incoming else {
            return Ok(());
        };
        let Some(prober) = &mut sizing.prober else { return Ok(()) };
        for event in prober.poll(clock) {
            sizing.window.tell(socket, now, input(&event))?;
        }
        self.result.probes = prober.counts();
        Ok(())
    }

    /// Sets the window again as long as the kernel is likely to overwrite it.
    pub(super) fn settle(&mut self, now: Time) -> Result<(), LiveError> {
        match &mut self.incoming {
            Some(incoming) if now.since(incoming.accepted) < SETTLING => {
                incoming.holder.assert(&incoming.socket).map(drop)
            }
            _ => Ok(()),
        }
    }

    /// One reading at `now`; asserts the window.
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
            self.let_go();
        } else if idle > STALLED_AFTER {
            return Err(LiveError::Stalled { flow: self.config.name.clone(), idle, moved: payload });
        }
        Ok(())
    }

    /// The sender has finished (all it sent has been read) or reset the connection.
    pub(super) fn end(&mut self, now: Time) -> Result<(), LiveError> {
        if let Some(incoming) = &self.incoming {
            let (info, payload) = (TcpInfo::of(&incoming.socket)?, Bytes::new(incoming.read));
            self.record(now, &info, payload)?;
        }
        self.result.ended = Some(now);
        self.let_go();
        Ok(())
    }

    /// Closes the connection and keeps what its sizer did.
    pub(super) fn let_go(&mut self) {
        let Some(Incoming { holder: Holder::Sized(sizing), .. }) = self.incoming.take() else { return };
        self.result.phases = sizing.window.changes().to_vec();
        self.result.final_window = sizing.window.requested();
    }

    fn record(&mut self, now: Time, info: &TcpInfo, payload: Bytes) -> Result<(), LiveError> {
        let Some(incoming) = &mut self.incoming else { return Ok(()) };
        let before = self.result.samples.last().map_or(incoming.accepted, |sample| sample.at);
        let gained = payload.saturating_sub(incoming.seen);
        let window = incoming.holder.read(&incoming.socket, info)?;
        incoming.holder.assert(&incoming.socket)?;
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
        self.result.window_overwritten = incoming.holder.control().overwritten();
        if now >= self.warmup {
            let late = incoming.accepted >= self.warmup;
            let first = if late { (incoming.accepted, Bytes::ZERO) } else { (now, payload) };
            let (from, base) = *self.base.get_or_insert(first);
            self.result.measured = Measured { from, to: now, payload: payload.saturating_sub(base) };
        }
        Ok(())
    }

    /// What is worth a note.
    pub(super) fn remark(&mut self) {
        let result = &mut self.result;
        if let (Some(size), Some(ended)) = (self.config.size, result.ended)
            && result.payload < size
        {
            result.notes.push(format!("ended at {ended} with {} of {size}", result.payload));
        }
        if let Some(buffer) = result.buffer {
            result.notes.extend(room_note(buffer, self.config));
        }
    }
}

/// That the buffer has no room for the window asked for, if so.
fn room_note(buffer: ReceiveBuffer, config: &FlowConfig) -> Option<String> {
    let most = match (&config.sizer, config.window) {
        (Some(SizerChoice { maximum, .. }), _) => Some(*maximum),
        (None, Window::Limit(limit)) => Some(limit),
        (None, Window::Max) => None,
        (None, Window::Autotuned) => return None,
    };
    let room = buffer.size / 2;
    match (buffer.grant, most) {
        (BufferGrant::Limited, Some(most)) if room < most => Some(format!(
            "a window of up to {most} was asked for, but net.core.rmem_max leaves room for about {room}; run as root"
        )),
        (BufferGrant::Autotuned, None) => Some(
            "the maximum window is the kernel's autotuning, up to tcp_rmem; root can force it".to_owned(),
        ),
        _ => None,
    }
}

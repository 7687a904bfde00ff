//! One flow at its sender: its settings, its connection and its result.

use crate::error::LiveError;
use crate::load::results::{SendCounts, SenderSample, SentFlow};
use crate::load::session::{FlowConfig, PREAMBLE, STALLED_AFTER};
use host::options;
use host::{Clock, EcnRequest, Interest, Pace};
use host::{TcpInfo, TcpOptions};
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::SocketAddr;
use units::{Bytes, Span, Time};

/// The longest time for which data waits while the receiver measures the path. It is limited because a receiver may
/// fail to report the end.
const HOLD_AT_MOST: Span = Span::from_secs(3);
/// The time between two checks of whether the data may begin.
pub(super) const HOLD_CHECK: Span = Span::from_millis(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Phase {
    Waiting,
    Connecting {
        deadline: Time,
    },
    /// Waits until `deadline` at most, and checks at `check` whether the data may begin.
    Holding {
        check: Time,
        deadline: Time,
    },
    Sending,
    Draining {
        check: Time,
    },
    Done,
}

/// One flow at its sender: its settings, its connection and its result.
pub(super) struct Outgoing<'a> {
    pub(super) config: &'a FlowConfig,
    pub(super) phase: Phase,
    pub(super) socket: Option<Socket>,
    /// The pace that the receiver's sizer requests.
    pub(super) pace: Pace,
    pub(super) preamble: [u8; PREAMBLE as usize],
    /// The stream bytes written so far, preamble included.
    pub(super) written: u64,
    /// The stream bytes to write in all, preamble included.
    pub(super) goal: u64,
    /// The value of `bytes_acked` before anything was written, which is not zero because it counts the SYN.
    acked_before: Bytes,
    pub(super) moved: Time,
    warm_counts: Option<SendCounts>,
    pub(super) result: SentFlow,
}

impl<'a> Outgoing<'a> {
    pub(super) fn new(config: &'a FlowConfig, id: u16) -> Self {
        let result = SentFlow {
            name: config.name.clone(),
            connected: None,
            completion: None,
            handshake: None,
            acked: Bytes::ZERO,
            whole: SendCounts::default(),
            measured: SendCounts::default(),
            rtt: None,
            min_rtt: None,
            segment_payload: Bytes::ZERO,
            options: TcpOptions::default(),
            measures: Vec::new(),
            lateness: None,
            samples: Vec::new(),
            notes: Vec::new(),
        };
        Self {
            config,
            phase: Phase::Waiting,
            socket: None,
            pace: Pace::default(),
            preamble: id.to_be_bytes(),
            written: 0,
            goal: config.size.map_or(u64::MAX, |size| size.get().saturating_add(PREAMBLE)),
            acked_before: Bytes::ZERO,
            moved: Time::ZERO,
            warm_counts: None,
            result,
        }
    }

    /// Returns the time at which the flow next has something to do by the clock.
    pub(super) fn wakeup(&self) -> Time {
        match self.phase {
            Phase::Waiting => Time::ZERO + self.config.start,
            Phase::Connecting { deadline } => deadline,
            Phase::Sending => self.stop().min(self.pace.due()),
            Phase::Done => Time::NEVER,
            Phase::Draining { check } | Phase::Holding { check, .. } => check,
        }
    }

    /// Returns the time at which a flow without a size ends.
    pub(super) fn stop(&self) -> Time {
        let stop = self.config.stop.filter(|_| self.config.size.is_none());
        stop.map_or(Time::NEVER, |stop| Time::ZERO + stop)
    }

    /// Returns the events to wait for on the flow's socket. With a pace, these do not include room to write, because
    /// the clock decides when to write.
    pub(super) fn interest(&self) -> Interest {
        if self.pace.is_on() { Interest::empty() } else { Interest::OUT }
    }

    /// Makes a socket that is connecting to `server`.
    pub(super) fn connect(&self, server: SocketAddr) -> Result<Socket, LiveError> {
        let socket = Socket::new(Domain::for_address(server), Type::STREAM, Some(Protocol::TCP))
            .and_then(|socket| socket.set_nonblocking(true).map(|()| socket))
            .map_err(LiveError::system("make a socket"))?;
        options::set_congestion_control(&socket, &self.config.control)?;
        options::set_no_delay(&socket)?;
        let headers = if server.is_ipv4() { 40 } else { 60 };
        options::set_max_segment(&socket, self.config.segment.saturating_sub(Bytes::new(headers)))?;
        if let Some(rate) = self.config.pacing {
            options::set_max_pacing_rate(&socket, rate)?;
        }
        if self.config.dscp > 0 {
            options::set_dscp(&socket, server, self.config.dscp)?;
        }
        if let Some(port) = self.config.port {
            socket
                .bind(&options::any_address(server, port).into())
                .map_err(|error| self.cannot_connect(server, format!("port {port} of its own: {error}")))?;
        }
        // The kernel reads the setting as it makes the SYN, and this thread makes all SYNs of the session.
        if let Some(request) = self.config.ecn {
            request.apply()?;
        }
        match socket.connect(&server.into()) {
            Ok(()) => Ok(socket),
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => Ok(socket),
            Err(error) => Err(self.cannot_connect(server, error.to_string())),
        }
    }

    /// Ends the handshake, whether it succeeded or failed. A flow that is `held` sends its preamble, and then waits.
    pub(super) fn connected(&mut self, server: SocketAddr, now: Time, held: bool) -> Result<(), LiveError> {
        let Some(socket) = &self.socket else { return Ok(()) };
        if let Some(error) = socket.take_error().map_err(LiveError::system("read SO_ERROR"))? {
            return Err(self.cannot_connect(server, error.to_string()));
        }
        let info = TcpInfo::of(socket)?;
        self.acked_before = info.bytes_acked;
        self.result.options = info.options;
        if self.config.ecn.is_some_and(|request| request != EcnRequest::Off) && !info.options.ecn {
            let refused = "the flow asked for ECN, and the handshake did not agree on it";
            self.result.notes.push(refused.to_owned());
        }
        self.result.connected = Some(now);
        self.moved = now;
        self.phase = if held {
            Phase::Holding { check: now + HOLD_CHECK, deadline: now + HOLD_AT_MOST }
        } else {
            Phase::Sending
        };
        Ok(())
    }

    /// Returns the acknowledged payload: without the SYN, the preamble and the FIN.
    pub(super) fn acked(&self, info: &TcpInfo) -> Bytes {
        let payload = info.bytes_acked.saturating_sub(self.acked_before).saturating_sub(Bytes::new(PREAMBLE));
        payload.min(self.config.size.unwrap_or(Bytes::MAX))
    }

    pub(super) fn sample(&mut self, clock: &Clock, now: Time, warmup: Time) -> Result<(), LiveError> {
        let (Some(socket), Phase::Holding { .. } | Phase::Sending | Phase::Draining { .. }) =
            (&self.socket, self.phase)
        else {
            return Ok(());
        };
        let info = TcpInfo::of(socket)?;
        let real = clock.real();
        // The kernel's clock continues while the path stands still.
        let moving =
            |rtt: Span| rtt.saturating_sub(clock.stood(real - rtt.min(real.since(Time::ZERO)), real));
        let acked = self.acked(&info);
        if acked > self.result.acked {
            self.moved = now;
        } else if now.since(self.moved) > STALLED_AFTER {
            let idle = now.since(self.moved);
            return Err(LiveError::Stalled { flow: self.config.name.clone(), idle, moved: acked });
        }
        self.result.acked = acked;
        self.result.min_rtt = info.min_rtt;
        self.result.segment_payload = info.snd_mss;
        self.result.whole = SendCounts {
            segments: u64::from(info.data_segs_out),
            retransmits: u64::from(info.total_retrans),
            retransmitted: info.bytes_retrans,
            timeouts: info.timeouts.map(u64::from),
        };
        if now >= warmup {
            let late = self.result.connected.is_some_and(|at| at >= warmup);
            let first = if late { SendCounts::default() } else { self.result.whole };
            self.result.measured = self.result.whole.since(*self.warm_counts.get_or_insert(first));
        }
        self.result.samples.push(SenderSample {
            at: now,
            acked,
            rtt: info.rtt.map(moving),
            min_rtt: info.min_rtt,
            congestion_window: info.congestion_window(),
            slow_start_threshold: info.snd_ssthresh.map(|segments| info.snd_mss * u64::from(segments)),
            peer_window: info.snd_wnd,
            send_window: info.send_window(),
            in_flight: info.in_flight(),
            delivery_rate: info.delivery_rate,
            lost: info.lost,
            retransmits: info.total_retrans,
            rwnd_limited: info.rwnd_limited,
            sndbuf_limited: info.sndbuf_limited,
        });
        Ok(())
    }

    pub(super) fn cannot_connect(&self, server: SocketAddr, reason: String) -> LiveError {
        LiveError::Connect { flow: self.config.name.clone(), server, reason }
    }

    pub(super) fn broken(&self, source: io::Error) -> LiveError {
        LiveError::Broken { flow: self.config.name.clone(), moved: self.result.acked, source }
    }
}

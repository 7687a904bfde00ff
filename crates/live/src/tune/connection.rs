//! [`TunedConnection`]: one connection of a program, its sizer, and its former settings.

use super::error::TuneError;
use super::lock::ConnectionLock;
use super::verdict::{ConnectionLimit, EarlierMeasurements, ReadingSummary, held};
use crate::error::LiveError;
use crate::process::{Descriptor, Process};
use crate::sized_group::SizedGroup;
use crate::window::advertisable;
use host::TcpInfo;
use host::options::{self, BufferGrant};
use sizing::{BufferSizer, PhaseChange, SizerState};
use socket2::SockRef;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::os::fd::AsFd;
use units::{Bytes, Foreign, Rate, Span, Time};

/// The least ratio of the goodput to the earlier goodput that shows that the window had been the limit.
const FREED: f64 = 1.1;
/// The kernel's numbers of the TCP states in which data may arrive.
const STATES_THAT_RECEIVE: [u8; 3] = [1, 4, 5];

/// A connection, the process that has it, and the right to tune it.
#[derive(Debug)]
pub(super) struct ConnectionOwner<'a> {
    pub(super) process: &'a Process,
    pub(super) descriptor: Descriptor,
    pub(super) ends: Ends,
    pub(super) lock: ConnectionLock,
}

/// The two ends of a TCP socket.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ends {
    local: SocketAddr,
    /// The other end; `None` while the socket listens.
    peer: Option<SocketAddr>,
    /// True if data may arrive over the connection.
    pub(super) stands: bool,
}

impl Ends {
    /// Reads the ends; `None` if `socket` is not a TCP socket.
    pub(super) fn of(socket: &impl AsFd) -> Option<Self> {
        let reference = SockRef::from(socket);
        if reference.protocol().ok()? != Some(socket2::Protocol::TCP) {
            return None;
        }
        let local = reference.local_addr().ok()?.as_socket()?;
        let peer = reference.peer_addr().ok().and_then(|peer| peer.as_socket()).map(host::plain);
        let state = TcpInfo::of(socket).ok()?.state;
        Some(Self {
            local: host::plain(local),
            peer,
            stands: peer.is_some() && STATES_THAT_RECEIVE.contains(&state),
        })
    }

    /// Returns the end at the program, and the other end.
    pub(super) const fn addresses(self) -> (SocketAddr, Option<SocketAddr>) {
        (self.local, self.peer)
    }

    /// Returns the ports at both ends.
    pub(super) fn ports(self) -> Vec<u16> {
        [Some(self.local.port()), self.peer.map(|peer| peer.port())]
            .into_iter()
            .flatten()
            .filter(|&port| port != 0)
            .collect()
    }
}

impl fmt::Display for Ends {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.peer {
            Some(peer) => write!(formatter, "{peer} -> {}", self.local),
            None => write!(formatter, "{} (listening)", self.local),
        }
    }
}

/// The socket's settings before it was taken over.
#[derive(Clone, Copy, Debug)]
struct SavedSettings {
    clamp: Bytes,
    buffer: Bytes,
    /// The flags of `SO_BUF_LOCK`; `None`: this kernel does not report them.
    lock: Option<i32>,
}

/// A setting that could not be undone, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UndoFailure(pub String);

/// The outcome of giving a connection back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Restored {
    /// The kernel has its window again; the list names what is not as before.
    Back(Vec<UndoFailure>),
    /// The program had closed it, so there was nothing to give back.
    Closed,
    /// Giving it back failed, with the reason.
    Failed(String),
}

/// One connection under a sizer.
#[derive(Debug)]
pub struct TunedConnection {
    process: Process,
    program: String,
    descriptor: Descriptor,
    ends: Ends,
    before: SavedSettings,
    group: SizedGroup,
    taken: Time,
    /// The largest window that the connection can advertise.
    largest: Bytes,
    earlier: Option<EarlierMeasurements>,
    seen: ReadingSummary,
    round_trip: Option<Span>,
    received_before: Bytes,
    received: Bytes,
    sent_before: Bytes,
    sent: Bytes,
    last: Time,
    /// The claim to the connection while its sizer works; `None` afterwards.
    active: Option<ConnectionLock>,
    restored: Option<Restored>,
}

impl TunedConnection {
    /// Takes over the connection at `now`. The sizer is made from the connection's `TCP_INFO` and the window that its
    /// sender was promised.
    pub(super) fn take(
        whose: ConnectionOwner<'_>,
        socket: &impl AsFd,
        sizer: impl Fn(&TcpInfo, Bytes) -> Result<Box<dyn BufferSizer>, TuneError>,
        maximum: Bytes,
        earlier: Option<EarlierMeasurements>,
        now: Time,
    ) -> Result<Self, LiveError> {
        let ConnectionOwner { process, descriptor, ends, lock } = whose;
        let before = SavedSettings {
            clamp: options::window_clamp(socket)?,
            buffer: options::receive_buffer(socket)?,
            lock: options::buffer_lock(socket).ok(),
        };
        let info = TcpInfo::of(socket)?;
        let received = info.stream_received();
        // Before Linux 6.2 it is only known that the promised window is within the buffer.
        let promised = info.rcv_wnd.unwrap_or(before.buffer).min(before.clamp);
        let sizer = sizer(&info, promised).map_err(|error| LiveError::Config(error.complaint()))?;
        let mut group = SizedGroup::new(sizer, info.rcv_mss, maximum, now);
        group.join(&[socket])?;
        Ok(Self {
            process: process.clone(),
            program: process.name(),
            descriptor,
            ends,
            before,
            group,
            taken: now,
            largest: advertisable(&info),
            earlier,
            seen: ReadingSummary::default(),
            round_trip: info.rcv_rtt,
            received_before: received,
            received,
            sent_before: info.bytes_acked,
            sent: info.bytes_acked,
            last: now,
            active: Some(lock),
            restored: None,
        })
    }

    /// Returns the process that has the connection, and the program's name as data: show it as [`Foreign`].
    #[must_use]
    pub fn process(&self) -> (u32, &str) {
        (self.process.id(), &self.program)
    }

    /// Returns the end at the program, and the other end.
    #[must_use]
    pub fn ends(&self) -> (SocketAddr, Option<SocketAddr>) {
        self.ends.addresses()
    }

    /// Returns the time at which it was taken over.
    #[must_use]
    pub const fn taken(&self) -> Time {
        self.taken
    }

    /// Returns the time from the takeover to the last data, and the bytes received in it.
    #[must_use]
    pub fn received(&self) -> (Span, Bytes) {
        (self.last.since(self.taken), self.received.saturating_sub(self.received_before))
    }

    /// Returns the bytes that the program sent over it since then, as far as the other end has acknowledged them.
    #[must_use]
    pub fn sent(&self) -> Bytes {
        self.sent.saturating_sub(self.sent_before)
    }

    /// Returns the bytes received per time under the sizer.
    #[must_use]
    pub fn goodput(&self) -> Rate {
        let (span, bytes) = self.received();
        Rate::of(bytes, span)
    }

    /// Returns the requested window; `None` for the maximum.
    #[must_use]
    pub const fn requested(&self) -> Option<Bytes> {
        self.group.requested()
    }

    /// Returns the largest window that it can advertise with the scale of its handshake.
    #[must_use]
    pub const fn largest(&self) -> Bytes {
        self.largest
    }

    /// Returns the current window: the requested one, as far as it can be advertised.
    #[must_use]
    pub fn window(&self) -> Option<Bytes> {
        self.requested().map(|window| window.min(self.largest))
    }

    /// Returns the measurements before the takeover, if the connection was under way by that time.
    #[must_use]
    pub const fn earlier(&self) -> Option<&EarlierMeasurements> {
        self.earlier.as_ref()
    }

    /// Returns what limits it under the sizer, and the mean bytes in flight; `None` if too little was seen.
    #[must_use]
    pub fn held(&self) -> Option<(ConnectionLimit, Bytes)> {
        let window = self.window().unwrap_or(self.largest);
        let found = held(self.goodput(), window, window >= self.largest, &self.seen);
        // If the window was the limit before and the goodput has grown since, the programs did not limit themselves
        // then. The readings do not show yet that they do now.
        let was = self.earlier.filter(|earlier| earlier.held == Some(ConnectionLimit::Window));
        let freed = was.is_some_and(|was| self.goodput() > was.goodput.scale(FREED));
        found.filter(|&(held, _)| held != ConnectionLimit::Programs || !freed)
    }

    /// Returns the window's limit and the receive buffer before the takeover, and the buffer since.
    #[must_use]
    pub fn limits(&self) -> (Bytes, Bytes, Bytes) {
        (self.before.clamp, self.before.buffer, self.group.control(0).buffer().size)
    }

    /// Returns true if the buffer is as large as requested, which takes privilege.
    #[must_use]
    pub fn is_roomy(&self) -> bool {
        self.group.control(0).buffer().grant == BufferGrant::Forced
    }

    /// Returns the base RTT, if SOBAS has found it in a transfer that was under way.
    #[must_use]
    pub fn base_rtt(&self) -> Option<Span> {
        self.group.sizer().base_rtt()
    }

    /// Returns the receiver's last estimate of the round trip (`tcpi_rcv_rtt`), which includes the sender's pauses.
    #[must_use]
    pub const fn round_trip(&self) -> Option<Span> {
        self.round_trip
    }

    /// Returns the sizer's state and the reason for it.
    #[must_use]
    pub fn state(&self) -> SizerState {
        self.group.sizer().state()
    }

    /// Returns the sizer's phases.
    #[must_use]
    pub fn changes(&self) -> &[PhaseChange] {
        self.group.changes()
    }

    /// Returns the outcome of giving it back; `None` while it is under the sizer.
    #[must_use]
    pub const fn restored(&self) -> Option<&Restored> {
        self.restored.as_ref()
    }

    pub(super) const fn inode(&self) -> u64 {
        self.descriptor.inode
    }

    /// Takes `descriptor` of `process` as the connection's place, if the program has closed the former descriptor.
    pub(super) fn is_at(&mut self, process: &Process, descriptor: Descriptor) {
        if self.active.is_some() && matches!(self.process.borrow(self.descriptor), Ok(None)) {
            (self.process, self.descriptor) = (process.clone(), descriptor);
        }
    }

    /// Returns the time of the next poll; never once it is left alone.
    pub(super) fn wakeup(&self) -> Time {
        if self.active.is_some() { self.group.wakeup() } else { Time::NEVER }
    }

    /// Lets the sizer measure and decide. Returns false if the program has closed the connection.
    pub(super) fn poll(&mut self, now: Time) -> Result<bool, LiveError> {
        let borrowed = self.process.borrow(self.descriptor);
        let socket = borrowed.map_err(|error| {
            LiveError::system("borrow a socket")(io::Error::other(
                TuneError::from(error).complaint().head().to_string(),
            ))
        })?;
        let Some(socket) = socket else {
            self.active = None;
            self.restored = Some(Restored::Closed);
            return Ok(false);
        };
        // The sender does not cooperate: it cannot pace or send trains, so the sizer's demands are not read.
        self.group.poll(&[&socket], now)?;
        let info = TcpInfo::of(&socket)?;
        self.sent = info.bytes_acked;
        let received = info.stream_received();
        self.seen.observe(&info);
        self.round_trip = info.rcv_rtt.or(self.round_trip);
        if received > self.received {
            (self.received, self.last) = (received, now);
        }
        Ok(true)
    }

    /// Gives the window back after a failure, and leaves the connection alone from then on.
    pub(super) fn leave(&mut self, now: Time) {
        self.restore(now);
    }

    /// Gives the window back.
    pub(super) fn restore(&mut self, now: Time) {
        // The claim is released after the window has been given back.
        let Some(_claim) = self.active.take() else { return };
        self.restored = Some(match self.process.borrow(self.descriptor) {
            Ok(Some(socket)) => {
                if let Ok(info) = TcpInfo::of(&socket) {
                    self.received = info.stream_received().max(self.received);
                    self.sent = info.bytes_acked;
                    self.last = now;
                }
                self.give_back(&socket).map_or_else(
                    |error| Restored::Failed(error.complaint().head().to_string()),
                    Restored::Back,
                )
            }
            Ok(None) => Restored::Closed,
            Err(error) => Restored::Failed(TuneError::from(error).complaint().head().to_string()),
        });
    }

    /// Returns true if the window was fixed before, by the program or by a tuner that was killed.
    #[must_use]
    pub fn was_fixed(&self) -> bool {
        self.before.lock.is_some_and(|lock| lock & options::RECEIVE_LOCK != 0)
    }

    fn give_back(&self, socket: &impl AsFd) -> Result<Vec<UndoFailure>, LiveError> {
        let mut left = Vec::new();
        // The buffer keeps room for the window that the sender was promised. Otherwise the kernel would discard data.
        let promised = TcpInfo::of(socket)?.rcv_wnd.or(self.requested()).unwrap_or(Bytes::ZERO);
        let room = (self.before.buffer / 2).max(promised);
        set_room(socket, room)?;
        let unlocked = self.before.lock.is_some_and(|lock| options::set_buffer_lock(socket, lock).is_ok());
        let autotuned = unlocked && self.before.lock.is_some_and(|lock| lock & options::RECEIVE_LOCK == 0);
        // With autotuning the clamp of the window is removed. The kernel raises the clamp only when it raises the
        // buffer, so with a large buffer the clamp would stay for ever.
        let clamp = if autotuned { UNLIMITED } else { self.before.clamp };
        options::set_window_clamp(socket, clamp)?;
        let (buffer, before) = (options::receive_buffer(socket)?, self.before.buffer);
        if !unlocked {
            left.push(UndoFailure(autotuning_stays_off(buffer)));
        } else if buffer > before {
            left.push(UndoFailure(format!(
                "the receive buffer is {buffer}, it was {before}: the sender may still use the window it was given"
            )));
        }
        Ok(left)
    }
}

/// A window that no connection reaches.
pub(super) const UNLIMITED: Bytes = Bytes::new(1 << 30);

/// Makes room for `room` of payload in the receive buffer; without privilege the buffer can only shrink.
pub(super) fn set_room(socket: &impl AsFd, room: Bytes) -> Result<(), LiveError> {
    if options::force_receive_buffer(socket, room)?.is_none() && room * 2 < options::receive_buffer(socket)? {
        options::set_receive_buffer(socket, room)?;
    }
    Ok(())
}

/// Returns the text for a kernel without `SO_BUF_LOCK`.
pub(super) fn autotuning_stays_off(buffer: Bytes) -> String {
    format!(
        "this kernel cannot turn autotuning on again (Linux 5.14 and later can): the receive buffer stays at {buffer}"
    )
}

impl fmt::Display for TunedConnection {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let program = Foreign::new(&self.program);
        write!(formatter, "{} (process {}, {program})", self.ends, self.process.id())
    }
}

//! The receiving side: [`Receiver`] listens, `Receiving` is the loop over all flows.
//!
//! Payload is thrown away inside the kernel (`MSG_TRUNC`), never copied. Byte counts of samples are the kernel's
//! own (`tcpi_bytes_received`), read at the sample's time stamp, so they do not depend on when this thread read.

use crate::clock::Clock;
use crate::error::LiveError;
use crate::holder;
use crate::options::BufferGrant;
use crate::poller::{Poller, Ticks};
use crate::results::{Measured, ReceivedFlow, ReceiverSample};
use crate::session::{CONNECT_WITHIN, FlowConfig, PREAMBLE, STALLED_AFTER, SessionConfig};
use crate::tcp_info::{TcpInfo, TcpOptions};
use crate::window::{Window, WindowControl};
use nix::sys::epoll::EpollFlags;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::HashMap;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Rate, Span, Time};

/// Connections that may wait for their accept: every flow may start at once.
const BACKLOG: i32 = 4096;
/// How much one read throws away, and how many reads one flow gets before the next flow's turn.
const READ_SIZE: usize = 1 << 20;
const READS_AT_ONCE: u32 = 4;
/// For this long after the accept the window is asserted after every read: the kernel overwrites the clamp when it
/// learns the segment size.
const SETTLING: Span = Span::from_millis(500);
/// A greedy flow past its stop that is silent for this long has ended: the path may have dropped the sender's RST.
const SILENT_AFTER_STOP: Span = Span::from_secs(1);
const LISTENER: u64 = u64::MAX;
/// Tokens below are flows, from here on connections that have not said which flow they are.
const FIRST_UNKNOWN: u64 = 1 << 32;

/// A listening socket, bound before the sender starts.
#[derive(Debug)]
pub struct Receiver {
    socket: Socket,
    address: SocketAddr,
}

impl Receiver {
    /// Listens on `address` in the current thread's network namespace; port 0 takes a free one.
    ///
    /// # Errors
    /// [`LiveError::PortInUse`] says who holds the port; [`LiveError::Listen`] otherwise.
    pub fn bind(address: SocketAddr) -> Result<Self, LiveError> {
        let bind = || {
            let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
            // Connections of an earlier run may linger on the port.
            socket.set_reuse_address(true)?;
            socket.set_nonblocking(true)?;
            socket.bind(&address.into())?;
            socket.listen(BACKLOG)?;
            let bound = socket.local_addr()?.as_socket().unwrap_or(address);
            Ok(Self { socket, address: bound })
        };
        bind().map_err(|source: io::Error| {
            if source.kind() == io::ErrorKind::AddrInUse {
                LiveError::PortInUse { address, holder: holder::of_port(address.port()) }
            } else {
                LiveError::Listen { address, source }
            }
        })
    }

    /// Where it listens, the port filled in.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A connection whose first bytes have not come yet.
struct Unknown {
    socket: Socket,
    peer: SocketAddr,
    accepted: Time,
    head: Vec<u8>,
}

/// A connected flow.
struct Incoming {
    socket: Socket,
    control: WindowControl,
    accepted: Time,
    /// Payload thrown away so far.
    read: u64,
    /// Payload at the last sample, and when it last had grown.
    seen: Bytes,
    moved: Time,
}

/// One flow: what it should be, what it is, what it leaves.
struct Slot<'a> {
    config: &'a FlowConfig,
    warmup: Time,
    incoming: Option<Incoming>,
    /// Where measuring began.
    base: Option<(Time, Bytes)>,
    result: ReceivedFlow,
}

/// The loop of the receiving side.
pub(crate) struct Receiving<'a> {
    config: &'a SessionConfig,
    clock: Clock,
    listener: Socket,
    poller: Poller,
    slots: Vec<Slot<'a>>,
    unknown: HashMap<u64, Unknown>,
    next_unknown: u64,
    /// Never written to nor read from: `MSG_TRUNC` wants a length only.
    void: Box<[MaybeUninit<u8>]>,
}

impl<'a> Receiving<'a> {
    pub(crate) fn new(
        config: &'a SessionConfig,
        listener: Receiver,
        clock: Clock,
    ) -> Result<Self, LiveError> {
        let poller = Poller::new()?;
        poller.add(&listener.socket, LISTENER, EpollFlags::EPOLLIN)?;
        let warmup = Time::ZERO + config.warmup;
        let slots = config.flows.iter().map(|flow| Slot::new(flow, warmup)).collect();
        let void = Box::new_uninit_slice(READ_SIZE);
        Ok(Self {
            config,
            clock,
            listener: listener.socket,
            poller,
            slots,
            unknown: HashMap::new(),
            next_unknown: FIRST_UNKNOWN,
            void,
        })
    }

    pub(crate) fn run(&mut self, stop: &AtomicBool) -> Result<(), LiveError> {
        let end = self.config.end.map_or(Time::NEVER, |end| Time::ZERO + end);
        let mut ticks = Ticks::new(self.config.every, self.config.warmup, self.clock.now());
        loop {
            let now = self.clock.now();
            if now < end && ticks.take(now) {
                self.sample_all(now)?;
            }
            let over = self.slots.iter().all(|slot| slot.result.ended.is_some());
            if over || now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            for (token, _) in self.poller.wait(now, end.min(ticks.due()))? {
                match token {
                    LISTENER => self.accept()?,
                    FIRST_UNKNOWN.. => self.identify(token)?,
                    flow => self.read(flow as usize)?,
                }
            }
        }
        self.close()
    }

    pub(crate) fn into_results(self) -> Vec<ReceivedFlow> {
        self.slots.into_iter().map(|slot| slot.result).collect()
    }

    fn accept(&mut self) -> Result<(), LiveError> {
        loop {
            let (socket, peer) = match self.listener.accept() {
                Ok(connection) => connection,
                Err(error) if is_passing(&error) || error.kind() == io::ErrorKind::ConnectionAborted => {
                    return Ok(());
                }
                Err(error) => return Err(LiveError::system("accept a connection")(error)),
            };
            socket.set_nonblocking(true).map_err(LiveError::system("make a socket non-blocking"))?;
            let token = self.next_unknown;
            self.next_unknown += 1;
            self.poller.add(&socket, token, EpollFlags::EPOLLIN)?;
            let peer = peer.as_socket().unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
            let unknown = Unknown { socket, peer, accepted: self.clock.now(), head: Vec::new() };
            self.unknown.insert(token, unknown);
        }
    }

    /// Reads which flow a connection is, and takes over its window.
    fn identify(&mut self, token: u64) -> Result<(), LiveError> {
        let Some(mut unknown) = self.unknown.remove(&token) else { return Ok(()) };
        let mut bytes = [0; PREAMBLE as usize];
        let missing = bytes.len() - unknown.head.len();
        let got = match (&unknown.socket).read(&mut bytes[..missing]) {
            Ok(0) => return Ok(()),
            Ok(got) => got,
            Err(error) if is_passing(&error) => 0,
            // Gone before it said anything: if it was ours, the sender knows.
            Err(_) => return Ok(()),
        };
        unknown.head.extend_from_slice(&bytes[..got]);
        let Ok(id) = <[u8; PREAMBLE as usize]>::try_from(&unknown.head[..]) else {
            self.unknown.insert(token, unknown);
            return Ok(());
        };
        let flow = usize::from(u16::from_be_bytes(id));
        match self.slots.get_mut(flow).filter(|slot| slot.result.accepted.is_none()) {
            Some(slot) => {
                slot.begin(unknown)?;
                if let Some(incoming) = &slot.incoming {
                    self.poller.change(&incoming.socket, flow as u64, EpollFlags::EPOLLIN)?;
                }
                self.read(flow)
            }
            None => {
                let note =
                    format!("a connection from {} was refused: it is no flow of this session", unknown.peer);
                self.slots[0].result.notes.push(note);
                Ok(())
            }
        }
    }

    /// Throws away what has arrived.
    fn read(&mut self, flow: usize) -> Result<(), LiveError> {
        let slot = &mut self.slots[flow];
        let Some(incoming) = &mut slot.incoming else { return Ok(()) };
        for _ in 0..READS_AT_ONCE {
            match incoming.socket.recv_with_flags(&mut self.void, libc::MSG_TRUNC) {
                Ok(0) => return slot.end(self.clock.now()),
                Ok(got) => {
                    incoming.read += got as u64;
                    if got < READ_SIZE {
                        break;
                    }
                }
                Err(error) if is_passing(&error) => break,
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => {
                    return slot.end(self.clock.now());
                }
                Err(source) => {
                    let moved = Bytes::new(incoming.read);
                    return Err(LiveError::Broken { flow: slot.config.name.clone(), moved, source });
                }
            }
        }
        if self.clock.now().since(incoming.accepted) < SETTLING {
            incoming.control.assert(&incoming.socket)?;
        }
        Ok(())
    }

    fn sample_all(&mut self, now: Time) -> Result<(), LiveError> {
        for slot in &mut self.slots {
            slot.sample(now)?;
        }
        self.unknown.retain(|_, unknown| now.since(unknown.accepted) < CONNECT_WITHIN);
        Ok(())
    }

    /// The last sample, and what is worth a note.
    fn close(&mut self) -> Result<(), LiveError> {
        let now = self.clock.now();
        for slot in &mut self.slots {
            slot.sample(now)?;
            slot.incoming = None;
            slot.remark();
        }
        Ok(())
    }
}

impl<'a> Slot<'a> {
    fn new(config: &'a FlowConfig, warmup: Time) -> Self {
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
            samples: Vec::new(),
            notes: Vec::new(),
        };
        Self { config, warmup, incoming: None, base: None, result }
    }

    fn begin(&mut self, unknown: Unknown) -> Result<(), LiveError> {
        let Unknown { socket, peer, accepted, .. } = unknown;
        let control = WindowControl::take(&socket, self.config.window)?;
        let info = TcpInfo::of(&socket)?;
        self.result.peer = Some(peer);
        self.result.accepted = Some(accepted);
        self.result.options = info.options;
        self.result.window_scale = info.rcv_wscale;
        self.result.buffer = Some(control.buffer());
        self.incoming =
            Some(Incoming { socket, control, accepted, read: 0, seen: Bytes::ZERO, moved: accepted });
        Ok(())
    }

    /// One reading at `now`; asserts the window.
    fn sample(&mut self, now: Time) -> Result<(), LiveError> {
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
            self.incoming = None;
        } else if idle > STALLED_AFTER {
            return Err(LiveError::Stalled { flow: self.config.name.clone(), idle, moved: payload });
        }
        Ok(())
    }

    /// The sender has finished (all it sent has been read) or reset the connection.
    fn end(&mut self, now: Time) -> Result<(), LiveError> {
        if let Some(incoming) = &self.incoming {
            let (info, payload) = (TcpInfo::of(&incoming.socket)?, Bytes::new(incoming.read));
            self.record(now, &info, payload)?;
        }
        self.result.ended = Some(now);
        self.incoming = None;
        Ok(())
    }

    fn record(&mut self, now: Time, info: &TcpInfo, payload: Bytes) -> Result<(), LiveError> {
        let Some(incoming) = &mut self.incoming else { return Ok(()) };
        let before = self.result.samples.last().map_or(incoming.accepted, |sample| sample.at);
        let gained = payload.saturating_sub(incoming.seen);
        let window = incoming.control.read(&incoming.socket, info)?;
        incoming.control.assert(&incoming.socket)?;
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
        self.result.window_overwritten = incoming.control.overwritten();
        if now >= self.warmup {
            let late = incoming.accepted >= self.warmup;
            let first = if late { (incoming.accepted, Bytes::ZERO) } else { (now, payload) };
            let (from, base) = *self.base.get_or_insert(first);
            self.result.measured = Measured { from, to: now, payload: payload.saturating_sub(base) };
        }
        Ok(())
    }

    fn remark(&mut self) {
        let result = &mut self.result;
        if let (Some(size), Some(ended)) = (self.config.size, result.ended)
            && result.payload < size
        {
            result.notes.push(format!("ended at {ended} with {} of {size}", result.payload));
        }
        match (result.buffer, self.config.window) {
            (Some(buffer), Window::Limit(limit)) if buffer.grant == BufferGrant::Limited => {
                let room = buffer.size / 2;
                if room < limit {
                    result.notes.push(format!(
                        "a window of {limit} was asked for, but net.core.rmem_max leaves room for about {room}; run as root"
                    ));
                }
            }
            (Some(buffer), Window::Max) if buffer.grant == BufferGrant::Autotuned => {
                result.notes.push(
                    "the maximum window is the kernel's autotuning, up to tcp_rmem; root can force it"
                        .to_owned(),
                );
            }
            _ => {}
        }
    }
}

/// Nothing there now; try again when told.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

//! The receiving side: [`Receiver`] listens, and `ReceiveLoop` is the loop over all flows; one flow is in
//! `receiver/slot.rs`.
//!
//! Payload is discarded inside the kernel (`MSG_TRUNC`), never copied. Byte counts of samples are the kernel's own
//! (`tcpi_bytes_received`), read at the sample's time stamp, so they do not depend on the time at which this thread
//! read the data.

mod slot;

use crate::error::LiveError;
use crate::load::results::ReceivedFlow;
use crate::load::sample_times::{STOP_CHECK, SampleTimes};
use crate::load::session::{CONNECT_WITHIN, PREAMBLE, SessionConfig};
use crate::load::side_channel::SideChannel;
use host::Clock;
use host::port_owner;
use host::{Interest, Poller};
use slot::Slot;
use socket2::{Domain, Protocol, Socket, Type};
use std::collections::HashMap;
use std::io::{self, Read};
use std::mem::MaybeUninit;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use units::{Bytes, Time};

/// The number of connections that may wait to be accepted: every flow may start at once.
const BACKLOG: i32 = 4096;
/// The most bytes that one read discards.
const READ_SIZE: usize = 1 << 20;
/// The reads that one flow gets before the next flow's turn.
const READS_AT_ONCE: u32 = 4;
const LISTENER: u64 = u64::MAX;
/// The first token of a prober: smaller tokens are flows.
const FIRST_PROBER: u64 = 1 << 31;
/// The first token of a connection that has not yet stated its flow.
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
    /// [`LiveError::PortInUse`] names the process that holds the port; [`LiveError::Listen`] otherwise.
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
                LiveError::PortInUse { address, holder: port_owner::of_port(address.port()) }
            } else {
                LiveError::Listen { address, source }
            }
        })
    }

    /// Returns the address of the socket, with the port that was taken.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }
}

/// A connection whose first bytes have not arrived yet.
struct UnidentifiedConnection {
    socket: Socket,
    peer: SocketAddr,
    accepted: Time,
    head: Vec<u8>,
}

/// The loop of the receiving side.
pub(crate) struct ReceiveLoop<'a> {
    config: &'a SessionConfig,
    clock: Clock,
    side_channel: Option<&'a SideChannel>,
    listener: Socket,
    poller: Poller,
    slots: Vec<Slot<'a>>,
    /// The indices of the slots whose windows are sized.
    sized: Vec<usize>,
    unknown: HashMap<u64, UnidentifiedConnection>,
    next_unknown: u64,
    /// A buffer that is neither written nor read: `MSG_TRUNC` needs only its length.
    void: Box<[MaybeUninit<u8>]>,
}

impl<'a> ReceiveLoop<'a> {
    pub(crate) fn new(
        config: &'a SessionConfig,
        listener: Receiver,
        clock: Clock,
        side_channel: Option<&'a SideChannel>,
    ) -> Result<Self, LiveError> {
        let poller = Poller::new()?;
        poller.add(&listener.socket, LISTENER, Interest::IN)?;
        let warmup = Time::ZERO + config.warmup;
        let slots = config.flows.iter().map(|flow| Slot::new(flow, warmup)).collect();
        let sized = (0..config.flows.len()).filter(|&flow| config.flows[flow].sizer.is_some()).collect();
        let void = Box::new_uninit_slice(READ_SIZE);
        Ok(Self {
            config,
            clock,
            side_channel,
            listener: listener.socket,
            poller,
            slots,
            sized,
            unknown: HashMap::new(),
            next_unknown: FIRST_UNKNOWN,
            void,
        })
    }

    pub(crate) fn run(&mut self, stop: &AtomicBool) -> Result<(), LiveError> {
        let end = self.config.end.map_or(Time::NEVER, |end| Time::ZERO + end);
        let mut sample_times = SampleTimes::new(self.config.every, self.config.warmup, self.clock.now());
        loop {
            let now = self.clock.now();
            if now < end && sample_times.take(now) {
                self.sample_all(now)?;
            }
            let over = self.slots.iter().all(|slot| slot.result.ended.is_some());
            if over || now >= end || stop.load(Ordering::Relaxed) {
                break;
            }
            for &flow in &self.sized {
                self.slots[flow].size(flow, &self.clock, self.side_channel)?;
            }
            let due = self.sized.iter().map(|&flow| self.slots[flow].wakeup());
            let wake = due.fold(end.min(sample_times.due()), Time::min);
            for (token, _) in self.wait(wake)? {
                match token {
                    LISTENER => self.accept()?,
                    FIRST_UNKNOWN.. => self.identify(token)?,
                    // Nothing is done here, because the next turn of the loop polls the flow's sizer, which reads the
                    // prober's socket.
                    FIRST_PROBER.. => {}
                    flow => self.read(flow as usize)?,
                }
            }
        }
        self.close()
    }

    /// Returns the tokens that become ready by `wake`.
    fn wait(&self, wake: Time) -> Result<Vec<(u64, Interest)>, LiveError> {
        let now = self.clock.now();
        Ok(self.poller.wait(now, wake.min(now + STOP_CHECK))?)
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
            self.poller.add(&socket, token, Interest::IN)?;
            let peer = peer.as_socket().unwrap_or_else(|| SocketAddr::from(([0, 0, 0, 0], 0)));
            let unknown =
                UnidentifiedConnection { socket, peer, accepted: self.clock.now(), head: Vec::new() };
            self.unknown.insert(token, unknown);
        }
    }

    /// Reads the index of a connection's flow, and takes over its window.
    fn identify(&mut self, token: u64) -> Result<(), LiveError> {
        let Some(mut unknown) = self.unknown.remove(&token) else { return Ok(()) };
        let mut bytes = [0; PREAMBLE as usize];
        let missing = bytes.len() - unknown.head.len();
        let got = match (&unknown.socket).read(&mut bytes[..missing]) {
            Ok(0) => return Ok(()),
            Ok(got) => got,
            Err(error) if is_passing(&error) => 0,
            // The connection ended before it stated its flow. If it was the sender's, the sender reports the failure.
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
                slot.begin(unknown, flow, self.side_channel)?;
                if let Some(incoming) = &slot.incoming {
                    self.poller.change(&incoming.socket, flow as u64, Interest::IN)?;
                }
                if let Some(prober) = slot.prober() {
                    self.poller.add(prober, FIRST_PROBER + flow as u64, Interest::IN)?;
                }
                self.read(flow)
            }
            None => {
                let note = format!(
                    "a connection from {} was refused: it is not a flow of this session",
                    unknown.peer
                );
                self.slots[0].result.notes.push(note);
                Ok(())
            }
        }
    }

    /// Discards the data that has arrived.
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
        slot.settle(self.clock.now())
    }

    fn sample_all(&mut self, now: Time) -> Result<(), LiveError> {
        for slot in &mut self.slots {
            slot.sample(now)?;
        }
        self.unknown.retain(|_, unknown| now.since(unknown.accepted) < CONNECT_WITHIN);
        Ok(())
    }

    /// Takes the last sample of each flow and adds the notes about it.
    fn close(&mut self) -> Result<(), LiveError> {
        let now = self.clock.now();
        for slot in &mut self.slots {
            slot.sample(now)?;
            slot.close();
            slot.remark();
        }
        Ok(())
    }
}

/// Returns true if the error only means that no data is there now. The caller retries when the socket is ready.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::Interrupted)
}

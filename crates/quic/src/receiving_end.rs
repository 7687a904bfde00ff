//! [`ReceivingEnd`]: the receiver of one flow, without IO.
//!
//! Anybody can send datagrams to the port. A connection becomes the flow's only after its handshake, in which the
//! sender proves its key. Until then it is one of a few that wait. An address that is not validated gets at most
//! three times the bytes that came from it [rfc9000:8.1]. Where several wait, a new one must first prove its address;
//! where the list is full, the oldest one makes room. So strangers do not keep the sender out.

use crate::batch::Batch;
use crate::keys::Keys;
use crate::session::{FlowConfig, LARGEST_WINDOW};
use crate::transport::{self, Instants};
use bytes::BytesMut;
use live::LiveError;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, EndpointEvent, Event, Incoming, ServerConfig,
    StreamEvent, StreamId, VarInt,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use units::{Bytes, Span, Time};

/// The most connections whose handshake is under way.
const MOST_PENDING: usize = 16;
/// The number of them from which on a new one must first prove its address, by a Retry packet [rfc9000:8.1.2].
const MOST_UNPROVEN: usize = 4;

/// An address that is not validated gets at most this many times the bytes that came from it [rfc9000:8.1].
const AMPLIFICATION: u64 = 3;

/// A connection.
#[derive(Debug)]
struct Accepted {
    /// Its number, by which the oldest one is found.
    number: u64,
    handle: ConnectionHandle,
    connection: Connection,
    /// The bytes that came from its address and those that were sent to it; `None` once the address is validated.
    exchanged: Option<(u64, u64)>,
}

impl Accepted {
    /// Counts a datagram of `length` from `from`.
    fn note(&mut self, from: SocketAddr, length: usize) {
        if let Some((came, _)) = &mut self.exchanged
            && from == self.connection.remote_address()
        {
            *came += length as u64;
        }
    }

    /// Returns true if a datagram of `length` may leave, and counts it. The library itself may exceed the limit by part
    /// of a datagram (quinn #1082). One that may not leave is as good as lost, and the library repeats it.
    fn may_leave(&mut self, length: usize) -> bool {
        let Some((came, sent)) = &mut self.exchanged else { return true };
        let may = *sent + length as u64 <= AMPLIFICATION * *came;
        *sent += if may { length as u64 } else { 0 };
        may
    }
}

/// The receiver of one flow.
#[derive(Debug)]
pub struct ReceivingEnd {
    endpoint: Endpoint,
    instants: Instants,
    /// The connections, by the library's index, which it uses again.
    connections: BTreeMap<usize, Accepted>,
    /// The number of connections so far.
    accepted: u64,
    /// The flow's own connection, after its handshake.
    flow: Option<usize>,
    peer: Option<SocketAddr>,
    stream: Option<StreamId>,
    /// Answers to datagrams that belong to no connection.
    answers: VecDeque<(SocketAddr, Vec<u8>)>,
    window: Bytes,
    payload: Bytes,
    /// The end of the data that came furthest.
    furthest: u64,
    /// The number of times that data came beyond a gap.
    jumps: u64,
    /// The payload read since the sender was last informed of credit.
    unannounced: u64,
    /// The payload after which the sender is informed of credit: as often as of arrivals.
    acknowledged_together: u64,
    has_ended: bool,
    full: usize,
    scratch: Vec<u8>,
}

impl ReceivingEnd {
    /// Makes the receiver of `flow`, which waits for its sender. `epoch` and `seed` are as for
    /// [`SendingEnd::connect`](crate::SendingEnd::connect).
    ///
    /// # Errors
    /// [`LiveError::Config`] if the library does not take the flow's settings.
    pub fn listen(
        flow: &FlowConfig,
        keys: &Keys,
        epoch: Instant,
        seed: Option<u64>,
    ) -> Result<Self, LiveError> {
        let mut server = ServerConfig::with_crypto(Arc::new(keys.server()?));
        server.transport_config(Arc::new(transport::transport(flow)?)).migration(false);
        let endpoint = Endpoint::new(transport::endpoint(flow, seed)?, Some(Arc::new(server)), false, None);
        Ok(Self {
            endpoint,
            instants: Instants { epoch },
            connections: BTreeMap::new(),
            accepted: 0,
            flow: None,
            peer: None,
            stream: None,
            answers: VecDeque::new(),
            window: transport::window(flow),
            payload: Bytes::ZERO,
            furthest: 0,
            jumps: 0,
            unannounced: 0,
            acknowledged_together: flow.delayed_ack * u64::from(transport::datagram(flow)?) / 2,
            has_ended: false,
            full: usize::from(transport::datagram(flow)?),
            scratch: Vec::new(),
        })
    }

    /// Returns the sender's address, after the handshake.
    #[must_use]
    pub const fn peer(&self) -> Option<SocketAddr> {
        self.peer
    }

    /// Returns true if the sender has finished or stopped the flow.
    #[must_use]
    pub const fn has_ended(&self) -> bool {
        self.has_ended
    }

    /// Returns the payload that arrived, data beyond gaps included.
    #[must_use]
    pub const fn payload(&self) -> Bytes {
        self.payload
    }

    /// Returns the number of times that data came beyond a gap, which is where packets were lost.
    #[must_use]
    pub const fn jumps(&self) -> u64 {
        self.jumps
    }

    /// Returns the receiver's own estimate of the round-trip time, from the handshake and from its messages of credit.
    #[must_use]
    pub fn round_trip(&self) -> Option<Span> {
        let accepted = self.connections.get(&self.flow?)?;
        Some(transport::span(accepted.connection.rtt()))
    }

    /// Returns the window that is granted.
    #[must_use]
    pub const fn window(&self) -> Bytes {
        self.window
    }

    /// Sets the window from now on. A smaller one takes effect as the promised data arrive.
    pub fn set_window(&mut self, window: Bytes) {
        self.window = window.min(LARGEST_WINDOW);
        if let Some(accepted) = self.flow.and_then(|flow| self.connections.get_mut(&flow)) {
            accepted.connection.set_receive_window(transport::credit(self.window));
        }
    }

    /// Handles the datagram `data` from `from`, which arrived at `now`.
    pub fn handle(&mut self, now: Time, from: SocketAddr, data: &[u8]) {
        let instant = self.instants.instant(now);
        let mut answer = Vec::new();
        match self.endpoint.handle(instant, from, None, None, BytesMut::from(data), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some(accepted) = self.connections.get_mut(&handle.0) {
                    accepted.note(from, data.len());
                    accepted.connection.handle_event(event);
                    self.after_event(handle.0);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                self.accept(incoming, instant, data.len(), answer);
            }
            Some(DatagramEvent::Response(transmit)) => {
                self.answer(transmit.destination, transmit.size, answer);
            }
            None => {}
        }
    }

    /// Queues the first `size` bytes of `answer`, which go to `to`.
    fn answer(&mut self, to: SocketAddr, size: usize, mut answer: Vec<u8>) {
        answer.truncate(size);
        self.answers.push_back((to, answer));
    }

    /// Accepts `incoming`, which begins with a datagram of `length`, or lets it prove its address first. `answer` is an
    /// empty buffer.
    fn accept(&mut self, incoming: Incoming, now: Instant, length: usize, mut answer: Vec<u8>) {
        if self.flow.is_some() {
            self.endpoint.ignore(incoming);
            return;
        }
        if self.connections.len() >= MOST_UNPROVEN && incoming.may_retry() {
            if let Ok(transmit) = self.endpoint.retry(incoming, &mut answer) {
                self.answer(transmit.destination, transmit.size, answer);
            }
            return;
        }
        if self.connections.len() >= MOST_PENDING
            && let Some(oldest) = self.connections.values().min_by_key(|accepted| accepted.number)
        {
            let handle = oldest.handle;
            self.connections.remove(&handle.0);
            self.endpoint.handle_event(handle, EndpointEvent::drained());
        }
        let exchanged = (!incoming.remote_address_validated()).then_some((length as u64, 0));
        match self.endpoint.accept(incoming, now, &mut answer, None) {
            Ok((handle, connection)) => {
                self.accepted += 1;
                let accepted = Accepted { number: self.accepted, handle, connection, exchanged };
                self.connections.insert(handle.0, accepted);
                self.after_event(handle.0);
            }
            Err(error) => {
                if let Some(transmit) = error.response {
                    self.answer(transmit.destination, transmit.size, answer);
                }
            }
        }
    }

    /// Handles the timers that are due at `now`.
    pub fn turn(&mut self, now: Time) {
        let instant = self.instants.instant(now);
        let due = |connection: &mut Connection| connection.poll_timeout().is_some_and(|at| at <= instant);
        let mut woken = Vec::new();
        for (&key, accepted) in &mut self.connections {
            if due(&mut accepted.connection) {
                accepted.connection.handle_timeout(instant);
                woken.push(key);
            }
        }
        for key in woken {
            self.after_event(key);
        }
    }

    fn after_event(&mut self, key: usize) {
        let Some(accepted) = self.connections.get_mut(&key) else { return };
        let Accepted { handle, connection, exchanged, .. } = accepted;
        while let Some(event) = connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(*handle, event) {
                connection.handle_event(event);
            }
        }
        while let Some(event) = connection.poll() {
            match event {
                Event::Connected if self.flow.is_none() => {
                    self.flow = Some(key);
                    self.peer = Some(connection.remote_address());
                    *exchanged = None;
                    connection.set_receive_window(transport::credit(self.window));
                }
                Event::Stream(StreamEvent::Opened { dir: Dir::Uni }) if self.flow == Some(key) => {
                    self.stream = connection.streams().accept(Dir::Uni);
                }
                Event::ConnectionLost { .. } if self.flow == Some(key) => {
                    self.has_ended = true;
                }
                _ => {}
            }
        }
        if self.flow == Some(key) {
            self.read();
        }
        if self.connections.get(&key).is_some_and(|accepted| accepted.connection.is_drained()) {
            self.connections.remove(&key);
        }
    }

    /// Reads all data that have arrived.
    fn read(&mut self) {
        let accepted = self.flow.and_then(|flow| self.connections.get_mut(&flow));
        let Some(Accepted { connection, .. }) = accepted else { return };
        let Some(stream) = self.stream else { return };
        let mut gained = 0;
        // Without order the library holds nothing back, so gaps cannot end the connection: an ordered stream of
        // quinn-proto 0.11.15 and later ends its connection at 1024 gaps.
        let mut received = connection.recv_stream(stream);
        let Ok(mut chunks) = received.read(false) else { return };
        loop {
            match chunks.next(usize::MAX) {
                Ok(Some(chunk)) => {
                    gained += chunk.bytes.len() as u64;
                    self.jumps += u64::from(chunk.offset > self.furthest);
                    self.furthest = self.furthest.max(chunk.offset + chunk.bytes.len() as u64);
                }
                Ok(None) => {
                    self.has_ended = true;
                    break;
                }
                Err(_) => break,
            }
        }
        // The credit for what was read leaves with the next output in any case.
        let _ = chunks.finalize();
        self.payload += Bytes::new(gained);
        self.unannounced += gained;
        if self.unannounced >= self.acknowledged_together && self.window < LARGEST_WINDOW {
            self.unannounced = 0;
            // The library informs the sender of credit in steps of an eighth of the window, except for a window that
            // grows, which it reports at once. So the window grows by a byte as often as arrivals are acknowledged.
            let window = transport::credit(self.window);
            connection.set_receive_window(VarInt::from_u32((window.into_inner() as u32).saturating_sub(1)));
            connection.set_receive_window(window);
        }
    }

    /// Puts the datagrams that leave at `now` into `batch`, which is empty if none do. Call it until it is.
    pub fn output(&mut self, now: Time, batch: &mut Batch) {
        batch.clear(1);
        if let Some((to, answer)) = self.answers.pop_front() {
            batch.add(to, &answer, usize::MAX);
            return;
        }
        let instant = self.instants.instant(now);
        for accepted in self.connections.values_mut() {
            self.scratch.clear();
            while let Some(transmit) = accepted.connection.poll_transmit(instant, 1, &mut self.scratch) {
                if accepted.may_leave(transmit.size) {
                    batch.add(transmit.destination, &self.scratch[..transmit.size], self.full);
                    return;
                }
                self.scratch.clear();
            }
        }
    }

    /// Returns the next time at which this end has something to do.
    pub fn wakeup(&mut self) -> Time {
        let timers = self.connections.values_mut().filter_map(|accepted| accepted.connection.poll_timeout());
        timers.min().map_or(Time::NEVER, |at| self.instants.time(at))
    }
}

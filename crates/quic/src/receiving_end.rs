//! [`ReceivingEnd`]: the receiver of one flow, without IO.
//!
//! Anybody can send datagrams to the port. A connection becomes the flow's only after its handshake, in which the
//! sender proves its key. Until then it is one of a few that wait. The library sends at most three times as many bytes to
//! an address as came from it, until the address is validated [rfc9000:8.1].

use crate::batch::Batch;
use crate::keys::Keys;
use crate::session::{FlowConfig, LARGEST_WINDOW};
use crate::transport::{self, Instants};
use bytes::BytesMut;
use live::LiveError;
use quinn_proto::{
    Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, ServerConfig, StreamEvent, StreamId,
    VarInt,
};
use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Instant;
use units::{Bytes, Span, Time};

/// The most connections whose handshake is under way.
const MOST_PENDING: usize = 16;

/// The receiver of one flow.
#[derive(Debug)]
pub struct ReceivingEnd {
    endpoint: Endpoint,
    instants: Instants,
    connections: BTreeMap<usize, (ConnectionHandle, Connection)>,
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
        let (_, connection) = self.connections.get(&self.flow?)?;
        Some(transport::span(connection.rtt()))
    }

    /// Returns the window that is granted.
    #[must_use]
    pub const fn window(&self) -> Bytes {
        self.window
    }

    /// Sets the window from now on. A smaller one takes effect as the promised data arrive.
    pub fn set_window(&mut self, window: Bytes) {
        self.window = window.min(LARGEST_WINDOW);
        if let Some((_, connection)) = self.flow.and_then(|flow| self.connections.get_mut(&flow)) {
            connection.set_receive_window(transport::credit(self.window));
        }
    }

    /// Handles the datagram `data` from `from`, which arrived at `now`.
    pub fn handle(&mut self, now: Time, from: SocketAddr, data: &[u8]) {
        let instant = self.instants.instant(now);
        let mut answer = Vec::new();
        match self.endpoint.handle(instant, from, None, None, BytesMut::from(data), &mut answer) {
            Some(DatagramEvent::ConnectionEvent(handle, event)) => {
                if let Some((_, connection)) = self.connections.get_mut(&handle.0) {
                    connection.handle_event(event);
                    self.after_event(handle.0);
                }
            }
            Some(DatagramEvent::NewConnection(incoming)) => {
                if self.flow.is_some() || self.connections.len() >= MOST_PENDING {
                    self.endpoint.ignore(incoming);
                    return;
                }
                match self.endpoint.accept(incoming, instant, &mut answer, None) {
                    Ok((handle, connection)) => {
                        self.connections.insert(handle.0, (handle, connection));
                        self.after_event(handle.0);
                    }
                    Err(error) => {
                        if let Some(transmit) = error.response {
                            answer.truncate(transmit.size);
                            self.answers.push_back((transmit.destination, answer));
                        }
                    }
                }
            }
            Some(DatagramEvent::Response(transmit)) => {
                answer.truncate(transmit.size);
                self.answers.push_back((transmit.destination, answer));
            }
            None => {}
        }
    }

    /// Handles the timers that are due at `now`.
    pub fn turn(&mut self, now: Time) {
        let instant = self.instants.instant(now);
        let due = |connection: &mut Connection| connection.poll_timeout().is_some_and(|at| at <= instant);
        let mut woken = Vec::new();
        for (&key, (_, connection)) in &mut self.connections {
            if due(connection) {
                connection.handle_timeout(instant);
                woken.push(key);
            }
        }
        for key in woken {
            self.after_event(key);
        }
    }

    fn after_event(&mut self, key: usize) {
        let Some((handle, connection)) = self.connections.get_mut(&key) else { return };
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
        if self.connections.get(&key).is_some_and(|(_, connection)| connection.is_drained()) {
            self.connections.remove(&key);
        }
    }

    /// Reads all data that have arrived.
    fn read(&mut self) {
        let Some((_, connection)) = self.flow.and_then(|flow| self.connections.get_mut(&flow)) else {
            return;
        };
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
        for (_, connection) in self.connections.values_mut() {
            self.scratch.clear();
            if let Some(transmit) = connection.poll_transmit(instant, 1, &mut self.scratch) {
                batch.add(transmit.destination, &self.scratch[..transmit.size], self.full);
                return;
            }
        }
    }

    /// Returns the next time at which this end has something to do.
    pub fn wakeup(&mut self) -> Time {
        let timers = self.connections.values_mut().filter_map(|(_, connection)| connection.poll_timeout());
        timers.min().map_or(Time::NEVER, |at| self.instants.time(at))
    }
}

//! [`SendingEnd`]: the sender of one flow, without IO.
//!
//! ```text
//!   datagrams ── handle() ──► the library ──► Ledger ──► the controller
//!   the clock ── turn() ────►      │                         │
//!   datagrams ◄─ output() ◄────────┴───────── Gate ◄─────────┘
//! ```

use crate::batch::Batch;
use crate::gate::{Gate, Opening};
use crate::keys::{Keys, SERVER_NAME};
use crate::ledger::{LEAST_DATA, Ledger, LedgerCounts};
use crate::session::FlowConfig;
use crate::transport::{self, Instants, span};
use bytes::{Bytes as Chunk, BytesMut};
use live::{Lateness, LiveError};
use quinn_proto::congestion::{Controller, ControllerFactory};
use quinn_proto::{
    ClientConfig, Connection, ConnectionHandle, DatagramEvent, Dir, Endpoint, Event, RttEstimator,
    StreamEvent, StreamId, VarInt,
};
use std::any::Any;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;
use units::{Bytes, Complaint, Rate, Span, Time};

/// The library's window while nothing may leave.
const SHUT: u64 = 1;
/// The library's window while data may leave. Above 2^32 its own pacer is off.
const OPEN: u64 = 1 << 40;
/// The payload that is written at once.
const CHUNK: usize = 1 << 20;

/// The bit of a packet's first byte that all packets of the handshake have [rfc9000:17.2].
const LONG_HEADER: u8 = 0x80;

/// The controller that the library sees. It passes everything on to the ledger.
#[derive(Clone, Debug)]
struct Adapter {
    ledger: Arc<Mutex<Ledger>>,
    window: Arc<AtomicU64>,
    instants: Instants,
}

impl Adapter {
    fn ledger(&self) -> MutexGuard<'_, Ledger> {
        // A thread that panicked leaves its run without results, so the records do not matter any more.
        self.ledger.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl ControllerFactory for Adapter {
    fn build(self: Arc<Self>, _: Instant, _: u16) -> Box<dyn Controller> {
        Box::new((*self).clone())
    }
}

impl Controller for Adapter {
    fn on_sent(&mut self, now: Instant, bytes: u64, _: u64) {
        self.ledger().on_sent(self.instants.time(now), bytes);
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, _: bool, _: &RttEstimator) {
        self.ledger().on_acked(self.instants.time(now), self.instants.time(sent), bytes);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, is_persistent: bool, lost: u64) {
        // No bytes are lost where the library saw a mark. This room sends no packet that may be marked.
        if lost > 0 {
            let (now, sent) = (self.instants.time(now), self.instants.time(sent));
            self.ledger().on_lost(now, sent, is_persistent, lost);
        }
    }

    fn on_mtu_update(&mut self, _: u16) {}

    fn window(&self) -> u64 {
        self.window.load(Ordering::Relaxed)
    }

    fn clone_box(&self) -> Box<dyn Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        OPEN
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

/// The state of a flow at its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendingPhase {
    /// The handshake is under way.
    Connecting,
    /// The handshake is done, and the data wait for [`SendingEnd::release`].
    Connected,
    /// Data are sent, or wait for their last acknowledgement.
    Sending,
    /// Everything is acknowledged, or the flow was stopped.
    Done,
}

/// The next time at which the end has something to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wakeup {
    /// The time.
    pub at: Time,
    /// True if a packet is due then, so that it should be met exactly.
    pub is_departure: bool,
}

/// The sender of one flow.
#[derive(Debug)]
pub struct SendingEnd {
    name: String,
    endpoint: Endpoint,
    handle: ConnectionHandle,
    connection: Connection,
    adapter: Adapter,
    gate: Gate,
    phase: SendingPhase,
    is_released: bool,
    stream: Option<StreamId>,
    /// The payload that is not written yet.
    unwritten: u64,
    zeros: Chunk,
    /// The length of a full datagram.
    full: usize,
    most_together: usize,
    /// The time of the last packet, which is its name.
    last_name: Time,
    /// True if nothing can be sent before something comes in: there are no data, or no credit.
    is_dry: bool,
    connected: Option<Time>,
    completed: Option<Time>,
    begun: Option<Time>,
    /// The time without credit so far, and the time since which there has been none.
    without_credit: (Span, Option<Time>),
    scratch: Vec<u8>,
}

impl SendingEnd {
    /// Makes the sender of `flow`, which connects to `server` at `now`. `epoch` is the instant of time zero. With a
    /// `seed` the library draws the same numbers in every run.
    ///
    /// # Errors
    /// [`LiveError::Config`] if the library does not take the flow's settings.
    pub fn connect(
        flow: &FlowConfig,
        keys: &Keys,
        server: SocketAddr,
        (epoch, now): (Instant, Time),
        seed: Option<u64>,
    ) -> Result<Self, LiveError> {
        let instants = Instants { epoch };
        let ledger = Arc::new(Mutex::new(Ledger::new(flow.control.build()?)));
        let adapter = Adapter { ledger, window: Arc::new(AtomicU64::new(OPEN)), instants };
        let mut transport = transport::transport(flow)?;
        transport.congestion_controller_factory(Arc::new(adapter.clone()));
        let mut client = ClientConfig::new(Arc::new(keys.client()?));
        client.transport_config(Arc::new(transport));
        let mut endpoint = Endpoint::new(transport::endpoint(flow, seed)?, None, false, None);
        let connection = endpoint.connect(instants.instant(now), client, server, SERVER_NAME);
        let (handle, connection) = connection.map_err(|error| {
            let found = format!("flow {:?} cannot begin: {error}", flow.common.name);
            LiveError::Config(Complaint::new("session", found))
        })?;
        Ok(Self {
            name: flow.common.name.clone(),
            endpoint,
            handle,
            connection,
            adapter,
            gate: Gate::new(flow.common.pacing),
            phase: SendingPhase::Connecting,
            is_released: false,
            stream: None,
            unwritten: flow.common.size.map_or(u64::MAX, Bytes::get),
            zeros: Chunk::from(vec![0; CHUNK]),
            full: usize::from(transport::datagram(flow)?),
            most_together: flow.most_together,
            last_name: now,
            is_dry: false,
            connected: None,
            completed: None,
            begun: None,
            without_credit: (Span::ZERO, None),
            scratch: Vec::new(),
        })
    }

    /// Lets the data begin as soon as the handshake is done.
    pub fn release(&mut self) {
        self.is_released = true;
    }

    /// Returns the flow's state.
    #[must_use]
    pub const fn phase(&self) -> SendingPhase {
        self.phase
    }

    /// Returns the time at which the handshake was done, and the time at which the last byte was acknowledged.
    #[must_use]
    pub const fn times(&self) -> (Option<Time>, Option<Time>) {
        (self.connected, self.completed)
    }

    /// Returns the records, for the controller's state and the counts.
    ///
    /// # Panics
    /// Never: a lock that a panic poisoned is used nevertheless.
    pub fn with_ledger<T>(&self, look: impl FnOnce(&mut Ledger) -> T) -> T {
        look(&mut self.adapter.ledger())
    }

    /// Returns the counts of the flow's packets.
    #[must_use]
    pub fn counts(&self) -> LedgerCounts {
        self.adapter.ledger().counts()
    }

    /// Returns the lateness of departures since [`begin_measuring`](Self::begin_measuring).
    #[must_use]
    pub fn lateness(&self) -> Option<Lateness> {
        self.gate.lateness().summary()
    }

    /// Begins to count the lateness of departures anew.
    pub fn begin_measuring(&mut self) {
        self.gate.begin_measuring();
    }

    /// Returns the time since the data began, and the part of it in which the receiver's credit was the limit.
    #[must_use]
    pub fn busy(&self, now: Time) -> (Span, Span) {
        let (so_far, since) = self.without_credit;
        let until = self.completed.unwrap_or(now);
        let limited = so_far + since.map_or(Span::ZERO, |since| until.since(since));
        (self.begun.map_or(Span::ZERO, |begun| until.since(begun)), limited)
    }

    /// Limits the pace to `cap` from now on.
    pub fn set_cap(&mut self, cap: Option<Rate>) {
        self.gate.set_cap(cap);
    }

    /// Handles the datagram `data` from `from`, which arrived at `now`.
    ///
    /// # Errors
    /// [`LiveError::Connect`], [`LiveError::Broken`] if the connection is lost.
    pub fn handle(&mut self, now: Time, from: SocketAddr, data: &[u8]) -> Result<(), LiveError> {
        let instant = self.adapter.instants.instant(now);
        // A client has no answer for strangers, so the buffer for answers stays empty.
        let mut answer = Vec::new();
        let event = self.endpoint.handle(instant, from, None, None, BytesMut::from(data), &mut answer);
        let Some(DatagramEvent::ConnectionEvent(_, event)) = event else { return Ok(()) };
        self.connection.handle_event(event);
        self.after_event(now)
    }

    /// Handles the timers that are due at `now`, and writes data.
    ///
    /// # Errors
    /// As for [`handle`](Self::handle).
    pub fn turn(&mut self, now: Time) -> Result<(), LiveError> {
        let instant = self.adapter.instants.instant(now);
        if self.connection.poll_timeout().is_some_and(|at| at <= instant) {
            self.connection.handle_timeout(instant);
            self.after_event(now)?;
        }
        Ok(())
    }

    fn after_event(&mut self, now: Time) -> Result<(), LiveError> {
        let mut ledger = self.adapter.ledger();
        ledger.flush(now);
        if ledger.in_flight() == 0 && self.gate.is_held(&ledger) {
            ledger.time_out(now);
        }
        drop(ledger);
        self.is_dry = false;
        while let Some(event) = self.connection.poll_endpoint_events() {
            if let Some(event) = self.endpoint.handle_event(self.handle, event) {
                self.connection.handle_event(event);
            }
        }
        while let Some(event) = self.connection.poll() {
            match event {
                Event::Connected => {
                    self.connected = Some(now);
                    self.phase = SendingPhase::Connected;
                }
                Event::Stream(StreamEvent::Finished { .. }) => {
                    self.completed = Some(now);
                    self.close(now);
                }
                Event::ConnectionLost { reason } if self.phase != SendingPhase::Done => {
                    return Err(self.lost(reason.into()));
                }
                _ => {}
            }
        }
        self.write();
        Ok(())
    }

    fn lost(&self, source: io::Error) -> LiveError {
        let (flow, server) = (self.name.clone(), self.connection.remote_address());
        match self.connected {
            None => LiveError::Connect { flow, server, reason: source.to_string() },
            Some(_) => LiveError::Broken { flow, moved: Bytes::new(self.counts().delivered), source },
        }
    }

    /// Begins to send data, once the last messages of the handshake have left.
    fn begin(&mut self, now: Time) {
        self.stream = self.connection.streams().open(Dir::Uni);
        self.phase = SendingPhase::Sending;
        self.begun = Some(now);
        // A handshake of which a packet was lost gives no round trip.
        let clean = self.connection.stats().path.lost_packets == 0;
        let rtt = self.connected.filter(|_| clean).map(|_| span(self.connection.rtt()));
        self.adapter.ledger().begin(now, rtt);
        self.write();
    }

    /// Writes as much as the library takes.
    fn write(&mut self) {
        let Some(stream) = self.stream else { return };
        while self.unwritten > 0 {
            let length = usize::try_from(self.unwritten).unwrap_or(CHUNK).min(CHUNK);
            match self.connection.send_stream(stream).write_chunks(&mut [self.zeros.slice(..length)]) {
                Ok(written) if self.unwritten < u64::MAX => self.unwritten -= written.bytes as u64,
                Ok(_) => {}
                Err(_) => return,
            }
            if self.unwritten == 0 {
                // The stream is known and open, so this cannot fail.
                let _ = self.connection.send_stream(stream).finish();
            }
        }
    }

    /// Stops the flow at `now`: the next output informs the receiver.
    pub fn close(&mut self, now: Time) {
        if self.phase != SendingPhase::Done {
            self.phase = SendingPhase::Done;
            self.connection.close(self.adapter.instants.instant(now), VarInt::from_u32(0), Chunk::new());
        }
    }

    /// Puts the datagrams that leave at `now` into `batch`, which is empty if none do. Call it until it is.
    pub fn output(&mut self, now: Time, batch: &mut Batch) {
        batch.clear(self.most_together);
        while !batch.is_closed() {
            let is_open = self.may_leave(now);
            // A shut gate would keep even the end of a connection back.
            let window = if is_open || self.phase != SendingPhase::Sending { OPEN } else { SHUT };
            self.adapter.window.store(window, Ordering::Relaxed);
            self.scratch.clear();
            let name = now.max(self.last_name + Span::from_nanos(1));
            let instant = self.adapter.instants.instant(name);
            let Some(transmit) = self.connection.poll_transmit(instant, 1, &mut self.scratch) else {
                if self.phase == SendingPhase::Connected && self.is_released {
                    self.begin(now);
                    continue;
                }
                if is_open {
                    self.run_dry(now);
                }
                return;
            };
            self.last_name = name;
            if self.scratch[0] & LONG_HEADER != 0 {
                self.adapter.ledger().withdraw(name);
            } else if is_open && transmit.size as u64 >= LEAST_DATA {
                self.gate.on_sent(now, &mut self.adapter.ledger());
            }
            batch.add(transmit.destination, &self.scratch[..transmit.size], self.full);
        }
    }

    /// Returns true if a packet of data may leave at `now`.
    fn may_leave(&mut self, now: Time) -> bool {
        if self.phase != SendingPhase::Sending || self.is_dry {
            return false;
        }
        let opening = self.gate.look(now, &mut self.adapter.ledger(), self.full as u64);
        if opening != Opening::Early
            && let Some(since) = self.without_credit.1.take()
        {
            self.without_credit.0 += now.since(since);
        }
        opening == Opening::Open
    }

    /// Records that there are no data to send, or that the receiver's credit is used up.
    fn run_dry(&mut self, now: Time) {
        self.is_dry = true;
        self.gate.on_dry();
        if self.unwritten == 0 {
            self.adapter.ledger().on_out_of_data();
        } else {
            self.without_credit.1 = Some(now);
        }
    }

    /// Returns the next time at which this end has something to do.
    pub fn wakeup(&mut self) -> Wakeup {
        let timer = self.connection.poll_timeout();
        let timer = timer.map_or(Time::NEVER, |at| self.adapter.instants.time(at));
        let waits = self.phase == SendingPhase::Sending && !self.is_dry;
        if waits && Gate::has_room(&self.adapter.ledger(), self.full as u64) {
            let next = self.gate.next();
            if next < timer {
                return Wakeup { at: next, is_departure: true };
            }
        }
        Wakeup { at: timer, is_departure: false }
    }
}

//! [`Track`]: a connection while it is watched, and [`WatchedConnection`]: the outcome.

use super::Owner;
use super::settings::sizing;
use super::side::{Reading, Side};
use estimate::diagnosis::{Direction, Evidence, HostSettings, Vantage};
use host::{ConnectionId, SocketMemory, TcpConnection};
use std::net::SocketAddr;
use units::{Bytes, Span, Time};

/// The share of a connection's data below which a direction has only requests and answers, and no evidence of its own.
const SMALL_SHARE: f64 = 0.02;

/// A connection that was watched.
#[derive(Clone, Debug)]
pub struct WatchedConnection {
    /// The end in this namespace.
    pub local: SocketAddr,
    /// The other end.
    pub peer: SocketAddr,
    /// The inode of its socket; zero if the program closed it before it was seen.
    pub inode: u64,
    /// The process that has it, and its name as data, which is shown as [`units::Foreign`]; `None` unless a process was
    /// asked for.
    pub owner: Option<(u32, String)>,
    /// The time from the start of watching to its first reading.
    pub seen: Span,
    /// The time from the first reading to the last.
    pub watched: Span,
    /// True if it ended while it was watched.
    pub closed: bool,
    /// Payload that the peer acknowledged meanwhile.
    pub sent: Bytes,
    /// Payload that arrived meanwhile.
    pub received: Bytes,
    /// The memory of its buffers at the last reading.
    pub memory: Option<SocketMemory>,
    /// The evidence of the directions in which data moved, or waited: the one with more data first.
    pub evidence: Vec<Evidence>,
}

impl WatchedConnection {
    /// Returns the payload that moved in both directions.
    #[must_use]
    pub fn moved(&self) -> Bytes {
        self.sent + self.received
    }
}

/// A connection while it is watched.
#[derive(Debug)]
pub(super) struct Track {
    owner: Option<Owner>,
    first: Reading,
    last: Reading,
    sending: Side,
    receiving: Side,
    /// The payload that had moved at the last scan.
    counted: Bytes,
    /// True until the second scan.
    is_new: bool,
    /// True once the connection has ended.
    pub(super) closed: bool,
}

impl Track {
    pub(super) fn new(at: Time, connection: TcpConnection, owner: Option<Owner>) -> Self {
        let first = Reading { at, connection };
        Self {
            owner,
            last: first.clone(),
            first,
            sending: Side::new(Vantage::SenderSocket),
            receiving: Side::new(Vantage::ReceiverSocket),
            counted: Bytes::ZERO,
            is_new: true,
            closed: false,
        }
    }

    pub(super) fn id(&self) -> &ConnectionId {
        &self.first.connection.id
    }

    /// Returns the payload that moved since the first reading: sent, and received.
    pub(super) fn moved(&self) -> (Bytes, Bytes) {
        let (first, last) = (&self.first.connection.info, &self.last.connection.info);
        (
            last.bytes_acked.saturating_sub(first.bytes_acked),
            last.stream_received().saturating_sub(first.stream_received()),
        )
    }

    /// Returns both directions.
    pub(super) fn sides(&mut self) -> [&mut Side; 2] {
        [&mut self.sending, &mut self.receiving]
    }

    /// Adds a reading.
    pub(super) fn observe(&mut self, at: Time, connection: TcpConnection) {
        if at <= self.last.at {
            return;
        }
        let reading = Reading { at, connection };
        self.sending.observe(self.first.at, &self.last, &reading);
        self.receiving.observe(self.first.at, &self.last, &reading);
        self.last = reading;
    }

    /// Ends the time since the last scan. Returns the rank of the connection among those that are read often: the payload
    /// that moved in that time, and then true if data waits. Returns `None` if neither moves, unless it is new.
    pub(super) fn count(&mut self) -> Option<(Bytes, bool)> {
        let (sent, received) = self.moved();
        let recent = (sent + received).saturating_sub(self.counted);
        self.counted = sent + received;
        let connection = &self.last.connection;
        let waits = connection.unacknowledged > Bytes::ZERO || connection.unread > Bytes::ZERO;
        let is_new = std::mem::replace(&mut self.is_new, false);
        (recent > Bytes::ZERO || waits || is_new).then_some((recent, waits))
    }

    /// Returns the outcome.
    pub(super) fn end(self, began: Time, settings: &HostSettings) -> WatchedConnection {
        let (sent, received) = self.moved();
        let (first, last) = (&self.first.connection, &self.last.connection);
        let (local, peer) = (last.local, last.peer);
        let most = sent.max(received);
        let outward = Direction { source: local, destination: peer };
        let inward = Direction { source: peer, destination: local };
        let small = |bytes: Bytes| (bytes.get() as f64) < SMALL_SHARE * most.get() as f64;
        let sending = self.sending.evidence(outward, first, last).filter(|_| !small(sent));
        let receiving = self.receiving.evidence(inward, first, last).filter(|_| !small(received));
        let receiving =
            receiving.map(|evidence| Evidence { sizing: sizing(settings, first, last), ..evidence });
        let both = sending.into_iter().chain(receiving);
        let mut evidence: Vec<Evidence> =
            both.map(|evidence| Evidence { host: Some(*settings), ..evidence }).collect();
        evidence.sort_by_key(|evidence| std::cmp::Reverse(evidence.delivered()));
        WatchedConnection {
            local,
            peer,
            inode: first.inode,
            owner: self.owner,
            seen: self.first.at.since(began),
            watched: self.last.at.since(self.first.at),
            closed: self.closed,
            sent,
            received,
            memory: last.memory,
            evidence,
        }
    }
}

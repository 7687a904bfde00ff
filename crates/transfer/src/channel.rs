//! [`Channel`]: a connection that several threads share, of which one reads and the others write. A [`ByteStream`]
//! moves its bytes: TLS over TCP (`channel/tls.rs`), or a script.
//!
//! The socket is non-blocking. A thread that must wait polls the socket without holding the connection's lock. So a
//! writer that waits for the other side never keeps a reader from reading. Shutting the socket down wakes every thread.

mod message_reader;
mod paced;
mod tls;

use crate::error::TransferError;
use host::Clock;
pub(crate) use message_reader::{Message, MessageReader};
use rustls::Connection;
use std::fmt::Debug;
use std::net::{SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use tls::{STALLED, STUCK, Tls};
use units::{Rate, Span, Time};

/// Bytes read from the kernel at once: sixteen full records.
pub(crate) const RAW: usize = 256 << 10;

/// A two-way stream of a connection's bytes.
pub(crate) trait ByteStream: Debug + Send + Sync {
    /// Returns the socket, for its options.
    fn tcp(&self) -> &TcpStream;
    /// Derives 32 bytes that only the two ends of this connection know [rfc9846:7.5].
    fn exporter(&self, label: &str) -> Result<[u8; 32], TransferError>;
    /// Writes `bytes`. The other side counts as gone if it takes nothing for [`STUCK`], or, while its receive window is
    /// closed, for `closed`.
    fn write(&self, bytes: &[u8], closed: Span) -> Result<(), TransferError>;
    /// Reads once, and appends the received bytes to `plain`.
    fn read(&self, raw: &mut [u8], plain: &mut Vec<u8>, until: Time) -> Result<ReadOutcome, TransferError>;
    /// Announces properly that this side sends nothing more.
    fn finish(&self);
    /// Ends the connection at once: every thread that waits on it gets an error.
    fn cut(&self);
    /// Waits until `until` without reading. Returns true if the other side has left.
    fn has_left(&self, until: Time) -> Result<bool, TransferError>;
    /// Returns the reason for which the connection has ended.
    fn why(&self) -> TransferError;
    /// Limits writing to `rate` from now on.
    fn pace(&self, rate: Option<Rate>);
    /// Returns true if writing is limited to a pace.
    fn is_paced(&self) -> bool;
    /// Returns true while a thread waits until the network, or the pace, lets more out.
    fn is_held(&self) -> bool;
    /// Returns the times spent waiting to write, for the network or the pace, and waiting for bytes to read.
    fn waited(&self) -> [Span; 2];
}

/// The outcome of an attempt to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadOutcome {
    /// Bytes were received.
    Bytes,
    /// No bytes were received in time.
    Nothing,
    /// Bytes were received, and no more will come.
    Last,
    /// The other side has finished properly.
    End,
}

/// A connection that threads share.
#[derive(Debug)]
pub(crate) struct Channel {
    carrier: Arc<dyn ByteStream>,
    peer: SocketAddr,
    clock: Clock,
    /// Received bytes that were not consumed, for the next [`MessageReader`].
    early: Mutex<Vec<u8>>,
    /// True if nothing more will be read.
    ended: AtomicBool,
}

impl Channel {
    /// Shakes hands over a connected socket.
    ///
    /// # Errors
    /// Returns [`TransferError::Tls`], and [`TransferError::PeerGone`], the latter also once `until` has passed.
    pub(crate) fn establish(
        tcp: impl Into<Arc<TcpStream>>,
        tls: impl Into<Connection>,
        clock: Clock,
        until: Time,
    ) -> Result<Self, TransferError> {
        let tcp = tcp.into();
        let peer = tcp.peer_addr().map_err(TransferError::gone)?;
        let (tls, early) = Tls::establish(tcp, tls.into(), clock, until)?;
        Ok(Self { early: Mutex::new(early), ..Self::over(Arc::new(tls), peer, clock) })
    }

    /// Makes a connection to `peer` over `carrier`.
    pub(crate) fn over(carrier: Arc<dyn ByteStream>, peer: SocketAddr, clock: Clock) -> Self {
        Self { carrier, peer, clock, early: Mutex::default(), ended: AtomicBool::new(false) }
    }

    pub(crate) const fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) fn tcp(&self) -> &TcpStream {
        self.carrier.tcp()
    }

    pub(crate) fn exporter(&self, label: &str) -> Result<[u8; 32], TransferError> {
        self.carrier.exporter(label)
    }

    /// Returns the time spent waiting to write, for the network or the pace.
    pub(crate) fn waited_to_send(&self) -> Span {
        self.carrier.waited()[0]
    }

    /// Returns the time spent waiting for bytes to read.
    pub(crate) fn waited_to_receive(&self) -> Span {
        self.carrier.waited()[1]
    }

    /// Returns true while a thread waits until the network, or the pace, lets more out.
    pub(crate) fn is_held(&self) -> bool {
        self.carrier.is_held()
    }

    /// Returns true if the other side's sizer has asked for a pace.
    pub(crate) fn is_paced(&self) -> bool {
        self.carrier.is_paced()
    }

    /// Limits writing to `rate` from now on, TLS headers included. With `None`, the kernel alone limits it.
    pub(crate) fn pace(&self, rate: Option<Rate>) {
        self.carrier.pace(rate);
    }

    /// Writes `bytes`. The other side counts as gone if it takes nothing for [`STUCK`].
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), TransferError> {
        self.carrier.write(bytes, STUCK)
    }

    /// Writes `bytes` that the other side stores on its disk. That disk may stall, as during the `syncfs` of a full
    /// cache, and the receive window is closed meanwhile. With a closed window, the other side counts as gone only
    /// after [`STALLED`].
    pub(crate) fn write_data(&self, bytes: &[u8]) -> Result<(), TransferError> {
        self.carrier.write(bytes, STALLED)
    }

    /// Reads once, and appends the received bytes to `plain`.
    fn read(&self, raw: &mut [u8], plain: &mut Vec<u8>, until: Time) -> Result<ReadOutcome, TransferError> {
        let got = self.carrier.read(raw, plain, until);
        if matches!(got, Err(_) | Ok(ReadOutcome::Last | ReadOutcome::End)) {
            self.over_now();
        }
        got
    }

    /// Announces properly that this side sends nothing more.
    pub(crate) fn finish(&self) {
        self.carrier.finish();
    }

    /// Reads and discards bytes until the other side has finished too.
    pub(crate) fn drain(&self, until: Time) {
        let (mut raw, mut plain) = (vec![0; 16 << 10], Vec::new());
        while !self.is_over()
            && self.clock.now() < until
            && matches!(self.read(&mut raw, &mut plain, until), Ok(ReadOutcome::Bytes))
        {
            plain.clear();
        }
    }

    /// Waits until `until` without reading.
    ///
    /// # Errors
    /// If the other side has left.
    pub(crate) fn pause(&self, until: Time) -> Result<(), TransferError> {
        if self.carrier.has_left(until)? { Err(self.carrier.why()) } else { Ok(()) }
    }

    /// Returns true if nothing more will be read: the other side has finished, or the connection was cut here.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Marks the connection as one from which nothing more is read.
    pub(crate) fn over_now(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Ends the connection at once: every thread that waits on it gets an error.
    pub(crate) fn cut(&self) {
        self.over_now();
        self.carrier.cut();
    }
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tcp().as_fd()
    }
}

#[cfg(test)]
#[path = "../tests/within/channel.rs"]
mod tests;

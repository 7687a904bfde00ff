//! [`Channel`]: one connection that threads share: one reads, others write. What carries its bytes is a [`Carrier`]: TLS
//! over TCP (`channel/tls.rs`), or a script.
//!
//! The socket is non-blocking. A thread that must wait polls the socket without holding the lock. So a reader never
//! waits for a writer that waits for the other side's reader. Shutting the socket down wakes everybody.

mod inlet;
mod paced;
mod tls;

use crate::error::TransferError;
use host::Clock;
pub(crate) use inlet::{Inlet, Message};
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

/// The carrier of a connection's bytes.
pub(crate) trait Carrier: Debug + Send + Sync {
    /// The socket, for its options.
    fn tcp(&self) -> &TcpStream;
    /// 32 bytes that only the two ends of this connection know [rfc9846:7.5].
    fn exporter(&self, label: &str) -> Result<[u8; 32], TransferError>;
    /// Hands `bytes` over. The other side is gone if it takes nothing for [`STUCK`], or for `closed` while it keeps its
    /// receive window closed.
    fn write(&self, bytes: &[u8], closed: Span) -> Result<(), TransferError>;
    /// Reads once, and appends what came to `plain`.
    fn read(&self, raw: &mut [u8], plain: &mut Vec<u8>, until: Time) -> Result<Got, TransferError>;
    /// Says that nothing more comes, properly.
    fn finish(&self);
    /// Ends the connection at once: every thread that waits on it gets an error.
    fn cut(&self);
    /// Waits until then without reading. Returns whether the other side has left.
    fn has_left(&self, until: Time) -> Result<bool, TransferError>;
    /// Why the connection has ended.
    fn why(&self) -> TransferError;
    /// Hands nothing over faster than `rate` from now on.
    fn pace(&self, rate: Option<Rate>);
    /// Whether there is a pace.
    fn is_paced(&self) -> bool;
    /// Returns true while a thread waits until the network takes more.
    fn is_held(&self) -> bool;
    /// Time spent waiting for the network: until it took more, and until it brought more.
    fn waited(&self) -> [Span; 2];
}

/// What became of an attempt to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    /// Something came.
    Bytes,
    /// Nothing came in time.
    Nothing,
    /// Something came, and nothing more will.
    Last,
    /// The other side has finished, properly.
    End,
}

/// One connection.
#[derive(Debug)]
pub(crate) struct Channel {
    carrier: Arc<dyn Carrier>,
    peer: SocketAddr,
    clock: Clock,
    /// What came and was not consumed, for the next [`Inlet`].
    early: Mutex<Vec<u8>>,
    /// The other side has said that nothing more comes.
    ended: AtomicBool,
}

impl Channel {
    /// Shakes hands over a connected socket.
    ///
    /// # Errors
    /// [`TransferError::Tls`] and [`TransferError::PeerGone`], the latter also when `until` has come.
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

    /// A connection to `peer` over this carrier.
    pub(crate) fn over(carrier: Arc<dyn Carrier>, peer: SocketAddr, clock: Clock) -> Self {
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

    /// Time spent waiting until the network took more.
    pub(crate) fn waited_to_send(&self) -> Span {
        self.carrier.waited()[0]
    }

    /// Time spent waiting until the network brought more.
    pub(crate) fn waited_to_receive(&self) -> Span {
        self.carrier.waited()[1]
    }

    /// Returns true while a thread waits until the network takes more.
    pub(crate) fn is_held(&self) -> bool {
        self.carrier.is_held()
    }

    /// Whether the other side's sizer asks for a pace.
    pub(crate) fn is_paced(&self) -> bool {
        self.carrier.is_paced()
    }

    /// Hands nothing over faster than `rate` from now on, TLS headers included. `None`: as fast as the kernel takes it.
    pub(crate) fn pace(&self, rate: Option<Rate>) {
        self.carrier.pace(rate);
    }

    /// Hands `bytes` over. The other side is gone if it takes nothing for [`STUCK`].
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), TransferError> {
        self.carrier.write(bytes, STUCK)
    }

    /// Hands `bytes` over that the other side writes to its disk. The disk may stall, as after the `syncfs` of a full
    /// cache, and the window is closed meanwhile. The other side is gone if that takes [`STALLED`].
    pub(crate) fn write_data(&self, bytes: &[u8]) -> Result<(), TransferError> {
        self.carrier.write(bytes, STALLED)
    }

    /// Reads once; what came is appended to `plain`.
    fn read(&self, raw: &mut [u8], plain: &mut Vec<u8>, until: Time) -> Result<Got, TransferError> {
        let got = self.carrier.read(raw, plain, until);
        if matches!(got, Err(_) | Ok(Got::Last | Got::End)) {
            self.over_now();
        }
        got
    }

    /// Says that nothing more comes, properly.
    pub(crate) fn finish(&self) {
        self.carrier.finish();
    }

    /// Throws away what still comes, until the other side has finished too.
    pub(crate) fn drain(&self, until: Time) {
        let (mut raw, mut plain) = (vec![0; 16 << 10], Vec::new());
        while !self.is_over()
            && self.clock.now() < until
            && matches!(self.read(&mut raw, &mut plain, until), Ok(Got::Bytes))
        {
            plain.clear();
        }
    }

    /// Waits until `until` without reading.
    ///
    /// # Errors
    /// The other side has left.
    pub(crate) fn pause(&self, until: Time) -> Result<(), TransferError> {
        if self.carrier.has_left(until)? { Err(self.carrier.why()) } else { Ok(()) }
    }

    /// Whether nothing more comes: the other side has finished, or the connection was cut here.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Nobody reads from it any more.
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

//! [`Channel`]: one TLS connection that threads share: one reads, others write.
//!
//! The socket is non-blocking. A thread that must wait polls the socket without holding the lock. So a reader never
//! waits for a writer that waits for the other side's reader. Shutting the socket down wakes everybody.

mod inlet;
mod paced;
#[cfg(fuzzing)]
pub(crate) mod script;

use crate::error::TransferError;
use crate::lock::locked;
use host::{Clock, Pace, PollFd, PollFlags, TcpInfo, Woken};
pub(crate) use inlet::{Inlet, Message};
use paced::Paced;
use rustix::net::sockopt;
use rustls::{Connection, Error as TlsError};
use std::io::{self, BufRead, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, BorrowedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use units::{Rate, Span, Time};

/// Ciphertext read from the kernel at once: sixteen full records.
const RAW: usize = 256 << 10;

/// A peer that takes nothing for this time is gone; a slow one takes something now and then. The kernel ends a
/// connection whose packets are not acknowledged for this time.
pub(crate) const STUCK: Span = Span::from_secs(30);

/// The time after which the kernel asks whether the peer of an idle connection is still there, and the time between two
/// such questions, in seconds. They also keep the connection in the memory of routers and firewalls on the path.
const KEEPALIVE: (u64, u64) = (10, 5);

/// Another pace may be asked for while a thread waits for a slow one: it looks so often.
const PACE_CHECK: Span = Span::from_millis(50);

/// One TLS connection.
#[derive(Debug)]
pub(crate) struct Channel {
    tcp: Arc<TcpStream>,
    tls: Mutex<Connection>,
    peer: SocketAddr,
    clock: Clock,
    /// What came behind the handshake in the same packet, for the first [`Inlet`].
    early: Mutex<Vec<u8>>,
    /// What the other side's sizer asks for.
    pace: Mutex<Pace>,
    /// Nanoseconds spent waiting for the network: until it takes more, and until it brings more.
    waited: [AtomicU64; 2],
    /// The time at which the kernel last took something, nanoseconds.
    taken: AtomicU64,
    /// A thread waits until the network, or a pace, lets more out.
    held: AtomicBool,
    /// The other side has said that nothing more comes.
    ended: AtomicBool,
    #[cfg(fuzzing)]
    script: Option<script::Script>,
}

/// What became of an attempt to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Got {
    /// Something came.
    Bytes,
    /// Nothing came in time.
    Nothing,
    /// The other side has finished, properly.
    End,
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
        tcp.set_nonblocking(true).map_err(TransferError::system("make a socket non-blocking"))?;
        host::options::set_no_delay(&tcp)?;
        notice_silence(&tcp).map_err(TransferError::system("have the kernel watch a connection"))?;
        let mut tls = tls.into();
        tls.set_buffer_limit(None);
        let (early, waited, ended) = (Mutex::default(), Default::default(), AtomicBool::new(false));
        let channel = Self {
            tcp,
            tls: Mutex::new(tls),
            peer,
            clock,
            early,
            pace: Mutex::default(),
            waited,
            taken: AtomicU64::new(0),
            held: AtomicBool::new(false),
            ended,
            #[cfg(fuzzing)]
            script: None,
        };
        let (mut raw, mut plain) = (vec![0; 16 << 10], Vec::new());
        loop {
            channel.flush(until)?;
            if !channel.lock().is_handshaking() {
                *locked(&channel.early) = plain;
                return Ok(channel);
            }
            match channel.read_raw(&mut raw, &mut plain, until)? {
                Got::Bytes if clock.now() <= until => {}
                Got::Bytes | Got::Nothing => return Err(TransferError::gone("no handshake in time")),
                Got::End => return Err(TransferError::gone("closed during the handshake")),
            }
        }
    }

    pub(crate) const fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(crate) fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    /// 32 bytes that only the two ends of this connection know [rfc9846:7.5].
    pub(crate) fn exporter(&self, label: &str) -> Result<[u8; 32], TransferError> {
        self.lock().export_keying_material([0; 32], label.as_bytes(), None).map_err(self.tls_error())
    }

    /// Time spent waiting until the network took more.
    pub(crate) fn waited_to_send(&self) -> Span {
        Span::from_nanos(self.waited[0].load(Ordering::Relaxed))
    }

    /// Whether a thread waits right now until the network takes more.
    pub(crate) fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }

    /// Whether the other side's sizer asks for a pace.
    pub(crate) fn is_paced(&self) -> bool {
        locked(&self.pace).is_on()
    }

    /// Time spent waiting until the network brought more.
    pub(crate) fn waited_to_receive(&self) -> Span {
        Span::from_nanos(self.waited[1].load(Ordering::Relaxed))
    }

    /// Hands nothing over faster than `rate` from now on, TLS headers included. `None`: as fast as the kernel takes it.
    pub(crate) fn pace(&self, rate: Option<Rate>) {
        let mut pace = locked(&self.pace);
        pace.set(self.clock.now(), rate);
        // That the kernel does not limit what waits unsent is no reason to stop.
        let _ = host::options::set_unsent_limit(&self.tcp, pace.unsent());
    }

    /// Encrypts `bytes` and hands them to the kernel. The other side is gone if nothing can be handed over for
    /// [`STUCK`].
    pub(crate) fn write(&self, bytes: &[u8]) -> Result<(), TransferError> {
        #[cfg(fuzzing)]
        if let Some(script) = &self.script {
            script.write(bytes);
            return Ok(());
        }
        {
            let mut tls = self.lock();
            tls.writer().write_all(bytes).map_err(TransferError::gone)?;
        }
        self.hand_over(Time::NEVER, STUCK)
    }

    fn flush(&self, until: Time) -> Result<(), TransferError> {
        self.hand_over(until, Span::MAX)
    }

    /// Hands over what is encrypted. Waits until `until` at most, and as long as the peer takes something within each
    /// `stuck`, whichever thread brings it.
    fn hand_over(&self, until: Time, stuck: Span) -> Result<(), TransferError> {
        let began = self.clock.now();
        // What the peer's kernel had when this thread last looked.
        let mut acknowledged = None;
        loop {
            // A thread that waits for its pace waits without the lock, as one that waits for the kernel.
            let mut paced = Paced::new(&self.tcp, &self.pace, self.clock);
            if self.push(&mut paced)? {
                return Ok(());
            }
            let now = self.clock.now();
            if now >= until {
                return Err(TransferError::gone("nothing could be sent in time"));
            }
            if let Some(next) = paced.next() {
                // Nothing is waited for but the clock, so a socket that is ready has ended.
                if self.wait(PollFlags::empty(), until.min(next).min(now + PACE_CHECK))? {
                    return Err(self.ended());
                }
                continue;
            }
            let last = began.max(Time::from_nanos(self.taken.load(Ordering::Relaxed)));
            // The kernel makes room in large steps, which take long on a slow path: then the peer is asked about.
            let look = if acknowledged.is_some() { stuck } else { stuck / 8 };
            if self.wait(PollFlags::OUT, until.min(last + look))? {
                continue;
            }
            let there = TcpInfo::of(&self.tcp)?.bytes_acked;
            match acknowledged.replace(there) {
                Some(before) if there == before && self.clock.now() >= last + stuck => {
                    return Err(TransferError::gone(format!("the other side took nothing for {stuck}")));
                }
                Some(before) if there > before => self.took(),
                _ => {}
            }
        }
    }

    /// Hands over what the kernel takes without waiting. Returns true if nothing is left.
    fn push(&self, paced: &mut Paced<'_>) -> Result<bool, TransferError> {
        let mut tls = self.lock();
        while tls.wants_write() {
            match tls.write_tls(paced) {
                Ok(_) => self.took(),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TransferError::gone(error)),
            }
        }
        Ok(true)
    }

    fn took(&self) {
        self.taken.store(self.clock.now().as_nanos(), Ordering::Relaxed);
    }

    /// Why the socket can be neither written nor read any more.
    fn ended(&self) -> TransferError {
        match self.tcp.take_error() {
            Ok(Some(error)) | Err(error) => TransferError::gone(error),
            Ok(None) => TransferError::gone("connection closed"),
        }
    }

    /// Waits for `what`, or an error on the socket, until `until`; whether it came.
    fn wait(&self, what: PollFlags, until: Time) -> Result<bool, TransferError> {
        let began = self.clock.now();
        let sends = what != PollFlags::IN;
        if sends {
            self.held.store(true, Ordering::Relaxed);
        }
        let ready = self.poll(what, until);
        if sends {
            self.held.store(false, Ordering::Relaxed);
        }
        let waited = &self.waited[usize::from(what == PollFlags::IN)];
        waited.fetch_add(self.clock.now().since(began).as_nanos(), Ordering::Relaxed);
        ready
    }

    fn poll(&self, what: PollFlags, until: Time) -> Result<bool, TransferError> {
        loop {
            let limit = (until != Time::NEVER).then(|| until.since(self.clock.now()));
            match host::wait(&mut [PollFd::new(&self.tcp, what)], limit) {
                Ok(Woken::Interrupted) => {}
                Ok(woken) => return Ok(woken == Woken::Ready),
                Err(error) => return Err(TransferError::system("wait for a socket")(error)),
            }
        }
    }

    /// One read from the kernel; what it decrypts to is appended to `plain`.
    fn read_raw(&self, raw: &mut [u8], plain: &mut Vec<u8>, until: Time) -> Result<Got, TransferError> {
        #[cfg(fuzzing)]
        if let Some(script) = &self.script {
            return Ok(script.read(plain));
        }
        let length = loop {
            match (&*self.tcp).read(raw) {
                Ok(length) => break length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait(PollFlags::IN, until)? {
                        return Ok(Got::Nothing);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TransferError::gone(error)),
            }
        };
        if length == 0 {
            self.ended.store(true, Ordering::Relaxed);
            return Err(TransferError::gone("connection closed"));
        }
        let mut rest = &raw[..length];
        let mut tls = self.lock();
        while !rest.is_empty() {
            let state = match tls
                .read_tls(&mut rest)
                .map_err(TransferError::gone)
                .and_then(|_| tls.process_new_packets().map_err(self.tls_error()))
            {
                Ok(state) => state,
                Err(error) => {
                    // The alert that says why; nobody may be there to read it.
                    let _ = tls.write_tls(&mut &*self.tcp);
                    return Err(error);
                }
            };
            let mut left = state.plaintext_bytes_to_read();
            while left > 0 {
                let mut reader = tls.reader();
                let chunk = reader.fill_buf().map_err(TransferError::gone)?;
                plain.extend_from_slice(chunk);
                let length = chunk.len();
                reader.consume(length);
                left -= length;
            }
            if state.peer_has_closed() {
                self.ended.store(true, Ordering::Relaxed);
                return Ok(if plain.is_empty() { Got::End } else { Got::Bytes });
            }
        }
        let answer = tls.wants_write() && !tls.is_handshaking();
        drop(tls);
        if answer {
            // TLS's own answer. If the kernel takes no more now, a thread waits to write, or the next one that writes
            // takes it along: a reader never waits for the path.
            self.push(&mut Paced::new(&self.tcp, &self.pace, self.clock))?;
        }
        Ok(Got::Bytes)
    }

    /// Says that nothing more comes, properly.
    pub(crate) fn finish(&self) {
        #[cfg(fuzzing)]
        if self.script.is_some() {
            return;
        }
        self.lock().send_close_notify();
        let _ = self.flush(self.clock.now() + Span::from_secs(1));
        let _ = self.tcp.shutdown(Shutdown::Write);
    }

    /// Throws away what still comes, until the other side has finished too.
    pub(crate) fn drain(&self, until: Time) {
        let (mut raw, mut plain) = (vec![0; 16 << 10], Vec::new());
        while !self.ended.load(Ordering::Relaxed)
            && self.clock.now() < until
            && matches!(self.read_raw(&mut raw, &mut plain, until), Ok(Got::Bytes))
        {
            plain.clear();
        }
    }

    /// Waits until `until` without reading.
    ///
    /// # Errors
    /// The other side has left.
    pub(crate) fn pause(&self, until: Time) -> Result<(), TransferError> {
        if self.poll(PollFlags::RDHUP, until)? { Err(self.ended()) } else { Ok(()) }
    }

    /// Whether nothing more comes: the other side has finished, or the connection was cut here.
    pub(crate) fn is_over(&self) -> bool {
        self.ended.load(Ordering::Relaxed)
    }

    /// Nobody reads from it any more.
    pub(crate) fn over(&self) {
        self.ended.store(true, Ordering::Relaxed);
    }

    /// Ends the connection at once: every thread that waits on it gets an error.
    pub(crate) fn cut(&self) {
        self.ended.store(true, Ordering::Relaxed);
        #[cfg(fuzzing)]
        if self.script.is_some() {
            return;
        }
        let _ = self.tcp.shutdown(Shutdown::Both);
    }

    fn tls_error(&self) -> impl FnOnce(TlsError) -> TransferError {
        let peer = self.peer;
        move |source| TransferError::Tls { peer, source }
    }

    fn lock(&self) -> MutexGuard<'_, Connection> {
        locked(&self.tls)
    }
}

/// Has the kernel end a connection whose peer is silent for [`STUCK`], also while nothing is to be sent.
fn notice_silence(socket: &TcpStream) -> rustix::io::Result<()> {
    sockopt::set_tcp_user_timeout(socket, (STUCK.as_nanos() / 1_000_000) as u32)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(KEEPALIVE.0))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(KEEPALIVE.1))?;
    sockopt::set_socket_keepalive(socket, true)
}

impl AsFd for Channel {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.tcp.as_fd()
    }
}

#[cfg(test)]
mod tests;

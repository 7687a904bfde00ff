//! [`Tls`]: a channel's bytes by TLS over TCP.

use super::paced::Paced;
use super::{ByteStream, ReadOutcome};
use crate::error::TransferError;
use crate::lock::locked;
use host::{Clock, Pace, PollFd, PollFlags, TcpInfo, WaitResult, Waker};
use rustix::net::sockopt;
use rustls::{Connection, Error as TlsError};
use std::io::{self, BufRead, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock};
use std::time::Duration;
use units::{Rate, Span, Time};

/// The time after which a peer that accepts no data counts as gone; a slow peer accepts some now and then. The kernel
/// ends a connection whose packets are not acknowledged for this time.
pub(crate) const STUCK: Span = Span::from_secs(30);
/// The time after which a receiver that keeps its window closed counts as gone. A stalled disk closes the window.
pub(crate) const STALLED: Span = Span::from_secs(150);

/// The time after which the kernel probes the peer of an idle connection, and the interval between two such probes, in
/// seconds. The probes also keep the connection in the tables of routers and firewalls on the path.
const KEEPALIVE: (u64, u64) = (10, 5);

/// One TLS connection.
#[derive(Debug)]
pub(crate) struct Tls {
    tcp: Arc<TcpStream>,
    connection: Mutex<Connection>,
    peer: SocketAddr,
    clock: Clock,
    /// The pace that the other side's sizer has requested.
    pace: Mutex<Pace>,
    /// The event of a changed pace, which wakes a thread that waits for its pace.
    another_pace: OnceLock<Waker>,
    /// Nanoseconds spent waiting to write, for the network or the pace, and waiting for bytes to read.
    waited: [AtomicU64; 2],
    /// The time at which the kernel last accepted data, in nanoseconds.
    taken: AtomicU64,
    /// True while a thread waits until the network, or a pace, lets more out.
    held: AtomicBool,
    /// True while the kernel waits longer than usual because the peer keeps its window closed.
    patient: AtomicBool,
}

impl Tls {
    /// Shakes hands over a connected socket. Also returns the plain bytes that came with the end of the handshake.
    ///
    /// # Errors
    /// Returns [`TransferError::Tls`], and [`TransferError::PeerGone`], the latter also once `until` has passed.
    pub(super) fn establish(
        tcp: Arc<TcpStream>,
        mut connection: Connection,
        clock: Clock,
        until: Time,
    ) -> Result<(Self, Vec<u8>), TransferError> {
        let peer = tcp.peer_addr().map_err(TransferError::gone)?;
        tcp.set_nonblocking(true).map_err(TransferError::system("make a socket non-blocking"))?;
        host::options::set_no_delay(&tcp)?;
        notice_silence(&tcp).map_err(TransferError::system("register a connection with the kernel"))?;
        connection.set_buffer_limit(None);
        let tls = Self {
            tcp,
            connection: Mutex::new(connection),
            peer,
            clock,
            pace: Mutex::default(),
            another_pace: OnceLock::new(),
            waited: Default::default(),
            taken: AtomicU64::new(0),
            held: AtomicBool::new(false),
            patient: AtomicBool::new(false),
        };
        let (mut raw, mut plain) = (vec![0; 16 << 10], Vec::new());
        loop {
            tls.flush(until)?;
            if !tls.lock().is_handshaking() {
                return Ok((tls, plain));
            }
            match tls.read(&mut raw, &mut plain, until)? {
                ReadOutcome::Bytes if clock.now() <= until => {}
                ReadOutcome::Bytes | ReadOutcome::Nothing => {
                    return Err(TransferError::gone("no handshake in time"));
                }
                ReadOutcome::Last | ReadOutcome::End => {
                    return Err(TransferError::gone("closed during the handshake"));
                }
            }
        }
    }

    fn flush(&self, until: Time) -> Result<(), TransferError> {
        self.hand_over(until, Span::MAX, Span::MAX)
    }

    /// Hands encrypted data to the kernel. Waits until `until` at most. Gives up earlier if the peer takes nothing for
    /// `stuck`, or, while its window is closed, for `closed`. Progress by any thread counts.
    pub(super) fn hand_over(&self, until: Time, stuck: Span, closed: Span) -> Result<(), TransferError> {
        let done = self.hand_over_while(until, stuck, closed);
        done.and(self.be_patient(false, stuck))
    }

    fn hand_over_while(&self, until: Time, stuck: Span, closed: Span) -> Result<(), TransferError> {
        let began = self.clock.now();
        // The peer's acknowledged bytes when this thread last looked.
        let mut acknowledged = None;
        loop {
            // The pace makes the write fail rather than wait, so that a thread that waits for its pace holds no lock.
            let mut paced = Paced::new(&self.tcp, &self.pace, self.clock);
            if self.push(&mut paced)? {
                return Ok(());
            }
            let now = self.clock.now();
            if now >= until {
                return Err(TransferError::gone("nothing could be sent in time"));
            }
            if let Some(next) = paced.next() {
                self.wait_for_the_pace(until.min(next))?;
                continue;
            }
            let last = began.max(Time::from_nanos(self.taken.load(Ordering::Relaxed)));
            // The kernel makes room in large steps, which take long on a slow path. So the acknowledged bytes are
            // checked, too.
            if self.wait(PollFlags::OUT, until.min(now + stuck / 8))? {
                continue;
            }
            let peer = TcpInfo::of(&self.tcp)?;
            let is_closed = peer.snd_wnd.is_some_and(|window| window < peer.snd_mss);
            let limit = if is_closed { closed } else { stuck };
            self.be_patient(limit != stuck, limit)?;
            let there = peer.bytes_acked;
            match acknowledged.replace(there) {
                Some(before) if there == before && self.clock.now() >= last + limit => {
                    return Err(TransferError::gone(format!("the other side accepted no data for {limit}")));
                }
                Some(before) if there > before => self.took(),
                _ => {}
            }
        }
    }

    /// Has the kernel end the connection if the peer takes nothing for `limit`, also when its window is closed. Does
    /// nothing if the last call had the same `patient`, or if `limit` is [`Span::MAX`].
    fn be_patient(&self, patient: bool, limit: Span) -> Result<(), TransferError> {
        if limit == Span::MAX || self.patient.swap(patient, Ordering::Relaxed) == patient {
            return Ok(());
        }
        let millis = (limit.as_nanos() / 1_000_000).try_into().unwrap_or(u32::MAX);
        sockopt::set_tcp_user_timeout(&self.tcp, millis)
            .map_err(TransferError::system("register a connection with the kernel"))
    }

    /// Hands over the data that the kernel takes without waiting. Returns true if nothing is left.
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

    /// Waits until `until`, or until the pace changes.
    fn wait_for_the_pace(&self, until: Time) -> Result<(), TransferError> {
        let Some(another_pace) = self.another_pace.get() else {
            // This is the first wait. The pace may have changed before the descriptor existed, so the caller checks it
            // again.
            let wake = Waker::new().map_err(TransferError::system("make an event descriptor"))?;
            self.another_pace.get_or_init(|| wake);
            return Ok(());
        };
        let began = self.clock.now();
        self.held.store(true, Ordering::Relaxed);
        let mut sockets =
            [PollFd::new(&self.tcp, PollFlags::empty()), PollFd::new(another_pace, PollFlags::IN)];
        let waited = host::wait(&mut sockets, Some(until.since(began)));
        self.held.store(false, Ordering::Relaxed);
        self.waited[0].fetch_add(self.clock.now().since(began).as_nanos(), Ordering::Relaxed);
        waited.map_err(TransferError::system("wait for a socket"))?;
        another_pace.clear();
        // No event of the socket was requested, so a ready socket has ended.
        if sockets[0].revents().is_empty() { Ok(()) } else { Err(self.ended()) }
    }

    /// Returns the reason for which the socket can be neither written nor read any more.
    fn ended(&self) -> TransferError {
        match self.tcp.take_error() {
            Ok(Some(error)) | Err(error) => TransferError::gone(error),
            Ok(None) => TransferError::gone("connection closed"),
        }
    }

    /// Waits until `until` for `what` or an error on the socket. Returns true if either came.
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
                Ok(WaitResult::Interrupted) => {}
                Ok(woken) => return Ok(woken == WaitResult::Ready),
                Err(error) => return Err(TransferError::system("wait for a socket")(error)),
            }
        }
    }

    fn tls_error(&self) -> impl FnOnce(TlsError) -> TransferError {
        let peer = self.peer;
        move |source| TransferError::Tls { peer, source }
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, Connection> {
        locked(&self.connection)
    }
}

impl ByteStream for Tls {
    fn tcp(&self) -> &TcpStream {
        &self.tcp
    }

    fn exporter(&self, label: &str) -> Result<[u8; 32], TransferError> {
        self.lock().export_keying_material([0; 32], label.as_bytes(), None).map_err(self.tls_error())
    }

    fn write(&self, bytes: &[u8], closed: Span) -> Result<(), TransferError> {
        self.lock().writer().write_all(bytes).map_err(TransferError::gone)?;
        self.hand_over(Time::NEVER, STUCK, closed)
    }

    fn read(&self, raw: &mut [u8], plain: &mut Vec<u8>, until: Time) -> Result<ReadOutcome, TransferError> {
        let length = loop {
            match (&*self.tcp).read(raw) {
                Ok(length) => break length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    if !self.wait(PollFlags::IN, until)? {
                        return Ok(ReadOutcome::Nothing);
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(TransferError::gone(error)),
            }
        };
        if length == 0 {
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
                    // Sends the alert with the reason, although the peer may be gone.
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
                return Ok(if plain.is_empty() { ReadOutcome::End } else { ReadOutcome::Last });
            }
        }
        let answer = tls.wants_write() && !tls.is_handshaking();
        drop(tls);
        if answer {
            // TLS has an answer of its own to send. If the kernel takes no more now, a waiting or later writer sends
            // it: a reader never waits for the path.
            self.push(&mut Paced::new(&self.tcp, &self.pace, self.clock))?;
        }
        Ok(ReadOutcome::Bytes)
    }

    fn finish(&self) {
        self.lock().send_close_notify();
        let _ = self.flush(self.clock.now() + Span::from_secs(1));
        let _ = self.tcp.shutdown(Shutdown::Write);
    }

    fn cut(&self) {
        let _ = self.tcp.shutdown(Shutdown::Both);
    }

    fn has_left(&self, until: Time) -> Result<bool, TransferError> {
        self.poll(PollFlags::RDHUP, until)
    }

    fn why(&self) -> TransferError {
        self.ended()
    }

    fn pace(&self, rate: Option<Rate>) {
        let mut pace = locked(&self.pace);
        pace.set(self.clock.now(), rate);
        // An error is ignored, because the transfer can continue without this limit.
        let _ = host::options::set_unsent_limit(&self.tcp, pace.unsent());
        drop(pace);
        if let Some(another_pace) = self.another_pace.get() {
            another_pace.wake();
        }
    }

    fn is_paced(&self) -> bool {
        locked(&self.pace).is_on()
    }

    fn is_held(&self) -> bool {
        self.held.load(Ordering::Relaxed)
    }

    fn waited(&self) -> [Span; 2] {
        self.waited.each_ref().map(|nanos| Span::from_nanos(nanos.load(Ordering::Relaxed)))
    }
}

/// Has the kernel end a connection whose peer is silent for [`STUCK`], even when there is nothing to send.
fn notice_silence(socket: &TcpStream) -> rustix::io::Result<()> {
    sockopt::set_tcp_user_timeout(socket, (STUCK.as_nanos() / 1_000_000) as u32)?;
    sockopt::set_tcp_keepidle(socket, Duration::from_secs(KEEPALIVE.0))?;
    sockopt::set_tcp_keepintvl(socket, Duration::from_secs(KEEPALIVE.1))?;
    sockopt::set_socket_keepalive(socket, true)
}

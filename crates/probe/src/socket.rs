//! [`Datagrams`]: a UDP socket that stamps the arrival of each datagram.

use crate::error::ProbeError;
use host::{Clock, HostError};
use nix::errno::Errno;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, SockaddrLike, SockaddrStorage, recvmsg, sendmsg,
    setsockopt, sockopt,
};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use units::{Span, Time};

/// The size of the buffers: room for a few trains and the kernel's book-keeping.
const BUFFER: usize = 1 << 20;
/// The room for a datagram, longer than any of ours: a longer one is cut, and then has the wrong length.
const ROOM: usize = 9000;
/// The length in bytes of the longest super-packet that the kernel accepts and cuts into datagrams.
const SUPER_BYTES: usize = 60_000;
/// The greatest number of datagrams in such a super-packet.
const SUPER_DATAGRAMS: usize = 60;

/// The number of errors in a row that are read at once.
const FAILURES: u32 = 16;

/// A datagram that has arrived.
pub(crate) struct Received<'a> {
    pub(crate) from: SocketAddr,
    pub(crate) bytes: &'a [u8],
    /// The time of its arrival, in real time since the start of the run.
    pub(crate) at: Time,
    /// The same time by the kernel's stamp alone, on the system's clock: differences are exact.
    pub(crate) stamp: Time,
}

/// A non-blocking UDP socket. The fate of a datagram on its way depends on the path, so errors of sending and of
/// receiving are counted, never returned.
#[derive(Debug)]
pub(crate) struct Datagrams {
    socket: Socket,
    room: Vec<u8>,
    control: Vec<u8>,
    /// Datagrams that the kernel refused, and errors that it reported for earlier ones.
    pub(crate) refused: u64,
}

impl Datagrams {
    /// Binds a socket to `local`, which receives only from `peer` if there is one.
    pub(crate) fn bind(local: SocketAddr, peer: Option<SocketAddr>) -> Result<Self, ProbeError> {
        let make = || {
            let socket = Socket::new(Domain::for_address(local), Type::DGRAM, Some(Protocol::UDP))?;
            socket.set_nonblocking(true)?;
            setsockopt(&socket, sockopt::ReceiveTimestampns, &true)?;
            // Low limits grant less, which is enough for one train.
            socket.set_recv_buffer_size(BUFFER)?;
            socket.set_send_buffer_size(BUFFER)?;
            socket.bind(&local.into())?;
            if let Some(peer) = peer {
                socket.connect(&peer.into())?;
            }
            Ok(socket)
        };
        let socket = make()
            .map_err(|source: io::Error| ProbeError::Socket { address: peer.unwrap_or(local), source })?;
        let control = nix::cmsg_space!(nix::sys::time::TimeSpec);
        Ok(Self { socket, room: vec![0; ROOM], control, refused: 0 })
    }

    pub(crate) fn local(&self) -> Result<SocketAddr, ProbeError> {
        let address = self.socket.local_addr().map_err(HostError::system("read a socket's address"))?;
        address
            .as_socket()
            .ok_or_else(|| HostError::system("read a socket's address")(io::ErrorKind::Unsupported).into())
    }

    /// Returns the next datagram that waits; `None` without one.
    pub(crate) fn receive(&mut self, clock: &Clock) -> Option<Received<'_>> {
        let mut failures = 0;
        let (length, from, stamp) = loop {
            let mut parts = [IoSliceMut::new(&mut self.room)];
            let received = recvmsg::<SockaddrStorage>(
                self.socket.as_raw_fd(),
                &mut parts,
                Some(&mut self.control),
                MsgFlags::MSG_DONTWAIT,
            );
            match received {
                Ok(message) => {
                    let stamp = message.cmsgs().ok().and_then(|mut messages| {
                        messages.find_map(|message| match message {
                            ControlMessageOwned::ScmTimestampns(stamp) => Some(stamp),
                            _ => None,
                        })
                    });
                    let Some(from) = message.address.and_then(address) else { continue };
                    break (message.bytes, from, stamp);
                }
                Err(Errno::EAGAIN) => return None,
                Err(Errno::EINTR) => {}
                // This is an ICMP error for an earlier datagram, and reading it clears it. If errors persist, the loop
                // ends.
                Err(_) => {
                    self.refused += 1;
                    failures += 1;
                    if failures == FAILURES {
                        return None;
                    }
                }
            }
        };
        let stamp = stamp.map(|stamp| {
            let seconds = Span::from_secs(u64::try_from(stamp.tv_sec()).unwrap_or(0));
            Time::ZERO + seconds + Span::from_nanos(u64::try_from(stamp.tv_nsec()).unwrap_or(0))
        });
        let (at, stamp) = clock.stamped(stamp);
        Some(Received { from, bytes: &self.room[..length], at, stamp })
    }

    /// Sends `bytes` to the peer, or to `to`.
    pub(crate) fn send(&mut self, bytes: &[u8], to: Option<SocketAddr>) {
        let sent = match to {
            Some(to) => self.socket.send_to(bytes, &to.into()),
            None => self.socket.send(bytes),
        };
        self.refused += u64::from(sent.is_err());
    }

    /// Sends `bytes` as datagrams of `length` bytes, back to back. The kernel gets them in as few pieces as it accepts,
    /// so that no other packet gets between them.
    pub(crate) fn send_train(&mut self, bytes: &[u8], length: u16, to: SocketAddr) {
        let at_once = (SUPER_BYTES / usize::from(length)).clamp(1, SUPER_DATAGRAMS) * usize::from(length);
        let address = SockaddrStorage::from(to);
        for piece in bytes.chunks(at_once) {
            let control = [ControlMessage::UdpGsoSegments(&length)];
            let sent = sendmsg(
                self.socket.as_raw_fd(),
                &[IoSlice::new(piece)],
                &control,
                MsgFlags::MSG_DONTWAIT,
                Some(&address),
            );
            if sent.is_err() {
                // The device or the path's MTU does not allow the whole piece.
                for datagram in piece.chunks(usize::from(length)) {
                    self.send(datagram, Some(to));
                }
            }
        }
    }
}

impl AsFd for Datagrams {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

fn address(storage: SockaddrStorage) -> Option<SocketAddr> {
    storage.family()?;
    let v4 = storage.as_sockaddr_in().map(|address| SocketAddr::V4((*address).into()));
    v4.or_else(|| storage.as_sockaddr_in6().map(|address| SocketAddr::V6((*address).into())))
}

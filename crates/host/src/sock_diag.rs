//! [`SockDiag`]: `TCP_INFO` of all TCP connections of a network namespace, by netlink (`sock_diag(7)`).
//!
//! It needs no right to the programs, and no descriptor of their sockets: every user may read every connection. Nothing
//! is changed. A list of all connections walks the kernel's whole table, which takes milliseconds on a machine with
//! much memory. A reading of single connections costs microseconds each.

use crate::address::plain;
use crate::error::HostError;
use crate::tcp_info::TcpInfo;
use netlink_packet_core::{
    NLM_F_DUMP, NLM_F_REQUEST, NetlinkHeader, NetlinkMessage, NetlinkPayload, Parseable,
};
use netlink_packet_sock_diag::SockDiagMessage;
use netlink_packet_sock_diag::inet::nlas::Nla;
use netlink_packet_sock_diag::inet::{ExtensionFlags, InetRequest, InetResponse, SocketId, StateFlags};
use netlink_sys::protocols::NETLINK_SOCK_DIAG;
use netlink_sys::{Socket, SocketAddr as NetlinkAddress};
use std::io;
use std::net::SocketAddr;
use units::Bytes;

/// The most requests in one message. Their answers must fit into the socket's receive buffer (212 kB by default).
const BATCH: usize = 32;
/// The length of the buffer for answers. The kernel fills up to 32 kB at once.
const ROOM: usize = 1 << 16;
/// The states of a connection in which data may move, or wait.
const CONNECTED: [StateFlags; 6] = [
    StateFlags::ESTABLISHED,
    StateFlags::FIN_WAIT1,
    StateFlags::FIN_WAIT2,
    StateFlags::CLOSE_WAIT,
    StateFlags::LAST_ACK,
    StateFlags::CLOSING,
];

/// The kernel's name of a connection: addresses, ports, the interface, and a number that no later connection has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConnectionId {
    family: u8,
    id: SocketId,
}

impl ConnectionId {
    /// Returns a number that no other connection has until the machine restarts.
    #[must_use]
    pub const fn cookie(&self) -> u64 {
        u64::from_ne_bytes(self.id.cookie)
    }
}

/// The memory of a socket's buffers, as the kernel counts it: payload with its overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketMemory {
    /// Memory of data that the program has not read.
    pub received: Bytes,
    /// The limit of `received` (`SO_RCVBUF`, or autotuning).
    pub receive_buffer: Bytes,
    /// Memory of data that is not acknowledged.
    pub queued: Bytes,
    /// The limit of `queued` (`SO_SNDBUF`, or autotuning).
    pub send_buffer: Bytes,
}

/// One reading of a TCP connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TcpConnection {
    /// The kernel's name of it.
    pub id: ConnectionId,
    /// The end in this namespace.
    pub local: SocketAddr,
    /// The other end.
    pub peer: SocketAddr,
    /// The inode of the socket; zero once the program has closed it.
    pub inode: u64,
    /// The user who made the socket.
    pub user: u32,
    /// Bytes that arrived in order, and that the program has not read.
    pub unread: Bytes,
    /// Bytes that the program wrote, and that the peer has not acknowledged.
    pub unacknowledged: Bytes,
    /// The memory of its buffers.
    pub memory: Option<SocketMemory>,
    /// The name of the congestion control; only in a list of all connections.
    pub control: Option<String>,
    /// Its `TCP_INFO`.
    pub info: TcpInfo,
}

impl TcpConnection {
    /// Reads an answer of the kernel that was kept: an `inet_diag_msg` and its attributes. Returns `None` if it has no
    /// `TCP_INFO`.
    #[must_use]
    pub fn parse(answer: &[u8]) -> Option<Self> {
        Self::of(InetResponse::parse(answer).ok()?)
    }

    /// Makes the reading from the kernel's answer; `None` if the answer has no `TCP_INFO`, as of a closed connection.
    fn of(response: InetResponse) -> Option<Self> {
        let (header, mut info, mut memory, mut control) = (response.header, None, None, None);
        for attribute in response.nlas {
            match attribute {
                Nla::TcpInfo(bytes) => info = Some(TcpInfo::from_bytes(&bytes)),
                Nla::MemInfo(found) => {
                    let bytes = |count: u32| Bytes::new(u64::from(count));
                    memory = Some(SocketMemory {
                        received: bytes(found.receive_queue),
                        receive_buffer: bytes(found.receive_queue_max),
                        queued: bytes(found.send_queue),
                        send_buffer: bytes(found.send_queue_max),
                    });
                }
                Nla::Congestion(name) => control = Some(name),
                _ => {}
            }
        }
        let id = header.socket_id;
        Some(Self {
            local: plain(SocketAddr::new(id.source_address, id.source_port)),
            peer: plain(SocketAddr::new(id.destination_address, id.destination_port)),
            inode: u64::from(header.inode),
            user: header.uid,
            unread: Bytes::new(u64::from(header.recv_queue)),
            unacknowledged: Bytes::new(u64::from(header.send_queue)),
            memory,
            control,
            info: info?,
            id: ConnectionId { family: header.family, id },
        })
    }

    /// Returns the bytes in flight: sent, and not acknowledged cumulatively.
    #[must_use]
    pub fn in_flight(&self) -> Bytes {
        self.unacknowledged.saturating_sub(self.info.notsent_bytes)
    }
}

/// A netlink socket that answers questions about the TCP connections of the namespace in which it was opened.
#[derive(Debug)]
pub struct SockDiag {
    socket: Socket,
    buffer: Vec<u8>,
    /// The number of the last request. Answers to earlier requests are ignored.
    sequence: u32,
}

impl SockDiag {
    /// Opens a socket in the network namespace of the calling thread.
    ///
    /// # Errors
    /// [`HostError::System`].
    pub fn open() -> Result<Self, HostError> {
        let connected = Socket::new(NETLINK_SOCK_DIAG).and_then(|socket| {
            socket.connect(&NetlinkAddress::new(0, 0))?;
            Ok(socket)
        });
        let socket = connected.map_err(HostError::system("open a netlink socket (sock_diag)"))?;
        Ok(Self { socket, buffer: vec![0; ROOM], sequence: 0 })
    }

    /// Hands each TCP connection of the namespace to `take`, IPv4 and IPv6, as the kernel lists it.
    ///
    /// # Errors
    /// [`HostError::System`]; without the kernel's module `tcp_diag` the error is "No such file or directory".
    pub fn list(&mut self, mut take: impl FnMut(TcpConnection)) -> Result<(), HostError> {
        for family in [libc::AF_INET as u8, libc::AF_INET6 as u8] {
            self.list_family(family, &mut take)
                .map_err(HostError::system("list TCP connections (it takes the kernel's module tcp_diag)"))?;
        }
        Ok(())
    }

    /// Reads single connections. `take` gets the place in `ids` and the reading, in order; `None` stands for a
    /// connection that is closed.
    ///
    /// # Errors
    /// [`HostError::System`].
    pub fn read(
        &mut self,
        ids: &[&ConnectionId],
        mut take: impl FnMut(usize, Option<TcpConnection>),
    ) -> Result<(), HostError> {
        let mut place = 0;
        for batch in ids.chunks(BATCH) {
            self.read_batch(batch, |at, reading| take(place + at, reading))
                .map_err(HostError::system("read TCP connections (sock_diag)"))?;
            place += batch.len();
        }
        Ok(())
    }

    fn list_family(&mut self, family: u8, take: &mut impl FnMut(TcpConnection)) -> io::Result<()> {
        let empty = if family == libc::AF_INET as u8 { SocketId::new_v4() } else { SocketId::new_v6() };
        let states = CONNECTED.into_iter().fold(StateFlags::empty(), |all, state| all | state);
        let extensions = ExtensionFlags::INFO | ExtensionFlags::SKMEMINFO | ExtensionFlags::CONG;
        let request =
            InetRequest { family, protocol: libc::IPPROTO_TCP as u8, extensions, states, socket_id: empty };
        self.sequence = self.sequence.wrapping_add(1);
        let mut message = Vec::new();
        append(&mut message, request, self.sequence, NLM_F_DUMP);
        self.socket.send(&message, 0)?;
        let number = self.sequence;
        loop {
            let (mut ended, mut failed) = (false, None);
            let came = self.receive(|sequence, payload| {
                if sequence != number {
                    return;
                }
                match payload {
                    Answer::Connection(response) => {
                        TcpConnection::of(*response).into_iter().for_each(&mut *take);
                    }
                    Answer::Ended => ended = true,
                    Answer::Failed(error) => failed = Some(error),
                }
            })?;
            match failed {
                // A kernel without IPv6 has no such connections.
                Some(error)
                    if error.raw_os_error() == Some(libc::ENOENT) && family == libc::AF_INET6 as u8 =>
                {
                    return Ok(());
                }
                Some(error) => return Err(error),
                None if ended => return Ok(()),
                None if !came => return Err(io::ErrorKind::UnexpectedEof.into()),
                None => {}
            }
        }
    }

    fn read_batch(
        &mut self,
        ids: &[&ConnectionId],
        mut take: impl FnMut(usize, Option<TcpConnection>),
    ) -> io::Result<()> {
        let first = self.sequence.wrapping_add(1);
        let mut message = Vec::new();
        for ConnectionId { family, id } in ids.iter().copied() {
            self.sequence = self.sequence.wrapping_add(1);
            let request = InetRequest {
                family: *family,
                protocol: libc::IPPROTO_TCP as u8,
                extensions: ExtensionFlags::INFO | ExtensionFlags::SKMEMINFO,
                states: StateFlags::empty(),
                socket_id: id.clone(),
            };
            append(&mut message, request, self.sequence, 0);
        }
        self.socket.send(&message, 0)?;
        let mut answers: Vec<Option<TcpConnection>> = ids.iter().map(|_| None).collect();
        // The kernel has put all answers into the socket before `send` returned.
        while self.receive(|sequence, payload| {
            let place = sequence.wrapping_sub(first) as usize;
            if let (Answer::Connection(response), Some(answer)) = (payload, answers.get_mut(place)) {
                *answer = TcpConnection::of(*response);
            }
        })? {}
        for (at, answer) in answers.into_iter().enumerate() {
            take(at, answer);
        }
        Ok(())
    }

    /// Receives the messages that have come at once; returns false if none has.
    fn receive(&mut self, mut take: impl FnMut(u32, Answer)) -> io::Result<bool> {
        let length = match self.socket.recv(&mut &mut self.buffer[..], libc::MSG_DONTWAIT) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
            Err(error) => return Err(error),
        };
        let mut rest = &self.buffer[..length.min(ROOM)];
        while !rest.is_empty() {
            let message = NetlinkMessage::<SockDiagMessage>::deserialize(rest).map_err(io::Error::other)?;
            let answer = match message.payload {
                NetlinkPayload::InnerMessage(SockDiagMessage::InetResponse(response)) => {
                    Some(Answer::Connection(response))
                }
                NetlinkPayload::Done(done) if done.code < 0 => {
                    Some(Answer::Failed(io::Error::from_raw_os_error(-done.code)))
                }
                NetlinkPayload::Done(_) => Some(Answer::Ended),
                NetlinkPayload::Error(error) => Some(Answer::Failed(error.to_io())),
                _ => None,
            };
            if let Some(answer) = answer {
                take(message.header.sequence_number, answer);
            }
            // Messages begin at multiples of four bytes.
            let next = (message.header.length as usize).next_multiple_of(4);
            rest = rest.get(next.max(4)..).unwrap_or_default();
        }
        Ok(true)
    }
}

/// An answer of the kernel.
enum Answer {
    /// A connection.
    Connection(Box<InetResponse>),
    /// The end of a list.
    Ended,
    /// A refusal.
    Failed(io::Error),
}

/// Appends a request to a message.
fn append(message: &mut Vec<u8>, request: InetRequest, sequence: u32, flags: u16) {
    let mut header = NetlinkHeader::default();
    header.flags = NLM_F_REQUEST | flags;
    header.sequence_number = sequence;
    let mut request = NetlinkMessage::new(header, SockDiagMessage::InetRequest(request).into());
    request.finalize();
    let start = message.len();
    message.resize(start + request.buffer_len(), 0);
    request.serialize(&mut message[start..]);
}

#[cfg(test)]
#[path = "../tests/within/sock_diag.rs"]
mod tests;

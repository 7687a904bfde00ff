//! [`Port`]: a UDP socket that sends batches and receives several datagrams by one call.

use crate::batch::Batch;
use host::options;
use live::LiveError;
use quinn_udp::{BATCH_SIZE, RecvMeta, Transmit, UdpSocketState};
use socket2::{Domain, Protocol, Socket, Type};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::os::fd::{AsFd, BorrowedFd};
use units::{Bytes, Span};

/// The room for datagrams in a socket's buffers, as far as the system grants it. By default it would be 208 kB, which
/// is 11 ms of 100 Mbit/s.
const BUFFER: Bytes = Bytes::new(8 << 20);
/// The time for which a full send buffer may hold a batch back.
const FULL_AT_MOST: Span = Span::from_millis(10);

/// The buffers for received datagrams, which all sockets of a thread share.
#[derive(Debug)]
pub(crate) struct Buffers {
    bytes: Vec<Vec<u8>>,
}

impl Buffers {
    pub(crate) fn new() -> Self {
        Self { bytes: vec![vec![0; 1 << 16]; BATCH_SIZE] }
    }
}

/// A UDP socket.
#[derive(Debug)]
pub(crate) struct Port {
    socket: Socket,
    state: UdpSocketState,
    address: SocketAddr,
    /// The calls that could not send, because the machine refused or the buffer stayed full.
    pub(crate) unsent: u64,
}

impl Port {
    /// Binds a socket at `address` in the calling thread's namespace.
    pub(crate) fn bind(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::DGRAM, Some(Protocol::UDP))?;
        socket.bind(&address.into())?;
        let state = UdpSocketState::new((&socket).into())?;
        let address = socket.local_addr()?.as_socket().unwrap_or(address);
        Ok(Self { socket, state, address, unsent: 0 })
    }

    /// Enlarges the buffers.
    pub(crate) fn enlarge(&self) -> Result<(), LiveError> {
        if options::force_receive_buffer(&self.socket, BUFFER)?.is_none() {
            options::set_receive_buffer(&self.socket, BUFFER)?;
        }
        options::raise_send_buffer(&self.socket, BUFFER)?;
        Ok(())
    }

    pub(crate) const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Receives by one call as many datagrams as have arrived, and hands them to `each` with their sender's address.
    /// Returns false if nothing has arrived.
    pub(crate) fn receive(
        &self,
        buffers: &mut Buffers,
        mut each: impl FnMut(SocketAddr, &[u8]) -> Result<(), LiveError>,
    ) -> Result<bool, LiveError> {
        let mut metas = [RecvMeta::default(); BATCH_SIZE];
        let received = {
            let mut slices: Vec<_> = buffers.bytes.iter_mut().map(|bytes| IoSliceMut::new(bytes)).collect();
            self.state.recv((&self.socket).into(), &mut slices, &mut metas)
        };
        // Errors are reports about datagrams sent earlier, or passing; the library's timers repair losses.
        let Ok(count) = received else { return Ok(false) };
        for (meta, bytes) in metas[..count].iter().zip(&buffers.bytes) {
            for datagram in bytes[..meta.len].chunks(meta.stride.max(1)) {
                each(meta.addr, datagram)?;
            }
        }
        Ok(count > 0)
    }

    /// Sends `batch`, by one call if the system can cut it.
    pub(crate) fn send(&mut self, batch: &Batch) {
        let together = if self.state.max_gso_segments() > 1 { usize::MAX } else { batch.segment };
        for contents in batch.bytes().chunks(together.max(1)) {
            let transmit = Transmit {
                destination: batch.to,
                // Without ECT the packets are never marked.
                ecn: None,
                contents,
                segment_size: (contents.len() > batch.segment).then_some(batch.segment),
                src_ip: None,
            };
            let send = || self.state.try_send((&self.socket).into(), &transmit);
            let sent = send().or_else(|error| {
                if error.kind() != io::ErrorKind::WouldBlock {
                    return Err(error);
                }
                let mut descriptors = [host::PollFd::new(&self.socket, host::PollFlags::OUT)];
                host::wait(&mut descriptors, Some(FULL_AT_MOST))?;
                send()
            });
            self.unsent += u64::from(sent.is_err());
        }
    }
}

impl AsFd for Port {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

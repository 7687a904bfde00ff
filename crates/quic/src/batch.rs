//! [`Batch`]: datagrams that leave together.

use crate::session::MOST_TOGETHER;
use std::net::SocketAddr;

/// The most bytes in a batch: the largest UDP payload over IPv4. One more is refused, and all are lost.
const MOST_BYTES: usize = 65_507;

/// Datagrams to one address that a host can send by one call. All have the same length, except for the last, which may
/// be shorter.
#[derive(Debug)]
pub struct Batch {
    /// The address of the peer.
    pub to: SocketAddr,
    /// The length of the first datagram.
    pub segment: usize,
    bytes: Vec<u8>,
    /// The most datagrams.
    most: usize,
    /// True if the batch is full, or a shorter datagram has ended it.
    is_closed: bool,
}

impl Batch {
    /// Makes an empty batch.
    #[must_use]
    pub fn new() -> Self {
        let to = SocketAddr::from(([0, 0, 0, 0], 0));
        Self { to, segment: 0, bytes: Vec::new(), most: MOST_TOGETHER, is_closed: false }
    }

    /// Empties the batch, which may then get `most` datagrams.
    pub(crate) fn clear(&mut self, most: usize) {
        self.bytes.clear();
        self.most = most.clamp(1, MOST_TOGETHER);
        self.is_closed = false;
    }

    /// Adds a datagram, after which `full` bytes more must fit if another one is to follow.
    pub(crate) fn add(&mut self, to: SocketAddr, datagram: &[u8], full: usize) {
        if self.bytes.is_empty() {
            (self.to, self.segment) = (to, datagram.len());
        }
        self.bytes.extend_from_slice(datagram);
        let next = self.bytes.len().saturating_add(full);
        self.is_closed =
            datagram.len() < full || next > MOST_BYTES || self.bytes.len() >= self.segment * self.most;
    }

    pub(crate) const fn is_closed(&self) -> bool {
        self.is_closed
    }

    /// Returns true if nothing is to be sent.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    /// Returns the bytes of all datagrams, one behind the other.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// Returns the datagrams.
    pub fn datagrams(&self) -> impl Iterator<Item = &[u8]> {
        self.bytes.chunks(self.segment.max(1))
    }
}

impl Default for Batch {
    fn default() -> Self {
        Self::new()
    }
}

//! [`PendingConnections`]: the connections that have not yet proved that they hold the ticket.
//!
//! Their number is limited, in all and per address. A newcomer is never refused. If there is not enough room for it,
//! one of the present connections is closed (random early drop, as `MaxStartups` of sshd). That connection is from the
//! address with the most connections. It is the oldest that has sent nothing, or a random one if all have sent
//! something. So connections that only wait never displace a sender that proves itself, and connections that send bytes
//! rarely do.

use crate::keys::fill_random;
use rustix::net::{RecvFlags, recv};
use std::net::{IpAddr, Ipv6Addr, Shutdown, SocketAddr, TcpStream};
use std::sync::Arc;
use units::{Span, Time};

/// The greatest number of connections in all.
pub(super) const ROOM: usize = 64;
/// The greatest number of connections of one address.
pub(super) const SHARE: usize = 16;
/// The time for a connection's first bytes; a sender's follow its connection at once.
pub(super) const FIRST_BYTE: Span = Span::from_secs(3);
/// The time for the whole proof; a handshake takes two round trips.
pub(super) const PATIENCE: Span = Span::from_secs(10);

/// A connection whose proof is awaited.
#[derive(Clone, Debug)]
pub(super) struct PendingConnection {
    pub(super) number: u64,
    pub(super) peer: SocketAddr,
    pub(super) since: Time,
    pub(super) socket: Arc<TcpStream>,
    /// True if it has sent something, so that a thread reads it.
    speaks: bool,
}

/// All connections whose proof is awaited.
#[derive(Debug, Default)]
pub(super) struct PendingConnections(Vec<PendingConnection>);

/// Changes of connections that had sent nothing.
#[derive(Debug, Default)]
pub(super) struct Changes {
    /// Connections that have sent something.
    pub(super) speaking: Vec<PendingConnection>,
    /// Connections that have left, or waited too long, and are closed.
    pub(super) closed: Vec<(SocketAddr, &'static str)>,
}

impl PendingConnections {
    /// Adds a newcomer. Returns the address of the connection that was closed for it, if one had to be.
    pub(super) fn admit(
        &mut self,
        number: u64,
        socket: Arc<TcpStream>,
        peer: SocketAddr,
        now: Time,
    ) -> Option<SocketAddr> {
        let all = &mut self.0;
        let newcomer = origin(peer.ip());
        let victim = if count(all, newcomer) >= SHARE {
            Some(choose(all, &[newcomer]))
        } else if all.len() >= ROOM {
            let most = all.iter().map(|one| count(all, origin(one.peer.ip()))).max().unwrap_or(0);
            let mut crowded: Vec<IpAddr> = all.iter().map(|one| origin(one.peer.ip())).collect();
            crowded.retain(|&address| count(all, address) == most);
            Some(choose(all, &crowded))
        } else {
            None
        };
        let closed = victim.map(|at| close(all, at));
        all.push(PendingConnection { number, peer, since: now, socket, speaks: false });
        closed
    }

    /// Closes a connection to free a file descriptor, and returns its address; `None` without connections.
    pub(super) fn give_way(&mut self) -> Option<SocketAddr> {
        let all = &mut self.0;
        if all.is_empty() {
            return None;
        }
        let everyone: Vec<IpAddr> = all.iter().map(|one| origin(one.peer.ip())).collect();
        let at = choose(all, &everyone);
        Some(close(all, at))
    }

    /// Returns the sockets that have sent nothing.
    pub(super) fn silent(&self) -> Vec<Arc<TcpStream>> {
        self.0.iter().filter(|one| !one.speaks).map(|one| Arc::clone(&one.socket)).collect()
    }

    /// Finds changes of the connections that had sent nothing.
    pub(super) fn changes(&mut self, now: Time) -> Changes {
        let mut changes = Changes::default();
        self.0.retain_mut(|one| {
            if one.speaks {
                return true;
            }
            match greeting_progress(&one.socket) {
                GreetingProgress::Bytes => {
                    one.speaks = true;
                    changes.speaking.push(one.clone());
                    return true;
                }
                GreetingProgress::End => changes.closed.push((one.peer, "it left without a message")),
                GreetingProgress::Nothing if now.since(one.since) >= FIRST_BYTE => {
                    changes.closed.push((one.peer, "it said nothing"));
                }
                GreetingProgress::Nothing => return true,
            }
            // Dropping the socket here would not close it, because the listener's thread is not the only one that holds
            // it.
            let _ = one.socket.shutdown(Shutdown::Both);
            false
        });
        changes
    }

    /// Removes connection `number`, whose proof has succeeded or failed. Returns false if it was closed before, to make
    /// room.
    pub(super) fn leave(&mut self, number: u64) -> bool {
        let all = &mut self.0;
        let before = all.len();
        all.retain(|one| one.number != number);
        all.len() < before
    }

    /// Closes all connections.
    pub(super) fn close(&mut self) {
        for one in self.0.drain(..) {
            let _ = one.socket.shutdown(Shutdown::Both);
        }
    }

    /// Returns the time at which the next connection that has sent nothing is closed.
    pub(super) fn due(&self) -> Time {
        let silent = self.0.iter().filter(|one| !one.speaks).map(|one| one.since + FIRST_BYTE);
        silent.min().unwrap_or(Time::NEVER)
    }
}

/// Returns the addresses that count as one, because one person may have them: an IPv4 address, or the /64 of an IPv6
/// one.
fn origin(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(six) => Ipv6Addr::from_bits(six.to_bits() & !u128::from(u64::MAX)).into(),
        four @ IpAddr::V4(_) => four,
    }
}

fn count(all: &[PendingConnection], address: IpAddr) -> usize {
    all.iter().filter(|one| origin(one.peer.ip()) == address).count()
}

/// Chooses the connection of these addresses to close: the oldest that has sent nothing, or a random one.
fn choose(all: &[PendingConnection], addresses: &[IpAddr]) -> usize {
    let of_these = || (0..all.len()).filter(|&at| addresses.contains(&origin(all[at].peer.ip())));
    // The oldest come first.
    let silent = of_these()
        .find(|&at| !all[at].speaks && greeting_progress(&all[at].socket) != GreetingProgress::Bytes);
    silent.unwrap_or_else(|| {
        let mut random = [0; 8];
        fill_random(&mut random);
        let at = u64::from_le_bytes(random) % of_these().count().max(1) as u64;
        of_these().nth(at as usize).unwrap_or(0)
    })
}

fn close(all: &mut Vec<PendingConnection>, at: usize) -> SocketAddr {
    let one = all.remove(at);
    let _ = one.socket.shutdown(Shutdown::Both);
    one.peer
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum GreetingProgress {
    Nothing,
    Bytes,
    End,
}

/// Checks whether something has come, without taking it.
fn greeting_progress(socket: &TcpStream) -> GreetingProgress {
    match recv(socket, &mut [0u8; 1], RecvFlags::PEEK | RecvFlags::DONTWAIT) {
        Ok((0, _)) => GreetingProgress::End,
        Ok(_) => GreetingProgress::Bytes,
        Err(rustix::io::Errno::AGAIN | rustix::io::Errno::INTR) => GreetingProgress::Nothing,
        Err(_) => GreetingProgress::End,
    }
}

#[cfg(test)]
#[path = "../../../tests/within/unproved.rs"]
mod tests;

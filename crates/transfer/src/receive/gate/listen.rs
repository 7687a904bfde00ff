//! Where a receiver listens, and which addresses its ticket names.

use crate::error::TransferError;
use nix::net::if_::InterfaceFlags;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// Connections that the kernel holds until they are accepted; it takes `net.core.somaxconn` if that is less.
const BACKLOG: i32 = 1024;

/// Listens where `asked`, or on every address and any free port.
pub(in crate::receive) fn listen(asked: Option<SocketAddr>) -> Result<TcpListener, TransferError> {
    let listener = match asked {
        Some(address) => bind(address).map_err(|error| (address, error)),
        None => {
            let four = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
            // IPv6 takes IPv4 in as well, where there is IPv6.
            bind(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0))
                .or_else(|_| bind(four))
                .map_err(|error| (four, error))
        }
    };
    let listener = listener.map_err(|(address, source)| live::LiveError::Listen { address, source })?;
    listener.set_nonblocking(true).map_err(TransferError::system("make a socket non-blocking"))?;
    Ok(listener)
}

fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // The port of an interrupted session must not wait for its last connection's end.
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// This machine's addresses, for a ticket: IPv4 first, loopback only if there is no other.
pub(in crate::receive) fn own_addresses() -> Vec<IpAddr> {
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let up = interfaces.filter(|interface| {
        let flags = interface.flags;
        flags.contains(InterfaceFlags::IFF_UP) && !flags.contains(InterfaceFlags::IFF_LOOPBACK)
    });
    let mut addresses: Vec<IpAddr> = up
        .filter_map(|interface| {
            let address = interface.address?;
            let four = address.as_sockaddr_in().map(|four| IpAddr::V4(four.ip()));
            four.or_else(|| {
                // Link-local ones mean nothing without an interface's name.
                let six = address.as_sockaddr_in6()?.ip();
                (!six.is_unicast_link_local()).then_some(IpAddr::V6(six))
            })
        })
        .collect();
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses.dedup();
    addresses.truncate(4);
    if addresses.is_empty() {
        addresses.push(Ipv4Addr::LOCALHOST.into());
    }
    addresses
}

//! The address that a receiver listens on, and the addresses in its ticket.

use crate::error::TransferError;
use nix::net::if_::InterfaceFlags;
use socket2::{Domain, Protocol, Socket, Type};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener};

/// The number of connections that the kernel holds until they are accepted; it takes `net.core.somaxconn` if that is
/// less.
const BACKLOG: i32 = 1024;

/// Listens at `asked`, or on every address and any free port.
pub(in crate::receive) fn bind(asked: Option<SocketAddr>) -> Result<TcpListener, TransferError> {
    let listener = match asked {
        Some(address) => bind_to(address).map_err(|error| (address, error)),
        None => {
            let four = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 0);
            // A socket of IPv6, where that exists, accepts IPv4 connections as well.
            bind_to(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), 0))
                .or_else(|_| bind_to(four))
                .map_err(|error| (four, error))
        }
    };
    let listener = listener.map_err(|(address, source)| live::LiveError::Listen { address, source })?;
    listener.set_nonblocking(true).map_err(TransferError::system("make a socket non-blocking"))?;
    Ok(listener)
}

fn bind_to(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // The port of an interrupted session can be bound although its last connection has not ended.
    socket.set_reuse_address(true)?;
    if address.ip() == IpAddr::V6(Ipv6Addr::UNSPECIFIED) {
        // The ticket names IPv4 addresses, too, whatever `net.ipv6.bindv6only` demands.
        socket.set_only_v6(false)?;
    }
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}

/// Returns this machine's addresses for a ticket, IPv4 first. Addresses of bridges to containers and virtual machines
/// count only if there are no others, and loopback only if there are none at all.
pub(in crate::receive) fn own_addresses() -> Vec<IpAddr> {
    let interfaces = nix::ifaddrs::getifaddrs().into_iter().flatten();
    let up = interfaces.filter(|interface| {
        let flags = interface.flags;
        flags.contains(InterfaceFlags::IFF_UP) && !flags.contains(InterfaceFlags::IFF_LOOPBACK)
    });
    let addresses = up.filter_map(|interface| {
        let address = interface.address?;
        let four = address.as_sockaddr_in().map(|four| IpAddr::V4(four.ip()));
        let address = four.or_else(|| {
            // Link-local addresses are useless without an interface's name.
            let six = address.as_sockaddr_in6()?.ip();
            (!six.is_unicast_link_local()).then_some(IpAddr::V6(six))
        });
        Some((interface.interface_name, address?))
    });
    chosen(addresses.collect())
}

/// Chooses the addresses that other machines may reach, out of all addresses with their interfaces' names.
fn chosen(all: Vec<(String, IpAddr)>) -> Vec<IpAddr> {
    let outer: Vec<IpAddr> = all.iter().filter(|(name, _)| !is_inner(name)).map(|&(_, ip)| ip).collect();
    let mut addresses =
        if outer.is_empty() { all.into_iter().map(|(_, address)| address).collect() } else { outer };
    addresses.sort_by_key(IpAddr::is_ipv6);
    addresses.dedup();
    addresses.truncate(4);
    if addresses.is_empty() {
        addresses.push(Ipv4Addr::LOCALHOST.into());
    }
    addresses
}

/// Returns true if an interface leads to containers or virtual machines on this machine.
fn is_inner(name: &str) -> bool {
    const INNER: [&str; 9] =
        ["docker", "veth", "virbr", "lxcbr", "lxdbr", "cni", "podman", "flannel", "cali"];
    let bridge = name.strip_prefix("br-");
    INNER.iter().any(|prefix| name.starts_with(prefix))
        || bridge.is_some_and(|id| !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addresses(of: &[(&str, &str)]) -> Vec<String> {
        let all = of.iter().map(|&(name, address)| (name.to_owned(), address.parse().unwrap()));
        chosen(all.collect()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn addresses_of_bridges_to_containers_are_left_out_while_there_are_others() {
        let bridges =
            [("docker0", "172.17.0.1"), ("br-0a1b2c3d4e5f", "172.18.0.1"), ("virbr0", "192.168.122.1")];
        let own = [("eth0", "2001:db8::7"), ("br-lan", "192.0.2.8"), ("eth0", "192.0.2.7")];
        assert_eq!(addresses(&[&bridges[..], &own].concat()), ["192.0.2.8", "192.0.2.7", "2001:db8::7"]);
        assert_eq!(addresses(&bridges), ["172.17.0.1", "172.18.0.1", "192.168.122.1"]);
        assert_eq!(addresses(&[]), ["127.0.0.1"]);
    }
}

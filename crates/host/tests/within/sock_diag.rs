//! Tests of readings by netlink, against the sockets' own `TCP_INFO`.

use super::*;
use std::io::Write;
use std::net::{TcpListener, TcpStream};

fn pair(listener: &TcpListener, to: SocketAddr) -> [TcpStream; 2] {
    let stream = TcpStream::connect(to).expect("it listens");
    [stream, listener.accept().expect("a connection").0]
}

fn listed(diag: &mut SockDiag, local: SocketAddr, peer: SocketAddr) -> Option<TcpConnection> {
    let mut found = None;
    let is_it = |connection: &TcpConnection| (connection.local, connection.peer) == (local, peer);
    diag.list(|connection| found = Some(connection).filter(is_it).or(found.take())).expect("sock_diag");
    found
}

#[test]
fn a_connection_is_listed_as_its_socket_says_in_both_families() {
    let mut diag = SockDiag::open().expect("netlink");
    let listener = TcpListener::bind("[::]:0").expect("IPv6");
    let port = listener.local_addr().expect("bound").port();
    for host in ["127.0.0.1", "::1"] {
        let [mut here, there] = pair(&listener, SocketAddr::new(host.parse().expect("an address"), port));
        here.write_all(&[0; 5000]).expect("room");
        let (local, peer) = (here.local_addr().expect("bound"), here.peer_addr().expect("connected"));
        let found = listed(&mut diag, local, peer).expect("it is listed");
        let own = TcpInfo::of(&here).expect("a TCP socket");
        assert_eq!(found.info.bytes_sent, Some(Bytes::new(5000)));
        assert_eq!((found.info.snd_mss, found.info.options), (own.snd_mss, own.options));
        assert!(found.control.is_some_and(|name| crate::options::available_controls().contains(&name)));
        // The accepted end of an IPv4 connection has a mapped address here, which is shown plainly.
        let other = listed(&mut diag, peer, local).expect("the other end");
        assert_eq!(other.unread, Bytes::new(5000));
        assert_eq!(other.inode, inode(&there));
        let memory = other.memory.expect("the kernel reports it");
        assert!(memory.received >= Bytes::new(5000) && memory.receive_buffer > memory.received);
    }
}

#[test]
fn single_connections_are_read_in_order_and_one_that_ended_is_none() {
    let mut diag = SockDiag::open().expect("netlink");
    let listener = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let to = listener.local_addr().expect("bound");
    // More than one batch.
    let mut pairs: Vec<[TcpStream; 2]> = (0..40).map(|_| pair(&listener, to)).collect();
    let ids: Vec<ConnectionId> = pairs
        .iter()
        .map(|[here, _]| listed(&mut diag, here.local_addr().expect("bound"), to).expect("listed").id)
        .collect();
    let closed = pairs.remove(7);
    for stream in &closed {
        socket2::SockRef::from(stream).set_linger(Some(std::time::Duration::ZERO)).expect("an option");
    }
    drop(closed);
    let mut read = Vec::new();
    let ids: Vec<&ConnectionId> = ids.iter().collect();
    diag.read(&ids, |place, reading| read.push((place, reading))).expect("sock_diag");
    assert!(read.iter().enumerate().all(|(at, (place, _))| at == *place) && read.len() == 40);
    assert!(read[7].1.is_none(), "it was reset");
    read.remove(7);
    for ([here, _], (_, reading)) in pairs.iter().zip(read) {
        let reading = reading.expect("it stands");
        assert_eq!(reading.local, here.local_addr().expect("bound"));
        assert_eq!(reading.inode, inode(here));
    }
}

fn inode(stream: &TcpStream) -> u64 {
    rustix::fs::fstat(stream).expect("open").st_ino
}

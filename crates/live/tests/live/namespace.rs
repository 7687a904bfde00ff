//! A network namespace of the test's own: anonymous, gone when its threads and sockets are.

use nix::sched::{CloneFlags, unshare};
use socket2::{Domain, Socket, Type};

/// Moves this thread into a fresh network namespace with its loopback up. Threads it starts follow.
///
/// # Panics
/// Without the privilege to make one, with an explanation.
pub fn enter() {
    unshare(CloneFlags::CLONE_NEWNET).unwrap_or_else(|error| {
        panic!("these tests need a network namespace of their own: run them as root, or under unshare -rn ({error})")
    });
    raise_loopback();
}

/// Sends rtnetlink RTM_NEWLINK for interface 1 with IFF_UP.
fn raise_loopback() {
    const RTM_NEWLINK: u16 = 16;
    const NLM_F_REQUEST: u16 = 1;
    const IFF_UP: u32 = 1;
    let mut message = Vec::new();
    // struct nlmsghdr: length, type, flags, sequence, port.
    message.extend(32u32.to_ne_bytes());
    message.extend(RTM_NEWLINK.to_ne_bytes());
    message.extend(NLM_F_REQUEST.to_ne_bytes());
    message.extend([0; 8]);
    // struct ifinfomsg: family, pad, type, index, flags, change mask.
    message.extend([0; 4]);
    message.extend(1i32.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    message.extend(IFF_UP.to_ne_bytes());
    let socket = Socket::new(Domain::from(libc::AF_NETLINK), Type::RAW, None).expect("a netlink socket");
    socket.send(&message).expect("the loopback comes up");
}

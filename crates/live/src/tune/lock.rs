//! [`ConnectionLock`]: the right of one tuner to a connection.
//!
//! Two tuners of one connection would each take the other's limit for the program's own. The one that ends last would
//! restore that limit. So a tuner first binds an abstract Unix address that contains the inode of the connection's
//! socket, in the network namespace of the program. The kernel releases the address when the tuner ends, for whatever
//! reason.

use crate::process::{Descriptor, Process};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};
use std::fs::{File, read_link};
use std::io;
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::net::{SocketAddr, UnixDatagram};
use std::thread;

/// The right to a connection: no other tuner takes it meanwhile.
#[derive(Debug)]
pub(super) struct ConnectionLock {
    _address: UnixDatagram,
}

impl ConnectionLock {
    /// Claims the connection; `None` if another tuner has it.
    pub(super) fn of(process: &Process, descriptor: Descriptor) -> io::Result<Option<Self>> {
        let claimed = bound(process, descriptor.inode).or_else(|error| {
            if error.raw_os_error() != Some(libc::EMFILE) {
                return Err(error);
            }
            more_descriptors()?;
            bound(process, descriptor.inode)
        });
        match claimed {
            Ok(address) => Ok(Some(Self { _address: address })),
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => Ok(None),
            Err(error) => Err(error),
        }
    }
}

/// Binds the address of the connection, which is the same for all tuners.
fn bound(process: &Process, inode: u64) -> io::Result<UnixDatagram> {
    let bind =
        || UnixDatagram::bind_addr(&SocketAddr::from_abstract_name(format!("tightlink-tune-{inode}"))?);
    let theirs = format!("/proc/{}/ns/net", process.id());
    if read_link(&theirs).ok() == read_link("/proc/thread-self/ns/net").ok() {
        return bind();
    }
    // Without the right to open the other namespace, the address is bound in this one, where tuners inside the other do
    // not see it.
    let Ok(namespace) = File::open(&theirs) else { return bind() };
    let inside = || {
        let _ = move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network));
        bind()
    };
    thread::scope(|scope| {
        let thread = thread::Builder::new().name("claim".into()).spawn_scoped(scope, inside)?;
        thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Raises the limit of open descriptors as far as that is allowed, because each claim takes one.
fn more_descriptors() -> io::Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Nofile);
    Ok(setrlimit(Resource::Nofile, Rlimit { current: maximum, maximum })?)
}

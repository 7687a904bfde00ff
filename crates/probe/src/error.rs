//! [`ProbeError`]: why a path cannot be probed.

use host::HostError;
use std::io;
use std::net::SocketAddr;
use thiserror::Error;

/// Why a path cannot be probed. What happens to datagrams on their way is no error.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// A socket for probes could not be made.
    #[error(
        "cannot probe at {address}: {source}; the address must be reachable from this network namespace, and UDP allowed"
    )]
    Socket {
        /// The other side's address, or our own.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// The machine refused something else.
    #[error(transparent)]
    Host(#[from] HostError),
}

//! [`ProbeError`]: why a path cannot be probed.

use host::HostError;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use thiserror::Error;
use units::Complaint;

/// Why a path cannot be probed. What happens to datagrams on their way is no error.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// A socket for probes could not be made.
    Socket {
        /// The other side's address, or our own.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// The machine refused something else.
    Host(#[from] HostError),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl ProbeError {
    /// The place, what was found, what is accepted, and what to do.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        match self {
            Self::Socket { address, source } => {
                Complaint::new("", format!("cannot probe at {address}: {source}"))
                    .accepted("an address that this network namespace reaches, where UDP is allowed")
            }
            Self::Host(error) => error.complaint(),
        }
    }
}

//! [`ProbeError`]: the reasons why a path cannot be probed.

use host::HostError;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use thiserror::Error;
use units::Complaint;

/// The reason why a path cannot be probed. The loss of datagrams on their way is not an error.
#[derive(Debug, Error)]
pub enum ProbeError {
    /// A socket for probes could not be made.
    Socket {
        /// The other side's address, or our own.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// Another request that the machine refused.
    Host(#[from] HostError),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl ProbeError {
    /// Returns the place, the value found, the values accepted, and the remedy.
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

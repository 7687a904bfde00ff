//! [`LiveError`]: the reasons why kernel sockets could not be set up, or broke.

use host::HostError;
use probe::ProbeError;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use thiserror::Error;
use units::{Bytes, Complaint, Span};

/// The reason why a transfer could not be set up, or broke.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// A session whose settings contradict one another; nothing was started.
    Config(Complaint),
    /// The port has a listener already.
    PortInUse {
        /// The requested address.
        address: SocketAddr,
        /// The process that holds the port, as far as it can be seen: "process 4711 (nginx)".
        holder: String,
    },
    /// Listening failed for another reason.
    Listen {
        /// The requested address.
        address: SocketAddr,
        /// The kernel's error.
        source: io::Error,
    },
    /// A flow could not connect.
    Connect {
        /// The flow's name.
        flow: String,
        /// The address of the receiver.
        server: SocketAddr,
        /// The cause.
        reason: String,
    },
    /// A connected flow made no progress for too long.
    Stalled {
        /// The flow's name.
        flow: String,
        /// The time without progress.
        idle: Span,
        /// Payload moved before that.
        moved: Bytes,
    },
    /// The other side or the kernel reset a connection.
    Broken {
        /// The flow's name.
        flow: String,
        /// Payload moved before that.
        moved: Bytes,
        /// The kernel's error.
        source: io::Error,
    },
    /// An error of the probes: the path cannot be probed.
    Probe(#[from] ProbeError),
    /// A request that the machine refused.
    Host(#[from] HostError),
}

impl fmt::Display for LiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl LiveError {
    /// Returns the place, the value found, the values accepted, and the remedy.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        let found = |text: String| Complaint::new("", text);
        match self {
            Self::Config(complaint) => complaint.clone(),
            Self::PortInUse { address, holder } => {
                found(format!("cannot listen on {address}: the port is in use by {holder}"))
                    .help("end that program, or choose another port (port 0 takes any free one)")
            }
            Self::Listen { address, source } => found(format!("cannot listen on {address}: {source}"))
                .accepted("an address of this network namespace; a port below 1024 needs privilege"),
            Self::Connect { flow, server, reason } => {
                found(format!("flow {flow:?} cannot connect to {server}: {reason}"))
                    .help("is the receiver running there, and is there a route?")
            }
            Self::Stalled { flow, idle, moved } => {
                found(format!("flow {flow:?} moved nothing for {} after {}", idle.rounded(), moved.rounded()))
                    .help("is the path still up, and is its queue longer than one segment?")
            }
            Self::Broken { flow, moved, source } => {
                found(format!("flow {flow:?} broke after {}: {source}", moved.rounded()))
            }
            Self::Probe(error) => error.complaint(),
            Self::Host(error) => error.complaint(),
        }
    }

    /// Returns a closure for `map_err`, which reports that a system call failed while `doing`.
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| HostError::system(doing)(source).into()
    }
}

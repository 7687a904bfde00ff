//! [`LiveError`]: why kernel sockets could not be set up, or broke.

use host::HostError;
use probe::ProbeError;
use std::fmt;
use std::io;
use std::net::SocketAddr;
use thiserror::Error;
use units::{Bytes, Complaint, Span};

/// Why a transfer could not be set up, or broke.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// A session that makes no sense; nothing was started.
    Config(Complaint),
    /// Someone listens on the port already.
    PortInUse {
        /// The address asked for.
        address: SocketAddr,
        /// Who holds it, as far as can be seen: "process 4711 (nginx)".
        holder: String,
    },
    /// Listening failed for another reason.
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// A flow could not connect.
    Connect {
        /// The flow's name.
        flow: String,
        /// Where to.
        server: SocketAddr,
        /// What went wrong.
        reason: String,
    },
    /// A connected flow stands still.
    Stalled {
        /// The flow's name.
        flow: String,
        /// For how long nothing moved.
        idle: Span,
        /// Payload moved before that.
        moved: Bytes,
    },
    /// A connection was cut from the other side or by the kernel.
    Broken {
        /// The flow's name.
        flow: String,
        /// Payload moved before that.
        moved: Bytes,
        /// What the kernel said.
        source: io::Error,
    },
    /// The path cannot be probed.
    Probe(#[from] ProbeError),
    /// The machine refused something.
    Host(#[from] HostError),
}

impl fmt::Display for LiveError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl LiveError {
    /// The place, what was found, what is accepted, and what to do.
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

    /// For `map_err`: a system call failed while `doing`.
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| HostError::system(doing)(source).into()
    }
}

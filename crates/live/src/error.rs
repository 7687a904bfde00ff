//! [`LiveError`]: why kernel sockets could not be set up, or broke; each message says what to do.

use host::HostError;
use probe::ProbeError;
use std::io;
use std::net::SocketAddr;
use thiserror::Error;
use units::{Bytes, Span};

/// Why a transfer could not be set up, or broke.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum LiveError {
    /// A session that makes no sense; nothing was started.
    #[error("session: {0}")]
    Config(String),
    /// Someone listens on the port already.
    #[error(
        "cannot listen on {address}: the port is in use by {holder}; end that program, or choose another port (port 0 takes any free one)"
    )]
    PortInUse {
        /// The address asked for.
        address: SocketAddr,
        /// Who holds it, as far as can be seen: "process 4711 (nginx)".
        holder: String,
    },
    /// Listening failed for another reason.
    #[error(
        "cannot listen on {address}: {source}; the address must belong to this network namespace, and ports below 1024 need privilege"
    )]
    Listen {
        /// The address asked for.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// A flow could not connect.
    #[error(
        "flow {flow:?} cannot connect to {server}: {reason}; is the receiver running there, and is there a route?"
    )]
    Connect {
        /// The flow's name.
        flow: String,
        /// Where to.
        server: SocketAddr,
        /// What went wrong.
        reason: String,
    },
    /// A connected flow stands still.
    #[error(
        "flow {flow:?} moved nothing for {idle} after {moved}; is the path still up, and is its queue longer than one segment?"
    )]
    Stalled {
        /// The flow's name.
        flow: String,
        /// For how long nothing moved.
        idle: Span,
        /// Payload moved before that.
        moved: Bytes,
    },
    /// A connection was cut from the other side or by the kernel.
    #[error("flow {flow:?} broke after {moved}: {source}")]
    Broken {
        /// The flow's name.
        flow: String,
        /// Payload moved before that.
        moved: Bytes,
        /// What the kernel said.
        source: io::Error,
    },
    /// The path cannot be probed.
    #[error(transparent)]
    Probe(#[from] ProbeError),
    /// The machine refused something.
    #[error(transparent)]
    Host(#[from] HostError),
}

impl LiveError {
    /// For `map_err`: a system call failed while `doing`.
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| HostError::system(doing)(source).into()
    }
}

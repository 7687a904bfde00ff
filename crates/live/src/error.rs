//! [`LiveError`]: what can go wrong with a real transfer, each with the words that help to mend it.

use std::io;
use std::net::SocketAddr;
use std::path::PathBuf;
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
    /// The kernel does not know, or does not grant, a congestion control.
    #[error("congestion control {control:?} cannot be used ({source}); available here: {available}")]
    Control {
        /// The name asked for.
        control: String,
        /// The names in `/proc/sys/net/ipv4/tcp_available_congestion_control`, separated by blanks.
        available: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A socket option was refused.
    #[error("cannot set {option} to {value}: {source}")]
    Option {
        /// The option's name: `TCP_WINDOW_CLAMP`.
        option: &'static str,
        /// The value asked for.
        value: String,
        /// What the kernel said.
        source: io::Error,
    },
    /// A setting of the namespace could not be written, or did not stick.
    #[error("cannot set {} to {value:?}: {reason}; {mend}", path.display())]
    Setting {
        /// The file under `/proc/sys`.
        path: PathBuf,
        /// The value asked for.
        value: String,
        /// What went wrong.
        reason: String,
        /// How to mend it.
        mend: &'static str,
    },
    /// A stack profile was asked for in the machine's own namespace.
    #[error(
        "refusing to change the TCP settings of the machine itself; call from a thread inside a network namespace of its own (unshare -n)"
    )]
    OwnNamespace,
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
    /// A socket for probes could not be made.
    #[error(
        "cannot probe at {address}: {source}; the address must be reachable from this network namespace, and UDP allowed"
    )]
    Probe {
        /// The other side's address, or our own.
        address: SocketAddr,
        /// What the kernel said.
        source: io::Error,
    },
    /// A system call failed that should not.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried: "read TCP_INFO".
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl LiveError {
    /// For `map_err`: a system call failed while `doing`.
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }

    /// For `map_err`: the kernel refused `value` for `option`.
    pub(crate) fn option(option: &'static str, value: impl ToString) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Option { option, value: value.to_string(), source }
    }
}

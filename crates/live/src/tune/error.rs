//! [`TuneError`]: why a program's connections cannot be tuned, and what to do.

use std::io;
use thiserror::Error;
use units::Foreign;

/// Why tuning could not begin, or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TuneError {
    /// There is no such process.
    #[error("no process has the id {pid}; `pgrep NAME` or `ss -tnp` tells which there are")]
    NoProcess {
        /// The id asked for.
        pid: u32,
    },
    /// No sizer has the name.
    #[error("no sizer is called {name:?}; write a size such as 400kB, or one of `tightlink list sizers`")]
    UnknownSizer {
        /// The name asked for.
        name: String,
    },
    /// The process has no TCP socket.
    #[error(
        "process {pid} ({}) has no TCP socket, nor has a program it started; is it the right process, and does it listen already?",
        Foreign::new(.name)
    )]
    NoSocket {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// None of its sockets has the port.
    #[error(
        "process {pid} ({}) has no TCP socket with port {port} at either end; the ports of its sockets are {ports}",
        Foreign::new(.name)
    )]
    NoPort {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
        /// The port asked for.
        port: u16,
        /// The ports there are, separated by commas.
        ports: String,
    },
    /// The kernel does not let us at the process's sockets.
    #[error("process {pid} ({}) may not be tuned ({source}); {help}", Foreign::new(.name))]
    NotPermitted {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
        /// What the kernel said.
        source: io::Error,
        /// What to do.
        help: String,
    },
    /// A system call failed that should not.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl TuneError {
    /// Whether something else should have been asked for, rather than the machine be changed.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NoProcess { .. } | Self::UnknownSizer { .. } | Self::NoSocket { .. } | Self::NoPort { .. }
        )
    }
}

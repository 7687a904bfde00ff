//! [`TuneError`]: why a program's connections cannot be tuned, and what to do.

use std::fmt;
use std::io;
use thiserror::Error;
use units::{Complaint, Foreign};

/// Why tuning could not begin, or go on.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TuneError {
    /// There is no such process.
    NoProcess {
        /// The id asked for.
        pid: u32,
    },
    /// No sizer has the name.
    UnknownSizer {
        /// The name asked for.
        name: String,
    },
    /// The process has no TCP socket.
    NoSocket {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// None of its sockets has the port.
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
    System {
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl fmt::Display for TuneError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl TuneError {
    /// The place, what was found, what is accepted, and what to do.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        let found = |text: String| Complaint::new("", text);
        match self {
            Self::NoProcess { pid } => found(format!("no process has the id {pid}"))
                .help("`pgrep NAME` or `ss -tnp` lists the processes"),
            Self::UnknownSizer { name } => found(format!("no sizer is called {name:?}"))
                .accepted("a size such as 400kB, or one of `tightlink list sizers`"),
            Self::NoSocket { pid, name } => found(format!(
                "process {pid} ({}) has no TCP socket, nor has a program it started",
                Foreign::new(name)
            ))
            .help("check the number, and whether the process listens already"),
            Self::NoPort { pid, name, port, ports } => found(format!(
                "process {pid} ({}) has no TCP socket with port {port} at either end",
                Foreign::new(name)
            ))
            .accepted(ports),
            Self::NotPermitted { pid, name, source, help } => {
                found(format!("process {pid} ({}) may not be tuned: {source}", Foreign::new(name))).help(help)
            }
            Self::System { doing, source } => found(format!("cannot {doing}: {source}")),
        }
    }

    /// Whether something else should have been asked for, rather than the machine be changed.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::NoProcess { .. } | Self::UnknownSizer { .. } | Self::NoSocket { .. } | Self::NoPort { .. }
        )
    }
}

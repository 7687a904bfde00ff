//! [`TuneError`]: the reasons why a program's connections cannot be tuned, and the remedies.

use crate::process::ProcessError;
use std::fmt;
use std::fs;
use thiserror::Error;
use units::{Complaint, Foreign};

/// The reason why tuning could not begin, or continue.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TuneError {
    /// The process does not exist, or its sockets cannot be reached.
    Process(#[from] ProcessError),
    /// No sizer has the name.
    UnknownSizer {
        /// The requested name.
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
        /// The requested port.
        port: u16,
        /// The ports of its sockets, separated by commas.
        ports: String,
    },
}

/// Returns the way to get the right to another process's sockets.
fn right() -> String {
    let scope = fs::read_to_string("/proc/sys/kernel/yama/ptrace_scope").unwrap_or_default();
    match scope.trim() {
        "1" | "2" => "run as root (kernel.yama.ptrace_scope keeps others out), or let tightlink start the program: tightlink tune -- CMD".into(),
        "3" => "kernel.yama.ptrace_scope = 3 forbids it to every user until the machine restarts".into(),
        _ => "run as root, or as the user who runs the program; in a container: --cap-add SYS_PTRACE".into(),
    }
}

impl fmt::Display for TuneError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl TuneError {
    /// Returns the place, the value found, the values accepted, and the remedy.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        let found = |text: String| Complaint::new("", text);
        match self {
            Self::Process(error) => {
                error.complaint(|process| format!("{process} may not be tuned"), &right())
            }
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
        }
    }

    /// Returns true if the remedy is another request, rather than a change of the machine.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Process(error) => error.is_usage(),
            Self::UnknownSizer { .. } | Self::NoSocket { .. } | Self::NoPort { .. } => true,
        }
    }
}

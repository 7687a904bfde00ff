//! [`ProcessError`]: the reasons why the sockets of a process cannot be reached, for `tune` and `watch`.

use std::io;
use thiserror::Error;
use units::{Complaint, Foreign};

/// The reason why a process's sockets cannot be reached.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ProcessError {
    /// No process has the id.
    #[error("no process has the id {pid}")]
    NoProcess {
        /// The requested id.
        pid: u32,
    },
    /// The process runs, and `/proc` does not show it to this user.
    #[error("process {pid} belongs to another user, and /proc does not show it (it is mounted with hidepid)")]
    Hidden {
        /// The process.
        pid: u32,
    },
    /// The kernel denies access to the process's descriptors.
    #[error("process {pid} ({}) denies its descriptors: {source}", Foreign::new(name))]
    NotPermitted {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// An unexpected failure of a system call.
    #[error("cannot {doing}: {source}")]
    System {
        /// The action that failed.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}

impl ProcessError {
    /// Returns the place, the value found, and the remedy. `wanted` makes the sentence about a denied wish from the words
    /// for the process, and `right` is the way to the right that it takes.
    pub(crate) fn complaint(&self, wanted: impl FnOnce(&str) -> String, right: &str) -> Complaint {
        let found = Complaint::new("", self.to_string());
        match self {
            Self::NoProcess { .. } => found.help("`pgrep NAME` or `ss -tnp` lists the processes"),
            Self::Hidden { .. } => found.help(right),
            Self::NotPermitted { pid, name, source } => {
                let process = format!("process {pid} ({})", Foreign::new(name));
                Complaint::new("", format!("{}: {source}", wanted(&process))).help(right)
            }
            Self::System { .. } => found,
        }
    }

    /// Returns true if the remedy is another request, rather than a change of the machine.
    pub(crate) const fn is_usage(&self) -> bool {
        matches!(self, Self::NoProcess { .. })
    }
}

//! [`WatchError`]: the reasons why no connection could be watched, and the ways out.

use crate::process::ProcessError;
use host::HostError;
use std::fmt;
use thiserror::Error;
use units::{Complaint, Foreign, Span};

/// The reason why watching could not begin, or found nothing.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum WatchError {
    /// The process does not exist, or its sockets cannot be listed.
    Process(#[from] ProcessError),
    /// The process is in another network namespace.
    OtherNamespace {
        /// The process.
        pid: u32,
        /// Its name.
        name: String,
    },
    /// No TCP connection was there at any time.
    NoConnection {
        /// The request: "process 4711 (curl)".
        whose: String,
        /// The time of watching.
        time: Span,
        /// The sockets that exist instead.
        instead: Instead,
    },
    /// The connections moved nothing.
    NothingMoved {
        /// The request: "process 4711 (curl)".
        whose: String,
        /// The number of connections.
        connections: usize,
        /// The time of watching.
        time: Span,
    },
    /// A request that the machine refused.
    Host(#[from] HostError),
}

/// The sockets that exist in place of TCP connections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instead {
    /// None.
    Nothing,
    /// Sockets that listen for TCP connections.
    Listening,
    /// UDP sockets.
    Udp,
}

impl fmt::Display for WatchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl WatchError {
    /// Returns the place, the value found, the values accepted, and the remedy.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        let found = |text: String| Complaint::new("", text);
        match self {
            Self::Process(error) => {
                error.complaint(|process| format!("the descriptors of {process} cannot be listed"), ANY_USER)
            }
            Self::OtherNamespace { pid, name } => found(format!(
                "process {pid} ({}) is in another network namespace, such as that of a container",
                Foreign::new(name)
            ))
            .help(format!("run, as root: nsenter -t {pid} -n tightlink diagnose --pid {pid}")),
            Self::NoConnection { whose, time, instead } => {
                let found = found(format!("{whose} had no TCP connection within {}", time.rounded()));
                match instead {
                    Instead::Nothing => found
                        .help("start the transfer and then this command, or watch for longer (--for 60s); `ss -tnp` lists the connections"),
                    Instead::Listening => {
                        found.help("it listens, so start a transfer, or watch for longer (--for 60s)")
                    }
                    Instead::Udp => found.help(
                        "it has UDP sockets: QUIC keeps its state inside the program, where the kernel cannot read it; \
                         the log of the program (qlog) has it",
                    ),
                }
            }
            Self::NothingMoved { whose, connections, time } => {
                let count = match connections {
                    1 => "one TCP connection".to_owned(),
                    count => format!("{count} TCP connections"),
                };
                found(format!("{whose} has {count}, and no data moved within {}", time.rounded()))
                    .help("start the transfer and then this command, or watch for longer (--for 60s)")
            }
            Self::Host(error) => error.complaint(),
        }
    }

    /// Returns true if the remedy is another request, rather than a change of the machine.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        match self {
            Self::Process(error) => error.is_usage(),
            _ => matches!(self, Self::NoConnection { .. } | Self::NothingMoved { .. }),
        }
    }
}

/// The way out for a user who may not list the descriptors of a process.
const ANY_USER: &str =
    "every user may watch by --port N or --to HOST; for --pid run as the program's user, or as root";

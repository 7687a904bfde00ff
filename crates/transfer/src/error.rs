//! [`TransferError`]: why a transfer ended, and what to do about it.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use thiserror::Error;
use units::{Complaint, Foreign};

/// The kind of an ending, for programs: what somebody who automates transfers would do next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The command line or the ticket is not right.
    Usage,
    /// This machine or this user's rights lack something.
    Environment,
    /// Some entries are there, and some are not.
    Partial,
    /// The network or the other program's end: the same commands go on.
    Network,
    /// The other side does not want it, or the receiver's user does not.
    Refused,
    /// A disk is full, or fails.
    Disk,
}

/// Why a transfer could not begin, or ended before it was done. What had arrived by then is kept at the receiver.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The ticket's text is not a ticket.
    Ticket(#[from] crate::ticket::TicketError),
    /// What is asked for makes no sense; nothing was started.
    Usage(Complaint),
    /// Nobody answers at the ticket's addresses.
    Unreachable {
        /// The addresses tried, each with what happened.
        tried: String,
    },
    /// Who answers does not hold the key that the ticket names.
    OtherReceiver {
        /// Who answered.
        address: SocketAddr,
    },
    /// The receiver does not accept the ticket's secret.
    TicketRefused {
        /// Who refused.
        address: SocketAddr,
    },
    /// The receiver turned the sender away.
    Refused(String),
    /// The receiver's user, or its options, do not accept what was announced.
    NotAccepted(String),
    /// The receiver's user, or its options, do not accept it, as the receiver says.
    Declined(String),
    /// The receiver's disk is full, or fails, as the receiver says.
    ReceiversDisk(String),
    /// The ticket's time is over, and no sender came.
    Expired(String),
    /// No sender came, or came back, in the time that was given.
    NobodyCame {
        /// How long it was waited.
        wait: units::Span,
    },
    /// The connection broke, or nothing came for a long time.
    PeerGone {
        /// How it showed.
        reason: String,
    },
    /// The other side gave up and said why.
    Aborted(String),
    /// What came does not follow the protocol.
    Protocol {
        /// Who.
        peer: SocketAddr,
        /// What was found.
        reason: String,
    },
    /// TLS failed after the handshake, or in it.
    Tls {
        /// Who.
        peer: SocketAddr,
        /// What went wrong.
        source: rustls::Error,
    },
    /// A file or folder of this machine cannot be read or written.
    File {
        /// Which.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The folder is in use by another receiver.
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The session's files cannot be read.
    State {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// What lies where a session's files belong is not this user's own, or is open to others.
    NotOwn {
        /// Which file.
        path: PathBuf,
        /// Whose it is, or who may use it.
        reason: String,
    },
    /// The disk has less room than was announced; nothing was written.
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// How much is to come.
        announced: units::Bytes,
        /// How much room there is.
        free: units::Bytes,
    },
    /// Some of what was to be sent is not there.
    Incomplete {
        /// How many.
        failed: u64,
        /// Of how many.
        all: u64,
        /// One of them, and why.
        first: String,
    },
    /// A socket's option was refused.
    Host(#[from] host::HostError),
    /// The path cannot be probed.
    Probe(#[from] probe::ProbeError),
    /// A window could not be held.
    Live(#[from] live::LiveError),
    /// A system call failed that should not.
    System {
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// What to do about what the kernel said, if there is a common way.
fn help(source: &io::Error) -> Option<String> {
    let help = match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "free some room, then run the same commands again; what has arrived is kept"
        }
        io::ErrorKind::PermissionDenied => {
            "this user lacks the right; change the owner or the mode, or use another folder"
        }
        io::ErrorKind::ReadOnlyFilesystem => "choose another folder",
        _ => return None,
    };
    Some(help.into())
}

impl fmt::Display for TransferError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl TransferError {
    /// The place, what was found, what is accepted, and what to do.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        let found = |text: String| Complaint::new("", text);
        let of_path = |path: &Path, text: &str| Complaint::new(Foreign::path(path).to_string(), text);
        match self {
            Self::Ticket(error) => error.complaint(),
            Self::Usage(complaint) => complaint.clone(),
            Self::Unreachable { tried } => found(format!("no receiver at {tried}")).help(
                "is `tightlink receive` still running there, and may this machine reach that port? A receiver ends when its \
                 session is finished; its ticket is not valid after that",
            ),
            Self::OtherReceiver { address } => found(format!(
                "{address} has another key than the ticket says: it is another receiver, or a new session of the same one"
            ))
            .help(
                "a finished session's ticket is not accepted again; use the ticket that `tightlink receive` printed last",
            ),
            Self::TicketRefused { address } => found(format!("{address} does not accept this ticket"))
                .help("use the ticket that `tightlink receive` printed, all of it"),
            Self::Refused(reason) => found(format!("the receiver refuses: {:#}", Foreign::new(reason))),
            Self::NotAccepted(reason) => found(format!("not accepted: {reason}")),
            Self::Declined(reason) => {
                found(format!("the receiver does not accept it and says {:#}", Foreign::new(reason)))
            }
            Self::ReceiversDisk(reason) => found(format!(
                "the receiver's disk stops the transfer: {:#}; what has arrived is kept",
                Foreign::new(reason)
            ))
            .help("when there is room, run the same commands again, the receiver's first"),
            Self::Expired(reason) => found(format!("the ticket has expired: {reason}")).help(
                "run `tightlink receive` on the folder again; what has arrived is kept, and a new ticket is printed",
            ),
            Self::NobodyCame { wait } => found(format!("no sender for {}; what has arrived is kept", wait.rounded()))
                .help("run `tightlink receive` on the folder again to go on waiting"),
            Self::PeerGone { reason } => found(format!(
                "the other side is gone ({}); what has arrived is kept",
                Foreign::new(reason)
            ))
            .help(
                "run the same `tightlink send` again to go on; if the receiver has ended, run `tightlink receive` on its \
                 folder first",
            ),
            Self::Aborted(reason) => found(format!("the other side gave up and says {:#}", Foreign::new(reason))),
            Self::Protocol { peer, reason } => {
                found(format!("{peer} does not follow the protocol: {}", Foreign::new(reason)))
            }
            Self::Tls { peer, source } => found(format!("TLS with {peer}: {source}")),
            Self::File { path, doing, source } => {
                Complaint { help: help(source), ..of_path(path, &format!("cannot {doing}: {source}")) }
            }
            Self::Busy { path } => of_path(path, "another `tightlink receive` is at work in this folder")
                .help("end it, or choose another folder"),
            Self::State { path, reason } => of_path(path, reason)
                .help("`tightlink receive --new` begins a new session there; files under way are sent again"),
            Self::NotOwn { path, reason } => of_path(path, reason).help(
                "receive into a folder of your own; or, if nobody else needs it, remove it and try again",
            ),
            Self::NoRoom { path, announced, free } => {
                of_path(path, &lacks_room(*announced, *free))
                    .help("free some room, or try anyway with --yes")
            }
            Self::Incomplete { failed, all, first } => found(format!(
                "{failed} of {all} files and folders were not transferred; the first: {first}"
            )),
            Self::Host(error) => error.complaint(),
            Self::Probe(error) => error.complaint(),
            Self::Live(error) => error.complaint(),
            Self::System { doing, source } => found(format!("cannot {doing}: {source}")),
        }
    }

    /// For `map_err`: `doing` failed on `path`.
    pub(crate) fn file<E: Into<io::Error>>(path: &Path, doing: &'static str) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, doing, source: source.into() }
    }

    /// For `map_err`: a system call failed while `doing`.
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }

    /// The other side is gone.
    #[expect(clippy::needless_pass_by_value, reason = "a text or an error, as it comes")]
    pub(crate) fn gone(reason: impl ToString) -> Self {
        Self::PeerGone { reason: reason.to_string() }
    }

    /// Why this side gives up, for the other one: in one line, without paths of this machine and without the help.
    pub(crate) fn for_the_other_side(&self) -> String {
        match self {
            Self::File { doing, source, .. } => format!("cannot {doing}: {source}"),
            Self::NoRoom { announced, free, .. } => lacks_room(*announced, *free),
            Self::Busy { .. } | Self::State { .. } | Self::NotOwn { .. } => {
                "the files of its session cannot be used".into()
            }
            other => other.complaint().head().to_string(),
        }
    }

    /// What kind of an ending this is.
    #[must_use]
    pub fn ending(&self) -> Ending {
        match self {
            Self::Ticket(_)
            | Self::Usage(_)
            | Self::Expired(_)
            | Self::OtherReceiver { .. }
            | Self::TicketRefused { .. }
            | Self::Host(host::HostError::Control { .. }) => Ending::Usage,
            Self::Incomplete { .. } => Ending::Partial,
            Self::Unreachable { .. }
            | Self::PeerGone { .. }
            | Self::Tls { .. }
            | Self::Protocol { .. }
            | Self::Aborted(_)
            | Self::NobodyCame { .. } => Ending::Network,
            Self::Refused(_) | Self::Declined(_) | Self::NotAccepted(_) => Ending::Refused,
            Self::File { source, .. } if is_of_the_disk(source) => Ending::Disk,
            Self::NoRoom { .. } | Self::ReceiversDisk(_) => Ending::Disk,
            Self::File { .. }
            | Self::Busy { .. }
            | Self::State { .. }
            | Self::NotOwn { .. }
            | Self::Host(_)
            | Self::Probe(_)
            | Self::Live(_)
            | Self::System { .. } => Ending::Environment,
        }
    }
}

fn lacks_room(announced: units::Bytes, free: units::Bytes) -> String {
    format!("{} are announced, and {} are free", announced.rounded(), free.rounded())
}

/// Whether an error is one of a disk, which every file would meet.
pub(crate) fn is_of_the_disk(error: &io::Error) -> bool {
    let full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::ReadOnlyFilesystem
    );
    full || error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

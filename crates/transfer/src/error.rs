//! [`TransferError`]: the reason for which a transfer ended, and the remedy.

use std::fmt;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use thiserror::Error;
use units::{Complaint, Foreign};

/// The kind of an ending, for programs. It suggests the next step to anyone who automates transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// A command line or ticket that is not valid.
    Usage,
    /// A machine or user that lacks something.
    Environment,
    /// A transfer that lacks some entries.
    Partial,
    /// A failure of the network or of the other program; the same commands continue the transfer.
    Network,
    /// A refusal by the other side or by the receiver's user.
    Refused,
    /// A disk that is full, or fails.
    Disk,
}

/// The reason for which a transfer could not begin, or ended early. The receiver keeps the data that had arrived.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The ticket's text is not a ticket.
    Ticket(#[from] crate::ticket::TicketError),
    /// The request makes no sense; nothing was started.
    Usage(Complaint),
    /// Nobody answers at the ticket's addresses.
    Unreachable {
        /// The addresses tried, each with its result.
        tried: String,
    },
    /// The machine that answers does not hold the key that the ticket names.
    OtherReceiver {
        /// The address that answered.
        address: SocketAddr,
    },
    /// The receiver does not accept the ticket's secret.
    TicketRefused {
        /// The address that refused.
        address: SocketAddr,
    },
    /// The receiver rejected the sender.
    Refused(String),
    /// The receiver's user, or its options, do not accept the announced amount.
    NotAccepted(String),
    /// The receiver says that its user, or its options, do not accept the announced amount.
    Declined(String),
    /// The receiver says that its disk is full, or fails.
    ReceiversDisk(String),
    /// The ticket has expired, and no sender came.
    Expired(String),
    /// No sender came, or came back, in the given time.
    NobodyCame {
        /// The time waited.
        wait: units::Span,
    },
    /// The connection broke, or nothing came for a long time.
    PeerGone {
        /// The symptom.
        reason: String,
    },
    /// A test of the path ended before its results were known.
    TestEnded {
        /// The symptom.
        reason: String,
    },
    /// The other side gave up, for this reason.
    Aborted(String),
    /// The received bytes do not follow the protocol.
    Protocol {
        /// The other side's address.
        peer: SocketAddr,
        /// The violation.
        reason: String,
    },
    /// TLS failed, in the handshake or after it.
    Tls {
        /// The other side's address.
        peer: SocketAddr,
        /// The error that rustls reports.
        source: rustls::Error,
    },
    /// A file or folder of this machine cannot be read or written.
    File {
        /// The path of the file or folder.
        path: PathBuf,
        /// The attempted action.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
    /// The folder is in use by another receiver.
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The session's files cannot be read.
    State {
        /// The path of the file.
        path: PathBuf,
        /// The fault of the file.
        reason: String,
    },
    /// The state folder, or a file in it, belongs to another user or is open to others.
    NotOwn {
        /// The path of the file.
        path: PathBuf,
        /// Its owner, or those who may use it.
        reason: String,
    },
    /// The disk has less room than was announced; nothing was written.
    NoRoom {
        /// The folder.
        path: PathBuf,
        /// The amount announced.
        announced: units::Bytes,
        /// The free room.
        free: units::Bytes,
    },
    /// Some entries that were to be sent are missing.
    Incomplete {
        /// The number of missing entries.
        failed: u64,
        /// The number of all entries.
        all: u64,
        /// One of the missing entries, and the reason.
        first: String,
    },
    /// A socket's option was refused.
    Host(#[from] host::HostError),
    /// The path cannot be probed.
    Probe(#[from] probe::ProbeError),
    /// A receive window could not be held.
    Live(#[from] live::LiveError),
    /// A system call failed unexpectedly.
    System {
        /// The attempted action.
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}

/// Suggests a remedy for the kernel's error, if there is a common one.
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
    /// Returns the place, the fault, the accepted values, and the remedy.
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
            Self::TestEnded { reason } => {
                found(format!("the test ended before its results were known ({})", Foreign::new(reason)))
                    .help("run the same `tightlink send --test` again; the receiver waits for it unless it has ended")
            }
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

    /// Returns a closure for `map_err`, which reports that `doing` failed on `path`.
    pub(crate) fn file<E: Into<io::Error>>(path: &Path, doing: &'static str) -> impl FnOnce(E) -> Self {
        let path = path.to_owned();
        move |source| Self::File { path, doing, source: source.into() }
    }

    /// Returns a closure for `map_err`, which reports that a system call failed while `doing`.
    pub(crate) fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }

    /// Makes the error that the other side is gone.
    #[expect(clippy::needless_pass_by_value, reason = "a text or an error, as it comes")]
    pub(crate) fn gone(reason: impl ToString) -> Self {
        Self::PeerGone { reason: reason.to_string() }
    }

    /// Describes this side's error for the other side: in one line, without paths of this machine and without the help.
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

    /// Returns the kind of this ending.
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
            | Self::TestEnded { .. }
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

/// Returns true if an error concerns the whole disk, so that every file would meet it.
pub(crate) fn is_of_the_disk(error: &io::Error) -> bool {
    let full = matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::ReadOnlyFilesystem
    );
    full || error.raw_os_error() == Some(rustix::io::Errno::IO.raw_os_error())
}

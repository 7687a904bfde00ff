//! [`TransferError`]: why a transfer ended, in words that help to mend it.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use thiserror::Error;

/// Why a transfer could not begin, or ended before it was done. What had arrived by then is kept at the receiver.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum TransferError {
    /// The ticket's text is not a ticket.
    #[error("{0}")]
    Ticket(#[from] crate::ticket::TicketError),
    /// What is asked for makes no sense; nothing was started.
    #[error("{0}")]
    Usage(String),
    /// Nobody answers at the ticket's addresses.
    #[error(
        "no receiver at {tried}\n  help: is `tightlink receive` still running there, and may this machine reach that port? \
         A receiver ends when its session is finished; its ticket is of no use after that"
    )]
    Unreachable {
        /// The addresses tried, each with what happened.
        tried: String,
    },
    /// Who answers does not hold the key that the ticket names.
    #[error(
        "{address} has another key than the ticket says: it is another receiver, or a new session of the same one\n  \
         help: a finished session's ticket is not accepted again; use the ticket that `tightlink receive` printed last"
    )]
    OtherReceiver {
        /// Who answered.
        address: SocketAddr,
    },
    /// The receiver does not accept the ticket's secret.
    #[error(
        "{address} does not accept this ticket\n  help: use the ticket that `tightlink receive` printed, all of it"
    )]
    TicketRefused {
        /// Who refused.
        address: SocketAddr,
    },
    /// The receiver turned the sender away.
    #[error("the receiver refuses: {0}")]
    Refused(String),
    /// The connection broke, or nothing came for a long time.
    #[error(
        "the other side is gone ({reason}); what has arrived is kept\n  help: run the same `tightlink send` again to go on; \
         if the receiver has ended, run `tightlink receive` on its folder first"
    )]
    PeerGone {
        /// How it showed.
        reason: String,
    },
    /// The other side gave up and said why.
    #[error("the other side gave up: {0}")]
    Aborted(String),
    /// What came does not follow the protocol.
    #[error("{peer} does not follow the protocol: {reason}")]
    Protocol {
        /// Who.
        peer: SocketAddr,
        /// What was found.
        reason: String,
    },
    /// TLS failed after the handshake, or in it.
    #[error("TLS with {peer}: {source}")]
    Tls {
        /// Who.
        peer: SocketAddr,
        /// What went wrong.
        source: rustls::Error,
    },
    /// A file or folder of this machine cannot be read or written.
    #[error("{}: cannot {doing}: {source}{}", path.display(), help(source))]
    File {
        /// Which.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
    /// The folder is in use by another receiver.
    #[error("{}: another `tightlink receive` is at work in this folder\n  help: end it, or choose another folder", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// The session's files cannot be read.
    #[error("{}: {reason}\n  help: `tightlink receive --new` begins a new session there; files under way are sent again", path.display())]
    State {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Some of what was to be sent is not there.
    #[error("{failed} of {all} files and folders were not transferred; the first: {first}")]
    Incomplete {
        /// How many.
        failed: u64,
        /// Of how many.
        all: u64,
        /// One of them, and why.
        first: String,
    },
    /// A socket's option was refused.
    #[error(transparent)]
    Live(#[from] live::LiveError),
    /// A system call failed that should not.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried.
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

/// How to mend what the kernel said, if there is a common way.
fn help(source: &io::Error) -> &'static str {
    match source.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "\n  help: free some room, then run the same commands again; what has arrived is kept"
        }
        io::ErrorKind::PermissionDenied => {
            "\n  help: this user lacks the right; change the owner or the mode, or use another folder"
        }
        io::ErrorKind::ReadOnlyFilesystem => "\n  help: choose another folder",
        _ => "",
    }
}

impl TransferError {
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

    /// Whether the command line, and not the machine or the network, is at fault.
    #[must_use]
    pub const fn is_usage(&self) -> bool {
        matches!(
            self,
            Self::Ticket(_)
                | Self::Usage(_)
                | Self::OtherReceiver { .. }
                | Self::TicketRefused { .. }
                | Self::Live(live::LiveError::Control { .. })
        )
    }
}

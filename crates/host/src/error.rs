//! [`HostError`]: what the machine refused, and what to do about it.

use std::io;
use std::path::PathBuf;
use thiserror::Error;

/// Why the machine did not do what it was asked for.
#[derive(Debug, Error)]
pub enum HostError {
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
    #[error("cannot set {} to {value:?}: {reason}; {help}", path.display())]
    Setting {
        /// The file under `/proc/sys`.
        path: PathBuf,
        /// The value asked for.
        value: String,
        /// What went wrong.
        reason: String,
        /// What to do.
        help: &'static str,
    },
    /// A stack profile was asked for in the machine's own namespace.
    #[error(
        "refusing to change the TCP settings of the machine itself; call from a thread inside a network namespace of its own (unshare -n)"
    )]
    OwnNamespace,
    /// A system call failed that should not.
    #[error("cannot {doing}: {source}")]
    System {
        /// What was tried: "read TCP_INFO".
        doing: &'static str,
        /// What the kernel said.
        source: io::Error,
    },
}

impl HostError {
    /// For `map_err`: a system call failed while `doing`.
    pub fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }

    /// For `map_err`: the kernel refused `value` for `option`.
    pub(crate) fn option(option: &'static str, value: impl ToString) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Option { option, value: value.to_string(), source }
    }
}

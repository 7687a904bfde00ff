//! [`HostError`]: requests that the machine refused, and the remedies.

use std::fmt;
use std::io;
use std::path::PathBuf;
use thiserror::Error;
use units::Complaint;

/// The reason why the machine did not do what was requested.
#[derive(Debug, Error)]
pub enum HostError {
    /// The kernel does not know, or does not grant, a congestion control.
    Control {
        /// The requested name.
        control: String,
        /// The names in `/proc/sys/net/ipv4/tcp_available_congestion_control`, separated by blanks.
        available: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A socket option was refused.
    Option {
        /// The option's name: `TCP_WINDOW_CLAMP`.
        option: &'static str,
        /// The requested value.
        value: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A setting of the namespace could not be written, or did not stick.
    Setting {
        /// The file under `/proc/sys`.
        path: PathBuf,
        /// The requested value.
        value: String,
        /// The cause.
        reason: String,
        /// The remedy.
        help: &'static str,
    },
    /// A stack profile was requested in the machine's own namespace.
    OwnNamespace,
    /// An unexpected failure of a system call.
    System {
        /// The action that failed: "read TCP_INFO".
        doing: &'static str,
        /// The kernel's error.
        source: io::Error,
    },
}

impl fmt::Display for HostError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl HostError {
    /// Returns the place, the value found, the values accepted, and the remedy.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        match self {
            Self::Control { control, available, source } => {
                let here: Vec<&str> = available.split_whitespace().collect();
                Complaint::new("", format!("congestion control {control:?} cannot be used: {source}"))
                    .accepted(here.join(", "))
                    .help(format!("load its module if there is one: sudo modprobe tcp_{control}"))
            }
            Self::Option { option, value, source } => {
                Complaint::new("", format!("cannot set {option} to {value}: {source}"))
            }
            Self::Setting { path, value, reason, help } => {
                let found = format!("cannot set {} to {value:?}: {reason}", path.display());
                Complaint::new("", found).help(*help)
            }
            Self::OwnNamespace => {
                Complaint::new("", "refusing to change the TCP settings of the machine itself")
                    .accepted("a network namespace of its own")
                    .help("call from a thread inside one, or start the program by unshare -n")
            }
            Self::System { doing, source } => Complaint::new("", format!("cannot {doing}: {source}")),
        }
    }

    /// Returns a closure for `map_err`, which reports that a system call failed while `doing`.
    pub fn system<E: Into<io::Error>>(doing: &'static str) -> impl FnOnce(E) -> Self {
        move |source| Self::System { doing, source: source.into() }
    }

    /// Returns a closure for `map_err`, which reports that the kernel refused `value` for `option`.
    pub(crate) fn option(option: &'static str, value: impl ToString) -> impl FnOnce(io::Error) -> Self {
        move |source| Self::Option { option, value: value.to_string(), source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_accepted_and_what_helps_are_apart_from_what_was_found() {
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let control = HostError::Control {
            control: "warp".into(),
            available: "reno cubic\n".into(),
            source: refused(),
        };
        let complaint = control.complaint();
        assert_eq!(complaint.accepted, "reno, cubic");
        assert!(complaint.found.starts_with("congestion control \"warp\" cannot be used: "), "{control}");
        let setting = HostError::Setting {
            path: "/proc/sys/net/ipv4/tcp_sack".into(),
            value: "0".into(),
            reason: "it reads \"1\" after writing".into(),
            help: "run as root",
        };
        let complaint = setting.complaint();
        let found = "cannot set /proc/sys/net/ipv4/tcp_sack to \"0\": it reads \"1\" after writing";
        assert_eq!((&*complaint.found, complaint.help.as_deref()), (found, Some("run as root")));
        assert_eq!(HostError::OwnNamespace.complaint().accepted, "a network namespace of its own");
    }
}

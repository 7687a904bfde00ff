//! The feedback of congestion marks that new connections of a network namespace ask for (`tcp_ecn`).
//!
//! | `tcp_ecn` | incoming connections | outgoing connections |
//! |---|---|---|
//! | 0 | without ECN | without ECN |
//! | 1 | up to RFC 3168 | ask for RFC 3168 |
//! | 2, the default | up to RFC 3168 | without ECN |
//! | 3 | up to RFC 9768 | ask for RFC 9768 |
//! | 4 | up to RFC 9768 | ask for RFC 3168 |
//! | 5 | up to RFC 9768 | without ECN |
//!
//! Linux 6.18 has the code of RFC 9768 and its settings `tcp_ecn_option` and `tcp_ecn_option_beacon`, but refuses 3 to
//! 5 (tried with 6.18.44 on 2026-11-29). The kernel reads the setting as it makes a SYN.

use crate::error::HostError;
use crate::stack::{SettingChange, stay_out_of_first, write};

/// The feedback of congestion marks that a connection asks for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum EcnRequest {
    /// None. Incoming connections may have that of RFC 3168.
    #[default]
    Off,
    /// The echo of RFC 3168.
    Classic,
    /// The counters of RFC 9768.
    Accurate,
}

impl EcnRequest {
    /// Returns the value of `tcp_ecn`.
    #[must_use]
    pub const fn setting(self) -> &'static str {
        match self {
            Self::Off => "2",
            Self::Classic => "1",
            Self::Accurate => "3",
        }
    }

    /// Lets the next connections from the current thread's network namespace ask for this feedback.
    ///
    /// # Errors
    /// [`HostError::OwnNamespace`] in the machine's first namespace. [`HostError::Setting`] if the kernel refuses the
    /// value.
    pub fn apply(self) -> Result<SettingChange, HostError> {
        stay_out_of_first()?;
        write("tcp_ecn", self.setting())
    }
}

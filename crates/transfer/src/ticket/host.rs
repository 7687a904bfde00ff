//! [`Host`]: an IP address or a host name, as a ticket names the place of a receiver.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use thiserror::Error;
use units::Complaint;

/// The greatest lengths of a host name and of one of its labels, in bytes [rfc1035:2.3.4].
const LONGEST: usize = 253;
const LONGEST_LABEL: usize = 63;

/// The place at which a receiver may be reached.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum Host {
    /// An address.
    Ip(IpAddr),
    /// A name, which the sender resolves to addresses.
    Name(HostName),
}

/// A host name: labels of letters, digits and `-`, separated by dots, in lower case and without the root's dot.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct HostName(String);

/// A text that is neither an address nor a host name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{0}")]
pub struct HostError(Complaint);

impl HostName {
    /// Returns the text of the name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn new(text: &str) -> Option<Self> {
        let name = text.strip_suffix('.').unwrap_or(text);
        let is_label = |label: &str| {
            let bytes = label.as_bytes();
            let plain = bytes.iter().all(|&byte| byte.is_ascii_alphanumeric() || byte == b'-');
            let ends = label.starts_with('-') || label.ends_with('-');
            plain && !ends && (1..=LONGEST_LABEL).contains(&bytes.len())
        };
        // A name that ends in a number is a mistyped address.
        let number =
            name.rsplit('.').next().is_some_and(|last| last.bytes().all(|byte| byte.is_ascii_digit()));
        let right = name.len() <= LONGEST && name.split('.').all(is_label) && !number;
        right.then(|| Self(name.to_ascii_lowercase()))
    }
}

impl Host {
    /// Returns the form in a ticket: the 4 or 16 bytes of an address, or a name. A name of 4 or 16 bytes gets the
    /// root's dot, so that it is not taken for an address.
    pub(super) fn bytes(&self) -> Vec<u8> {
        match self {
            Self::Ip(IpAddr::V4(four)) => four.octets().to_vec(),
            Self::Ip(IpAddr::V6(six)) => six.octets().to_vec(),
            Self::Name(HostName(name)) if matches!(name.len(), 4 | 16) => format!("{name}.").into_bytes(),
            Self::Name(HostName(name)) => name.clone().into_bytes(),
        }
    }

    /// Reverses [`Host::bytes`]. Returns `None` for bytes that [`Host::bytes`] never makes.
    pub(super) fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let host = if let Ok(four) = <[u8; 4]>::try_from(bytes) {
            Self::Ip(four.into())
        } else if let Ok(six) = <[u8; 16]>::try_from(bytes) {
            Self::Ip(six.into())
        } else {
            Self::Name(HostName::new(std::str::from_utf8(bytes).ok()?)?)
        };
        (host.bytes() == bytes).then_some(host)
    }
}

impl FromStr for Host {
    type Err = HostError;

    fn from_str(text: &str) -> Result<Self, HostError> {
        if let Ok(address) = text.parse() {
            return Ok(Self::Ip(address));
        }
        HostName::new(text).map(Self::Name).ok_or_else(|| {
            let neither = Complaint::new("", format!("{text:?} is neither an IP address nor a host name"));
            HostError(neither.accepted(
                "an address such as 192.0.2.7 or 2001:db8::7, or a name of letters, digits, '-' and '.' such as \
                 box.example.net",
            ))
        })
    }
}

impl TryFrom<String> for Host {
    type Error = HostError;

    fn try_from(text: String) -> Result<Self, HostError> {
        text.parse()
    }
}

impl From<Host> for String {
    fn from(host: Host) -> Self {
        host.to_string()
    }
}

impl From<IpAddr> for Host {
    fn from(address: IpAddr) -> Self {
        Self::Ip(address)
    }
}

impl fmt::Display for Host {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ip(address) => address.fmt(formatter),
            Self::Name(HostName(name)) => name.fmt(formatter),
        }
    }
}

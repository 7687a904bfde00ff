//! [`Ticket`]: the addresses of a receiver, its key, and the secret that lets one session's sender in.
//!
//! The text of a ticket is `tl1` and the base-32 form ([`text`]) of six parts. They are the number of addresses, the
//! port, and each host (4 or 16 bytes of an address, or a host name, after its length). Then 16 bytes of key
//! fingerprint, 16 bytes of secret and 4 bytes of checksum follow. The text passes through a shell and a chat window as
//! one word, and a typing error is found before anything is connected.

mod host;
mod text;

pub use host::{Host, HostError, HostName};

use std::fmt;
use std::net::SocketAddr;
use std::str::FromStr;
use thiserror::Error;
use units::Complaint;
use zeroize::{Zeroize, Zeroizing};

/// The beginning of the text: the kind and its version.
const PREFIX: &str = "tl1";
/// The greatest number of addresses in a ticket.
const MOST_ADDRESSES: usize = 8;
const CHECKSUM: usize = 4;
/// The greatest length of a ticket in bytes: number of hosts, port, hosts, fingerprint, secret, checksum.
const LONGEST: usize = 1 + 2 + MOST_ADDRESSES * 255 + 16 + 16 + CHECKSUM;

/// 128 bits of a key's BLAKE3 hash. An impostor would need a second key with the same fingerprint, and 128 bits suffice
/// against that.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fingerprint(pub(crate) [u8; 16]);

impl Fingerprint {
    /// Computes the fingerprint of a public key (SubjectPublicKeyInfo).
    pub(crate) fn of(key: &[u8]) -> Self {
        let hash = blake3::derive_key("tightlink 2026-11 receiver key fingerprint", key);
        let mut half = [0; 16];
        half.copy_from_slice(&hash[..16]);
        Self(half)
    }
}

/// 128 random bits that only the receiver and the ticket's holder know. `Debug` never shows them.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(pub(crate) [u8; 16]);

/// Wipes the secret from memory.
impl Drop for Secret {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Secret(…)")
    }
}

/// The credentials and addresses that a sender needs for one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The hosts at which the receiver may be reached: at least one, best first.
    pub addresses: Vec<Host>,
    /// The receiver's port, for TCP and for UDP probes.
    pub port: u16,
    /// The fingerprint of the receiver's key.
    pub fingerprint: Fingerprint,
    /// The session's secret.
    pub secret: Secret,
}

/// The reason for which a text is not a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum TicketError {
    /// The text begins differently.
    Prefix(String),
    /// The text has a letter that no ticket has.
    Letter {
        /// The letter's place, counted from one.
        at: usize,
        /// The letter found.
        found: char,
    },
    /// The checksum does not match.
    Checksum,
    /// The checksum matches, but the content is not valid; it may be of another version.
    Content(&'static str),
}

impl TicketError {
    /// Returns the fault of the text, and the remedy.
    #[must_use]
    pub fn complaint(&self) -> Complaint {
        let not_a_ticket = |found: String| Complaint::new("", format!("not a ticket: {found}"));
        match self {
            Self::Prefix(start) => not_a_ticket(format!("{start:?} does not begin with {PREFIX:?}"))
                .accepted("the word that `tightlink receive` printed"),
            Self::Letter { at, found } => not_a_ticket(format!("letter {at} is {found:?}"))
                .accepted("the letters a to z but i, l, o, u, and digits"),
            Self::Checksum => {
                Complaint::new("", "the ticket was changed or cut on its way: its checksum does not agree")
                    .help("copy it again, all of it")
            }
            Self::Content(reason) => {
                Complaint::new("", format!("the ticket is not of this version: {reason}"))
                    .help("use the same version of tightlink on both sides")
            }
        }
    }
}

impl fmt::Display for TicketError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.complaint().fmt(formatter)
    }
}

impl Ticket {
    /// Returns the sockets of the hosts that are addresses, best first.
    pub fn sockets(&self) -> impl Iterator<Item = SocketAddr> + '_ {
        self.addresses.iter().filter_map(|host| match host {
            Host::Ip(address) => Some(SocketAddr::new(*address, self.port)),
            Host::Name(_) => None,
        })
    }
}

impl fmt::Display for Ticket {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let addresses = &self.addresses[..self.addresses.len().min(MOST_ADDRESSES)];
        // The capacity suffices for everything, because a growing vector would leave unwiped copies behind.
        let mut bytes = Zeroizing::new(Vec::with_capacity(LONGEST));
        bytes.push(addresses.len() as u8);
        bytes.extend(self.port.to_be_bytes());
        for address in addresses {
            let host = address.bytes();
            bytes.push(host.len() as u8);
            bytes.extend(host);
        }
        bytes.extend(self.fingerprint.0);
        bytes.extend(self.secret.0);
        let sum = checksum(&bytes);
        bytes.extend(sum);
        write!(formatter, "{PREFIX}{}", *Zeroizing::new(text::encode(&bytes)))
    }
}

impl FromStr for Ticket {
    type Err = TicketError;

    fn from_str(text: &str) -> Result<Self, TicketError> {
        let text = text.trim();
        let body = text
            .get(..PREFIX.len())
            .filter(|start| start.eq_ignore_ascii_case(PREFIX))
            .map(|_| &text[PREFIX.len()..])
            .ok_or_else(|| TicketError::Prefix(text.chars().take(12).collect()))?;
        let bytes = text::decode(body)
            .map(Zeroizing::new)
            .map_err(|(at, found)| TicketError::Letter { at: at + PREFIX.len() + 1, found })?;
        let content = bytes.len().checked_sub(CHECKSUM).ok_or(TicketError::Checksum)?;
        let (content, sum) = bytes.split_at(content);
        if checksum(content) != sum {
            return Err(TicketError::Checksum);
        }
        let mut rest = UnreadBytes(content);
        let count = usize::from(rest.array::<1>()?[0]);
        if !(1..=MOST_ADDRESSES).contains(&count) {
            return Err(TicketError::Content("it names no address, or too many"));
        }
        let port = u16::from_be_bytes(rest.array()?);
        let mut addresses = Vec::with_capacity(count);
        for _ in 0..count {
            let length = usize::from(rest.array::<1>()?[0]);
            let host = Host::from_bytes(rest.take(length)?);
            addresses.push(host.ok_or(TicketError::Content("neither an address nor a host name"))?);
        }
        let (fingerprint, secret) = (Fingerprint(rest.array()?), Secret(rest.array()?));
        match rest.0 {
            [] if port != 0 => Ok(Self { addresses, port, fingerprint, secret }),
            [] => Err(TicketError::Content("port 0")),
            _ => Err(TicketError::Content("bytes follow the secret")),
        }
    }
}

fn checksum(content: &[u8]) -> [u8; CHECKSUM] {
    let mut sum = [0; CHECKSUM];
    sum.copy_from_slice(&blake3::hash(content).as_bytes()[..CHECKSUM]);
    sum
}

/// The bytes that are not read yet.
struct UnreadBytes<'a>(&'a [u8]);

impl UnreadBytes<'_> {
    fn array<const N: usize>(&mut self) -> Result<[u8; N], TicketError> {
        let (first, rest) = self.0.split_first_chunk().ok_or(TicketError::Content("it is cut short"))?;
        self.0 = rest;
        Ok(*first)
    }

    fn take(&mut self, count: usize) -> Result<&[u8], TicketError> {
        let (first, rest) = self.0.split_at_checked(count).ok_or(TicketError::Content("it is cut short"))?;
        self.0 = rest;
        Ok(first)
    }
}

#[cfg(test)]
#[path = "../tests/within/ticket.rs"]
mod tests;

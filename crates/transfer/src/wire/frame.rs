//! Frames: four bytes of length, little-endian, and a message.

use super::Greeting;
use super::control::{ToReceiver, ToSender};
use super::data::Data;
use super::test::{Load, ToTested, ToTester};
use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

const LENGTH: usize = 4;

/// A message that travels in a frame.
pub trait Framed: Serialize + DeserializeOwned {
    /// The greatest length of a message in its frame, in bytes. A reader never has to hold more, whatever a peer
    /// claims.
    const LONGEST: usize;
}

/// Room for a name and a link's target of 4095 bytes each, or for the reports of 64 connections of 90 bytes each, and
/// for the fields around them.
impl Framed for ToReceiver {
    const LONGEST: usize = 16 << 10;
}

/// Room for the digests of a file with the greatest number of chunks, and for the fields around them.
impl Framed for ToSender {
    const LONGEST: usize = 4 << 20;
}

/// Room for numbers, a token and the additions of later versions.
impl Framed for Greeting {
    const LONGEST: usize = 1 << 10;
}

/// Room for numbers, a digest and the additions of later versions.
impl Framed for Data {
    const LONGEST: usize = 1 << 10;
}

/// Room for the results of both directions, alone and at once, with the evidence about each.
impl Framed for ToTested {
    const LONGEST: usize = 2 << 20;
}

/// Room for the evidence about both directions.
impl Framed for ToTester {
    const LONGEST: usize = 1 << 20;
}

/// Room for a number and the additions of later versions.
impl Framed for Load {
    const LONGEST: usize = 1 << 10;
}

/// The reason for which bytes are not a frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A length greater than that of any such message.
    #[error("a message of {length} bytes, at most {most} are accepted")]
    Long {
        /// The claimed length, in bytes.
        length: usize,
        /// The greatest accepted length, in bytes.
        most: usize,
    },
    /// Bytes that are not a message of this kind.
    #[error("a message that cannot be read: {0}")]
    Malformed(postcard::Error),
    /// Bytes left over after the message.
    #[error("{0} bytes too many after a message")]
    Trailing(usize),
}

/// Appends `message` to `out` as a frame.
///
/// # Panics
/// If the message is longer than [`Framed::LONGEST`]; the caller must cut it before.
pub fn append<M: Framed>(out: &mut Vec<u8>, message: &M) {
    let start = out.len();
    out.extend([0; LENGTH]);
    let taken = std::mem::take(out);
    *out = postcard::to_extend(message, taken).expect("a message can be written to memory");
    let length = out.len() - start - LENGTH;
    assert!(length <= M::LONGEST, "a message of {length} bytes");
    out[start..start + LENGTH].copy_from_slice(&(length as u32).to_le_bytes());
}

/// Reads the first message of `bytes`, and returns it with its length in bytes. Returns `None` if it is incomplete.
///
/// # Errors
/// Returns a [`FrameError`] if the bytes are not a frame.
pub fn first<M: Framed>(bytes: &[u8]) -> Result<Option<(M, usize)>, FrameError> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > M::LONGEST {
        return Err(FrameError::Long { length, most: M::LONGEST });
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let (message, left) = postcard::take_from_bytes(body).map_err(FrameError::Malformed)?;
    if !left.is_empty() {
        return Err(FrameError::Trailing(left.len()));
    }
    Ok(Some((message, LENGTH + length)))
}

#[cfg(test)]
#[path = "../../tests/within/frame.rs"]
mod tests;

//! Frames: four bytes of length, little-endian, and a message.

use serde::Serialize;
use serde::de::DeserializeOwned;
use thiserror::Error;

/// No message is longer: the digests of a file with the most chunks there can be, and something around it.
pub const LONGEST: usize = 4 << 20;
const LENGTH: usize = 4;

/// Why bytes are no frame.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum FrameError {
    /// A length that no message has.
    #[error("a message of {0} bytes, at most {LONGEST} are accepted")]
    Long(usize),
    /// Not a message of this kind.
    #[error("a message that cannot be read: {0}")]
    Malformed(postcard::Error),
    /// Something is left behind the message.
    #[error("{0} bytes too many behind a message")]
    Trailing(usize),
}

/// Appends `message` to `out` as a frame.
///
/// # Panics
/// If the message is longer than [`LONGEST`]: it must be cut before.
pub fn append<M: Serialize>(out: &mut Vec<u8>, message: &M) {
    let start = out.len();
    out.extend([0; LENGTH]);
    let taken = std::mem::take(out);
    *out = postcard::to_extend(message, taken).expect("a message can be written to memory");
    let length = out.len() - start - LENGTH;
    assert!(length <= LONGEST, "a message of {length} bytes");
    out[start..start + LENGTH].copy_from_slice(&(length as u32).to_le_bytes());
}

/// The first message of `bytes` and how many bytes it takes; `None` while it is not all there.
///
/// # Errors
/// [`FrameError`].
pub fn first<M: DeserializeOwned>(bytes: &[u8]) -> Result<Option<(M, usize)>, FrameError> {
    let Some((length, rest)) = bytes.split_first_chunk::<LENGTH>() else { return Ok(None) };
    let length = u32::from_le_bytes(*length) as usize;
    if length > LONGEST {
        return Err(FrameError::Long(length));
    }
    let Some(body) = rest.get(..length) else { return Ok(None) };
    let (message, left) = postcard::take_from_bytes(body).map_err(FrameError::Malformed)?;
    if !left.is_empty() {
        return Err(FrameError::Trailing(left.len()));
    }
    Ok(Some((message, LENGTH + length)))
}

//! Messages of a data connection, sender to receiver.

use super::control::Id;
use crate::chunks::Digest;
use serde::{Deserialize, Serialize};

/// The greatest size of a file, in bytes, that goes in one message; it must have no holes.
pub const SMALL: usize = 64 << 10;
/// The greatest length of a piece of a file, in bytes.
pub const LONGEST_PIECE: usize = 256 << 10;

/// A sender's message on a data connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Data {
    /// A whole file; its bytes follow.
    Small {
        /// The file.
        id: Id,
        /// The number of bytes that follow.
        length: u32,
        /// The file's digest.
        digest: Digest,
    },
    /// A piece of a chunk; its bytes follow. Pieces of one chunk come in order, on one connection. The gaps between
    /// them are holes.
    Piece {
        /// The file.
        id: Id,
        /// The chunk.
        chunk: u32,
        /// The piece's offset in the chunk.
        offset: u32,
        /// The number of bytes that follow.
        length: u32,
    },
    /// The end of a chunk: all its pieces were sent.
    ChunkEnd {
        /// The file.
        id: Id,
        /// The chunk.
        chunk: u32,
        /// The digest of the chunk, holes read as zeros.
        digest: Digest,
    },
    /// The end of a file: all its chunks were sent, on any of the connections.
    FileEnd {
        /// The file.
        id: Id,
        /// The file's digest.
        digest: Digest,
    },
    /// A file that cannot be sent after all: it changed, vanished, or could not be read. Its received parts are
    /// useless.
    Gone {
        /// The file.
        id: Id,
    },
}

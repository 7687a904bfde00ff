//! Messages of a data connection, sender to receiver.

use super::control::Id;
use crate::chunks::Digest;
use serde::{Deserialize, Serialize};

/// A file no longer than this, and without holes, goes in one message.
pub const SMALL: usize = 64 << 10;
/// No piece of a file is longer.
pub const LONGEST_PIECE: usize = 256 << 10;

/// What a sender says on a data connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Data {
    /// A whole file; its bytes follow.
    Small {
        /// The file.
        id: Id,
        /// How many bytes follow.
        length: u32,
        /// The file's digest.
        digest: Digest,
    },
    /// A piece of a chunk; its bytes follow. Pieces of one chunk come in order, on one connection; what lies between
    /// them is a hole.
    Piece {
        /// The file.
        id: Id,
        /// The chunk.
        chunk: u32,
        /// Where in the chunk the piece begins.
        offset: u32,
        /// How many bytes follow.
        length: u32,
    },
    /// The chunk is complete.
    ChunkEnd {
        /// The file.
        id: Id,
        /// The chunk.
        chunk: u32,
        /// Digest of the chunk, holes read as zeros.
        digest: Digest,
    },
    /// All chunks of the file were sent, on whatever connections.
    FileEnd {
        /// The file.
        id: Id,
        /// The file's digest.
        digest: Digest,
    },
    /// The file cannot be sent after all: it changed, went, or could not be read. What came of it is of no use.
    Gone {
        /// The file.
        id: Id,
    },
}

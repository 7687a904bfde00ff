//! Messages of the control connection.

use super::bounded;
use crate::chunks::{Digest, Log2};
use crate::history::PhaseEntry;
use crate::limits::{LimitTimes, ReceiverTimes, SenderTimes};
use crate::name::Name;
use serde::{Deserialize, Serialize};

/// An entry's number, in the order in which they are offered.
pub type Id = u64;

/// Nanoseconds since 1970, as file systems count; negative before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Whole seconds.
    pub seconds: i64,
    /// The rest, below 10^9.
    pub nanos: u32,
}

/// What an entry is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A file's content.
    File {
        /// Bytes.
        size: u64,
        /// Size of its chunks, as an exponent of two.
        chunk: Log2,
        /// A hash of what changes when its content does: device, inode, size, times. The same stamp means the same
        /// content to a receiver that goes on after an interruption.
        version: [u8; 16],
    },
    /// A folder; entries inside come after it.
    Folder,
    /// A symbolic link, made and never followed.
    Link {
        /// Where to, as it stands in the link.
        #[serde(with = "serde_bytes")]
        target: Vec<u8>,
    },
}

/// One entry of what is sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Where it goes.
    pub name: Name,
    /// What it is.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// Time of the last change.
    pub modified: Stamp,
}

/// What a sender knows of one data connection (`TCP_INFO`), and of itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamReport {
    /// Time with data in flight or waiting, nanoseconds; 0 where the kernel does not tell. All of these run from the
    /// connection's beginning.
    pub busy: u64,
    /// Of that, held back by the receive window.
    pub window_limited: u64,
    /// Of that, held back by the send buffer.
    pub buffer_limited: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Smoothed round-trip time, nanoseconds; 0 if unknown.
    pub rtt: u64,
    /// Least round-trip time, nanoseconds; 0 if unknown.
    pub min_rtt: u64,
    /// Congestion window, bytes.
    pub congestion_window: u64,
    /// Bytes acknowledged.
    pub acknowledged: u64,
    /// Payload of a full segment.
    pub segment: u64,
}

/// How a sender's data connections are doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Each of them, in their order; at most 64.
    #[serde(deserialize_with = "bounded::streams")]
    pub streams: Vec<StreamReport>,
    /// Their congestion control sends at a rate that it measures.
    pub rate_based: bool,
    /// What they waited for.
    pub times: SenderTimes,
}

#[cfg(test)]
impl Report {
    /// Of this many data connections, with the largest numbers that there are.
    pub(crate) fn largest(streams: usize) -> Self {
        let most = u64::MAX;
        let stream = StreamReport {
            busy: most,
            window_limited: most,
            buffer_limited: most,
            retransmits: most,
            rtt: most,
            min_rtt: most,
            congestion_window: most,
            acknowledged: most,
            segment: most,
        };
        let times = SenderTimes { network: most, disk: most, limit: most, idle: most };
        Self { streams: vec![stream; streams], rate_based: true, times }
    }
}

/// What a sender says on the control connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToReceiver {
    /// May this be sent? Numbers count up from zero.
    Offer {
        /// Its number.
        id: Id,
        /// What it is.
        entry: Entry,
    },
    /// How much there is in all. Senders of version 2 say [`ToReceiver::Counted`] instead.
    Totals {
        /// Entries.
        entries: u64,
        /// Bytes of files.
        bytes: u64,
    },
    /// How the data connections are doing.
    Report(Report),
    /// Everything was offered and every wanted file sent or given up.
    Complete {
        /// So many offers were made.
        offers: u64,
        /// So many entries could not be sent.
        failed: u64,
    },
    /// The last word: `Finished` has arrived.
    Bye,
    /// The sender gives up.
    Abort {
        /// Why, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
    /// The sender's count so far, which the receiver's user is told and asked about. It comes before the first offer,
    /// and again when there is more. Since version 2.
    Counted(Counted),
    /// What limited the data connections so far. Since version 3.
    Limits(LimitTimes),
}

/// How much there is to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// Entries: files, folders and links.
    pub entries: u64,
    /// Bytes of files, holes included.
    pub bytes: u64,
    /// Bytes of files, holes left out.
    pub disk: u64,
    /// All was counted; otherwise it is at least this.
    pub complete: bool,
}

/// What becomes of an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// Send it.
    Want,
    /// It is there, whole: made by this offer (folders, links), or received earlier in this session.
    Have,
    /// Send what is missing of it: these chunks are there, with their digests.
    Rest(Vec<(u32, Digest)>),
    /// It cannot be had; the reason is for a person.
    Refused(#[serde(with = "bounded::text")] String),
    /// Another entry of this name is kept, as the receiver was told to. Since version 2.
    Kept,
}

/// What a receiver says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToSender {
    /// The answer to [`Greeting::Control`](super::Greeting::Control).
    Welcome {
        /// Data connections show this to be counted to this control connection.
        token: [u8; 16],
        /// The session was interrupted and goes on.
        resumed: bool,
    },
    /// The other answer: it cannot be now, and why, for a person.
    Busy(#[serde(with = "bounded::text")] String),
    /// The answer to an offer.
    Answer {
        /// The offer's number.
        id: Id,
        /// The answer.
        verdict: Verdict,
    },
    /// A file that was wanted could not be stored.
    Failed {
        /// Its number.
        id: Id,
        /// Why, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
    /// How far the receiver is, a few times a second.
    Progress(Progress),
    /// Pace one data connection at this.
    Pace {
        /// Which, from zero.
        stream: u16,
        /// Bits per second; `None`: as fast as it can.
        bps: Option<u64>,
    },
    /// Everything is stored under its name, or known to be missing.
    Finished(Finished),
    /// The receiver gives up.
    Abort {
        /// Why, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
    /// The receiver gives up for a reason that programs know. Since version 2; senders of version 1 hear `Abort`.
    GivesUp {
        /// The kind of the reason.
        why: Why,
        /// Why, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
}

/// Why a receiver gives up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Why {
    /// Its user, or its options, do not accept what was announced.
    Declined,
    /// Its disk is full, or fails.
    Disk,
}

/// How far a receiver is, and what its window is doing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// Entries stored.
    pub entries: u64,
    /// Bytes of files stored or being stored, holes included, those of earlier connections of this session too.
    pub bytes: u64,
    /// The receive window in force, bytes, over all data connections; `None`: as large as the kernel allows.
    pub window: Option<u64>,
    /// The window's phase.
    #[serde(with = "bounded::text")]
    pub phase: String,
    /// Why it is in it.
    #[serde(with = "bounded::text")]
    pub reason: String,
    /// Phases that it entered since this was said last, each with its own time and reason; at most 16.
    #[serde(deserialize_with = "bounded::entered")]
    pub entered: Vec<PhaseEntry>,
    /// The window is held below the maximum on purpose.
    pub sized: bool,
    /// What the data connections waited for.
    pub times: ReceiverTimes,
}

/// How it ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// Entries stored by this session.
    pub entries: u64,
    /// Bytes of files stored.
    pub bytes: u64,
    /// Entries that could not be stored or sent.
    pub failed: u64,
}

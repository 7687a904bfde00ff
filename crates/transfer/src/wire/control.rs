//! Messages of the control connection.

use super::bounded;
use crate::chunks::{Digest, Log2};
use crate::history::PhaseEntry;
use crate::limits::{LimitTimes, ReceiverTimes, SenderTimes};
use crate::name::Name;
use serde::{Deserialize, Serialize};

/// An entry's number, in the order of the offers.
pub type Id = u64;

/// A time since 1970, as file systems count; negative before.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stamp {
    /// Whole seconds.
    pub seconds: i64,
    /// The rest, below 10^9.
    pub nanos: u32,
}

/// The kind of an entry, with its content's description.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Kind {
    /// A regular file.
    File {
        /// The file's size in bytes.
        size: u64,
        /// The size of its chunks, as an exponent of two.
        chunk: Log2,
        /// A hash of the properties that change with the content: device, inode, size, times. After an interruption, a
        /// receiver takes an unchanged hash as a sign of unchanged content.
        version: [u8; 16],
    },
    /// A folder; the entries inside come after it.
    Folder,
    /// A symbolic link, created and never followed.
    Link {
        /// The target, unchanged.
        #[serde(with = "serde_bytes")]
        target: Vec<u8>,
    },
}

/// An entry that is to be sent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// The path below the receiver's folder.
    pub name: Name,
    /// The kind of the entry.
    pub kind: Kind,
    /// Permission bits.
    pub mode: u32,
    /// The time of the last change.
    pub modified: Stamp,
}

/// The state of one data connection as its sender knows it, mostly from `TCP_INFO`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StreamReport {
    /// Time with data in flight or waiting, in nanoseconds; 0 where the kernel does not report it. All fields count
    /// from the connection's beginning.
    pub busy: u64,
    /// The part of `busy` limited by the receive window.
    pub window_limited: u64,
    /// The part of `busy` limited by the send buffer.
    pub buffer_limited: u64,
    /// The number of retransmitted segments.
    pub retransmits: u64,
    /// The smoothed round-trip time, in nanoseconds; 0 if unknown.
    pub rtt: u64,
    /// The least round-trip time, in nanoseconds; 0 if unknown.
    pub min_rtt: u64,
    /// The congestion window, in bytes.
    pub congestion_window: u64,
    /// The number of bytes acknowledged.
    pub acknowledged: u64,
    /// The payload of a full segment, in bytes.
    pub segment: u64,
}

/// The state of a sender's data connections.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// The connections' states, in their order; at most 64.
    #[serde(deserialize_with = "bounded::streams")]
    pub streams: Vec<StreamReport>,
    /// True if their congestion control sends at a rate that it measures.
    pub rate_based: bool,
    /// Times that the connections spent waiting.
    pub times: SenderTimes,
}

#[cfg(test)]
impl Report {
    /// Makes a report on `streams` data connections with the largest possible numbers.
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

/// A sender's message on the control connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToReceiver {
    /// An offer to send an entry. Offers are numbered from zero.
    Offer {
        /// The offer's number.
        id: Id,
        /// The offered entry.
        entry: Entry,
    },
    /// The total to be sent. Senders of version 2 and later send [`ToReceiver::Counted`] instead.
    Totals {
        /// The number of entries.
        entries: u64,
        /// The number of bytes in files.
        bytes: u64,
    },
    /// The state of the data connections.
    Report(Report),
    /// The end of the offers: every entry was offered, and every wanted file sent or given up.
    Complete {
        /// The number of offers made.
        offers: u64,
        /// The number of entries that could not be sent.
        failed: u64,
    },
    /// The last message: `Finished` has arrived.
    Bye,
    /// The end of the transfer by the sender.
    Abort {
        /// The reason, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
    /// The sender's count so far, which the receiver shows its user and asks about. It comes before the first offer,
    /// and again when it has grown. Since version 2.
    Counted(Counted),
    /// The times for which each cause has limited the data connections so far. Since version 3.
    Limits(LimitTimes),
}

/// A sender's count of the data to send.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counted {
    /// The number of entries: files, folders and links.
    pub entries: u64,
    /// The number of bytes in files, holes included.
    pub bytes: u64,
    /// The number of bytes in files, holes left out.
    pub disk: u64,
    /// True if everything was counted; otherwise the counts are lower bounds.
    pub complete: bool,
}

/// The answer to an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Verdict {
    /// The entry is wanted.
    Want,
    /// The entry exists in full: created for this offer (folders, links), or received earlier in this session.
    Have,
    /// The rest of the file is wanted. These chunks exist already, with their digests.
    Rest(Vec<(u32, Digest)>),
    /// The entry is refused; the reason is for a person.
    Refused(#[serde(with = "bounded::text")] String),
    /// Another entry of this name is kept, as the receiver's options demand. Since version 2.
    Kept,
}

/// A receiver's message on the control connection.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ToSender {
    /// The answer to [`Greeting::Control`](super::Greeting::Control).
    Welcome {
        /// A token by which data connections show that they belong to this control connection.
        token: [u8; 16],
        /// True if the session continues after an interruption.
        resumed: bool,
    },
    /// The other answer to the greeting: the sender cannot be served now. The reason is for a person.
    Busy(#[serde(with = "bounded::text")] String),
    /// The answer to an offer.
    Answer {
        /// The offer's number.
        id: Id,
        /// The verdict on it.
        verdict: Verdict,
    },
    /// A file that was wanted could not be stored.
    Failed {
        /// The file's number.
        id: Id,
        /// The reason, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
    /// The receiver's progress, a few times a second.
    Progress(Progress),
    /// A pace for one data connection.
    Pace {
        /// The connection's number, from zero.
        stream: u16,
        /// The pace in bits per second; `None` without a limit.
        bps: Option<u64>,
    },
    /// The end of the session: every entry is stored under its name, or known to be missing.
    Finished(Finished),
    /// The end of the transfer by the receiver.
    Abort {
        /// The reason, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
    /// The end of the transfer, with its reason as a code for programs. Since version 2; senders of version 1 get
    /// `Abort`.
    GivesUp {
        /// The kind of the reason.
        why: FailureKind,
        /// The reason, for a person; at most 1000 bytes.
        #[serde(with = "bounded::text")]
        reason: String,
    },
}

/// The kind of a receiver's reason for giving up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum FailureKind {
    /// Its user, or its options, do not accept the announced amount.
    Declined,
    /// Its disk is full, or fails.
    Disk,
}

/// A receiver's progress, and the state of its window.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Progress {
    /// The number of entries stored.
    pub entries: u64,
    /// Bytes of files stored or being stored, including holes and the bytes of earlier connections of this session.
    pub bytes: u64,
    /// The current receive window, in bytes over all data connections; `None` if it is as large as the kernel allows.
    pub window: Option<u64>,
    /// The phase of the window's sizer.
    #[serde(with = "bounded::text")]
    pub phase: String,
    /// The reason for this phase.
    #[serde(with = "bounded::text")]
    pub reason: String,
    /// Phases entered since the last report, each with its own time and reason; at most 16.
    #[serde(deserialize_with = "bounded::entered")]
    pub entered: Vec<PhaseEntry>,
    /// True if the window is kept below the maximum on purpose.
    pub sized: bool,
    /// Times that the data connections spent waiting.
    pub times: ReceiverTimes,
}

/// The result of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finished {
    /// The number of entries stored by this session.
    pub entries: u64,
    /// The number of bytes stored in files.
    pub bytes: u64,
    /// The number of entries that could not be stored or sent.
    pub failed: u64,
}

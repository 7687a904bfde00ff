//! Bulk transfer of files and trees: over TLS, resumable, verified, with a receive window that is sized while it runs.
//!
//! A [`Receiver`] listens and gives out a [`Ticket`]; [`send`] takes paths and a ticket. This crate has the
//! authentication, the protocol, the receiver's state on disk, and the reading and writing of trees. Other crates size
//! a window (`sizing`), set it in the kernel (`live`) and print results.
//!
//! Reading order:
//! - `ticket.rs` and `keys.rs`: identities; `wire.rs`: the messages; `chunks.rs`: how a file is cut and verified;
//! - `receive.rs`, `send.rs`;
//! - `load.rs`, `path_report.rs`: a test of the path, which stores nothing;
//! - `channel.rs`: TLS over a socket; `journal.rs` and `store.rs`: the state that outlives a process.
//!
//! ADR 10 has the reasons.
//!
//! ```
//! use tightlink_transfer::{Ticket, TicketError};
//! let word = "tl10896e1600010e410046vg00000000000000000070w3ge1r70w3ge1r70w3ge1r70w4gj289144gj289144gj289144mdwcze8";
//! let ticket: Ticket = word.parse()?;
//! assert_eq!((ticket.addresses.len(), ticket.port), (2, 4711));
//! assert_eq!(ticket.to_string(), word);
//! assert_eq!(word.replace("w4gj", "w5gj").parse::<Ticket>(), Err(TicketError::Checksum));
//! # Ok::<(), TicketError>(())
//! ```

mod beneath;
mod channel;
pub mod chunks;
pub mod digests;
mod error;
#[cfg(fuzzing)]
#[path = "../fuzzing/harness.rs"]
pub mod fuzzing;
mod history;
mod journal;
mod keys;
mod limits;
mod load;
mod lock;
pub mod name;
mod origin;
mod path_report;
mod progress;
mod reading;
mod receive;
mod send;
mod store;
mod summary;
mod ticket;
mod window;
pub mod wire;

pub use error::{Ending, TransferError};
pub use estimate::limits::LimitedBy;
pub use history::{History, PhaseEntry, Sample};
pub use host::Clock;
pub use limits::{KernelTimes, Limits, ReceiverTimes, SenderTimes};
pub use path_report::{PathReport, ResponsivenessReport, TogetherReport, WayReport};
pub use progress::{EntryOutcome, Observer, Question, SilentObserver, Snapshot};
pub use receive::{Accept, Existing, PathTestOptions, PathTestReceiver, ReceiveOptions, Receiver};
pub use send::{EntryKind, ListedEntry, PathTest, SendOptions, Totals, list, send, test_path};
pub use summary::{Side, Summary};
pub use ticket::{Fingerprint, Host, HostError, HostName, Secret, Ticket, TicketError};
pub use window::WindowChoice;

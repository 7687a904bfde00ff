//! Bulk transfer of files and trees: over TLS, resumable, verified, with a receive window that is sized while it runs.
//!
//! A [`Receiver`] listens and gives out a [`Ticket`]; [`send`] takes paths and a ticket. What lives here: who is let in,
//! the protocol, what is kept on disk at the receiver, reading and writing trees. What does not: how a window is sized
//! (`sizing`) and handed to the kernel (`live`), what is printed.
//!
//! Reading order: `ticket.rs` and `keys.rs` (who is who), `wire.rs` (what is said), `chunks.rs` (how a file is cut and
//! verified), `receive.rs`, `send.rs`; below them `channel.rs` (TLS over a socket), `journal.rs` and `store.rs` (what
//! outlives a process). ADR 10 has the reasons.

mod beneath;
mod channel;
pub mod chunks;
pub mod digests;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod history;
mod journal;
mod keys;
mod limits;
mod lock;
pub mod name;
mod origin;
mod progress;
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
pub use progress::{Moved, Observer, Question, Silent, Snapshot};
pub use receive::{Accept, Existing, ReceiveOptions, Receiver};
pub use send::{Listed, SendOptions, Shape, Totals, list, send};
pub use summary::{Side, Summary};
pub use ticket::{Fingerprint, Host, HostError, HostName, Secret, Ticket, TicketError};
pub use window::WindowChoice;

//! Probes: round trips, losses and packet trains over UDP, between two programs that share a key.
//!
//! ```text
//!   data's receiver                                      data's sender
//!   Prober ── probe, 100 bytes, every 10 ms ──────────► Echoer
//!          ◄────────────────── echo, 100 bytes ──────────      counts what it echoes
//!          ── train request, 100 bytes ─────────────────►
//!          ◄───────── 50 packets of 1500 bytes ──────────      in one go
//! ```
//!
//! The receiver probes [sobas:IV]. Echoes go the way of the data: a gap in the echoer's count, which each echo carries, is
//! a packet lost *there*; a probe that was never counted was lost on the way of the acknowledgements. Both sides stamp
//! arrivals in the kernel (`SO_TIMESTAMPNS`), and an echo says how long it was held, so a busy program at either end does
//! not lengthen the round trip. Neither side has a thread: their owners poll them when their sockets are readable.
//!
//! **Who may.** Every datagram is authenticated with a key that both sides share ([`ProbeKey`]), for one session, and counts
//! once: what fails, or comes again, is ignored without an answer. An echo has the length of its probe. A train goes only to
//! an address that shows a cookie it was sent within the last twenty seconds, so it cannot be turned on someone else, and
//! an echoer sends them no larger and no more often than a prober of this project asks ([`TrainLimits`]). Its owner may count
//! them in a limit of its own, and have only one address heard. Contents are not secret: there is nothing in them.
//!
//! Reading order: `key.rs`, `wire.rs` (the datagrams), `prober.rs`, `echoer.rs`, then what they are made of: `replay.rs`,
//! `echoes.rs` (which echoes are missing), `train.rs` (what a train's arrivals say), `socket.rs`, `error.rs`.

mod cookie;
mod echoer;
mod echoes;
mod error;
#[cfg(fuzzing)]
pub mod fuzzing;
mod key;
mod prober;
mod replay;
mod socket;
mod train;
mod wire;

pub use echoer::{EchoCounts, Echoer, TrainLimits};
pub use error::ProbeError;
pub use key::ProbeKey;
pub use prober::{ProbeCounts, ProbeEvent, Prober};
pub use train::TrainArrivals;

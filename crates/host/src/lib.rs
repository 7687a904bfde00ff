//! The machine that a program runs on, for the rooms that drive real sockets.
//!
//! What lives here: the clock, waiting for descriptors, the socket options that a window needs, `TCP_INFO`, and the
//! settings of a network namespace's TCP. What does not: any decision. Nothing here starts a thread.
//!
//! Every call concerns the network namespace of the thread that makes it; a socket stays in the namespace of the thread
//! that made it.
//!
//! Reading order: `clock.rs` (every time stamp is read there), `poller.rs` (every wait for a descriptor), `options.rs`,
//! `tcp_info.rs`, `stack.rs` (two profiles of the kernel's TCP), `port_owner.rs`, `random.rs`, `error.rs`.

pub mod clock;
mod error;
pub mod options;
mod poller;
pub mod port_owner;
mod random;
mod stack;
mod tcp_info;

pub use clock::{Behind, Clock};
pub use error::HostError;
pub use options::{BufferGrant, ReceiveBuffer};
pub use poller::{Interest, PollFd, PollFlags, Poller, Woken, wait};
pub use random::fill_random;
pub use stack::{SettingChange, Stack};
pub use tcp_info::{TcpInfo, TcpOptions};

//! The machine on which a program runs, for the rooms that drive real sockets.
//!
//! This room has the clock, waiting for descriptors, the socket options that a window needs, and `TCP_INFO`. It also
//! has a pace for writing, the settings of a network namespace's TCP, and counters of the losses and waits of its
//! hosts. It makes no decisions and starts no thread.
//!
//! Every call concerns the network namespace of the calling thread; a socket stays in the namespace of the thread
//! that made it.
//!
//! Reading order: `clock.rs` (reads every time stamp), `poller.rs` (every wait for a descriptor), `options.rs`,
//! `pace.rs`, `tcp_info.rs`, `sock_diag.rs` (the same of all connections), `stack.rs` (two profiles of the kernel's TCP), `ecn.rs`.
//! Then `port_owner.rs`, `address.rs`,
//! `random.rs`, `realtime.rs` (a thread's priority), `large_pages.rs`, `error.rs`. `losses.rs` and `waiting.rs` read
//! counters of the kernel.
//!
//! ```
//! use std::net::{TcpListener, TcpStream};
//! use tightlink_host::{Clock, TcpInfo, options};
//! let clock = Clock::start();
//! let listener = TcpListener::bind("127.0.0.1:0")?;
//! let stream = TcpStream::connect(listener.local_addr()?)?;
//! assert!(options::available_controls().contains(&options::congestion_control(&stream)?));
//! let info = TcpInfo::of(&stream)?;
//! assert!(info.congestion_window() > info.in_flight());
//! println!("{:?} after the start", clock.now());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod address;
pub mod clock;
mod ecn;
mod error;
mod large_pages;
mod losses;
pub mod options;
mod pace;
mod poller;
pub mod port_owner;
mod random;
mod realtime;
mod sock_diag;
mod stack;
mod tcp_info;
pub mod waiting;

pub use address::plain;
pub use clock::{Clock, PathLag};
pub use ecn::EcnRequest;
pub use error::HostError;
pub use large_pages::{LargePages, keep_memory, reserve_heap};
pub use losses::HostLosses;
pub use options::{BufferGrant, ReceiveBuffer};
pub use pace::Pace;
pub use poller::{Interest, PollFd, PollFlags, Poller, WaitResult, Waker, wait};
pub use random::fill_random;
pub use realtime::run_ahead;
pub use sock_diag::{ConnectionId, SockDiag, SocketMemory, TcpConnection};
pub use stack::{SettingChange, Stack, limit_send_memory, raise_receive_memory, raise_send_memory};
pub use tcp_info::{TcpInfo, TcpOptions};

//! The emulator: real programs behind an emulated tight link.
//!
//! Two network namespaces, a TUN device in each, and one thread that carries packets between them through a
//! [`link::Link`] driven by the real clock: the same queue, serializer and loss as in the simulator. What does
//! not live here: scenarios, congestion control, endpoints. Linux only.
//!
//! Start with [`privilege::prepare`], make a [`PathConfig`], [`Path::start`] it, run programs in
//! [`Path::sender`] and [`Path::receiver`], [`Path::begin`] when they are ready, and [`Path::stop`] for the
//! [`PathReport`]. [`shell::run`] does all that around one command.
//!
//! Reading order:
//! - `error.rs`: errors that say what to do.
//! - `privilege.rs`, `namespace.rs`: the rights, and places to run programs in that cannot be left behind.
//! - `interface.rs`, `tun.rs`, `vnet.rs`: the device.
//! - `segment.rs`, `flow.rs`, `ecn.rs`, `pool.rs`: packets: their segments, their flows, their marks, their buffers.
//! - `path.rs` and `path/`: the path itself; `realtime.rs`: its thread's priority.
//! - `shell.rs`: `tightlink emulate -- CMD`; `user.rs`: as whom CMD runs.

mod ecn;
mod error;
mod flow;
#[cfg(fuzzing)]
pub mod fuzzing;
mod interface;
mod namespace;
mod path;
mod pool;
pub mod privilege;
mod realtime;
mod segment;
pub mod shell;
mod tun;
mod user;
mod vnet;

pub use error::EmuError;
pub use flow::{FlowCount, FlowKey};
pub use namespace::Namespace;
pub use path::{BackLink, Behind, Doubt, Judged, Lateness, LinkSample, Path, PathConfig, PathReport, Stalls};
pub use privilege::{Privilege, prepare};
pub use realtime::run_ahead;
pub use tun::DEVICE;
pub use user::User;

//! The emulator: real programs behind an emulated tight link.
//!
//! Two network namespaces have a TUN device each. One thread carries packets between the devices through a
//! [`link::Link`] driven by the real clock. Queue, serializer and loss are those of the simulator. Scenarios,
//! congestion control and endpoints are in other rooms. Linux only.
//!
//! Start with [`privilege::prepare`], make a [`PathConfig`], [`Path::start`] it, run programs in [`Path::sender`] and
//! [`Path::receiver`], call [`Path::begin`] when they are ready, and [`Path::stop`] for the [`PathReport`].
//! [`shell::run`] does all that around one command.
//!
//! Reading order:
//! - `error.rs`: errors with their remedies.
//! - `privilege.rs`, `namespace.rs`: the rights, and namespaces that end with their programs.
//! - `interface.rs`, `netlink.rs`, `tun.rs`, `vnet.rs`: the device.
//! - `segment.rs`, `flow.rs`, `ecn.rs`, `pool.rs`: the segments, flows, marks and buffers of packets.
//! - `path.rs` and `path/`: the path itself; `tap.rs`: copies of its packets.
//! - `shell.rs`: `tightlink emulate -- CMD`; `attendant.rs`: its display; `user.rs`: the user who runs CMD;
//!   `children.rs`: how processes end; `entrance.rs`: the way in for a second terminal.
//!
//! ```no_run
//! use link::{Limit, LinkConfig};
//! use std::collections::{HashMap, HashSet};
//! use tightlink_emu::{Path, PathConfig, prepare};
//! use units::{Bytes, Fraction, Rate, Span};
//! prepare()?; // while the program has one thread
//! let (rate, delay) = (Rate::from_bps(20_000_000), Span::from_millis(20));
//! let path = Path::start(PathConfig {
//!     link: LinkConfig::constant(rate, delay),
//!     limit: Limit::Bytes(Bytes::new(100_000)),
//!     queue: "codel".into(),
//!     reverse_delay: delay,
//!     extra_delays: HashMap::new(),
//!     flow_ports: HashSet::new(),
//!     traffic: Vec::new(),
//!     traffic_classes: Vec::new(),
//!     seed: 1,
//!     mtu: 1500,
//!     sample_every: None,
//!     offload: true,
//!     back: None,
//! })?;
//! let far = path.receiver_address().to_string();
//! path.sender().command("ping").args(["-c", "3", &far]).status()?; // answers after 40 ms
//! println!("{:?}", path.stop()?);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attendant;
pub mod children;
mod class;
mod ecn;
mod entrance;
mod error;
mod flow;
#[cfg(fuzzing)]
#[path = "../fuzzing/harness.rs"]
pub mod fuzzing;
mod interface;
mod namespace;
mod netlink;
mod path;
mod pool;
pub mod privilege;
mod segment;
pub mod shell;
pub mod tap;
mod tun;
mod user;
mod vnet;

pub use attendant::Attendant;
pub use entrance::{Entrance, Entry, running};
pub use error::EmuError;
pub use flow::{FlowCount, FlowKey};
pub use namespace::Namespace;
pub use path::{
    BackLink, Doubt, HostReport, Lateness, LinkSample, Path, PathConfig, PathLag, PathReport, PathSample,
    RateVerdict, Stalls,
};
pub use privilege::{Privilege, prepare};
pub use tun::DEVICE;
pub use user::User;

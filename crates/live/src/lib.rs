//! Real transfers: kernel TCP sockets whose window is set, and measured, while they run.
//!
//! This room has bulk flows between two addresses ([`send`], [`receive`]), the window limited from the receiver
//! ([`WindowControl`]), and sizers that set the window. It has no scenario text and no results on disk. The clock,
//! waiting, socket options and `TCP_INFO` are in room `host`. The path between the two addresses is made elsewhere: a
//! calling thread is already in the right network namespace.
//!
//! Reading order:
//! - `window.rs`: the actuator;
//! - `sized_group.rs`: a sizer for the actuators of one connection or several; `probed_group.rs`: the same with probes;
//! - `sobas_socket.rs`: a socket with a sizer for other programs; `tune.rs`: sizers for unmodified programs;
//! - `watch.rs`: what limits connections of unmodified programs; `process.rs`: a program and its descriptors;
//! - `load.rs`: flows of an experiment; `error.rs`.
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use host::Clock;
//! use tightlink_live::{FlowConfig, Receiver, SessionConfig, receive, send};
//! use units::Bytes;
//!
//! let config = SessionConfig::new(vec![FlowConfig::sized("one", "reno", Bytes::new(1_000_000))]);
//! let receiver = Receiver::bind("127.0.0.1:0".parse()?)?;
//! let (server, clock, stop) = (receiver.address(), Clock::start(), AtomicBool::new(false));
//! let (received, sent) = std::thread::scope(|threads| {
//!     let receiving = threads.spawn(|| receive(&config, receiver, clock, &stop));
//!     let sent = send(&config, server, clock, &stop);
//!     (receiving.join().expect("no panic"), sent)
//! });
//! assert_eq!(received?[0].payload, Bytes::new(1_000_000));
//! assert!(sent?[0].completion.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod error;
mod load;
mod probed_group;
mod process;
mod sized_group;
mod sobas_socket;
pub mod tune;
pub mod watch;
mod window;

pub use error::LiveError;
pub use load::{
    FlowConfig, KERNEL_DECIDES, Lateness, Measured, PREAMBLE, ReceivedFlow, Receiver, ReceiverSample,
    RttStatistics, STOP_CHECK, SampleTimes, SendCounts, SenderSample, SentFlow, SessionConfig, SideChannel,
    SizerChoice, receive, receive_with, send, send_with,
};
pub use probed_group::ProbedGroup;
pub use process::ProcessError;
pub use sized_group::SizedGroup;
pub use sobas_socket::SobasSocket;
pub use window::{SETTLING, Window, WindowControl, WindowReading};

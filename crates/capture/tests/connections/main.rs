//! Connections of captures: of kernel TCP (`kernel.rs`), of a sender that is computed (`computed.rs`, by
//! `transfer.rs`), with the faults of captures (`faults.rs`), of connections that
//! fail (`failures.rs`), damaged ones (`damaged.rs`), and extremes (`extremes.rs`).

#[path = "../common/mod.rs"]
mod common;
mod computed;
mod damaged;
mod extremes;
mod failures;
mod faults;
mod kernel;
mod transfer;

use std::ops::ControlFlow;
use tightlink_capture::connections::{Connections, connections};

/// Reads a capture to its end.
fn read(file: &[u8]) -> Connections {
    connections(file, |_| ControlFlow::Continue(())).unwrap_or_else(|error| panic!("{error}"))
}

//! Buffer sizers: how large a connection's receive window should be, decided from what its receiver sees.
//!
//! A [`BufferSizer`] is a machine without IO: whoever owns the connection tells it what happened
//! ([`BufferSizer::handle`]) and carries out what it answers ([`BufferSizer::poll`]). The simulator's receiver and a
//! real socket drive the same one. Nothing here knows sockets or packets; what samples say of a path is the business
//! of `estimate`.
//!
//! Reading order: `sizer.rs` (the trait, what goes in and comes out), `config.rs` (what a sizer is made for), `driver.rs`
//! (what everybody who drives one keeps), `fixed.rs`, `drs.rs`, `wad.rs`, `sobas.rs` and `sobas/`, `takeover.rs` (SOBAS for transfers under way), `registry.rs` (names).

mod config;
mod driver;
mod drs;
mod fixed;
pub mod registry;
mod sizer;
pub mod sobas;
mod takeover;
mod wad;

pub use config::{SizerConfig, USUAL_MAXIMUM, USUAL_SEGMENT};
pub use driver::{Demands, Driver, PhaseChange};
pub use drs::{Drs, INITIAL_WINDOW};
pub use fixed::Fixed;
pub use sizer::{Action, BufferSizer, Input, SenderReport, SizerState};
pub use sobas::{LEAST_SEGMENTS, Sobas};
pub use takeover::Takeover;
pub use wad::Wad;

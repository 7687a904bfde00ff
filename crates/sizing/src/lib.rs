//! Buffer sizers: algorithms that choose a connection's receive window from the observations of its receiver.
//!
//! A [`BufferSizer`] is a machine without IO. The owner of the connection reports events to it
//! ([`BufferSizer::handle`]) and carries out its answers ([`BufferSizer::poll`]). The simulator's receiver and a real
//! socket drive the same sizer. Nothing here knows sockets or packets; room `estimate` has the estimates of a path.
//!
//! Reading order:
//! - `sizer.rs`: the trait, its inputs and answers; `config.rs`: the settings of a sizer;
//! - `driver.rs`: the state that every owner of a sizer keeps;
//! - `fixed.rs`, `drs.rs`, `wad.rs`, `sobas.rs` and `sobas/`; `takeover.rs`: SOBAS for transfers under way;
//! - `registry.rs`: the names.
//!
//! ```
//! use tightlink_sizing::{Action, BufferSizer, Drs, Input};
//! use units::{Bytes, Span, Time};
//! let mut sizer = Drs::new(Bytes::new(1448), Bytes::new(6_000_000));
//! let Some(Action::Window(first)) = sizer.poll(Time::ZERO) else { panic!("a window to begin with") };
//! for round in 1..=5 {
//!     let now = Time::ZERO + Span::from_millis(40) * round;
//!     sizer.handle(now, Input::RoundTrip(Span::from_millis(40)));
//!     sizer.handle(now, Input::Delivered(Bytes::new(100_000) * round));
//! }
//! let Some(Action::Window(grown)) = sizer.poll(Time::ZERO + Span::from_millis(200)) else { panic!("another") };
//! assert!(grown > first);
//! ```

mod config;
mod driver;
mod drs;
mod fixed;
pub mod registry;
mod regret;
mod sizer;
pub mod sobas;
mod takeover;
mod wad;

pub use config::{SizerConfig, USUAL_MAXIMUM, USUAL_REGRET, USUAL_SEGMENT};
pub use driver::{Demands, Driver, PhaseChange};
pub use drs::{Drs, INITIAL_WINDOW};
pub use fixed::Fixed;
pub use regret::Regret;
pub use sizer::{Action, BufferSizer, Input, SenderReport, SizerState};
pub use sobas::{LEAST_SEGMENTS, Parameters, Sobas};
pub use takeover::Takeover;
pub use wad::Wad;

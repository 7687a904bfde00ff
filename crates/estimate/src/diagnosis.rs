//! The limit of a connection, from evidence that any observer can give: a socket's readings, or a capture.
//!
//! An observer fills an [`Evidence`] with [`Interval`]s of one direction of one connection. [`diagnose`] gives each
//! interval to a [`Cause`], adds the [`Shares`] up, and names the [`Diagnosis`] with the confidence that the evidence
//! allows.
//!
//! Reading order: `evidence.rs`, `join.rs`, `bottleneck.rs`; then `verdict.rs`, whose parts are `stretch.rs` (intervals of
//! a round trip), `causes.rs` (the cause of each), `path.rs` (the state of the path) and `confidence.rs`. The tests in
//! `crates/cli/tests/diagnosed/` judge verdicts on transfers whose limit is known.

mod bottleneck;
mod causes;
mod confidence;
mod evidence;
mod join;
mod path;
mod stretch;
mod verdict;

pub use bottleneck::bottleneck;
pub use evidence::{
    BufferEstimate, Direction, Evidence, HostSettings, Interval, KernelClocks, LossEpisode, UNSCALED,
    Vantage, WindowSizing,
};
pub use verdict::{Cause, Confidence, Diagnosis, PathState, Shares, diagnose};

//! One run: a scenario is resolved, an engine runs it, and a [`Record`](record::Record) results.
//!
//! A run does not know the [`study`](crate::study) that asks for it: no sweep, no search, no claim.
//!
//! Reading order: `resolve.rs`, `record.rs`, `metric.rs`, `engine.rs` and `engine/`, `emulated.rs`, `captured.rs`,
//! `cost.rs`, `memory.rs`, `batches.rs`, `fairness.rs`, `statistics.rs`.

mod batches;
pub mod captured;
pub mod cost;
#[cfg(feature = "kernel")]
pub mod emulated;
pub mod engine;
mod fairness;
#[cfg_attr(not(feature = "kernel"), path = "run/memory/unknown.rs")]
mod memory;
pub mod metric;
pub mod record;
pub mod resolve;
pub mod statistics;

use std::sync::OnceLock;

/// The version and a hash of the engines' sources (`build.rs`). A run's numbers depend on its scenario and on these
/// sources, so that results kept by another build may differ.
pub const BUILD: &str = concat!(env!("CARGO_PKG_VERSION"), " ", env!("TIGHTLINK_BUILD"));

/// The commit that [`set_commit`] was called with.
static COMMIT: OnceLock<&str> = OnceLock::new();

/// Sets the commit of the sources, which manifests and pages name. Only the first call has an effect. Numbers and hashes
/// do not depend on it. The program knows its commit and this crate does not, because it would be compiled anew with
/// each other value.
pub fn set_commit(commit: &'static str) {
    COMMIT.get_or_init(|| commit);
}

/// Returns the commit of the sources, or "unknown" if the program did not set it.
#[must_use]
pub fn commit() -> &'static str {
    COMMIT.get().copied().unwrap_or("unknown")
}

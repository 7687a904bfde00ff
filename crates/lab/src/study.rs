//! Studies: many runs that answer one question, kept and judged.
//!
//! Reading order: `task.rs`, `repeat.rs`, `sweep.rs` and `tabulate.rs`, `search.rs`, `curves.rs`, `claims.rs`, `figures.rs`,
//! `store.rs`, `lines.rs`.

pub mod claims;
pub mod curves;
pub mod figures;
pub mod lines;
pub mod quantities;
pub mod repeat;
pub mod search;
pub mod store;
pub mod sweep;
pub mod tabulate;
pub mod task;

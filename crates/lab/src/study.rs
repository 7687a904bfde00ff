//! Studies: many runs that answer one question, are kept and are judged.
//!
//! Reading order: `task.rs`, `watch.rs`, `repeat.rs`, `table.rs`, `store.rs`, `sweep.rs` and `tabulate.rs`, `ratio.rs`,
//! `search.rs`, `curves.rs`, `claims.rs`, `figures.rs`, `lines.rs`. Then `experiment.rs`, which ties them together,
//! `size.rs`, which finds the buffer that a link needs, and `diagnosis.rs`, which proposes a change to a connection.

pub mod claims;
pub mod curves;
pub mod diagnosis;
pub mod experiment;
pub mod figures;
pub mod lines;
pub mod quantities;
pub mod ratio;
pub mod repeat;
pub mod search;
pub mod size;
pub mod store;
pub mod sweep;
pub mod table;
pub mod tabulate;
pub mod task;
pub mod watch;

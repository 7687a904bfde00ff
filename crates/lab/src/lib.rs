//! The laboratory: from a scenario to a record, a report and a verdict.
//!
//! ```text
//! Document ──► resolve ──► engine ──► Record ──► store, compare ──► claims, report
//! ```
//! What lives here: resolving what a scenario leaves relative, running it on an [`engine`], what a run leaves
//! behind ([`record`]), keeping it ([`store`]), the published relations ([`claims`]) and pages ([`report`]). What
//! does not: algorithms, and the terminal.
//!
//! Reading order: `resolve.rs`, `record.rs`, `engine.rs` and `engine/`, `measure.rs`, `compare.rs`, `repeat.rs`, `claims.rs`,
//! `figures.rs`, `store.rs`, `sweep.rs` and `tabulate.rs`, `search.rs`, `report.rs`, `transfers.rs`.

mod batches;
pub mod catalogue;
pub mod claims;
pub mod compare;
pub mod curves;
pub mod engine;
mod fairness;
pub mod figures;
pub mod measure;
pub mod record;
pub mod repeat;
pub mod report;
pub mod resolve;
pub mod search;
mod sentences;
pub mod store;
pub mod sweep;
pub mod tabulate;
pub mod transfers;

//! One run: a scenario is resolved, an engine runs it, a [`Record`](record::Record) is left.
//!
//! A run knows nothing of the [`study`](crate::study) that asks for it: no sweep, no search, no claim.
//!
//! Reading order: `resolve.rs`, `record.rs`, `metric.rs`, `engine.rs` and `engine/`, `measure.rs`, `batches.rs`, `fairness.rs`,
//! `statistics.rs`.

mod batches;
pub mod engine;
mod fairness;
pub mod measure;
pub mod metric;
pub mod record;
pub mod resolve;
pub mod statistics;

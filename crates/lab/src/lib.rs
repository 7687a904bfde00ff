//! The laboratory: from a scenario to a record, a report and a verdict.
//!
//! ```text
//! Document ──► resolve ──► engine ──► Record ──► store, claims ──► report
//!              run                    run        study
//! ```
//! What lives here: [`run`] resolves what a scenario leaves relative and runs it on an engine; [`study`] makes, keeps and
//! judges many runs; [`report`] writes pages. What does not: algorithms, and the terminal.
//!
//! `run` uses nothing else of this crate, `study` uses `run` and [`files`]; pages use both.
//!
//! Reading order: `run.rs`, `study.rs`, `files.rs`, `report.rs`, `sentences.rs`, `transfers.rs`, `catalogue.rs`.

pub mod catalogue;
pub mod files;
pub mod report;
pub mod run;
mod sentences;
pub mod study;
pub mod transfers;

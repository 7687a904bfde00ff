//! The laboratory: from a scenario to a record, a report and a verdict.
//!
//! ```text
//! Document ──► resolve ──► engine ──► Record ──► store, claims
//!              run                    run        study
//! ```
//! What lives here: [`run`] resolves what a scenario leaves relative and runs it on an engine; [`study`] makes, keeps and
//! judges many runs. What does not: algorithms, pages and the terminal.
//!
//! `run` uses nothing else of this crate, `study` uses `run` and [`files`].
//!
//! Reading order: `run.rs`, `study.rs`, `files.rs`, `catalogue.rs`.

pub mod catalogue;
pub mod files;
pub mod run;
pub mod study;

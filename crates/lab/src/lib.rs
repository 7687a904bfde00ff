//! The laboratory: from a scenario to a record, a report and a verdict.
//!
//! ```text
//! Document ──► resolve ──► engine ──► Record ──► store, claims
//!              run                    run        study
//! ```
//! [`run`] resolves the relative values of a scenario and runs it on an engine; [`study`] makes, keeps and judges many
//! runs. Algorithms, pages and the terminal are in other crates.
//!
//! `run` uses no other part of this crate, `study` uses `run` and [`files`].
//!
//! Reading order: `run.rs`, `study.rs`, `files.rs`, `catalogue.rs`.
//!
//! ```
//! use scenario::Document;
//! use tightlink_lab::{run::record::Engine, study::{experiment::Experiment, watch::Unwatched}};
//! let document = Document::parse("demo.toml", r#"
//! title = "one flow"
//! duration = "12s"
//! warmup = "2s"
//! [link]
//! rate = "20Mbit/s"
//! queue = { limit = "1 bdp" }
//! [[flow]]
//! rtt = "40ms"
//! "#)?;
//! let folder = tempfile::tempdir()?;
//! let mut experiment = Experiment::new(&document, folder.path())?;
//! experiment.engines = vec![Engine::Sim];
//! let answers = experiment.run(&mut Unwatched)?;
//! assert!(answers[0].records[0].summary.goodput_bps() > 15e6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod catalogue;
mod error;
pub mod files;
pub mod run;
pub mod study;

pub use error::{Error, ErrorKind};

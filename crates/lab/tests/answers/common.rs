//! From the text of a scenario to what it resolves to, its faults, and an answer.

use scenario::Document;
use tightlink_lab::run::engine::{UNWATCHED, run};
use tightlink_lab::run::record::{Engine, Record};
use tightlink_lab::run::resolve::{Resolved, resolve_document};

/// Resolves a scenario that has no faults.
#[track_caller]
pub fn resolved(text: &str) -> Resolved {
    Document::parse("x.toml", text)
        .and_then(|document| resolve_document(&document))
        .unwrap_or_else(|faults| panic!("{faults}"))
}

/// Returns the faults of a scenario as text.
#[track_caller]
pub fn refused(text: &str) -> String {
    Document::parse("x.toml", text).and_then(|document| resolve_document(&document)).unwrap_err().to_string()
}

/// Runs a scenario that `engine` can answer.
#[track_caller]
pub fn answered(engine: Engine, text: &str) -> Record {
    run(engine, &resolved(text), UNWATCHED).unwrap_or_else(|error| panic!("{error}"))
}

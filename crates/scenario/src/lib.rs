//! The scenario file: its schema as plain data, a reader with errors at line and key, overrides, sweeps and a content
//! hash.
//!
//! This crate has:
//! - the description, as plain data ([`Scenario`] and the types of [`spec`]), and its text ([`Scenario::to_toml`]);
//! - a description under construction ([`ScenarioDraft`]);
//! - the text of a scenario as a tree that remembers the place of each value ([`Document`]);
//! - its faults ([`Fault`]; [`Complaints`] without a text) and the points of its `[sweep]` ([`Sweep`]).
//!
//! It does not know how anything runs, or which congestion controls and queues exist. A later stage that finds an
//! unknown name raises the same kind of fault at the same place through [`Document::fault`].
//!
//! Three sources can give a key its value. The file gives one. `[sweep]` replaces it by one value after another. An
//! override ([`Document::set`], `--set` on the command line) replaces both: the axis of an overridden key leaves the
//! sweep.
//!
//! Reading order, lower files first; none uses one below it in this list:
//! - `values.rs`, `changes.rs`, `word.rs`, `limit.rs`, `volume.rs`: values of keys and their texts;
//! - `schema.rs`, `near.rs`: facts about keys, and similar words; `origin.rs`, `fault.rs`: places and faults;
//! - `path.rs`, `tree.rs`, `places.rs`: text to tree; `cursor.rs`: the walk over it; `lines.rs`: values to text;
//! - `table.rs`: one entry for each key; `tables/`: the entries; `spec.rs`: the structs they make;
//! - `document.rs`: overrides; `read.rs` and `read/`: checks over several keys; `defaults.rs`; `write.rs`;
//! - `describe.rs` and `draft.rs`: scenarios made in code; `sweep.rs`, `rewrite.rs`, `queues.rs`, `figure.rs`,
//!   `hash.rs`, `reference.rs`.
//!
//! ```
//! use tightlink_scenario::Document;
//! let mut document = Document::parse("demo.toml", r#"
//! title = "one flow"
//! duration = "60s"
//! [link]
//! rate = "97Mbit/s"
//! delay = "10ms"
//! queue = { limit = "0.25 bdp" }
//! [[flow]]
//! rtt = "40ms"
//! "#)?;
//! document.set("link.queue.limit", "250 packets")?;
//! let scenario = document.scenario()?;
//! assert_eq!(scenario.flows[0].control, "reno");
//! assert_eq!(scenario.hash().len(), 16);
//! # Ok::<(), tightlink_scenario::Faults>(())
//! ```

mod changes;
mod cursor;
mod defaults;
mod describe;
mod document;
mod draft;
mod fault;
mod figure;
#[cfg(fuzzing)]
#[path = "../fuzzing/harness.rs"]
pub mod fuzzing;
mod hash;
mod host;
mod limit;
mod lines;
mod near;
mod origin;
mod path;
mod places;
mod queues;
mod read;
pub mod reference;
mod rewrite;
mod schema;
pub mod spec;
mod sweep;
mod table;
mod tables;
mod tree;
mod values;
mod volume;
mod word;
mod write;

pub use document::Document;
pub use draft::ScenarioDraft;
pub use fault::{Complaints, Fault, Faults};
pub use host::AUTOTUNED;
pub use lines::Written;
pub use near::did_you_mean;
pub use origin::Origin;
pub use schema::{DefaultValue, Key};
pub use spec::{
    BbrVariant, Column, CubicVariant, Direction, EcnMode, Flow, FlowChoice, Limit, Link, Live, LossDetection,
    Model, Pattern, Queue, QueueSettings, Record, RecordedFlows, Recovery, Replay, Scenario, SendBuffer,
    Sessions, SocketBuffer, Spread, Stack, StepThreshold, Theory, Threshold, Traffic, Transport, Volume,
    WindowVariant,
};
pub use sweep::{Axis, Point, Sweep};
pub use tables::draft::{FlowDraft, LinkDraft};
pub use tables::figure::{FigureNumbers, FigureReference, FigureSpec, MOST_REPEATS, Smallest};
pub use tables::{key_words, unit_words};
pub use tree::{Entry, Node, Table, Value};
pub use values::{FigureEngine, Host};

//! Makes the buffers on a TCP path the right size. Theory, simulation and the real kernel answer the same question
//! about one description of the path.
//!
//! ```
//! use tightlink::{Engine, Error, Flow, Run, Scenario};
//!
//! fn main() -> Result<(), Error> {
//!     let path = Scenario::link("20Mbit/s", "10ms").limit("0.5 bdp").duration("20s");
//!     let scenario = path.flow(Flow::cubic().rtt("40ms")).build()?;
//!     let record = scenario.run(Engine::Sim)?;
//!     println!("{:.2} Mbit/s of goodput", record.summary.goodput_bps() / 1e6);
//!     Ok(())
//! }
//! ```
//!
//! - A [`Scenario`] is plain data. It is made in code as here, or read by [`Scenario::from_toml`]. [`read`] reads a
//!   file, to which settings can be added.
//! - [`Run`] has the questions: one run, a comparison of engines, a sweep over a key, the size of a buffer. They write
//!   nothing to disk.
//! - An [`Experiment`] has the rest: several keys, repetitions, claims, a results folder, and a [`Watch`] that sees the
//!   progress and can stop the work.
//! - [`tabulate`] makes a [`Table`](table::Table) of results, and [`series`] the tables of a record's series.
//! - [`kept`] computes one point of a sweep anywhere, and [`KeptPoints`] keeps it where a sweep finds it.
//! - A [`Record`] has a run's numbers and series. [`metric`] lists the numbers with their units and words.
//! - An [`Error`] has a kind, and complaints with the paths of keys, such as `flow[2].control`.
//! - A program can add its own controller or sizer to [`cc::registry`] or [`sizing::registry`]; scenarios can then name
//!   it.
//!
//! `examples/` has a program for each of these. The command `tightlink` is in the same package (feature `program`, on
//! by default). A program that calls the library leaves it out: `default-features = false`, with the feature `kernel`
//! for runs on the Linux kernel.

mod ask;
mod read;

/// The commit that this crate was compiled from, with `-dirty` behind it if the sources differ from the commit. It is
/// "unknown" unless the build was given it in `TIGHTLINK_COMMIT`, as `make demo`, `install`, `dist` and `wheel` do.
pub const COMMIT: &str = env!("TIGHTLINK_COMMIT");

pub use ask::Run;
/// Controllers: their trait, their parts, and the registry of their names.
pub use cc;
/// The version and the hash of the engines' sources, which kept points have.
pub use lab::run::BUILD;
pub use lab::run::metric;
pub use lab::run::record::{Engine, Record, Series, Summary};
pub use lab::run::resolve::{Files, Folder, InMemory};
pub use lab::study::experiment::{Comparison, Experiment, ExperimentError, SweepResult};
pub use lab::study::size::{Sizing, Study};
/// The series of a record as tables.
pub use lab::study::store::series;
pub use lab::study::sweep::{FailedPoint, KeptPoints, PointResult, PutError, SweepError, kept};
/// Tables as data: columns with names, units and words.
pub use lab::study::table;
pub use lab::study::tabulate::{tabulate, tabulate_answers};
pub use lab::study::task::{Answer, Task};
pub use lab::study::watch::{Event, SharedWatch, Unwatched, Watch};
pub use lab::{Error, ErrorKind};
pub use read::{read, read_text};
/// The description of a scenario in full.
pub use scenario::spec;
pub use scenario::{
    Complaints, Document, Fault, Faults, Flow, Link, Queue, Scenario, ScenarioDraft, Written, did_you_mean,
};
/// Sizers of the receive window: their trait and the registry of their names.
pub use sizing;
/// Exact quantities: time, bytes, rates, and the texts for them.
pub use units;
pub use units::Complaint;

//! The native module of the Python package `tightlink`. It turns Python's values into scenarios, and results into
//! Python's values and Arrow streams. Nothing is computed here: each class holds a value of the library.
//!
//! Reading order: `errors.rs`, `value.rs`, `arguments.rs`, `watch.rs`, `frame.rs`, `scenario.rs`, `run.rs`, `points.rs`,
//! `sizing.rs`, `lists.rs`. `python/tightlink/` has the public classes around these, and the tests.

#![expect(
    clippy::needless_pass_by_value,
    clippy::too_many_arguments,
    reason = "Python's arguments become values of their own, and each keyword is an argument"
)]

mod arguments;
mod errors;
mod frame;
mod lists;
mod points;
mod run;
mod scenario;
mod sizing;
mod value;
mod watch;

use pyo3::prelude::*;

/// The private module `tightlink._native`.
#[pymodule]
mod _native {
    use super::{Bound, PyModule, PyResult};
    #[pymodule_export]
    use crate::errors::{CannotAnswer, Fault, MachineError, ScenarioError, SweepFailed};
    #[pymodule_export]
    use crate::frame::Frame;
    #[pymodule_export]
    use crate::lists::{figures, metrics, presets};
    #[pymodule_export]
    use crate::points::{Store, Tasks};
    #[pymodule_export]
    use crate::run::{Comparison, Run, frame_of, run_of};
    #[pymodule_export]
    use crate::scenario::Scenario;
    #[pymodule_export]
    use crate::sizing::{Sizing, size};
    use pyo3::types::PyModuleMethods;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("VERSION", env!("CARGO_PKG_VERSION"))?;
        module.add("BUILD", cli::BUILD)?;
        module.add("COMMIT", cli::COMMIT)?;
        // Pages and manifests that Python asks for name it.
        lab::run::set_commit(cli::COMMIT);
        module.add("DEBUG", cfg!(debug_assertions))
    }
}

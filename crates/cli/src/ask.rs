//! [`Run`]: the questions about a scenario, each answered in memory.

use lab::Error;
use lab::run::engine::{self, UNWATCHED};
use lab::run::record::{Engine, Record};
use lab::run::resolve::{Files, Folder, resolve};
use lab::study::experiment::Experiment;
use lab::study::size::{Sizing, Study};
use lab::study::sweep::PointResult;
use lab::study::task::Answer;
use lab::study::watch::Unwatched;
use scenario::{Complaints, Document, Faults, Scenario, Written};
use std::path::PathBuf;

/// The questions about a scenario. Files that it names are read relative to the current folder.
pub trait Run {
    /// Runs the scenario once on `engine`.
    ///
    /// # Errors
    /// If the scenario is not valid, or the engine has no answer.
    fn run(&self, engine: Engine) -> Result<Record, Error>;

    /// Runs the scenario as [`Run::run`] does, and reads the files that it names from `files`, such as [`InMemory`].
    ///
    /// # Errors
    /// If the scenario is not valid, or the engine has no answer.
    ///
    /// [`InMemory`]: crate::InMemory
    fn run_with(&self, engine: Engine, files: &dyn Files) -> Result<Record, Error>;

    /// Asks theory and simulation. An engine that has no answer is among [`Answer::absent`], with the reason.
    ///
    /// # Errors
    /// If the scenario is not valid, or neither engine has an answer.
    fn compare(&self) -> Result<Answer, Error>;

    /// Runs the scenario on `engine` at each of the values of `key`, on all cores.
    ///
    /// ```
    /// use tightlink::{Engine, Flow, Run, Scenario};
    /// let path = Scenario::link("20Mbit/s", "10ms").limit("1 bdp").flow(Flow::reno()).duration("5s");
    /// let points = path.build()?.sweep(Engine::Sim, "link.queue.limit", ["0.1 bdp", "1 bdp"])?;
    /// assert!(points[0].summary.goodput_bps() < points[1].summary.goodput_bps());
    /// # Ok::<(), tightlink::Error>(())
    /// ```
    ///
    /// # Errors
    /// If the scenario or a value is not valid, or the engine has no answer.
    fn sweep(&self, engine: Engine, key: &str, values: impl Written) -> Result<Vec<PointResult>, Error>;

    /// Finds the limits of the tight link's queue that keep the link busy, by theory and simulation.
    ///
    /// # Errors
    /// If the scenario is not valid or cannot be sized, because for example none of its flows is greedy.
    fn size(&self) -> Result<Sizing, Error>;

    /// Returns an experiment over all combinations of the values of keys; without keys it has one point. It keeps
    /// nothing until it gets a [folder](Experiment::folder).
    ///
    /// # Errors
    /// If the scenario or a value is not valid.
    fn experiment(&self, sweep: &[(&str, &dyn Written)]) -> Result<Experiment, Error>;
}

impl Run for Scenario {
    fn run(&self, engine: Engine) -> Result<Record, Error> {
        self.run_with(engine, &Folder::default())
    }

    fn run_with(&self, engine: Engine, files: &dyn Files) -> Result<Record, Error> {
        let resolved = resolve(self, files)?;
        engine::can_answer(engine, &resolved)?;
        if engine == Engine::Live {
            engine::prepare_kernel()?;
        }
        Ok(engine::run(engine, &resolved, UNWATCHED)?)
    }

    fn compare(&self) -> Result<Answer, Error> {
        let experiment = self.experiment(&[])?.engines([Engine::Model, Engine::Sim]);
        let mut answers = experiment.compare(&[], &mut Unwatched)?.answers;
        // An experiment without a sweep has one point.
        Ok(answers.swap_remove(0))
    }

    fn sweep(&self, engine: Engine, key: &str, values: impl Written) -> Result<Vec<PointResult>, Error> {
        Ok(self.experiment(&[(key, &values)])?.sweep(engine, &mut Unwatched)?.results)
    }

    fn size(&self) -> Result<Sizing, Error> {
        let document = Document::of(self);
        let study = Study::of_scenario(&document, PathBuf::new()).map_err(in_code)?;
        Ok(Study { folder: None, ..study }.simulate(&mut Unwatched)?)
    }

    fn experiment(&self, sweep: &[(&str, &dyn Written)]) -> Result<Experiment, Error> {
        lab::run::set_commit(crate::COMMIT);
        let mut document = Document::of(self);
        for (key, values) in sweep {
            document.set(&format!("sweep.\"{key}\""), &values.written()).map_err(in_code)?;
        }
        Experiment::in_memory(&document).map_err(in_code)
    }
}

/// Makes the error of a scenario that has no text of its own.
fn in_code(faults: Faults) -> Error {
    Complaints::from(faults).into()
}

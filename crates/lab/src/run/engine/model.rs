//! Theory as an engine: a list of theories, of which the one that best fits a scenario answers.
//!
//! Here are the list, the trait [`Theory`], and the choice of a theory. Equations are in the room `model`. One file per
//! theory is in `model/`. `model/departure.rs` says how a scenario may differ from the assumptions of a theory.
//! `model/answer.rs` makes the record of a theory's findings.
//!
//! **How a theory is chosen.** Each theory lists its departures: the parts of a scenario that it treats otherwise than
//! the scenario describes them. The theory whose departures have the least total weight answers; in a tie it is the
//! first in the list. A theory without departures fits the scenario, and claims judge its answer. Otherwise each
//! departure stands for an assumption that the scenario breaks. The summary lists these assumptions, and no claim
//! judges the answer. With `model.theory` a scenario names the theory itself.
//!
//! **How to add a theory.**
//! 1. The equations are pure functions in room `model`, with their source id and tests.
//! 2. `model/NAME.rs` has a unit struct that implements [`Theory`], with four functions:
//!    - `name` and `source`: the name in assumptions and notes, and the source;
//!    - `departures`: an empty list where the theory is about exactly such a scenario; else one [`Departure`] for
//!      each part that it treats otherwise. Departures that theories share are functions of `departure.rs`; other
//!      shared code is in `tight.rs`. It returns an error only where no answer is possible. It must be cheap, because
//!      every engine is checked before anything runs;
//!    - `answer`: the numbers, as an [`Answer`]. It is also called if there are departures, so it must assume something
//!      for each of them. Numbers are finite, shares lie in [0, 1]; a solver that finds nothing returns an error
//!      with the reason.
//! 3. An entry in [`THEORIES`], with a word of `model.theory` in room `scenario`, or of a wireless cell in
//!    [`OF_CELLS`]. The place decides ties only.
//! 4. Tests: the answer where the theory fits, by a hand value; each departure, by a scenario that has it alone.
//!    `tests/answers/theories.rs` holds every theory to finite numbers on random scenarios.

mod answer;
mod departure;
mod downloads;
mod fixed_point;
mod fluid;
mod mft;
mod offered;
mod saturation;
mod slow_start;
mod tight;

pub(crate) use self::downloads::served_every;

use self::answer::Answer;
use self::departure::Departure;
use super::{EngineError, Misfit, constant_links, no_foreign_control, no_shaper, no_users};
use crate::run::cost::Stopwatch;
use crate::run::record::{Engine, Record};
use crate::run::resolve::Resolved;
use scenario::Theory as Asked;
use units::Complaint;

/// Every theory, and the name by which a scenario asks for it. In a tie the first one answers. For a file this is the
/// theory of the file's duration, because the file may not reach a steady state. For a steady state, theories that do
/// not compute the transient before it come first.
const THEORIES: &[(Asked, &dyn Theory)] = &[
    (Asked::SlowStart, &slow_start::SlowStart),
    (Asked::Mft, &mft::Mft),
    (Asked::FixedPoint, &fixed_point::FixedPoint),
    (Asked::Fluid, &fluid::Fluid),
];
/// Returns true if a theory describes the steady state of the congestion control called `name`.
pub(crate) fn has_theory(name: &str) -> bool {
    mft::CONTROLS.contains(&name)
        || downloads::CONTROLS.contains(&name)
        || fixed_point::controls().any(|known| known == name)
}

/// Every theory of a wireless cell. None has a name in `model.theory`.
const OF_CELLS: &[(Asked, &dyn Theory)] =
    &[(Asked::Nearest, &saturation::Saturation), (Asked::Nearest, &downloads::Downloads)];

/// A theory: the scenarios that it is about, and its answer to one of them.
trait Theory: Sync {
    /// Returns its name in assumptions, such as "mft".
    fn name(&self) -> &'static str;

    /// Returns the id of its source, such as "sobas:mft".
    fn source(&self) -> &'static str;

    /// Lists the parts of the scenario that the theory treats otherwise than the scenario describes them. The first one
    /// is the first that a user should change. The list is empty if the theory fits.
    ///
    /// # Errors
    /// If the theory has no answer at all, with the reason.
    fn departures(&self, resolved: &Resolved) -> Result<Vec<Departure>, Complaint>;

    /// Computes the answer under the assumption of each departure.
    ///
    /// # Errors
    /// If it finds no answer, with the reason.
    fn answer(&self, resolved: &Resolved) -> Result<Answer, Complaint>;
}

/// A theory that can answer, and the distance of the scenario from the theory's assumptions.
struct Choice {
    theory: &'static dyn Theory,
    departures: Vec<Departure>,
}

impl Choice {
    fn weight(&self) -> u32 {
        self.departures.iter().map(|departure| departure.weight.value()).sum()
    }

    fn assumptions(&self) -> Vec<String> {
        let name = self.theory.name();
        self.departures.iter().map(|departure| format!("{name}: {}", departure.assumption)).collect()
    }
}

/// Returns the answer of the theory that fits best.
///
/// # Errors
/// [`EngineError::CannotAnswer`] if no theory can answer.
pub(super) fn run(resolved: &Resolved) -> Result<Record, EngineError> {
    let watch = Stopwatch::start();
    let mut reason = None;
    for choice in choices(resolved)? {
        match choice.theory.answer(resolved) {
            Ok(answer) => {
                let theory = format!("{} [{}]", choice.theory.name(), choice.theory.source());
                return Ok(answer.record(resolved, &theory, choice.assumptions(), watch));
            }
            Err(complaint) => reason = reason.or(Some(complaint)),
        }
    }
    Err(misfit(reason.unwrap_or_default()).into())
}

/// Checks that one of the theories fits the scenario without a departure.
///
/// # Errors
/// Returns the first departure of the nearest theory.
pub(super) fn check(resolved: &Resolved) -> Result<(), Misfit> {
    let nearest = choices(resolved)?.into_iter().next();
    match nearest.and_then(|choice| choice.departures.into_iter().next()) {
        Some(departure) => Err(misfit(departure.complaint)),
        None => Ok(()),
    }
}

/// Checks that a theory can answer, even under assumptions.
///
/// # Errors
/// If none can, with the reason.
pub(super) fn can_answer(resolved: &Resolved) -> Result<(), Misfit> {
    choices(resolved).map(drop)
}

/// Returns the theories that can answer, of those that the scenario asks for, the nearest first. There is at least one.
fn choices(resolved: &Resolved) -> Result<Vec<Choice>, Misfit> {
    constant_links(Engine::Model, resolved)?;
    no_shaper(Engine::Model, resolved)?;
    no_foreign_control(Engine::Model, resolved)?;
    let theories = if resolved.cell.is_some() { OF_CELLS } else { THEORIES };
    if resolved.flows.is_empty() && resolved.cell.is_none() {
        // Users are refused, because every theory of links is about flows.
        no_users(Engine::Model, resolved, "ask the simulator")?;
    }
    let (mut choices, mut reason) = (Vec::new(), None);
    let asked = |theory: Asked| resolved.theory == Asked::Nearest || resolved.theory == theory;
    if resolved.cell.is_some() && resolved.theory != Asked::Nearest {
        let complaint =
            Complaint::new("model.theory", "a theory of links, and the scenario has a wireless cell");
        reason = Some(complaint.accepted("\"nearest\""));
    }
    for (_, theory) in theories.iter().filter(|(name, _)| asked(*name)) {
        match theory.departures(resolved) {
            Ok(departures) => choices.push(Choice { theory: *theory, departures }),
            Err(complaint) => reason = reason.or(Some(complaint)),
        }
    }
    if resolved.cell.is_some() && choices.is_empty() {
        // No cell theory is nearer than another, so the message names the scenarios that all of them cover.
        reason = reason.map(|complaint| complaint.accepted("saturated stations, or downloads alone"));
    }
    choices.sort_by_key(Choice::weight);
    if choices.is_empty() { Err(misfit(reason.unwrap_or_default())) } else { Ok(choices) }
}

fn misfit(complaint: Complaint) -> Misfit {
    Misfit { engine: Engine::Model, complaint }
}

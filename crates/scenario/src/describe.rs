//! A [`Scenario`] made in code and the text of one: each can become the other, and both are checked alike.

use crate::document::Document;
use crate::fault::{Complaints, Fault, Faults};
use crate::spec::Scenario;

/// The name of the text that a scenario made in code is rendered to.
const IN_CODE: &str = "scenario.toml";

impl Scenario {
    /// Reads the text of a scenario file. Its `[sweep]` and `[figure]` are for [`Document`].
    ///
    /// # Errors
    /// Everything that is wrong with it, at its line and column.
    pub fn from_toml(text: &str) -> Result<Self, Faults> {
        Document::parse(IN_CODE, text)?.scenario()
    }

    /// Checks a scenario that was made in code as if it had been read, and returns it with the names and paths that
    /// were left out.
    ///
    /// # Errors
    /// Everything that is wrong with it, at its key.
    pub fn checked(&self) -> Result<Self, Complaints> {
        Ok(Document::of(self).scenario()?)
    }

    /// Returns the scenario with another value for a key, as `--set KEY=VALUE` has it: `with("link.queue.limit",
    /// "1 bdp")`.
    ///
    /// # Errors
    /// If the key leads nowhere, and everything that is wrong with the scenario then.
    pub fn with(&self, key: &str, value: &str) -> Result<Self, Complaints> {
        let mut document = Document::of(self);
        document.set(key, value)?;
        Ok(document.scenario()?)
    }
}

impl Document {
    /// Renders a scenario to a document. What is wrong with it is found when that is read.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        Self::parse(IN_CODE, &scenario.to_toml()).expect("quoted texts, numbers and tables are TOML")
    }

    /// Gives each complaint its place in the text.
    #[must_use]
    pub fn faults(&self, complaints: Complaints) -> Faults {
        let faults: Vec<Fault> = complaints.into_iter().map(|complaint| self.complain(complaint)).collect();
        faults.into()
    }
}

//! A [`Scenario`] made in code and its text: each can become the other, and both pass the same checks.

use crate::document::Document;
use crate::fault::{Complaints, Fault, Faults};
use crate::spec::Scenario;

/// The file name for the text of a scenario made in code.
const IN_CODE: &str = "scenario.toml";

impl Scenario {
    /// Reads the text of a scenario file. Its `[sweep]` and `[figure]` are for [`Document`].
    ///
    /// # Errors
    /// Returns all faults, each at its line and column.
    pub fn from_toml(text: &str) -> Result<Self, Faults> {
        Document::parse(IN_CODE, text)?.scenario()
    }

    /// Checks a scenario that was made in code as if it had been read, and returns it with the names and paths that
    /// were left out.
    ///
    /// # Errors
    /// Returns all complaints, each at its key.
    pub fn checked(&self) -> Result<Self, Complaints> {
        Ok(Document::of(self).scenario()?)
    }

    /// Returns the scenario with another value for a key, as `--set KEY=VALUE` sets it: `with("link.queue.limit",
    /// "1 bdp")`.
    ///
    /// # Errors
    /// If the key does not exist or the scenario is then not valid.
    pub fn with(&self, key: &str, value: &str) -> Result<Self, Complaints> {
        let mut document = Document::of(self);
        document.set(key, value)?;
        Ok(document.scenario()?)
    }
}

impl Document {
    /// Renders a scenario to a document, without checks: those follow when the document is read.
    #[must_use]
    pub fn of(scenario: &Scenario) -> Self {
        Self::parse(IN_CODE, &scenario.to_toml()).expect("quoted texts, numbers and tables are TOML")
    }

    /// Turns complaints into faults, each at its place in the text.
    #[must_use]
    pub fn faults(&self, complaints: Complaints) -> Faults {
        let faults: Vec<Fault> = complaints.into_iter().map(|complaint| self.complain(complaint)).collect();
        faults.into()
    }
}

//! The content hash: what a scenario says, whatever its comments, layout and order of keys.

use crate::spec::Scenario;

impl Scenario {
    /// The scenario's name in stores and reports: 16 hexadecimal digits of BLAKE3 over the canonical JSON of the
    /// data. So comments, layout and spelled-out defaults do not change the name, and every value does.
    #[must_use]
    pub fn hash(&self) -> String {
        self.hash_with(&[])
    }

    /// As [`hash`](Scenario::hash), with the fingerprints of the files that the scenario names: what they hold is
    /// part of what it says.
    #[must_use]
    pub fn hash_with(&self, contents: &[u64]) -> String {
        // Fields in the order of spec.rs, no maps, floats in their shortest exact form: one text per value.
        let mut canonical = serde_json::to_vec(self).expect("plain data without maps always serializes");
        canonical.extend(contents.iter().flat_map(|content| content.to_le_bytes()));
        blake3::hash(&canonical).to_hex()[..16].to_owned()
    }
}

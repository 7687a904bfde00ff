//! The content hash: what a scenario says, whatever its comments, layout and order of keys.

use crate::spec::Scenario;

impl Scenario {
    /// The scenario's name in stores and reports: 16 hexadecimal digits of BLAKE3 over the canonical JSON of the
    /// data, so that comments, layout and spelled-out defaults do not change it and every value does.
    #[must_use]
    pub fn hash(&self) -> String {
        // Fields in the order of spec.rs, no maps, floats in their shortest exact form: one text per value.
        let canonical = serde_json::to_vec(self).expect("plain data without maps always serializes");
        blake3::hash(&canonical).to_hex()[..16].to_owned()
    }
}

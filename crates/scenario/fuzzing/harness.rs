//! Access for the fuzz targets only (`--cfg fuzzing`).

use crate::schema::{self, Keys};
use crate::tables;

units::fuzzing_checks!();

/// Returns every key of the schema, once.
#[must_use]
pub fn keys() -> Vec<&'static str> {
    fn collect(keys: Keys, names: &mut Vec<&'static str>) {
        for key in schema::all(keys) {
            names.push(key.name);
            collect(key.within, names);
        }
    }
    let mut names = Vec::new();
    collect(tables::ROOT, &mut names);
    names.sort_unstable();
    names.dedup();
    names
}

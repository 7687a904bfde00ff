//! The table that a figure draws with its engines' curves.

use crate::files::read_text;
use crate::study::curves::Reference;
use crate::study::figures::published_file;
use scenario::{Document, Faults, FigureSpec};
use std::borrow::Cow;
use std::path::Path;

/// The largest accepted table, in bytes.
const LARGEST: u64 = 16 << 20;

/// Reads the table of `spec`, if it has one; that of a published scenario is inside the program.
///
/// # Errors
/// If it cannot be read, or is not such a table.
pub(super) fn read(document: &Document, spec: &FigureSpec) -> Result<Option<Reference>, Faults> {
    let Some(asked) = &spec.reference else { return Ok(None) };
    let path = Path::new(document.name()).parent().unwrap_or(Path::new("")).join(&asked.file);
    let shown = path.display().to_string();
    let text = match published_file(document, &asked.file) {
        Some(text) => Cow::Borrowed(text),
        None => Cow::Owned(read_text(&path, LARGEST).map_err(|error| {
            let help = "give the path of a CSV file, relative to the folder of the scenario".to_owned();
            let found = format!("{shown}: {error}");
            document.fault("figure.reference.file", found, "a CSV file, in UTF-8", Some(help))
        })?),
    };
    Ok(Some(Reference::parse(document, spec, &shown, &text)?))
}

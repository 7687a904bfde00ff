//! The published results that tightlink reproduces: scenarios and claims, carried inside the program so that they are
//! always at hand.

use crate::study::claims::{Claim, ClaimError, parse_claims};
use include_dir::{Dir, include_dir};
use scenario::{Document, Faults};
use std::path::Path;

static SCENARIOS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../scenarios");
static CLAIMS: Dir<'_> = include_dir!("$CARGO_MANIFEST_DIR/../../tests/claims");

/// One published result.
#[derive(Clone, Debug)]
pub struct Figure {
    /// Its id, `sobas:fig1-4`: the scenario's `source`.
    pub id: String,
    /// The scenario.
    pub document: Document,
    /// Its title.
    pub title: String,
}

/// Returns every published result with a scenario, by id.
///
/// # Errors
/// Faults in a scenario file that is part of the program, which its tests exclude.
pub fn figures() -> Result<Vec<Figure>, Faults> {
    let mut files = Vec::new();
    collect(&SCENARIOS, &mut files);
    let mut figures = Vec::new();
    for (path, text) in files {
        let document = Document::parse(&format!("scenarios/{path}"), text)?;
        let scenario = document.at(&document.sweep()?.points().next().unwrap_or_default())?.scenario()?;
        if let Some(id) = scenario.source {
            figures.push(Figure { id, document, title: scenario.title });
        }
    }
    figures.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(figures)
}

/// Returns every scenario to start from, by its file's name.
///
/// # Errors
/// As for [`figures`].
pub fn presets() -> Result<Vec<Figure>, Faults> {
    let mut files = Vec::new();
    SCENARIOS.get_dir("presets").into_iter().for_each(|folder| collect(folder, &mut files));
    let preset = |(path, text): (String, &str)| {
        let document = Document::parse(&format!("scenarios/{path}"), text)?;
        let title = document.at(&document.sweep()?.points().next().unwrap_or_default())?.scenario()?.title;
        let id = path.trim_start_matches("presets/").trim_end_matches(".toml").to_owned();
        Ok(Figure { id, document, title })
    };
    let mut presets = files.into_iter().map(preset).collect::<Result<Vec<_>, Faults>>()?;
    presets.sort_by(|a, b| a.id.cmp(&b.id));
    Ok(presets)
}

fn collect(folder: &'static Dir<'static>, files: &mut Vec<(String, &'static str)>) {
    for file in folder.files() {
        let path = file.path().display().to_string();
        if let (true, Some(text)) = (path.ends_with(".toml"), file.contents_utf8()) {
            files.push((path, text));
        }
    }
    for inner in folder.dirs() {
        collect(inner, files);
    }
}

/// Returns the text of the file at `path`, relative to the folder of `document`, if `document` is a published scenario.
/// The text is the one carried inside the program.
#[must_use]
pub fn published_file(document: &Document, path: &str) -> Option<&'static str> {
    let own = Path::new(document.name()).strip_prefix("scenarios").ok()?;
    let published = SCENARIOS.get_file(own)?.contents_utf8()? == document.text();
    published.then(|| SCENARIOS.get_file(own.parent()?.join(path))?.contents_utf8()).flatten()
}

/// Returns every published claim about the figure `id`.
///
/// # Errors
/// A claim file that cannot be read, which the program's tests exclude.
pub fn claims(id: &str) -> Result<Vec<Claim>, ClaimError> {
    let mut claims = published_claims()?;
    claims.retain(|claim| claim.figure == id);
    Ok(claims)
}

/// Returns every published claim.
///
/// # Errors
/// As [`claims`].
pub fn published_claims() -> Result<Vec<Claim>, ClaimError> {
    let mut claims = Vec::new();
    for file in CLAIMS.files() {
        let name = format!("tests/claims/{}", file.path().display());
        claims.extend(parse_claims(&name, file.contents_utf8().unwrap_or_default())?);
    }
    Ok(claims)
}

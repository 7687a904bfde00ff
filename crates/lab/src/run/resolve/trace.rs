//! The files of traces, read once for all points of a sweep.

use capture::{Prefix, Wanted};
use link::traffic::Trace;
use scenario::spec::Replay;
use scenario::{Document, Fault};
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

/// A file as it was when its trace was read, and which of its packets were taken.
type Version = (PathBuf, Option<SystemTime>, u64, Wanted);

/// A trace that was read: it, and the remarks on its file.
pub(super) type Known = (Arc<Trace>, Vec<String>);

/// A file, its trace while a scenario has it, and the remarks on it.
type Held = (Version, Weak<Trace>, Vec<String>);

/// Traces in use.
static KNOWN: Mutex<Vec<Held>> = Mutex::new(Vec::new());

/// Reads the trace that `replay` names, relative to the folder of the scenario.
///
/// # Errors
/// If it cannot be read, or is no trace.
pub(super) fn read(document: &Document, replay: &Replay) -> Result<Known, Fault> {
    let path = Path::new(document.name()).parent().unwrap_or(Path::new("")).join(&replay.file);
    let shown = path.display();
    let fault = |found: String, accepted: &str, help: Option<String>| {
        document.fault(&format!("traffic[{}].file", replay.entry), found, accepted, help)
    };
    let unreadable = |error: std::io::Error| {
        let help = "give the path of a trace, relative to the folder of the scenario".to_owned();
        fault(format!("{shown}: {error}"), "a file of packets: a capture or CSV", Some(help))
    };
    let wanted = Wanted {
        toward: prefix(document, replay, "toward", replay.toward.as_deref())?,
        from: prefix(document, replay, "from", replay.from.as_deref())?,
    };
    let file = File::open(&path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    let version = (path.clone(), about.modified().ok(), about.len(), wanted);
    let (trace, notes) = match known(&version) {
        Some(known) => known,
        None => {
            let recording = capture::read(file, &wanted)
                .map_err(|error| fault(format!("{shown}{error}"), &error.accepted, error.help.clone()))?;
            let name = &replay.file;
            let notes = recording.notes.iter().map(|note| format!("{name}: {note}")).collect();
            (Arc::new(recording.trace), notes)
        }
    };
    // A trace without length cannot repeat: it would never end.
    if replay.repeat && trace.duration() == units::Span::ZERO {
        let found = format!("{}: all packets at one instant, to be repeated", replay.file);
        return Err(fault(found, "a trace with time between its packets, or repeat = false", None));
    }
    let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|(other, trace, _)| trace.strong_count() > 0 && *other != version);
    all.push((version, Arc::downgrade(&trace), notes.clone()));
    Ok((trace, notes))
}

fn known(version: &Version) -> Option<Known> {
    let all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, trace, notes) = all.iter().find(|(known, ..)| known == version)?;
    Some((trace.upgrade()?, notes.clone()))
}

/// Reads `key`, an address or a prefix of addresses.
fn prefix(
    document: &Document,
    replay: &Replay,
    key: &str,
    text: Option<&str>,
) -> Result<Option<Prefix>, Fault> {
    let Some(text) = text else { return Ok(None) };
    text.parse().map(Some).map_err(|()| {
        let accepted = "an address or a prefix, such as \"198.18.0.2\", \"10.0.0.0/8\" or \"2001:db8::/32\"";
        let key = format!("traffic[{}].{key}", replay.entry);
        document.fault(&key, format!("\"{text}\" is no address"), accepted, None)
    })
}

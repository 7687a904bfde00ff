//! The files of traces, read once for all points of a sweep.

use link::traffic::{Trace, TraceParser};
use scenario::spec::Replay;
use scenario::{Document, Fault};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::SystemTime;

const PIECE: usize = 1 << 20;

/// A file as it was when its trace was read.
type Version = (PathBuf, Option<SystemTime>, u64);

/// Traces in use.
static KNOWN: Mutex<Vec<(Version, Weak<Trace>)>> = Mutex::new(Vec::new());

/// The trace that `replay` names, relative to the folder of the scenario.
///
/// # Errors
/// If it cannot be read, or is no trace.
pub(super) fn read(document: &Document, replay: &Replay) -> Result<Arc<Trace>, Fault> {
    let path = Path::new(document.name()).parent().unwrap_or(Path::new("")).join(&replay.file);
    let shown = path.display();
    let fault = |found: String, accepted: &str, help: Option<String>| {
        document.fault(&format!("traffic[{}].file", replay.entry), found, accepted, help)
    };
    let unreadable = |error: std::io::Error| {
        let help = "give the path of a trace, relative to the folder of the scenario".to_owned();
        fault(format!("{shown}: {error}"), "a file of packets, CSV or pcap", Some(help))
    };
    let mut file = File::open(&path).map_err(unreadable)?;
    let about = file.metadata().map_err(unreadable)?;
    let version = (path.clone(), about.modified().ok(), about.len());
    if let Some(trace) = known(&version) {
        return repeatable(trace, replay, &fault);
    }
    let refused = |error: link::traffic::TraceError| {
        fault(format!("{shown}{error}"), &error.accepted, error.help.clone())
    };
    let (mut parser, mut piece) = (TraceParser::default(), vec![0; PIECE]);
    loop {
        match file.read(&mut piece).map_err(unreadable)? {
            0 => break,
            length => parser.feed(&piece[..length]).map_err(refused)?,
        }
    }
    let trace = Arc::new(parser.finish().map_err(refused)?);
    let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|(_, trace)| trace.strong_count() > 0);
    all.push((version, Arc::downgrade(&trace)));
    repeatable(trace, replay, &fault)
}

fn known(version: &Version) -> Option<Arc<Trace>> {
    let all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.iter().find(|(known, _)| known == version).and_then(|(_, trace)| trace.upgrade())
}

/// A trace without length cannot repeat: it would never end.
fn repeatable(
    trace: Arc<Trace>,
    replay: &Replay,
    fault: &dyn Fn(String, &str, Option<String>) -> Fault,
) -> Result<Arc<Trace>, Fault> {
    if replay.repeat && trace.duration() == units::Span::ZERO {
        let found = format!("{}: all packets at one instant, to be repeated", replay.file);
        return Err(fault(found, "a trace with time between its packets, or repeat = false", None));
    }
    Ok(trace)
}

//! The traces that `[[traffic]]` replays.

use super::complaint::complaint;
use super::files::Files;
use super::kept::{self, BoundedSource, Content, Kept};
use capture::{PacketFilter, Prefix};
use link::traffic::Trace;
use scenario::spec::Replay;
use std::io;
use std::sync::Arc;
use units::{Complaint, one_line};

/// A trace that was read, and the remarks on its file.
pub(super) type TraceAndRemarks = (Arc<Trace>, Vec<String>);

/// Reads the trace that `replay` names.
///
/// # Errors
/// If the file cannot be read, or is not a trace.
pub(super) fn read(files: &dyn Files, replay: &Replay) -> Result<TraceAndRemarks, Complaint> {
    let shown = files.shown(&replay.file);
    let fault = |found: String, accepted: &str, help: Option<String>| {
        complaint(format!("traffic[{}].file", replay.entry), found, accepted, help)
    };
    let unreadable = |error: io::Error| {
        let help = "give the path of a trace, relative to the folder of the scenario".to_owned();
        fault(format!("{shown}: {error}"), "a file of packets: a capture or CSV", Some(help))
    };
    let wanted = PacketFilter {
        toward: prefix(replay, "toward", replay.toward.as_deref())?,
        from: prefix(replay, "from", replay.from.as_deref())?,
    };
    let opened = files.open(&replay.file).map_err(unreadable)?;
    let version = format!("{} packets {wanted:?}", opened.identity);
    let kept = match kept::known(&version) {
        Some(known) => known,
        None => {
            let recording = capture::read(BoundedSource::new(opened), &wanted)
                .map_err(|error| fault(format!("{shown}{error}"), &error.accepted, error.help.clone()))?;
            let name = one_line(&replay.file);
            let notes = recording.notes.iter().map(|note| format!("{name}: {note}")).collect();
            let fingerprint = recording.trace.fingerprint();
            Kept { content: Content::Packets(Arc::new(recording.trace)), fingerprint, notes }
        }
    };
    let Content::Packets(trace) = &kept.content else { unreachable!("the version says packets") };
    // A trace without length cannot repeat, because it would never end.
    if replay.repeat && trace.duration() == units::Span::ZERO {
        let found = format!("{}: all packets at one instant, to be repeated", replay.file);
        return Err(fault(found, "a trace with time between its packets, or repeat = false", None));
    }
    kept::keep(version, &kept).map_err(|held| {
        let (found, accepted, help) = kept::too_large(&shown, held);
        fault(found, &accepted, Some(help))
    })?;
    Ok((Arc::clone(trace), kept.notes.clone()))
}

/// Reads `key`, an address or a prefix of addresses.
fn prefix(replay: &Replay, key: &str, text: Option<&str>) -> Result<Option<Prefix>, Complaint> {
    let Some(text) = text else { return Ok(None) };
    text.parse().map(Some).map_err(|()| {
        let accepted = "an address or a prefix, such as \"198.18.0.2\", \"10.0.0.0/8\" or \"2001:db8::/32\"";
        let key = format!("traffic[{}].{key}", replay.entry);
        complaint(key, format!("\"{text}\" is not an address"), accepted, None)
    })
}

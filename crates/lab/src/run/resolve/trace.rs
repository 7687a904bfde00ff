//! The files of traces, read once for all points of a sweep.

use super::complaint::complaint;
use super::files::{Files, Opened};
use capture::{PacketFilter, Prefix};
use link::traffic::Trace;
use scenario::spec::Replay;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use units::{Complaint, one_line};

/// The content that a trace was read from ([`Opened::identity`]), and the packets taken from it.
type Version = (String, PacketFilter);

/// A trace that was read, and the remarks on its file.
pub(super) type TraceAndRemarks = (Arc<Trace>, Vec<String>);

/// A file, its trace as long as a scenario uses it, and the remarks on the file.
type CachedTrace = (Version, Weak<Trace>, Vec<String>);

/// The most bytes that are read from a source that may have no end, such as a pipe or a device.
const MOST_PIPED: u64 = 4 << 30;
/// The most bytes of memory that the traces of all points of a scenario may take together: twice as many as the largest
/// single trace takes.
const MOST_HELD: u64 = 1_200_000_000;

/// Traces in use.
static KNOWN: Mutex<Vec<CachedTrace>> = Mutex::new(Vec::new());

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
    let Opened { content, identity, is_endless } = files.open(&replay.file).map_err(unreadable)?;
    let version = (identity, wanted);
    let (trace, notes) = match known(&version) {
        Some(known) => known,
        None => {
            let piped = is_endless.then_some(MOST_PIPED);
            let recording = capture::read(BoundedSource { source: content, left: piped }, &wanted)
                .map_err(|error| fault(format!("{shown}{error}"), &error.accepted, error.help.clone()))?;
            let name = one_line(&replay.file);
            let notes = recording.notes.iter().map(|note| format!("{name}: {note}")).collect();
            (Arc::new(recording.trace), notes)
        }
    };
    // A trace without length cannot repeat, because it would never end.
    if replay.repeat && trace.duration() == units::Span::ZERO {
        let found = format!("{}: all packets at one instant, to be repeated", replay.file);
        return Err(fault(found, "a trace with time between its packets, or repeat = false", None));
    }
    let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|(other, trace, _)| trace.strong_count() > 0 && *other != version);
    let held: u64 = all.iter().filter_map(|(_, trace, _)| Some(trace.upgrade()?.held().get())).sum();
    let held = held + trace.held().get();
    if held > MOST_HELD {
        let found = format!("{}: traces of {} MB in memory, with those before it", shown, held / 1_000_000);
        let accepted = format!("at most {} MB in all points together", MOST_HELD / 1_000_000);
        let help = "take parts of them (editcap -r IN OUT 1-1000000), or fewer at once";
        return Err(fault(found, &accepted, Some(help.into())));
    }
    all.push((version, Arc::downgrade(&trace), notes.clone()));
    Ok((trace, notes))
}

/// A source that fails if it goes on for too long, instead of appearing to end there.
struct BoundedSource<R> {
    source: R,
    /// The number of bytes that may still come; `None`: any number.
    left: Option<u64>,
}

impl<R: Read> Read for BoundedSource<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.source.read(into)?;
        if let Some(left) = &mut self.left {
            *left = left.checked_sub(read as u64).ok_or_else(|| {
                let most = MOST_PIPED >> 30;
                io::Error::other(format!(
                    "more than {most} GiB from a pipe or device; save it to a file first"
                ))
            })?;
        }
        Ok(read)
    }
}

fn known(version: &Version) -> Option<TraceAndRemarks> {
    let all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let (_, trace, notes) = all.iter().find(|(known, ..)| known == version)?;
    Some((trace.upgrade()?, notes.clone()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_goes_on_for_too_long_fails_rather_than_end() {
        let read = |left| {
            let mut all = Vec::new();
            BoundedSource { source: io::repeat(b'x').take(1000), left }
                .read_to_end(&mut all)
                .map(|_| all.len())
        };
        assert_eq!(read(None).unwrap(), 1000, "a file has an end");
        assert_eq!(read(Some(1000)).unwrap(), 1000);
        let error = read(Some(999)).unwrap_err().to_string();
        assert!(error.contains("more than 4 GiB from a pipe or device"), "{error}");
    }
}

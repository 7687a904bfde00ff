//! The contents of files of traces, read once for all points of a sweep. All of them together have a limit.

use super::files::Opened;
use link::changes::{Opportunities, Steps};
use link::traffic::Trace;
use std::io::{self, Read};
use std::sync::{Arc, Mutex, PoisonError, Weak};
use units::{Bytes, Fraction, Rate, Span};

/// The most bytes of memory that the traces of all points of a scenario may take together: twice as many as the largest
/// single trace takes.
pub(super) const MOST_HELD: Bytes = Bytes::new(1_200_000_000);
/// The most bytes that are read from a source that may have no end, such as a pipe or a device.
const MOST_PIPED: u64 = 4 << 30;

/// The content of a file, as a run uses it.
#[derive(Clone, Debug)]
pub(super) enum Content {
    Packets(Arc<Trace>),
    Opportunities(Arc<Opportunities>),
    Rates(Arc<Steps<Rate>>),
    /// The least delay, and the rest of each.
    Delays(Span, Arc<Steps<Span>>),
    Shares(Arc<Steps<Fraction>>),
    Numbers(Arc<[u64]>),
}

/// A file that was read.
#[derive(Clone, Debug)]
pub(super) struct Kept {
    pub(super) content: Content,
    /// The identity of the content in the scenario's hash.
    pub(super) fingerprint: u64,
    /// Remarks on the file.
    pub(super) notes: Vec<String>,
}

/// The content of a file as long as a scenario uses it.
enum Known {
    Packets(Weak<Trace>),
    Opportunities(Weak<Opportunities>),
    Rates(Weak<Steps<Rate>>),
    Delays(Span, Weak<Steps<Span>>),
    Shares(Weak<Steps<Fraction>>),
    Numbers(Weak<[u64]>),
}

/// A file and what was asked of it ([`Opened::identity`] is a part), and its content.
struct Entry {
    version: String,
    known: Known,
    fingerprint: u64,
    notes: Vec<String>,
}

/// Files in use.
static KNOWN: Mutex<Vec<Entry>> = Mutex::new(Vec::new());

impl Content {
    fn known(&self) -> Known {
        match self {
            Self::Packets(trace) => Known::Packets(Arc::downgrade(trace)),
            Self::Opportunities(all) => Known::Opportunities(Arc::downgrade(all)),
            Self::Rates(steps) => Known::Rates(Arc::downgrade(steps)),
            Self::Delays(least, steps) => Known::Delays(*least, Arc::downgrade(steps)),
            Self::Shares(steps) => Known::Shares(Arc::downgrade(steps)),
            Self::Numbers(numbers) => Known::Numbers(Arc::downgrade(numbers)),
        }
    }

    fn held(&self) -> Bytes {
        match self {
            Self::Packets(trace) => trace.held(),
            Self::Opportunities(all) => all.held(),
            Self::Rates(steps) => steps.held(),
            Self::Delays(_, steps) => steps.held(),
            Self::Shares(steps) => steps.held(),
            Self::Numbers(numbers) => Bytes::new(size_of_val(&numbers[..]) as u64),
        }
    }
}

impl Known {
    fn content(&self) -> Option<Content> {
        Some(match self {
            Self::Packets(trace) => Content::Packets(trace.upgrade()?),
            Self::Opportunities(all) => Content::Opportunities(all.upgrade()?),
            Self::Rates(steps) => Content::Rates(steps.upgrade()?),
            Self::Delays(least, steps) => Content::Delays(*least, steps.upgrade()?),
            Self::Shares(steps) => Content::Shares(steps.upgrade()?),
            Self::Numbers(numbers) => Content::Numbers(numbers.upgrade()?),
        })
    }
}

/// Returns the file of this version, if it is in use.
pub(super) fn known(version: &str) -> Option<Kept> {
    let all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let entry = all.iter().find(|entry| entry.version == version)?;
    let (fingerprint, notes) = (entry.fingerprint, entry.notes.clone());
    Some(Kept { content: entry.known.content()?, fingerprint, notes })
}

/// Keeps a file for the next point as long as it is in use.
///
/// # Errors
/// Returns the bytes in use if they would be more than [`MOST_HELD`].
pub(super) fn keep(version: String, kept: &Kept) -> Result<(), Bytes> {
    let mut all = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|entry| entry.known.content().is_some() && entry.version != version);
    let held = all.iter().filter_map(|entry| Some(entry.known.content()?.held()));
    let held = held.fold(kept.content.held(), |sum, held| sum + held);
    if held > MOST_HELD {
        return Err(held);
    }
    let (fingerprint, notes) = (kept.fingerprint, kept.notes.clone());
    all.push(Entry { version, known: kept.content.known(), fingerprint, notes });
    Ok(())
}

/// Returns the words of a fault for traces that take this much memory: found, accepted, help.
pub(super) fn too_large(shown: &str, held: Bytes) -> (String, String, String) {
    let megabytes = |bytes: Bytes| bytes.get() / 1_000_000;
    (
        format!("{shown}: traces of {} MB in memory, with those before it", megabytes(held)),
        format!("at most {} MB in all points together", megabytes(MOST_HELD)),
        "take parts of them (editcap -r IN OUT 1-1000000, head -n 1000000), or fewer at once".to_owned(),
    )
}

/// A source that fails if it goes on for too long, instead of appearing to end there, and whose bytes are hashed.
pub(super) struct BoundedSource<R> {
    source: R,
    /// The number of bytes that may still come; `None`: any number.
    left: Option<u64>,
    hasher: blake3::Hasher,
}

impl<'a> BoundedSource<Box<dyn Read + 'a>> {
    /// Takes the bytes of an opened file.
    pub(super) fn new(opened: Opened<'a>) -> Self {
        let left = opened.is_endless.then_some(MOST_PIPED);
        Self { source: opened.content, left, hasher: blake3::Hasher::new() }
    }
}

impl<R> BoundedSource<R> {
    /// Returns the first eight bytes of the hash of all bytes that were read.
    pub(super) fn fingerprint(&self) -> u64 {
        let hash = self.hasher.finalize();
        hash.as_bytes()[..8].iter().fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
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
        self.hasher.update(&into[..read]);
        Ok(read)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_that_goes_on_for_too_long_fails_rather_than_end() {
        let read = |left| {
            let (mut all, hasher) = (Vec::new(), blake3::Hasher::new());
            BoundedSource { source: io::repeat(b'x').take(1000), left, hasher }
                .read_to_end(&mut all)
                .map(|_| all.len())
        };
        assert_eq!(read(None).unwrap(), 1000, "a file has an end");
        assert_eq!(read(Some(1000)).unwrap(), 1000);
        let error = read(Some(999)).unwrap_err().to_string();
        assert!(error.contains("more than 4 GiB from a pipe or device"), "{error}");
    }
}

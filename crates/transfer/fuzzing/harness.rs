//! Access to private parts for the fuzz targets only (`--cfg fuzzing`).

pub(crate) mod script;

use host::{Clock, PathLag};
use script::Segment;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Instant;
use units::{Span, Time};

pub use crate::receive::fuzzing::{assembly, sender_session};
pub use crate::send::fuzzing::sender_control;

units::fuzzing_checks!();

/// Returns the number of `bytes` in complete records of a journal, after which opening cuts it. Each record is written
/// and read again.
///
/// # Panics
/// If a record does not read back as it was written; that is the purpose of the test.
#[must_use]
pub fn journal(mut bytes: &[u8]) -> usize {
    let mut at = 0;
    while let Some((record, length)) = crate::journal::read(&mut bytes).expect("memory can be read") {
        let body = postcard::to_stdvec(&record).expect("a record can be written to memory");
        let again: crate::journal::Record =
            postcard::from_bytes(&body).expect("a written record can be read");
        assert_eq!(postcard::to_stdvec(&again).as_ref(), Ok(&body));
        at += length;
    }
    at
}

/// An input, read from its front.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Input<'a>(pub(crate) &'a [u8]);

impl<'a> Input<'a> {
    /// Takes the next byte; `None` at the end.
    pub(crate) fn byte(&mut self) -> Option<u8> {
        let (&first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// Takes the next `count` bytes, or all that are left.
    pub(crate) fn take(&mut self, count: usize) -> &'a [u8] {
        let (taken, rest) = self.0.split_at(count.min(self.0.len()));
        self.0 = rest;
        taken
    }

    /// Picks one of these, by the next byte.
    pub(crate) fn pick<T: Copy>(&mut self, from: &[T]) -> Option<T> {
        Some(from[usize::from(self.byte()?) % from.len()])
    }

    /// Takes a number of eight bytes; missing ones are zeros.
    pub(crate) fn number(&mut self) -> u64 {
        let mut bytes = [0; 8];
        let taken = self.take(8);
        bytes[..taken.len()].copy_from_slice(taken);
        u64::from_le_bytes(bytes)
    }
}

/// Splits a script into segments, each with a byte of kind, a byte of length, and its bytes. The kind's upper four bits
/// count in the length, times 256. Its lower four: 0, bytes as they are; 1, the body of a frame; 2 and more, a turn of
/// that number less 2.
pub(crate) fn segments(mut input: Input<'_>) -> Vec<Segment> {
    let mut segments = Vec::new();
    while let (Some(kind), Some(length)) = (input.byte(), input.byte()) {
        let bytes = input.take(usize::from(kind >> 4) << 8 | usize::from(length));
        segments.push(match kind & 15 {
            0 => Segment::Bytes(bytes.to_vec()),
            1 => Segment::Bytes([&(bytes.len() as u32).to_le_bytes()[..], bytes].concat()),
            turn => Segment::Turn(turn - 2, bytes.to_vec()),
        });
    }
    segments
}

/// The time passed on [`clock`], in nanoseconds.
static PASSED: AtomicU64 = AtomicU64::new(0);

/// A time base on which time passes when a script demands it.
#[derive(Debug)]
struct Still(Instant);

impl PathLag for Still {
    fn now(&self) -> Span {
        let real = Clock::new(self.0).now();
        real.since(Time::from_nanos(PASSED.load(Relaxed)))
    }

    fn at(&self, _real: Instant) -> Span {
        self.now()
    }
}

/// Returns the one clock of a fuzzing process, which stands still except for [`pass`].
#[expect(clippy::disallowed_methods, reason = "a moment in the past, which is not looked at")]
pub(crate) fn clock() -> Clock {
    static CLOCK: OnceLock<Clock> = OnceLock::new();
    *CLOCK.get_or_init(|| {
        // The start is decades before the real time, which it never reaches.
        let start = Instant::now() - std::time::Duration::from_secs(1 << 30);
        Clock::following(start, Still(start))
    })
}

/// Advances [`clock`].
pub(crate) fn pass(span: Span) {
    PASSED.fetch_add(span.as_nanos(), Relaxed);
}

/// Makes an empty folder of this process, in memory if possible. Removes those of processes that have ended.
pub(crate) fn folder(name: &str) -> PathBuf {
    let memory = Path::new("/dev/shm");
    let all = if memory.is_dir() { memory.to_owned() } else { std::env::temp_dir() }.join("tightlink-fuzz");
    for left in std::fs::read_dir(&all).into_iter().flatten().flatten() {
        if !Path::new("/proc").join(left.file_name()).exists() {
            let _ = std::fs::remove_dir_all(left.path());
        }
    }
    let own = all.join(std::process::id().to_string()).join(name);
    std::fs::create_dir_all(&own).expect("a folder in memory");
    own
}

//! Holes of files: found, made, and hashed.
//!
//! [`Holes`]: a hole costs nothing to send and as much to hash as data, so hashing holes has a budget.

use crate::chunks::{Chunks, Digest};
use crate::lock::locked;
use host::Clock;
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;
use std::sync::Mutex;
use std::time::Duration;
use units::{Span, Time};

/// Zeros hashed per second, over all connections: about a third of a core.
const PER_SECOND: u64 = 1 << 30;
/// Zeros that may be hashed at once when nothing was before: trees of sparse files pass without waiting.
const AT_ONCE: u64 = 4 << 30;
/// No wait is longer than this at a time.
const PAUSE: Duration = Duration::from_millis(100);

/// A token bucket of zeros.
#[derive(Debug)]
pub(in crate::receive) struct Holes {
    clock: Clock,
    /// When all that was taken has been earned.
    until: Mutex<Time>,
}

impl Holes {
    pub(super) fn new(clock: Clock) -> Self {
        Self { clock, until: Mutex::new(Time::ZERO) }
    }

    /// Waits until `zeros` may be hashed.
    pub(in crate::receive) fn take(&self, zeros: u64) {
        if zeros == 0 {
            return;
        }
        let depth = earned(AT_ONCE);
        let due = {
            let mut until = locked(&self.until);
            *until = (*until).max(self.clock.now()) + earned(zeros);
            *until
        };
        loop {
            let left = due.since(self.clock.now() + depth);
            if left == Span::ZERO {
                return;
            }
            std::thread::park_timeout(PAUSE.min(Duration::from_nanos(left.as_nanos())));
        }
    }
}

/// How long it takes to earn `zeros`.
fn earned(zeros: u64) -> Span {
    Span::from_nanos((u128::from(zeros) * 1_000_000_000 / u128::from(PER_SECOND)) as u64)
}

/// The bytes that are not in these chunks, in few ranges: a file may have 65536 chunks.
pub(super) fn gaps(chunks: Chunks, there: &BTreeMap<u32, Digest>) -> impl Iterator<Item = Range<u64>> {
    let end = chunks.size()..chunks.size();
    let mut from = 0;
    let ranges = there.keys().map(move |&index| chunks.range(index)).chain([end]);
    ranges
        .map(move |range| std::mem::replace(&mut from, range.end)..range.start)
        .filter(|gap| !gap.is_empty())
}

/// Makes a hole of a part of a file.
pub(super) fn clear(file: &File, range: Range<u64>) -> io::Result<()> {
    use rustix::fs::FallocateFlags as Flags;
    let (mut at, length) = (range.start, range.end - range.start);
    match rustix::fs::fallocate(file, Flags::PUNCH_HOLE | Flags::KEEP_SIZE, at, length) {
        Err(Errno::OPNOTSUPP | Errno::NOSYS) => {}
        cleared => return Ok(cleared?),
    }
    let zeros = vec![0; length.min(256 << 10) as usize];
    while at < range.end {
        let length = (range.end - at).min(zeros.len() as u64);
        file.write_all_at(&zeros[..length as usize], at)?;
        at += length;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn holes_are_hashed_no_faster_than_the_budget_allows() {
        let clock = Clock::start();
        let holes = Holes::new(clock);
        let began = clock.now();
        holes.take(AT_ONCE);
        assert!(clock.now().since(began) < Span::from_millis(500), "the first ones pass");
        let began = clock.now();
        holes.take(PER_SECOND / 4);
        assert!(clock.now().since(began) >= Span::from_millis(200), "{}", clock.now().since(began));
    }
}

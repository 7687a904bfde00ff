//! Functions that find and make holes of files.

use crate::chunks::{Chunks, Digest};
use rustix::io::Errno;
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::unix::fs::FileExt;

/// Returns the ranges of bytes outside these chunks. Neighbouring missing chunks share a range, because a file may have
/// 65536 chunks.
pub(super) fn gaps(chunks: Chunks, there: &BTreeMap<u32, Digest>) -> impl Iterator<Item = Range<u64>> {
    let end = chunks.size()..chunks.size();
    let mut from = 0;
    let ranges = there.keys().map(move |&index| chunks.range(index)).chain([end]);
    ranges
        .map(move |range| std::mem::replace(&mut from, range.end)..range.start)
        .filter(|gap| !gap.is_empty())
}

/// Makes a part of a file a hole.
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

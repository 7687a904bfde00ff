//! Large pages: with few of them, the processor knows where each part of a large memory is.

use std::fs;

/// The size of a large page on x86_64 and most others, bytes. Smaller regions gain nothing.
const LARGE_PAGE: usize = 2 << 20;

/// The advice to put memory into large pages at once: from `mman-common.h` of Linux 6.1, which not every C library
/// repeats.
const COLLAPSE: libc::c_int = 25;

/// Asks the kernel to put this process's large memory into large pages, now and as it grows. A kernel that has none
/// refuses, and nothing changes.
///
/// A simulation of a hundred thousand flows looks at another place in memory with each packet. With pages of 4 kB the
/// processor then searches a page table each time.
#[expect(unsafe_code, reason = "the system call madvise")]
pub fn prefer_large_pages() {
    let maps = fs::read_to_string("/proc/self/maps").unwrap_or_default();
    for (start, length) in maps.lines().filter_map(region).filter(|(_, length)| *length >= LARGE_PAGE) {
        for advice in [libc::MADV_HUGEPAGE, COLLAPSE] {
            // SAFETY: neither advice changes what the memory holds. If another thread has changed the mapping since, the
            // kernel refuses, or gives another mapping large pages.
            unsafe { libc::madvise(std::ptr::without_provenance_mut(start), length, advice) };
        }
    }
}

/// Returns the start and the length of a region that has no file and can be written; `None` for others.
fn region(line: &str) -> Option<(usize, usize)> {
    let mut words = line.split_whitespace();
    let (range, rights) = (words.next()?, words.next()?);
    let name = words.nth(3).unwrap_or("");
    let (start, end) = range.split_once('-')?;
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    (rights == "rw-p" && (name.is_empty() || name == "[heap]")).then(|| (start, end.saturating_sub(start)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_without_a_file_that_can_be_written_are_found() {
        assert_eq!(
            region("7f0000000000-7f0000400000 rw-p 00000000 00:00 0 "),
            Some((0x7f00_0000_0000, 4 << 20))
        );
        assert_eq!(region("55d0-55f0 rw-p 00000000 00:00 0                   [heap]"), Some((0x55d0, 0x20)));
        assert_eq!(region("7f00-7f10 r--p 00000000 00:00 0 "), None);
        assert_eq!(region("7f00-7f10 rw-p 00000000 fe:00 131 /usr/lib/libc.so.6"), None);
        assert_eq!(region("7ffc-7ffd rw-p 00000000 00:00 0                   [stack]"), None);
        assert_eq!(region("nonsense"), None);
    }

    #[test]
    fn memory_holds_the_same_in_large_pages() {
        let memory: Vec<u64> = (0..(8 << 20) / 8).collect();
        prefer_large_pages();
        assert!(memory.iter().zip(0..).all(|(held, written)| *held == written));
    }
}

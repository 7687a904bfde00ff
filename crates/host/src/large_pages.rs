//! Memory in large pages: with few of them, the processor knows where each part of a large memory is, and the kernel
//! gives a program its memory in few steps.
//!
//! A program that wants them has [`LargePages`] as its allocator, and calls [`keep_memory`] before it starts a thread.
//! [`reserve_heap`] then prepares its heap. Nothing happens in another program, such as one that uses the library.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, Ordering};

/// The bytes from which a piece of memory lies in large pages. A large page has 2 MB on x86_64, and the last one of a
/// piece may be used in part only.
const LARGE: usize = 32 << 20;
/// The bytes from which a piece of memory is a mapping of its own, and goes back to the system when it is free.
const MAPPED: usize = 4 << 20;
/// The free memory at the end of the heap that a process keeps, bytes.
const KEPT: usize = 16 << 20;

/// The system's allocator, which asks the kernel for large pages for each large piece of memory. A kernel that has none
/// refuses, and nothing changes.
#[derive(Clone, Copy, Debug)]
pub struct LargePages;

#[expect(unsafe_code, reason = "an allocator is unsafe itself; this one passes each call on")]
// SAFETY: every call goes to the system's allocator with the same arguments, and its answer is returned. Advice does not
// change what the memory holds.
unsafe impl GlobalAlloc for LargePages {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        advised(unsafe { System.alloc(layout) }, layout.size())
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        advised(unsafe { System.alloc_zeroed(layout) }, layout.size())
    }

    unsafe fn realloc(&self, memory: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        advised(unsafe { System.realloc(memory, layout, size) }, size)
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: the caller keeps the contract of `GlobalAlloc`.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[inline]
fn advised(memory: *mut u8, size: usize) -> *mut u8 {
    if size >= LARGE && !memory.is_null() {
        advise(memory, size);
    }
    memory
}

/// Asks for large pages for the pages in which a piece of memory lies.
#[cold]
#[expect(unsafe_code, reason = "the system call madvise")]
fn advise(memory: *mut u8, size: usize) {
    const PAGE: usize = 4096;
    let before = memory.addr() % PAGE;
    let length = (before + size).next_multiple_of(PAGE);
    // SAFETY: the advice does not change what the memory holds.
    unsafe { libc::madvise(memory.wrapping_sub(before).cast(), length, libc::MADV_HUGEPAGE) };
}

/// True if this process keeps its memory.
static KEEPS: AtomicBool = AtomicBool::new(false);

/// Lets this process keep memory that it does not use at the moment, so that it need not ask for it again.
pub fn keep_memory() {
    KEEPS.store(true, Ordering::Relaxed);
    keep(KEPT);
}

/// Lets the end of the heap have so many free bytes.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "settings of the C library's allocator")]
fn keep(bytes: usize) {
    let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
    // SAFETY: the settings concern later calls of the allocator only.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, MAPPED as libc::c_int);
        libc::mallopt(libc::M_TRIM_THRESHOLD, bytes);
    }
}

/// Does nothing, because another C library's allocator has no such settings.
#[cfg(not(target_env = "gnu"))]
const fn keep(_bytes: usize) {}

/// Prepares the heap of the main thread for `bytes` in small pieces, which then lie in large pages. Does nothing in
/// another thread, or if the process does not [keep](keep_memory) its memory.
pub fn reserve_heap(bytes: u64) {
    let is_main = || rustix::thread::gettid() == rustix::process::getpid();
    let Ok(bytes) = usize::try_from(bytes) else { return };
    if bytes < MAPPED / 2 || !KEEPS.load(Ordering::Relaxed) || !is_main() {
        return;
    }
    keep(bytes.saturating_add(KEPT));
    extend_heap(bytes);
}

/// Extends the heap in one step and asks for large pages there. It must not be extended piece by piece, because the
/// allocator writes to each piece, and a large page has to be taken whole.
#[cfg(target_env = "gnu")]
#[expect(unsafe_code, reason = "settings of the C library's allocator, and the end of its heap")]
fn extend_heap(bytes: usize) {
    /// The least extension of a heap by default.
    const USUAL: libc::c_int = 128 << 10;
    let mut piece: Vec<u8> = Vec::new();
    // SAFETY: the setting concerns later calls of the allocator only.
    unsafe { libc::mallopt(libc::M_TOP_PAD, libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX)) };
    let extended = piece.try_reserve_exact(MAPPED / 4).is_ok();
    // SAFETY: the setting concerns later calls of the allocator only.
    unsafe { libc::mallopt(libc::M_TOP_PAD, USUAL) };
    // SAFETY: the end of the heap is read, and stays.
    let end = unsafe { libc::sbrk(0) }.addr();
    let free = end.saturating_sub(piece.as_ptr().addr());
    if extended && free <= bytes + MAPPED {
        advise(piece.as_mut_ptr(), free);
    }
}

/// Does nothing, because another C library's allocator has no such settings.
#[cfg(not(target_env = "gnu"))]
const fn extend_heap(_bytes: usize) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_holds_the_same_in_large_pages() {
        keep_memory();
        reserve_heap(64 << 20);
        let layout = Layout::array::<u64>(1 << 20).unwrap();
        for size in [layout.size(), 2 * layout.size()] {
            let mut memory: Vec<u64> = Vec::with_capacity(size / 8);
            memory.extend(0..size as u64 / 8);
            advise(memory.as_mut_ptr().cast(), size);
            assert!(memory.iter().zip(0..).all(|(held, written)| *held == written));
        }
    }
}

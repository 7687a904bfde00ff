//! The bound on memory in a build without the feature `kernel`, which does not query the system: memory is unbounded.

/// The memory that this process takes, and the bound that it exceeds, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ExcessMemory {
    pub(crate) taken: u64,
    pub(crate) allowed: u64,
}

/// Returns `None`, because the memory is unknown.
pub(crate) const fn exceeded() -> Option<ExcessMemory> {
    None
}

/// Does nothing, because the allocator of another system takes memory in its own way.
pub(crate) const fn reserve(_bytes: u64) {}

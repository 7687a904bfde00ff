//! Stands for the bound of memory in a build without the feature `kernel`, which asks no system: there is none.

/// The memory that this process takes, and the bound that it exceeds, bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Exceeded {
    pub(crate) taken: u64,
    pub(crate) allowed: u64,
}

/// Returns `None`: nothing is known.
pub(crate) const fn exceeded() -> Option<Exceeded> {
    None
}

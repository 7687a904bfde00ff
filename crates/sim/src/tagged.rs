//! What a segment's headers say beside its number (RFC 3168).

use link::Ecn;

/// A segment's number, and in the bits above it what its headers say of congestion: one word, since most say
/// nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Tagged(u64);

impl Tagged {
    /// ECT, CE, CWR.
    const CAPABLE: u64 = 1 << 61;
    const MARKED: u64 = 1 << 62;
    const REDUCED: u64 = 1 << 63;

    /// A segment that says nothing.
    #[inline]
    pub(crate) fn plain(number: u64) -> Self {
        Self(number)
    }

    /// A segment that may be marked; `reduced`: it tells that the sender has reduced its window.
    pub(crate) fn capable(number: u64, reduced: bool) -> Self {
        Self(number | Self::CAPABLE | if reduced { Self::REDUCED } else { 0 })
    }

    /// Its number, if it says nothing.
    #[inline]
    pub(crate) fn plain_number(self) -> Option<u64> {
        (self.0 < Self::CAPABLE).then_some(self.0)
    }

    pub(crate) fn number(self) -> u64 {
        self.0 & (Self::CAPABLE - 1)
    }

    /// The same with a congestion mark.
    pub(crate) fn marked(self) -> Self {
        Self(self.0 | Self::MARKED)
    }

    pub(crate) fn is_marked(self) -> bool {
        self.0 & Self::MARKED != 0
    }

    pub(crate) fn tells_reduction(self) -> bool {
        self.0 & Self::REDUCED != 0
    }

    pub(crate) fn ecn(self) -> Ecn {
        if self.is_marked() {
            Ecn::Marked
        } else if self.0 & Self::CAPABLE != 0 {
            Ecn::Capable
        } else {
            Ecn::NotCapable
        }
    }
}

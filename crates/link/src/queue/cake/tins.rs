//! The tins: classes of packets by their DSCP, each with a share of the rate within which it goes first.

use serde::Serialize;

/// A set of tins.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum Tins {
    /// One tin for all packets.
    BestEffort,
    /// Three tins: best effort, bulk (a 16th of the rate) and voice (a quarter).
    #[default]
    Diffserv3,
    /// Four tins: best effort, bulk (a 16th), video (a half) and voice (a quarter).
    Diffserv4,
}

/// The tins in the order of Linux, in which a later one goes before an earlier one.
const BEST_EFFORT: usize = 0;
const BULK: usize = 1;

impl Tins {
    /// Returns the rates of the tins as shifts: the rate is that of the queue over 2^shift.
    pub(super) const fn shifts(self) -> &'static [u32] {
        match self {
            Self::BestEffort => &[0],
            Self::Diffserv3 => &[0, 4, 2],
            Self::Diffserv4 => &[0, 4, 1, 2],
        }
    }

    /// Returns the tin of packets with this DSCP, by the tables `diffserv3` and `diffserv4` of Linux `sch_cake`: LE (1)
    /// and CS1 (8) are bulk.
    pub(super) const fn of(self, dscp: u8) -> usize {
        match (self, dscp) {
            (Self::BestEffort, _) => BEST_EFFORT,
            (_, 1 | 8) => BULK,
            // TOS4, VA, EF, CS6, CS7.
            (Self::Diffserv3, 4 | 44 | 46 | 48 | 56) => 2,
            (Self::Diffserv3, _) => BEST_EFFORT,
            // CS4, CS5, VA, EF, CS6, CS7.
            (Self::Diffserv4, 32 | 40 | 44 | 46 | 48 | 56) => 3,
            // TOS4, CS2, AF2x, CS3, AF3x, AF4x.
            (Self::Diffserv4, 4 | 16 | 18 | 20 | 22 | 24 | 26 | 28 | 30 | 34 | 36 | 38) => 2,
            (Self::Diffserv4, _) => BEST_EFFORT,
        }
    }
}

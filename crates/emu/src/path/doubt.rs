//! Reasons not to trust a run.

use std::fmt;
use units::Span;

/// A reason why a path's result should not be trusted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Doubt {
    /// The machine did not run the emulator for this share of the time.
    Stalled(f64),
    /// One percent of the deliveries were later than is accepted.
    Late {
        /// The lateness that this percent exceeds.
        by: Span,
        /// The accepted lateness.
        allowed: Span,
    },
    /// A thread of the programs at one end waited for a processor for this share of the time.
    Waited {
        /// The end of the path.
        place: &'static str,
        /// The share.
        share: f64,
    },
    /// This number of packets was lost in a device before the emulated queue.
    LostBefore(u64),
    /// This number of packets could not be carried or delivered.
    Refused(u64),
}

impl Doubt {
    /// Returns true if the reason is that the machine was too busy. A run at another time may then be good.
    #[must_use]
    pub const fn is_busy(&self) -> bool {
        matches!(self, Self::Stalled(_) | Self::Late { .. } | Self::Waited { .. })
    }
}

impl fmt::Display for Doubt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Stalled(share) => write!(
                f,
                "the machine was too busy: it did not run the emulator for {:.0} % of the time; close other programs, or \
                 lower the rate",
                100.0 * share
            ),
            Self::Late { by, allowed } => write!(
                f,
                "the machine was too busy: 1 % of deliveries were over {} late (allowed {}); close other programs, or \
                 lower the rate",
                by.rounded(),
                allowed.rounded()
            ),
            Self::Waited { place, share } => write!(
                f,
                "the machine was too busy: a program at {place} waited for a processor for {:.0} % of the time; close \
                 other programs, or lower the rate",
                100.0 * share
            ),
            Self::LostBefore(packets) => {
                write!(f, "{packets} packets were lost in a device before the emulated queue")
            }
            Self::Refused(packets) => write!(f, "{packets} packets could not be carried or delivered"),
        }
    }
}

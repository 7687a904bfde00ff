//! The parameters by which a function contends for the medium.

use crate::phy::Phy;
use serde::Serialize;
use units::{Complaint, Span};

/// An access category, the least urgent first. In one station the more urgent wins an internal collision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Category {
    /// Background traffic, AC_BK.
    Background,
    /// Best effort, AC_BE.
    BestEffort,
    /// Video, AC_VI.
    Video,
    /// Voice, AC_VO.
    Voice,
}

impl Category {
    /// All four categories, the least urgent first.
    pub const ALL: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// Returns the name as in a scenario: `bk`, `be`, `vi`, `vo`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Background => "bk",
            Self::BestEffort => "be",
            Self::Video => "vi",
            Self::Voice => "vo",
        }
    }
}

/// The rule by which the backoff counter goes down. Slot boundaries begin when the medium has been idle for AIFS (or
/// DIFS) and are a slot apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Countdown {
    /// EDCA (10.23.2.4): at each boundary a function transmits if its counter is 0, and otherwise decrements it.
    /// Boundaries are the end of AIFS and the end of each idle slot after AIFS. The boundary at which another station
    /// begins to transmit counts, because that transmission cannot be sensed yet. A counter that reaches 0 therefore
    /// transmits one boundary later, or at the end of the next AIFS if the medium has become busy. This is the chain of
    /// Bianchi (2000).
    EveryBoundary,
    /// DCF (10.3.4.3), see docs/adr/0014: the counter goes down at the end of each idle slot after DIFS, and a counter
    /// that reaches 0 transmits at once. The slot in which another station begins to transmit does not count. So the
    /// first slot after a busy period belongs to the stations that transmitted.
    IdleSlots,
}

/// The parameters of one access function (9.4.2.28, table 9-155).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Access {
    /// The number of slots in AIFS: `AIFS = SIFS + aifsn slots`.
    pub aifsn: u32,
    /// The contention window of a first attempt: the counter is drawn from `0..=cw_min`.
    pub cw_min: u32,
    /// The largest contention window.
    pub cw_max: u32,
    /// The TXOP limit. Zero: one frame per access. The first frame is sent even if it takes longer than the limit,
    /// because nothing here is fragmented.
    pub txop: Span,
    /// The number of attempts after which a frame is dropped (`dot11ShortRetryLimit`), the first one included.
    pub retry_limit: u32,
    /// The rule by which the counter goes down.
    pub countdown: Countdown,
}

/// The default of `dot11ShortRetryLimit` (Annex C).
const RETRY_LIMIT: u32 = 7;
/// The largest AIFSN of the EDCA parameter set, where it has four bits.
const MOST_AIFSN: u32 = 15;
/// The largest window of the EDCA parameter set, where the exponent has four bits.
const MOST_WINDOW: u32 = (1 << 15) - 1;
/// The largest retry limit. It exceeds the 255 of the standard, because cells of other simulators never drop a frame.
const MOST_ATTEMPTS: u32 = 65_535;

impl Access {
    /// Returns the default EDCA parameters of `category` for stations on `phy` (table 9-155).
    #[must_use]
    pub fn default_of(phy: &Phy, category: Category) -> Self {
        let (full, half, quarter) = (phy.cw_min, phy.cw_min.div_ceil(2) - 1, phy.cw_min.div_ceil(4) - 1);
        let (aifsn, cw_min, cw_max, txop) = match category {
            Category::Background => (7, full, phy.cw_max, Span::ZERO),
            Category::BestEffort => (3, full, phy.cw_max, Span::ZERO),
            Category::Video => (2, half, full, phy.txop_video),
            Category::Voice => (2, quarter, half, phy.txop_voice),
        };
        let countdown = Countdown::EveryBoundary;
        Self { aifsn, cw_min, cw_max, txop, retry_limit: RETRY_LIMIT, countdown }
    }

    /// Returns the parameters of the distributed coordination function on `phy`: DIFS, no categories.
    #[must_use]
    pub fn dcf(phy: &Phy) -> Self {
        Self { aifsn: 2, countdown: Countdown::IdleSlots, ..Self::default_of(phy, Category::BestEffort) }
    }

    /// Checks the ranges; `place` names the place where the parameters were read.
    ///
    /// # Errors
    /// If a parameter is out of range, or `cw_min` is above `cw_max`.
    pub fn check(&self, place: &str) -> Result<(), Complaint> {
        let within = |key: &str, value: u32, low: u32, high: u32| {
            if (low..=high).contains(&value) {
                return Ok(());
            }
            Err(Complaint::new(format!("{place}.{key}"), value.to_string())
                .accepted(format!("{low} to {high}")))
        };
        within("aifsn", self.aifsn, 1, MOST_AIFSN)?;
        within("cw_max", self.cw_max, 0, MOST_WINDOW)?;
        within("retry_limit", self.retry_limit, 1, MOST_ATTEMPTS)?;
        if self.cw_min > self.cw_max {
            let found = format!("{}, above cw_max, which is {}", self.cw_min, self.cw_max);
            return Err(Complaint::new(format!("{place}.cw_min"), found)
                .accepted(format!("0 to {}", self.cw_max))
                .help("lower cw_min or raise cw_max"));
        }
        Ok(())
    }
}

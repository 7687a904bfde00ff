//! [`Tally`]: the numbers of claims that were judged and that were not, with the reasons.

use crate::run::record::Engine;
use crate::study::claims::Verdict;
use std::collections::BTreeMap;
use std::fmt;

/// The counts of the claims' outcomes. A claim counts once, for however many engines it was judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    held: usize,
    failed: usize,
    disagree: usize,
    /// The number of claims that no engine judged, by the reason.
    left_out: BTreeMap<String, usize>,
    /// The number of judged claims that name engines which were not asked, by these engines.
    in_part: BTreeMap<String, usize>,
}

impl Tally {
    /// Adds these verdicts to the counts.
    pub fn add(&mut self, verdicts: &[Verdict]) {
        for verdict in verdicts {
            if verdict.is_left_out() {
                *self.left_out.entry(verdict.detail.clone()).or_default() += 1;
                continue;
            }
            match (verdict.held, verdict.failed()) {
                (true, _) => self.held += 1,
                (_, true) => self.failed += 1,
                _ => self.disagree += 1,
            }
            if !verdict.left_out.is_empty() {
                *self.in_part.entry(listed(&verdict.left_out)).or_default() += 1;
            }
        }
    }

    /// Returns the number of claims that at least one engine judged.
    #[must_use]
    pub const fn judged(&self) -> usize {
        self.held + self.failed + self.disagree
    }

    /// Returns true if there was no claim at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.judged() == 0 && self.left_out.is_empty()
    }

    /// Returns true if no claim failed.
    #[must_use]
    pub const fn is_good(&self) -> bool {
        self.failed == 0
    }
}

/// Writes "claims: 41 held, 1 failed, 5 disagree; 47 judged (24 of them not by live), 5 left out, as too few engines
/// were asked (5 of live)".
impl fmt::Display for Tally {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { held, failed, disagree, left_out, in_part } = self;
        write!(
            formatter,
            "claims: {held} held, {failed} failed, {disagree} disagree; {} judged",
            self.judged()
        )?;
        let parts = |counts: &BTreeMap<String, usize>, words: fn(&str, usize) -> String| {
            counts.iter().map(|(engines, count)| words(engines, *count)).collect::<Vec<_>>().join(", ")
        };
        if !in_part.is_empty() {
            write!(
                formatter,
                " ({})",
                parts(in_part, |engines, count| format!("{count} of them not by {engines}"))
            )?;
        }
        write!(formatter, ", {} left out", left_out.values().sum::<usize>())?;
        if !left_out.is_empty() {
            write!(
                formatter,
                ", because too few engines were asked ({})",
                parts(left_out, |asks, count| format!("{count} {asks}"))
            )?;
        }
        Ok(())
    }
}

/// Joins the names of engines: "model, sim and live".
pub(super) fn listed(engines: &[Engine]) -> String {
    let names: Vec<String> = engines.iter().map(ToString::to_string).collect();
    match &names[..] {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    }
}

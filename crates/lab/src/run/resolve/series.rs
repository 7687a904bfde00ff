//! The choice of flows that have series, and of the sampling interval: series are held in memory until a run ends.

use super::flow::ResolvedFlow;
use scenario::{Record, RecordedFlows, Scenario};
use units::{Complaint, Span};

/// The number of values that the series of one run may hold, some 8 bytes each.
const MOST: u64 = 30_000_000;
/// The number of flows that have series of their own if a scenario has more and does not ask for all.
pub(crate) const SAMPLE: usize = 32;

/// Chooses the flows with series, ascending: the first of each table as far as there is room, then others at equal
/// distances. `None` means all flows.
pub(super) fn sample(scenario: &Scenario, flows: &[ResolvedFlow]) -> Option<Vec<usize>> {
    if flows.len() <= SAMPLE || scenario.record.flows == RecordedFlows::All {
        return None;
    }
    let first = |index: &usize| *index == 0 || flows[*index].entry != flows[index - 1].entry;
    let mut sample: Vec<usize> = (0..flows.len()).filter(first).take(SAMPLE).collect();
    let mut others: Vec<usize> =
        (0..flows.len()).filter(|index| sample.binary_search(index).is_err()).collect();
    let room = SAMPLE - sample.len();
    others = (0..room).map(|place| others[place * others.len() / room]).collect();
    sample.extend(others);
    sample.sort_unstable();
    Some(sample)
}

/// Returns the sampling interval: the scenario's, or, in place of the default interval, the least multiple that keeps
/// the series within bounds.
///
/// # Errors
/// If an interval other than the default would exceed the bounds.
pub(super) fn every(scenario: &Scenario, flows: usize) -> Result<Span, Vec<Complaint>> {
    let every = scenario.record.every;
    let columns = scenario.record.columns.len() as u64;
    let Some(duration) = scenario.duration.filter(|_| columns > 0) else { return Ok(every) };
    let samples = duration.as_nanos() / every.as_nanos().max(1) + 1;
    let numbers = samples.saturating_mul((flows as u64 + 1).saturating_mul(columns));
    if numbers <= MOST {
        return Ok(every);
    }
    let times = numbers.div_ceil(MOST);
    if every == Record::default().every {
        return Ok(every * times);
    }
    let found = format!("{samples} samples of {flows} flows: series of about {} MB", numbers / 125_000);
    let accepted = format!("at most {} MB", MOST / 125_000);
    let help = format!("write every = \"{}\" or more, or columns = [] for no series", every * times);
    Err(vec![Complaint::new("record.every", found).accepted(accepted).help(help)])
}

//! The choice of flows that have series, and of the sampling interval: series are held in memory until a run ends.

use super::flow::ResolvedFlow;
use scenario::{FlowChoice, Record, RecordedFlows, Scenario, did_you_mean};
use units::{Complaint, Span};

/// The number of values that the series of one run may hold, some 8 bytes each.
const MOST: u64 = 30_000_000;
/// The number of flows that have series of their own if a scenario has more and does not ask for all.
pub(crate) const SAMPLE: usize = 32;

/// The most names of flows that a complaint lists.
const MOST_NAMED: usize = 12;

/// Chooses the flows with series, ascending: those that the scenario lists. Without a list they are the first of each
/// table as far as there is room, then others at equal distances. `None` means all flows.
///
/// # Errors
/// If the list has a name or an index that no flow has.
pub(super) fn sample(
    scenario: &Scenario,
    flows: &[ResolvedFlow],
) -> Result<Option<Vec<usize>>, Vec<Complaint>> {
    match &scenario.record.flows {
        RecordedFlows::These(choices) => listed(scenario, choices, flows).map(Some),
        RecordedFlows::All => Ok(None),
        RecordedFlows::Sample => Ok(spread(flows)),
    }
}

/// Returns the flows whose acknowledgements are recorded, ascending; `None`: those of none.
pub(super) fn acks(scenario: &Scenario, sample: Option<&[usize]>, flows: usize) -> Option<Vec<usize>> {
    let listed = sample.filter(|_| matches!(scenario.record.flows, RecordedFlows::These(_)));
    scenario.record.acks.then(|| listed.map_or_else(|| (0..flows).collect(), <[usize]>::to_vec))
}

/// Returns the flows that `choices` list, ascending.
fn listed(
    scenario: &Scenario,
    choices: &[FlowChoice],
    flows: &[ResolvedFlow],
) -> Result<Vec<usize>, Vec<Complaint>> {
    let (mut chosen, mut faults) = (Vec::new(), Vec::new());
    for (place, choice) in choices.iter().enumerate() {
        let before = chosen.len();
        match choice {
            FlowChoice::Index(index) => {
                chosen.extend(usize::try_from(*index).ok().filter(|index| *index < flows.len()));
            }
            FlowChoice::Name(name) => {
                let is_it = |flow: &ResolvedFlow| {
                    flow.name == *name
                        || scenario.flows.get(flow.entry).is_some_and(|table| table.name == *name)
                };
                chosen.extend((0..flows.len()).filter(|index| is_it(&flows[*index])));
            }
        }
        if chosen.len() == before {
            let found = match choice {
                FlowChoice::Index(index) => {
                    format!("flow {index}, and the scenario has {}", flows.len())
                }
                FlowChoice::Name(name) => format!("unknown flow \"{name}\""),
            };
            let names: Vec<&str> = flows.iter().map(|flow| flow.name.as_str()).take(MOST_NAMED).collect();
            let more = if flows.len() > MOST_NAMED { " and so on" } else { "" };
            let accepted = format!(
                "{}{more}; or an index from 0 to {}",
                names.join(", "),
                flows.len().saturating_sub(1)
            );
            let help = match choice {
                FlowChoice::Name(name) => did_you_mean(name, names),
                FlowChoice::Index(_) => None,
            };
            let complaint = Complaint::new(format!("record.flows[{place}]"), found).accepted(accepted);
            faults.push(Complaint { help, ..complaint });
        }
    }
    chosen.sort_unstable();
    chosen.dedup();
    if faults.is_empty() { Ok(chosen) } else { Err(faults) }
}

/// Returns a sample of many flows; `None` if there are few.
fn spread(flows: &[ResolvedFlow]) -> Option<Vec<usize>> {
    if flows.len() <= SAMPLE {
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

//! The completion times of the sized flows of a run, or of one `[[flow]]` with a `count`.

use crate::run::record::FlowSummary;

/// The completion times of flows, ascending. If the time of one flow is missing, the longest time and the percentiles
/// are unknown.
#[derive(Clone, Debug, PartialEq)]
pub struct Completions {
    seconds: Option<Vec<f64>>,
}

impl Completions {
    /// Collects the times of the sized flows among `flows`; `None` without such flows.
    pub(super) fn of<'a>(flows: impl Iterator<Item = &'a FlowSummary>) -> Option<Self> {
        let sized = flows.filter(|flow| flow.size_bytes.is_some() || flow.completion_s.is_some());
        let found: Vec<Option<f64>> = sized.map(|flow| flow.completion_s).collect();
        if found.is_empty() {
            return None;
        }
        let mut seconds: Option<Vec<f64>> = found.into_iter().collect();
        if let Some(seconds) = &mut seconds {
            seconds.sort_by(f64::total_cmp);
        }
        Some(Self { seconds })
    }

    /// Collects the times of the flows `name-1`, `name-2`, …
    pub(super) fn of_group(flows: &[FlowSummary], name: &str) -> Option<Self> {
        let number = |flow: &&FlowSummary| {
            let number = flow.name.strip_prefix(name).and_then(|rest| rest.strip_prefix('-'));
            number
                .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
        };
        Self::of(flows.iter().filter(number))
    }

    /// Returns true if one of the flows has not completed.
    pub(super) fn lack_one(&self) -> bool {
        self.seconds.is_none()
    }

    pub(super) fn mean(&self) -> Option<f64> {
        let seconds = self.seconds.as_ref()?;
        Some(seconds.iter().sum::<f64>() / seconds.len() as f64)
    }

    /// Returns the least time that the share `q` of the flows does not exceed.
    pub(super) fn quantile(&self, q: f64) -> Option<f64> {
        let seconds = self.seconds.as_ref()?;
        let rank = ((q * seconds.len() as f64).ceil() as usize).clamp(1, seconds.len());
        seconds.get(rank - 1).copied()
    }
}

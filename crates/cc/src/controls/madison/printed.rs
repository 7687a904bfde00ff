//! The rules for the time and the value of a new rate, exactly as the paper prints them `[madison:4.3]`. This variant
//! shows their consequences, and the purpose of each departure of `averaged.rs`.

use super::rules::{Decision, NEAR, Probe};
use model::bottleneck::{Measures, adapted, shared_rate, starting_rate};
use units::Time;

/// The distance from the target beyond which two successive backlogs require another rate `[madison:4.3, 2d]`.
const FAR: f64 = 0.3;
/// The most flows that adapt together `[D]`.
const MOST_FLOWS: f64 = 1e6;

/// The bottleneck at the last change of the rate.
#[derive(Clone, Copy, Debug)]
struct Change {
    own: f64,
    cross: f64,
}

/// The paper's rules and their memory.
#[derive(Clone, Debug, Default)]
pub(super) struct Printed {
    previous: Option<f64>,
    change: Option<Change>,
    /// `n_D`.
    adapting: f64,
    changed_at: Time,
    /// True if the rate is to be computed anew as soon as the period allows.
    due: bool,
}

impl Printed {
    /// Returns `n_D`.
    pub(super) fn adapting(&self) -> f64 {
        self.adapting
    }

    /// Notes that another rate has been set.
    pub(super) fn changed(&mut self, now: Time) {
        (self.changed_at, self.due) = (now, false);
    }

    /// Decides once the backlog is far off the target or the loss rate has changed, and the period is over.
    pub(super) fn on_probe(&mut self, probe: &Probe) -> Decision {
        let (is_near, is_far) = self.judge(&probe.measures, probe.target);
        self.due |= probe.other_loss || is_far;
        let decides = self.due && probe.now.since(self.changed_at) >= probe.period;
        let share = decides.then(|| self.share(&probe.measures, probe.target, probe.starting && !is_near));
        Decision { is_near, share }
    }

    /// Judges the backlog after a probe. Returns whether it is within 20 % of the target, and whether a new rate is
    /// needed.
    fn judge(&mut self, measures: &Measures, target: f64) -> (bool, bool) {
        let off = measures.backlog / target - 1.0;
        let previous = self.previous.replace(off);
        if off.abs() <= NEAR {
            self.adapting = measures.flows;
            return (true, false);
        }
        let far = |previous: f64| off.min(previous) > FAR || off.max(previous) < -FAR;
        (false, previous.is_some_and(far))
    }

    /// Returns the share of the capacity that reaches the target.
    fn share(&mut self, measures: &Measures, target: f64, starting: bool) -> f64 {
        let Measures { backlog, own, cross, .. } = *measures;
        let adapted_share = self.change.and_then(|change| adapted(backlog, change.cross, change.own, own));
        self.change = Some(Change { own, cross });
        self.previous = None;
        if starting {
            return starting_rate(target, cross);
        }
        // The backlog shows how many flows had adapted to the last change.
        self.adapting = adapted_share.unwrap_or(self.adapting).clamp(1.0, MOST_FLOWS);
        shared_rate(target, cross, own, self.adapting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the measures of a flow with a third of the capacity where `waiting` packets wait.
    fn measures(waiting: f64) -> Measures {
        Measures::new(waiting, 1.0 / 3.0, 0.0)
    }

    #[test]
    fn one_backlog_off_the_target_asks_for_nothing_and_two_do() {
        let mut rules = Printed::default();
        assert_eq!(rules.judge(&measures(30.0), 5.0), (false, false));
        assert_eq!(rules.judge(&measures(20.5), 5.0), (false, true));
        // The second is off the other way.
        assert_eq!(rules.judge(&measures(3.0), 5.0), (false, false));
        // Off by 25 %: neither near nor far.
        assert_eq!(rules.judge(&measures(11.25), 5.0), (false, false));
    }

    #[test]
    fn within_a_fifth_of_the_target_the_equivalent_flows_are_those_that_adapt() {
        let mut rules = Printed::default();
        assert_eq!(rules.judge(&measures(15.0), 5.0), (true, false));
        // n = U/x = (30/31) 3.
        assert!((rules.adapting - 90.0 / 31.0).abs() < 1e-9);
        let share = rules.share(&measures(15.0), 5.0, false);
        assert!((share - 10.0 / (1.0 + 10.0 * 90.0 / 31.0)).abs() < 1e-9, "{share}");
    }

    #[test]
    fn a_starting_flow_takes_what_others_leave() {
        let share = Printed::default().share(&Measures::new(4.5, 0.0, 0.0), 5.0, true);
        assert!((share - 10.0 * 0.1 / 11.0).abs() < 1e-9, "{share}");
    }
}

//! [`Tally`]: the number of right verdicts of an observer.

use estimate::diagnosis::{Cause, Confidence, Evidence, PathState, Shares, diagnose};
use serde_json::Value;
use units::Rate;

/// The distance of a share from the account's within which it is right.
const NEAR: f64 = 0.1;
/// The distance of the rate and of the buffer from the configured ones within which they are right.
const RATE: f64 = 0.05;
const BUFFER: f64 = 0.15;

/// The counts of an observer.
#[derive(Debug, Default)]
pub struct Tally {
    pub runs: u32,
    /// The first cause is right; it and the state of the path are.
    pub causes: u32,
    pub paths: u32,
    /// All shares are near the account's.
    pub shares: u32,
    /// Verdicts with high confidence, and the wrong ones among them.
    pub high: u32,
    pub wrong_and_high: Vec<String>,
    /// Runs without a verdict.
    pub unknown: u32,
    /// Rates and buffers: those that are right, those that were found, and those that might be.
    pub rates: [u32; 3],
    /// The same of runs in which the path was not full, so that its rate need not be found.
    pub other_rates: [u32; 3],
    pub buffers: [u32; 3],
}

impl Tally {
    /// Judges the evidence of one run, and writes a line about a verdict that is wrong.
    pub fn judge(&mut self, run: &str, label: &Value, evidence: Option<&Evidence>) {
        self.runs += 1;
        let Some(evidence) = evidence else {
            self.unknown += 1;
            println!("{run}: no evidence");
            return;
        };
        let found = diagnose(evidence);
        let is_one_of = |key: &str, name: Option<&str>| {
            let accepted = label[key].as_array().into_iter().flatten().filter_map(Value::as_str);
            name.is_some_and(|name| accepted.into_iter().any(|one| one == name))
        };
        let cause = is_one_of("causes", found.cause.map(Cause::name));
        let path = is_one_of("paths", found.path.map(PathState::name));
        let apart = apart(label, &found.shares);
        let high = found.confidence == Confidence::High;
        self.causes += u32::from(cause);
        self.paths += u32::from(cause && path);
        self.shares += u32::from(apart <= NEAR);
        self.high += u32::from(high);
        self.unknown += u32::from(found.cause.is_none());
        if !cause || !path || apart > NEAR {
            let name = found.cause.map_or("cannot tell", Cause::name);
            let state = found.path.map_or("-", PathState::name);
            let right = format!("{} ({})", label["causes"], label["paths"]);
            println!(
                "{run}: {name} ({state}), {}; shares {apart:.2} apart; label {right}",
                found.confidence.name()
            );
        }
        if !cause && high {
            self.wrong_and_high.push(run.to_owned());
        }
        let near = |counts: &mut [u32; 3], found: Option<f64>, right: &Value, tolerance: f64| {
            let Some(right) = right.as_f64() else { return };
            counts[2] += 1;
            let Some(found) = found else { return };
            counts[1] += 1;
            counts[0] += u32::from((found / right - 1.0).abs() <= tolerance);
        };
        let rate = evidence.capacity.map(Rate::as_bps_f64);
        near(&mut self.rates, rate, &label["rate"], RATE);
        let wrong = self.other_rates[1] - self.other_rates[0];
        near(&mut self.other_rates, rate, &label["rate_if_found"], RATE);
        if self.other_rates[1] - self.other_rates[0] > wrong {
            println!("{run}: rate {:.2} of {}", rate.unwrap_or(0.0) / 1e6, label["rate_if_found"]);
        }
        let buffer = evidence.buffer.map(|buffer| buffer.size.get() as f64);
        near(&mut self.buffers, buffer, &label["buffer"], BUFFER);
    }

    /// Returns the share of runs.
    pub fn of(&self, count: u32) -> f64 {
        f64::from(count) / f64::from(self.runs.max(1))
    }
}

/// Returns the largest distance of a share from the account's. Slow start is a part of the network's share there.
fn apart(label: &Value, shares: &Shares) -> f64 {
    let account = |cause: Cause| label["shares"][cause.name()].as_f64().unwrap_or(0.0);
    let distance = |causes: &[Cause]| {
        let sum = |of: &dyn Fn(Cause) -> f64| causes.iter().map(|&cause| of(cause)).sum::<f64>();
        (sum(&account) - sum(&|cause| shares.of(cause))).abs()
    };
    let mut groups = vec![vec![Cause::Network, Cause::SlowStart]];
    if label["together"] == true {
        groups.push(vec![Cause::ReceiveWindow, Cause::ReceivingProgram]);
    }
    let alone = Cause::ALL.into_iter().filter(|cause| !groups.concat().contains(cause));
    let apart = alone.map(|cause| distance(&[cause])).fold(0.0, f64::max);
    groups.iter().map(|group| distance(group)).fold(apart, f64::max)
}

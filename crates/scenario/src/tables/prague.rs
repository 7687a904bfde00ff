//! Readers of the keys that belong to `control = "prague"`.

use crate::cursor::ValueAt;
use crate::values::RttScaling;
use units::Span;

/// The name of the control.
const PRAGUE: &str = "prague";
/// The longest RTT that flows may act upon. Between reductions a flow waits for so long.
const LONGEST_TARGET: Span = Span::from_secs(1);
/// The most round trips after slow start.
const MOST_ROUNDS: u64 = 1_000_000;

/// Reads the dependence on the RTT.
pub(super) fn scaling(at: &ValueAt<'_>, control: Option<&str>) -> Option<RttScaling> {
    let scaling = at.word()?;
    belongs(at, "control", control, PRAGUE).then_some(scaling)
}

/// Reads the RTT up to which flows have one rate.
pub(super) fn target(at: &ValueAt<'_>, control: Option<&str>, scaling: Option<RttScaling>) -> Option<Span> {
    let target: Span = at.above_zero("ms", "a target of zero: write prague_rtt_scaling = \"none\"")?;
    if target > LONGEST_TARGET {
        at.fault(format!("a target of {target}"), format!("a time above zero up to {LONGEST_TARGET}"), None);
        return None;
    }
    scales(at, control, scaling).then_some(target)
}

/// Reads the round trips after slow start from which flows have one rate.
pub(super) fn transition(
    at: &ValueAt<'_>,
    control: Option<&str>,
    scaling: Option<RttScaling>,
) -> Option<u64> {
    let rounds = at.integer(0..=MOST_ROUNDS)?;
    scales(at, control, scaling).then_some(rounds)
}

/// Returns true if a flow with this control scales by the RTT, or if the key is not written.
fn scales(at: &ValueAt<'_>, control: Option<&str>, scaling: Option<RttScaling>) -> bool {
    let scaling = scaling.map(|scaling| if scaling == RttScaling::None { "none" } else { "rate" });
    belongs(at, "control", control, PRAGUE) && belongs(at, "prague_rtt_scaling", scaling, "rate")
}

/// Returns true if `found` is the value of `key` that this key belongs to, or if this key is not written. A value of
/// `None` has been reported.
fn belongs(at: &ValueAt<'_>, key: &str, found: Option<&str>, wanted: &str) -> bool {
    let (Some(origin), Some(found)) = (at.key, found) else { return true };
    if found == wanted {
        return true;
    }
    let name = at.path.rsplit('.').next().unwrap_or_default();
    let help = format!("leave it out, or write {key} = \"{wanted}\"");
    let found = format!("this key belongs to {key} = \"{wanted}\", not to \"{found}\"");
    at.fault_from(origin, found, format!("no {name} here"), Some(help));
    false
}

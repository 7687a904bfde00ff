//! The changes of a sizer, with their times and reasons, as notes of a record.

use sizing::SizerState;
use units::{Bytes, Time};

/// The largest number of phase changes in the notes; the sizer of a long transfer decides very often.
const MOST_NOTES: usize = 12;

/// Makes notes on the phases of the sizer of the flow called `name`. They say when the sizer entered each phase, with
/// which window (`None`: the maximum), and its last window.
pub(super) fn notes<'a>(
    name: &str,
    changes: impl Iterator<Item = (Time, &'a SizerState, Option<Bytes>)>,
    last: Option<Bytes>,
) -> Vec<String> {
    let mut notes: Vec<String> = changes
        .filter(|(_, state, _)| !state.phase.is_empty())
        .map(|(at, state, window)| {
            let window = window.map_or_else(|| "the maximum".to_owned(), |window| window.to_string());
            let (at, phase, reason) = (at.as_secs_f64(), state.phase, &state.reason);
            format!("{name}: at {at:.3} s {phase}, window {window}: {reason}")
        })
        .collect();
    let more = notes.len().saturating_sub(MOST_NOTES);
    if more > 0 {
        notes.truncate(MOST_NOTES);
        notes.push(format!("{name}: and {more} more changes of phase"));
    }
    notes.extend(last.map(|window| format!("{name}: the sizer's window in the end: {window}")));
    notes
}

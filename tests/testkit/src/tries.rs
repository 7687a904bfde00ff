//! Bounds on the real clock, on a machine whose host takes the processor away for milliseconds at a time.
//!
//! Such a machine makes things later, slower and fewer, never earlier, faster or more. So a bound on the early, fast side is an
//! `assert!` as any other and holds in every try; one on the late, slow side is asked for with [`in_time`], and a try that
//! misses it says nothing against us. In one try of five it has to hold.

use std::fmt::Display;

/// What came too late or too slowly for its test, in a try that is judged no further.
#[derive(Debug)]
pub struct Late(String);

/// Ends a try in which something was too late, slow or little: `holds` says whether it was not, `told` what was measured.
///
/// # Errors
/// [`Late`] if not.
pub fn in_time(holds: bool, told: impl Display) -> Result<(), Late> {
    if holds { Ok(()) } else { Err(Late(told.to_string())) }
}

/// Runs `body` until a try was in time, five times at most. What panics in any try fails the test.
///
/// # Panics
/// If none of them was.
#[track_caller]
pub fn in_one_of_five(mut body: impl FnMut() -> Result<(), Late>) {
    let mut late = Vec::new();
    while late.len() < 5 {
        match body() {
            Ok(()) => return,
            Err(Late(told)) => late.push(told),
        }
    }
    panic!("late or slow in each of five tries: {late:#?}");
}

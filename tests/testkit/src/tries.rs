//! Bounds on the real clock, on a machine whose host takes the processor away for milliseconds at a time.
//!
//! Such a machine makes things later, slower and fewer, never earlier, faster or more. So a bound on the early, fast side is an
//! `assert!` as any other and holds in every try; one on the late, slow side is asked for with [`in_time`], and a try that
//! misses it says nothing against us. In one try of five it has to hold, unless the machine stalled in most of them
//! ([`watched`]): then the test could not judge.

use crate::{now, wait_until};
use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

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

/// Runs `body` until a try was in time, five times at most. What panics in any try fails the test. If the machine stalled in
/// three of five late tries, the test could not judge.
///
/// # Panics
/// If none of five tries was in time, and the machine ran in three of them.
#[track_caller]
pub fn in_one_of_five(mut body: impl FnMut() -> Result<(), Late>) {
    let (mut late, mut stalled) = (Vec::new(), 0);
    while late.len() < 5 {
        let (result, stalls) = watched(&mut body);
        match result {
            Ok(()) => return,
            Err(Late(told)) => {
                stalled += u32::from(stalls.are_many());
                late.push(format!("{told} ({stalls})"));
            }
        }
    }
    assert!(stalled >= 3, "late or slow in each of five tries: {late:#?}");
    crate::could_not_judge(format_args!("the machine stalled in {stalled} of five late tries"));
}

/// The stalls of the machine during a measurement.
#[derive(Clone, Copy, Debug)]
pub struct Stalls {
    /// The number of naps of a millisecond that took two.
    pub count: u32,
    /// The length of the measurement.
    pub elapsed: Duration,
}

impl Stalls {
    /// Returns true if the machine had more than one stall in a second. A build on both processors makes four or five.
    #[must_use]
    pub fn are_many(&self) -> bool {
        f64::from(self.count) > self.elapsed.as_secs_f64()
    }
}

impl Display for Stalls {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{} stalls of the machine in {:.1?}", self.count, self.elapsed)
    }
}

/// Returns the result of `measure`, and the stalls meanwhile: its host, or other programs, had the processor.
///
/// # Panics
/// If `measure` does.
pub fn watched<T>(measure: impl FnOnce() -> T) -> (T, Stalls) {
    let stop = AtomicBool::new(false);
    /// Ends the watcher even if the measurement panics.
    struct Ends<'a>(&'a AtomicBool);
    impl Drop for Ends<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let began = now();
    std::thread::scope(|threads| {
        let watcher = threads.spawn(|| {
            let mut count = 0;
            while !stop.load(Ordering::Relaxed) {
                let before = now();
                wait_until(before + Duration::from_millis(1));
                count += u32::from(now().duration_since(before) > Duration::from_millis(2));
            }
            count
        });
        let measured = {
            let _ends = Ends(&stop);
            measure()
        };
        let count = watcher.join().expect("a watcher does not panic");
        (measured, Stalls { count, elapsed: now().duration_since(began) })
    })
}

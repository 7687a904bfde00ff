//! Tests of the progress of runs.

use super::*;

#[test]
fn plain_lines_come_every_ten_seconds_and_say_what_is_left() {
    let seconds = Duration::from_secs;
    let mut plain = PlainLines::default();
    assert_eq!(plain.line(seconds(1), 30.0, 90, "points"), None, "30 were on disk");
    assert_eq!(plain.line(seconds(9), 33.0, 90, "points"), None);
    let line = plain.line(seconds(11), 37.0, 90, "points");
    assert_eq!(line.as_deref(), Some("37 of 90 points, about 76 s left"));
    assert_eq!(plain.line(seconds(20), 50.0, 90, "points"), None);
    assert!(plain.line(seconds(21), 50.0, 90, "points").is_some());
    assert_eq!(plain.line(seconds(99), 90.0, 90, "points"), None, "the result follows");
}

#[test]
fn a_run_of_the_kernel_is_not_over_before_its_own_time() {
    let seconds = Duration::from_secs;
    let mut plain = PlainLines::default();
    // A simulation took no time, and the kernel's run is at 10 of 35 s.
    assert_eq!(plain.line(seconds(0), 0.0, 2, "runs"), None);
    plain.rest = 25.0;
    let line = plain.line(seconds(10), 1.0 + 10.0 / 35.0, 2, "runs");
    assert_eq!(line.as_deref(), Some("1 of 2 runs, about 25 s left"));
}

#[test]
fn a_run_says_how_far_it_is_in_its_own_time() {
    assert_eq!(doing("", Engine::Sim, 12.34, Some(60.0)), "sim: 12.3 of 60 s");
    assert_eq!(doing("limit = 1 bdp", Engine::Live, 0.0, None), "live: limit = 1 bdp, 0.0 s");
    let mut progress = Progress::new();
    progress.finished(1, 4);
    progress.show("", Engine::Sim, 30.0, Some(60.0));
    assert_eq!(progress.bar.position(), 375);
    progress.show("", Engine::Sim, 70.0, Some(60.0));
    assert_eq!((progress.bar.position(), progress.bar.message().as_str()), (500, "sim: 70.0 of 60 s"));
}

#[test]
fn times_are_rough() {
    assert_eq!([0.2, 89.0, 100.0, 5399.0, 7300.0].map(rough), ["1 s", "89 s", "2 min", "90 min", "2 h"]);
}

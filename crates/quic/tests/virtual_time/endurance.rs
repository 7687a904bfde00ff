//! No connection ends, whatever the control does to the path: deep and shallow queues, fast and long paths.

use crate::path::{Course, run};
use cc::registry::CONTROLS;
use live::Window;
use tightlink_quic::SendingPhase;
use units::random::Stream;
use units::{Bytes, Rate};

/// Mbit/s and milliseconds.
const PATHS: [(u64, u64); 2] = [(1000, 20), (200, 100)];

/// Runs `control` over a path with a queue of `tenths` of its BDP.
fn endures(control: &str, (mbps, rtt): (u64, u64), tenths: u64, seconds: u64) {
    let product = mbps * rtt * 125;
    let mut course = Course::new(mbps, rtt, product * tenths / 10, control, seconds);
    if control == "fixed" {
        // Its window is the receiver's: all that fits on the path, and as much again.
        course.flow.common.window = Window::AtMost(Bytes::new(product * 2));
    }
    let run = run(&course);
    println!(
        "{control} {mbps} Mb/s {rtt} ms {tenths}/10 BDP: {} drops {} of {}",
        run.goodput,
        run.link.drops(),
        run.link.arrivals
    );
    assert_eq!((run.phase, run.counts.differences), (SendingPhase::Sending, 0), "{control}");
    assert!(run.goodput >= Rate::from_bps(mbps * 10_000), "{control} moved {}", run.goodput);
}

/// Returns the names of all controls that need neither a router nor marks.
fn controls() -> impl Iterator<Item = &'static str> {
    let names = CONTROLS
        .iter()
        .map(|control| control.name)
        .filter(|name| !["xcp", "rcp", "dctcp", "prague"].contains(name));
    assert_eq!(names.clone().count(), 19, "a control of the registry is left out");
    names
}

#[test]
fn no_connection_ends_on_a_drawn_path() {
    let mut stream = Stream::new(51, "endurance");
    for control in controls() {
        let (path, tenths) = (PATHS[stream.integer(0, 1) as usize], [1, 10][stream.integer(0, 1) as usize]);
        endures(control, path, tenths, if path.0 == 1000 { 2 } else { 5 });
    }
}

#[test]
#[ignore = "takes three minutes on one core; make soak runs it"]
fn no_connection_ends_on_any_path() {
    for control in controls() {
        for path in PATHS {
            for tenths in [1, 10] {
                endures(control, path, tenths, 10);
            }
        }
    }
}

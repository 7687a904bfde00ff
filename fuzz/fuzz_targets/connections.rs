// libFuzzer: -max_len=4000 -runs=1/4
//! Connections of captures. Input: a capture. What is reported must fit together, and pieces of the file do not matter.

#![no_main]

use capture::connections::{Connections, connections};
use libfuzzer_sys::fuzz_target;
use std::io::{self, Read};
use std::ops::ControlFlow;
use tightlink_fuzz::ready;

fuzz_target!(init: ready(), |file: &[u8]| {
    let whole = connections(file, |_| ControlFlow::Continue(()));
    assert_eq!(connections(OneByte(file), |_| ControlFlow::Continue(())), whole, "pieces do not matter");
    match whole {
        Ok(capture) => fits(&capture),
        Err(error) => assert!(!error.to_string().is_empty() && !error.accepted.is_empty()),
    }
});

fn fits(capture: &Connections) {
    assert!(!capture.connections.is_empty() && capture.notes.iter().all(|note| !note.is_empty()));
    for connection in &capture.connections {
        assert!(connection.from <= connection.until && connection.packets() > 0);
        for direction in &connection.directions {
            let again = direction.statistics.retransmitted;
            assert!(again.needless <= again.segments);
            assert_eq!(again.fast + again.by_timeout + again.probes, again.segments);
            let Some(evidence) = &direction.evidence else { continue };
            for pair in evidence.intervals.windows(2) {
                assert_eq!(pair[0].from + pair[0].length, pair[1].from);
            }
            for interval in &evidence.intervals {
                assert!(interval.idle <= interval.length && interval.flight <= interval.peak_flight);
            }
            let _ = estimate::diagnosis::diagnose(evidence);
        }
    }
}

/// A file that comes a byte at a time.
struct OneByte<'a>(&'a [u8]);

impl Read for OneByte<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let length = into.len().min(1);
        self.0.read(&mut into[..length])
    }
}

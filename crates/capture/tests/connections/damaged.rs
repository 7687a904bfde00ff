//! Damaged captures: no bytes cause a panic, and what is reported fits together.

use crate::transfer::{Place, Transfer};
use std::ops::ControlFlow;
use tightlink_capture::connections::{Connections, connections};

fn check(capture: &Connections) {
    for connection in &capture.connections {
        assert!(connection.from <= connection.until && connection.packets() > 0);
        for direction in &connection.directions {
            let again = direction.statistics.retransmitted;
            assert!(again.needless <= again.segments, "{again:?}");
            assert_eq!(again.fast + again.by_timeout + again.probes, again.segments);
            let Some(evidence) = &direction.evidence else { continue };
            for pair in evidence.intervals.windows(2) {
                assert_eq!(pair[0].from + pair[0].length, pair[1].from);
            }
            for interval in &evidence.intervals {
                assert!(interval.idle <= interval.length && interval.flight <= interval.peak_flight);
            }
            assert!(evidence.episodes.windows(2).all(|pair| pair[0].at <= pair[1].at));
        }
    }
}

/// A small generator of numbers: what is drawn is the same in every run.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % limit
    }
}

fn transfer() -> Transfer {
    Transfer {
        rate: 20_000_000,
        delay: 10_000_000,
        pace: None,
        window: 32 << 10,
        scale: 7,
        segments: 30,
        lost: [7, 9].into(),
        first_sequence: u32::MAX - 20_000,
        stamps: true,
        handshake: true,
    }
}

#[test]
fn captures_with_any_damage_are_read_or_refused() {
    let mut numbers = Numbers(54);
    for place in [Place::Sender, Place::Receiver] {
        let whole = transfer().capture(place);
        for _ in 0..50_000 {
            let mut file = whole.clone();
            for _ in 0..=numbers.below(6) {
                let at = numbers.below(file.len());
                match numbers.below(4) {
                    0 => file[at] ^= 1 << numbers.below(8),
                    1 => file[at] = numbers.below(256) as u8,
                    2 => file[at] = [0, 0x7f, 0x80, 0xff][numbers.below(4)],
                    _ if at > 24 => file.truncate(at),
                    _ => {}
                }
            }
            if let Ok(capture) = connections(&*file, |_| ControlFlow::Continue(())) {
                check(&capture);
            }
        }
    }
}

#[test]
fn what_was_read_before_a_stop_or_a_fault_is_reported() {
    let mut file = Transfer { segments: 9000, ..transfer() }.capture(Place::Sender);
    let stopped = connections(&*file, |_| ControlFlow::Break(())).unwrap();
    assert!(stopped.stopped && stopped.frames > 0 && stopped.connections.len() == 1);
    // A record that claims to have half a gigabyte.
    file.truncate(file.len() / 2);
    let at = file.len();
    file.extend([0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x20, 0, 0, 0, 0x20]);
    let damaged = connections(&*file, |_| ControlFlow::Continue(())).unwrap();
    assert!(damaged.notes.iter().any(|note| note.contains("packet")), "{:?} at {at}", damaged.notes);
    assert_eq!(damaged.connections.len(), 1);
}

#[test]
fn a_file_that_is_no_capture_is_refused() {
    let text = connections(&b"time,size\n0,1500\n"[..], |_| ControlFlow::Continue(())).unwrap_err();
    assert_eq!((text.found.as_str(), text.help.is_some()), ("not a capture", true));
}

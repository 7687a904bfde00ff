//! What a controller that wants every loss is told of, with selective acknowledgements and without.

use super::{SEGMENT, config, hear, number};
use cc::{Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, Wants};
use units::Bytes;

/// A window of eight segments, four after a loss and one after a timeout, and what it has heard.
#[derive(Debug)]
struct Heard {
    rate: bool,
    window: u64,
    /// Losses told of; the greatest number lost since one of them was sent.
    told: u64,
    beside: Bytes,
    /// Segments known to be lost as an episode began.
    known: Bytes,
}

impl CongestionControl for Heard {
    fn on_ack(&mut self, _ack: &Ack) {}
    fn on_congestion(&mut self, event: &Congestion) {
        self.window = if event.kind == CongestionKind::Loss { 4 } else { 1 };
        self.known = event.lost;
    }
    fn on_lost(&mut self, lost: &LostSegment) {
        assert_eq!(lost.size, SEGMENT);
        self.told += 1;
        self.beside = self.beside.max(lost.lost);
    }
    fn wants(&self) -> Wants {
        Wants { rate: self.rate, deliveries: true, departures: false }
    }
    fn allowance(&self) -> Allowance {
        Allowance { window: SEGMENT * self.window, pacing: None }
    }
    fn state(&self) -> CcState {
        CcState { phase: Phase::Fixed, window: SEGMENT * self.window, threshold: None }
    }
    fn measures(&self, show: &mut dyn FnMut(&'static str, f64)) {
        show("told", self.told as f64);
        show("beside", (self.beside.get() / SEGMENT.get()) as f64);
        show("known", (self.known.get() / SEGMENT.get()) as f64);
    }
}

/// A line is `time ms · event · told beside known`; whatever may leave leaves after each.
#[track_caller]
fn hears(sack: bool, rate: bool, script: &str) {
    let heard = Heard { rate, window: 8, told: 0, beside: Bytes::ZERO, known: Bytes::ZERO };
    let mut config = config(8);
    (config.sack, config.control) = (sack, Box::new(heard));
    hear(config, script, |shown, expected, line| {
        let expected: Vec<u64> = expected.split_whitespace().map(number).collect();
        // Without rates what was lost beside a segment is not known.
        let known = |values: &[u64]| if rate { values.to_vec() } else { vec![values[0], values[2]] };
        assert_eq!(known(shown), known(&expected), "{line}");
    });
}

/// Of eight segments 0 and 4 are lost: three duplicates tell of the first, the partial acknowledgement of the second, and
/// nothing else does.
#[test]
fn without_names_fast_retransmit_tells_of_each_hole_it_repairs() {
    for rate in [true, false] {
        hears(
            false,
            rate,
            "  0 · go     · 0 0 0
             101 · ack 0  · 0 0 0
             102 · ack 0  · 0 0 0
             103 · ack 0  · 1 1 1
             105 · ack 0  · 1 1 1
             106 · ack 0  · 1 1 1
             107 · ack 0  · 1 1 1
             203 · ack 4  · 2 2 1
             205 · ack 4  · 2 2 1
             303 · ack 12 · 2 2 1
             403 · ack 13 · 2 2 1",
        );
    }
}

/// The same with names.
#[test]
fn with_names_each_hole_is_told_of_once() {
    for rate in [true, false] {
        hears(
            true,
            rate,
            "  0 · go           · 0 0 0
             101 · ack 0 sack 1 · 0 0 0
             102 · ack 0 sack 2 · 0 0 0
             103 · ack 0 sack 3 · 1 1 1
             105 · ack 0 sack 5 · 1 1 1
             106 · ack 0 sack 6 · 1 1 1
             107 · ack 0 sack 7 · 2 2 1
             203 · ack 4        · 2 2 1
             303 · ack 12       · 2 2 1",
        );
    }
}

/// A retransmission that is lost, too, ends in a timeout, which takes all that is outstanding for lost: what was told before is
/// not told again.
#[test]
fn a_hole_told_of_is_not_told_of_again_after_a_timeout() {
    hears(
        false,
        true,
        "  0 · go     · 0 0 0
         101 · ack 0  · 0 0 0
         102 · ack 0  · 0 0 0
         103 · ack 0  · 1 1 1
         # 0 to 7, and what limited transmit sent: 8 and 9. Known before: the first.
         1103 · timer · 1 1 1
         1203 · ack 1 · 10 10 1",
    );
}

/// With names all that is neither acknowledged nor named is marked lost at a timeout, and told of then: also what the very next
/// acknowledgement covers [draft-ietf-ccwg-bbr, RFC 6675 section 5.1].
#[test]
fn with_names_a_timeout_tells_of_all_that_it_marks_lost() {
    for rate in [true, false] {
        hears(
            true,
            rate,
            "   0 · go           · 0 0 0
              101 · ack 0 sack 1 · 0 0 0
              102 · ack 0 sack 2 · 0 0 0
             # 0 and 3 to 9, of which limited transmit sent the last two.
             1000 · timer        · 8 8 0
             1100 · ack 3        · 8 8 0
             1200 · ack 10       · 8 8 0",
        );
    }
}

//! A receiver's feedback of marks, and what a sender makes of it: the same marks, whatever waits for an acknowledgement.

use super::{SEGMENT, ms};
use crate::tagged::Signs;
use crate::tcp::ecn::Reaction;
use crate::tcp::{Acknowledgement, Receiver, Sacks};
use transport::EcnMode;
use units::Span;

/// Returns the acknowledgements of segments, of which an `m` is marked and a dot is not. A receiver acknowledges every
/// `every` segments together, and at the end what is left.
fn acknowledged(mode: EcnMode, every: u64, segments: &str) -> Vec<Acknowledgement> {
    let mut receiver =
        Receiver::new(every, Span::from_millis(40), Sacks::Newest).with_ecn(mode, true, SEGMENT);
    let mut acks = Vec::new();
    for (number, segment) in (0..).zip(segments.chars()) {
        let signs = Signs::of(segment == 'm', false);
        acks.extend(receiver.acknowledge_before(signs));
        receiver.on_ecn(signs, 1);
        acks.extend(receiver.on_segment(ms(number), number, ms(number)));
    }
    if acks.last().is_none_or(|ack| ack.cumulative < segments.len() as u64) {
        acks.push(receiver.on_deadline());
    }
    acks
}

/// RFC 8257, section 3.2: a change of the marks sends an immediate acknowledgement. What waited is acknowledged before
/// it, with the echo of before.
#[test]
fn a_change_of_the_marks_is_acknowledged_at_once_after_what_waited() {
    let acks = acknowledged(EcnMode::Classic, 2, ".mmm...m..");
    let found: Vec<(u64, bool)> = acks.iter().map(|ack| (ack.cumulative, ack.feedback.echoes())).collect();
    let (marked, not) = (true, false);
    assert_eq!(
        found,
        [(1, not), (2, marked), (4, marked), (5, not), (7, not), (8, marked), (9, not), (10, not)]
    );
}

/// A known pattern: the sender counts each mark once, at the acknowledgement that delivers it or a later one.
#[test]
fn echoes_and_counters_report_each_mark_of_a_pattern_once() {
    let pattern = "..m.m..mm...m.mmm.m....mmmmm.m.m.m..m";
    let marks = pattern.matches('m').count() as u64;
    for mode in [EcnMode::Classic, EcnMode::Accurate] {
        for every in [1, 2, 3, 8] {
            let wants = cc::Wants { marks: true, ..cc::Wants::default() };
            let mut reaction = Reaction::new(mode, wants, true).expect("on");
            let (mut una, mut marked) = (0, 0);
            for ack in acknowledged(mode, every, pattern) {
                marked += reaction.newly_marked(ack.feedback, 0, ack.cumulative - una, SEGMENT.get());
                una = ack.cumulative;
                let so_far = pattern[..una as usize].matches('m').count() as u64 * SEGMENT.get();
                assert_eq!(marked, so_far, "{mode:?}, every {every}: up to {una}");
            }
            assert_eq!(
                (una, marked),
                (pattern.len() as u64, marks * SEGMENT.get()),
                "{mode:?}, every {every}"
            );
        }
    }
}

//! A controller that wants every delivery hears of the same ones with selective acknowledgements and without.

use super::heard;

/// Plays a script. A line is `time ms · event · delivered by rates`, in segments so far. Without selective
/// acknowledgements the segments that an event names are ignored.
#[track_caller]
fn hears(script: &str) {
    for (sack, rate) in [(true, true), (true, false), (false, true), (false, false)] {
        heard::hears(sack, rate, &["delivered", "by rates"], script);
    }
}

/// Segments 0 and 4 of ten are lost. Each duplicate reports one delivery, and a segment that fills a hole one more.
#[test]
fn a_duplicate_is_a_delivery_and_what_it_told_of_is_not_told_of_again() {
    hears(
        "  0 · go           · 0 0
         101 · ack 0 sack 1 · 1 1
         102 · ack 0 sack 2 · 2 2
         103 · ack 0 sack 3 · 3 3
         105 · ack 0 sack 5 · 4 4
         106 · ack 0 sack 6 · 5 5
         107 · ack 0 sack 7 · 6 6
         201 · ack 0 sack 8 · 7 7
         202 · ack 0 sack 9 · 8 8
         203 · ack 4        · 9 9
         303 · ack 10       · 10 10
         403 · ack 11       · 11 11",
    );
}

/// In a timeout the sender forgets the duplicates. The segments that they reported do not then count as a burst.
#[test]
fn what_arrived_before_a_timeout_is_not_delivered_again_after_it() {
    hears(
        "   0 · go           · 0 0
          101 · ack 0 sack 1 · 1 1
          102 · ack 0 sack 2 · 2 2
          103 · ack 0 sack 3 · 3 3
         1103 · timer        · 3 3
         1203 · ack 4        · 4 4
         1303 · ack 5        · 5 5",
    );
}

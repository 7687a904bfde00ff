//! How many segments a controller that wants every delivery hears of, with selective acknowledgements and without:
//! the same.

use super::heard;

/// A line is `time ms · event · delivered by rates`, of segments so far. Without selective acknowledgements what an
/// event names is not looked at.
#[track_caller]
fn hears(script: &str) {
    for (sack, rate) in [(true, true), (true, false), (false, true), (false, false)] {
        heard::hears(sack, rate, &["delivered", "by rates"], script);
    }
}

/// Of ten segments 0 and 4 are lost: each duplicate tells of one delivery, and what fills a hole of one more.
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

/// A timeout, after which the sender has forgotten the duplicates, does not make of what they told of a burst.
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

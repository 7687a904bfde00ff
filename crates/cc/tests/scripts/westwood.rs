//! Grieco and Mascolo 2004: Westwood+.

use crate::driver::{avoiding, play};

/// A loss leaves the rate of acknowledgements times the least RTT; growth is Reno's.
#[test]
fn a_loss_leaves_what_the_path_carries_without_a_queue() {
    play(
        &avoiding("westwood", 10),
        "
        100ms | ack 1  rtt 100ms min 50ms | 10
        200ms | ack 10 rtt 100ms min 50ms | 11       # 100 segments/s
        200ms | loss 11                   | ~5 threshold 5
        ",
    );
}

/// A sample is taken once per round trip, and weighs a tenth: 0.9 x 100 + 0.1 x 200 segments/s.
#[test]
fn a_sample_weighs_a_tenth() {
    play(
        &avoiding("westwood", 10),
        "
        100ms | ack 1  | 10
        200ms | ack 10 | 11
        250ms | ack 10 | 12       # within the round trip
        300ms | ack 10 | 12
        300ms | loss 12  | ~11 threshold 11
        ",
    );
}

/// Before the first sample there is only the flight to go by.
#[test]
fn without_a_sample_a_loss_leaves_half() {
    play(&avoiding("westwood", 10), "100ms | loss 10 | 5");
}

/// After a timeout: one segment, and slow start up to the eligible window.
#[test]
fn a_timeout_leaves_one_segment_and_the_eligible_window_as_threshold() {
    play(
        &avoiding("westwood", 10),
        "
        100ms | ack 1      | 10
        200ms | ack 10     | 11
        1s    | timeout 11 | 1 slow-start threshold 10
        ",
    );
}

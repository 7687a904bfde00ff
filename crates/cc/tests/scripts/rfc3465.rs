//! RFC 3465, appropriate byte counting.

use crate::driver::{Setup, play};
use tightlink_cc::registry::Tuning;

fn counting(byte_counting: u64, window: u64, threshold: u64) -> Setup {
    let tuning = Tuning { byte_counting, ..Tuning::default() };
    Setup { window, threshold, tuning, ..Setup::default() }
}

/// Section 2.2: cwnd grows by what is acknowledged, up to L segments.
#[test]
fn slow_start_counts_bytes_up_to_the_limit() {
    play(
        &counting(2, 4, 1000),
        "
        100ms | ack 2        | 6       # a delayed acknowledgement: the window doubles per round trip
        100ms | ack 2        | 8
        200ms | ack 3        | 10      # a stretch acknowledgement counts for L only
        200ms | ack 0.5      | 10.5
        ",
    );
}

/// Section 2.3: L is one in the slow start after a timeout, however large it is else.
#[test]
fn after_a_timeout_an_acknowledgement_counts_for_one_segment() {
    play(
        &counting(2, 20, 1000),
        "
        100ms | ack 2            | 22
        1s    | timeout 20       | 1 threshold 10
        2s    | ack 12           | 2
        2s    | ack 2            | 3
        3s    | timeout-again 1  | 1
        4s    | ack 2            | 2
        ",
    );
}

/// The same, if the timeout was none.
#[test]
fn a_false_alarm_gives_the_limit_back() {
    play(
        &counting(2, 20, 1000),
        "
        1s    | timeout 20       | 1
        1s    | timeout-again 20 | 1
        1s    | spurious         | 20
        2s    | ack 2            | 22
        3s    | timeout 20       | 1
        4s    | timeout 1        | 1 threshold 2
        4s    | spurious         | 1 threshold 10   # back into the slow start of the first, which was real
        5s    | ack 2            | 2
        ",
    );
}

/// Section 2.1: bytes in congestion avoidance, whatever L is; what is over is kept for the next segment.
#[test]
fn avoidance_counts_every_byte() {
    for limit in [1, 2, 8] {
        play(
            &counting(limit, 4, 4),
            "
            100ms | ack 3        | 4
            100ms | ack 3        | 5       # six bytes' worth: two over
            200ms | ack 2        | 5
            200ms | ack 1        | 6
            ",
        );
    }
}

/// Section 1, what was before: each acknowledgement counts alike, so that delayed ones slow the growth by half.
#[test]
fn acknowledgements_are_counted_if_asked_for() {
    play(
        &counting(0, 2, 4),
        "
        100ms | ack 2        | 3
        100ms | ack 0.3      | 4 avoidance
        200ms | ack 2 x 3    | 4
        200ms | ack 2        | 5
        ",
    );
}

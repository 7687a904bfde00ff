//! RFC 3742, limited slow start.

use crate::driver::{Setup, play};
use tightlink_cc::registry::Tuning;

fn limited(window: u64, max_ssthresh: u64) -> Setup {
    let tuning = Tuning { max_ssthresh, ..Tuning::default() };
    Setup { slow_start: "limited", window, tuning, ..Setup::default() }
}

/// Section 2: below max_ssthresh nothing changes.
#[test]
fn up_to_max_ssthresh_it_is_slow_start() {
    play(
        &limited(10, 100),
        "
        100ms | ack 1 x 10   | 20
        200ms | ack 1 x 20   | 40
        300ms | ack 1 x 40   | 80
        400ms | ack 1 x 20   | 100
        400ms | ack 1        | 101
        ",
    );
}

/// Section 2: K = int(cwnd / (0.5 max_ssthresh)), cwnd += int(MSS / K).
#[test]
fn above_max_ssthresh_an_acknowledgement_adds_one_kth_of_a_segment() {
    play(
        &limited(4, 4),
        "
        100ms | ack 1        | 5
        100ms | ack 1        | 5.5         # K = 2
        100ms | ack 1        | 6
        100ms | ack 1        | 6.333       # K = 3
        100ms | ack 1 x 5    | 7.998       # a whole number of bytes: 333 each
        100ms | ack 1        | 8.331       # still K = 3
        100ms | ack 1        | 8.581       # K = 4
        ",
    );
}

/// Section 2: a round trip adds at most max_ssthresh / 2 segments. Growth ends like slow start's.
#[test]
fn a_round_trip_adds_at_most_half_of_max_ssthresh() {
    play(
        &limited(1000, 100),
        "
        100ms | ack 1 x 1000 | 1050        # K = 20 throughout: 1/20 segment each
        1s    | loss 1000    | 500 avoidance
        1s    | ack 1 x 499  | 500
        1s    | ack 1        | 501
        ",
    );
}

/// RFC 3465 and RFC 3742 together: what counts is divided.
#[test]
fn with_byte_counting_the_bytes_are_divided() {
    let tuning = Tuning { byte_counting: 2, max_ssthresh: 100, ..Tuning::default() };
    play(
        &Setup { slow_start: "limited", window: 200, tuning, ..Setup::default() },
        "
        100ms | ack 2        | 200.5       # K = 4
        100ms | ack 9        | 201
        ",
    );
}

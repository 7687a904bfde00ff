//! Brakmo and Peterson 1995: Vegas-2,4.

use crate::driver::{Setup, avoiding, play};

/// diff = w (RTT - base) / RTT is the backlog: below 2 a segment more per round, above 4 one less, between them none.
#[test]
fn a_round_with_a_backlog_below_alpha_adds_a_segment_and_one_above_beta_takes_one() {
    play(
        &avoiding("vegas", 20),
        "
        0ms   | ack 1 rtt 100ms round 0 | 20
        100ms | ack 1 rtt 100ms round 1 | 21    # 0
        200ms | ack 1 rtt 125ms round 2 | 20    # 21 x 25/125 = 4.2
        325ms | ack 1 rtt 115ms round 3 | 20    # 20 x 15/115 = 2.6
        440ms | ack 1 rtt 110ms round 4 | 21    # 20 x 10/110 = 1.8
        550ms | ack 1 rtt 100ms round 5 unused | 21
        650ms | ack 1 rtt 100ms round 6 recovering | 21
        ",
    );
}

/// The least sample of a round counts: one late acknowledgement is no queue.
#[test]
fn the_least_sample_of_a_round_decides() {
    play(
        &avoiding("vegas", 20),
        "
        0ms   | ack 1 rtt 100ms round 0 | 20
        100ms | ack 1 rtt 100ms round 1 | 21
        110ms | ack 1 rtt 104ms round 1 | 21
        200ms | ack 1 rtt 300ms round 2 | 22    # 21 x 4/104 = 0.8
        ",
    );
}

/// Slow start grows in every other round, and ends with a segment of backlog.
#[test]
fn slow_start_grows_every_other_round_and_ends_as_the_queue_shows() {
    play(
        &Setup { control: "vegas", ..Setup::default() },
        "
        0ms   | ack 1 rtt 100ms round 0 x 10 | 20 slow-start
        100ms | ack 1 rtt 100ms round 1 x 20 | 20 slow-start
        200ms | ack 1 rtt 100ms round 2      | 21 slow-start
        210ms | ack 1 rtt 110ms round 3      | ~20.091 avoidance   # 21 x 10/110 = 1.9 go, and one may stay
        ",
    );
}

#[test]
fn losses_are_renos() {
    play(
        &avoiding("vegas", 20),
        "
        0ms   | loss 20     | 10 threshold 10
        10ms  | spurious    | 20 threshold 20
        20ms  | timeout 16  | 1 threshold 8 slow-start
        ",
    );
}

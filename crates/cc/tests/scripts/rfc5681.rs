//! RFC 5681: slow start, congestion avoidance, and what a loss leaves.

use crate::driver::{Setup, play};
use tightlink_cc::registry::Tuning;

fn from(window: u64, threshold: u64) -> Setup {
    Setup { window, threshold, ..Setup::default() }
}

/// Section 3.1, equation 2: cwnd += min(N, SMSS).
#[test]
fn slow_start_adds_one_segment_per_acknowledgement_however_much_it_covers() {
    play(
        &from(2, 1000),
        "
        100ms | ack 1        | 3
        100ms | ack 1        | 4 slow-start
        200ms | ack 1 x 4    | 8
        300ms | ack 2        | 9
        300ms | ack 0.4      | 9.4
        ",
    );
}

/// Section 3.1: one segment per cwnd bytes acknowledged.
#[test]
fn avoidance_adds_one_segment_per_window_acknowledged() {
    play(
        &from(10, 10),
        "
        100ms | ack 1 x 9    | 10 avoidance
        100ms | ack 1        | 11
        200ms | ack 2 x 5    | 11      # delayed acknowledgements do not slow it
        200ms | ack 1        | 12
        ",
    );
}

/// Section 3.1: slow start below the threshold, congestion avoidance at it.
#[test]
fn slow_start_ends_at_the_threshold() {
    play(
        &from(2, 4),
        "
        100ms | ack 1        | 3 slow-start
        100ms | ack 1        | 4 avoidance
        200ms | ack 1 x 3    | 4
        200ms | ack 1        | 5
        ",
    );
}

/// Section 3.1, equation 4: ssthresh = max(FlightSize / 2, 2 SMSS), of the flight and not of the window.
#[test]
fn a_loss_leaves_half_the_flight_but_two_segments() {
    play(
        &from(20, 1000),
        "
        100ms | loss 20      | 10 avoidance threshold 10
        200ms | loss 6       | 3
        300ms | mark 5       | 2.5
        400ms | loss 1       | 2 threshold 2
        ",
    );
}

/// Section 3.1: after a timeout one segment (the loss window); the threshold moves once per segment timed out.
#[test]
fn a_timeout_leaves_one_segment_and_half_the_flight_as_threshold() {
    play(
        &from(20, 1000),
        "
        1s    | timeout 20       | 1 threshold 10 slow-start
        2s    | timeout-again 1  | 1 threshold 10
        3s    | ack 1 x 8        | 9 slow-start
        3s    | ack 1            | 10 avoidance
        ",
    );
}

/// Section 3.2 and RFC 7661: no growth in fast recovery, nor while something else is the limit.
#[test]
fn a_window_out_of_use_or_in_recovery_does_not_grow() {
    for threshold in [1000, 10] {
        play(
            &from(10, threshold),
            "
            100ms | ack 1 unused x 100     | 10
            100ms | ack 1 recovering x 100 | 10
            ",
        );
    }
}

/// RFC 5682 and RFC 3522 leave it to the sender what a false alarm gives back: here everything.
#[test]
fn a_false_alarm_is_undone() {
    play(
        &from(20, 1000),
        "
        1s    | timeout 20   | 1
        1s    | spurious     | 20 slow-start threshold 1000
        ",
    );
}

/// Section 3.1, equation 4: half of what was in flight, in bytes. Linux takes half of the window, in whole segments
/// (`tcp_reno_ssthresh`).
#[test]
fn a_loss_leaves_half_of_the_flight_and_in_linux_half_of_the_window() {
    play(&from(13, 13), "100ms | loss 11 | 5.5 avoidance");
    let tuning = Tuning { linux_window: true, ..Tuning::default() };
    play(&Setup { tuning, ..from(13, 13) }, "100ms | loss 11 | 6 avoidance");
}

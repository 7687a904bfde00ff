//! RFC 3649: HighSpeed TCP. a(1000) = 7.752, b(1000.8) = 0.330.

use crate::driver::{Setup, avoiding, play};

/// Section 5: w + a(w) / w per acknowledgement, (1 - b(w)) w on loss.
#[test]
fn a_large_window_grows_by_a_of_w_and_shrinks_by_b_of_w() {
    play(
        &avoiding("highspeed", 1000),
        "
        100ms | ack 1 x 100   | ~1000.774 avoidance
        100ms | loss 1000.774 | ~670.680 avoidance threshold 670.681
        ",
    );
}

/// Section 5: standard TCP up to 38 segments.
#[test]
fn up_to_38_segments_it_is_standard_tcp() {
    play(
        &avoiding("highspeed", 38),
        "
        100ms | ack 1 x 38 | ~38.987
        100ms | loss 30    | 15
        ",
    );
}

/// A window that was not in use says nothing about the path: what was in flight is reduced.
#[test]
fn a_window_out_of_use_is_reduced_from_what_was_in_flight() {
    play(&avoiding("highspeed", 1000), "100ms | loss 38 | 19");
}

/// a(w) and b(w) are congestion avoidance's: what slow start has doubled is halved.
#[test]
fn a_loss_in_slow_start_leaves_half() {
    let slow_start = Setup { control: "highspeed", window: 1000, ..Setup::default() };
    play(
        &slow_start,
        "
        100ms | loss 1000    | 500 avoidance
        200ms | ack 1        | ~500.010
        300ms | timeout 500  | 1 slow-start threshold 250     # b(500) = 0.366
        400ms | ack 1 x 199  | 200 slow-start
        400ms | loss 200     | 100 avoidance
        ",
    );
}

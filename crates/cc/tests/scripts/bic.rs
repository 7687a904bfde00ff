//! Xu, Harfoush, Rhee 2004: BIC.

use crate::driver::{avoiding, play};

/// Additive increase by Smax, then binary search for the last maximum. What comes beyond it is in tests/steady.
#[test]
fn the_window_is_searched_for_between_the_last_two() {
    play(
        &avoiding("bic", 96),
        "
        100ms | ack 1 x 96  | ~128        # no maximum yet: Smax = 32
        100ms | loss 128    | ~112        # seven eighths; the maximum is 128
        200ms | ack 1 x 50  | ~115.571    # half the distance in a round trip
        200ms | ack 1 x 62  | ~120
        300ms | ack 1 x 120 | ~124
        400ms | ack 1 x 124 | ~126
        ",
    );
}

/// The maximum comes back as it was before the loss that was none.
#[test]
fn a_false_alarm_is_undone() {
    play(
        &avoiding("bic", 32),
        "
        100ms | loss 32      | 28          # the maximum is 32
        100ms | spurious     | 32          # which is forgotten: Smax again
        200ms | ack 1 x 32   | ~64
        ",
    );
}

/// Fast convergence: a loss below the last maximum leaves a maximum between it and the reduced window.
#[test]
fn a_loss_below_the_last_maximum_makes_room() {
    play(
        &avoiding("bic", 128),
        "
        100ms | loss 128    | 112         # the maximum is 128
        100ms | loss 112    | 98          # 112 < 128: the maximum is 105
        200ms | ack 1 x 98  | ~101.5
        ",
    );
}

/// Below 14 segments it is standard TCP.
#[test]
fn a_small_window_is_standard_tcp() {
    play(
        &avoiding("bic", 12),
        "
        100ms | ack 1 x 12  | ~13
        100ms | loss 12     | 6
        ",
    );
}

//! Kelly 2003: Scalable TCP.

use crate::driver::{avoiding, play};

/// 0.01 segments per segment acknowledged, 0.125 of the window on loss.
#[test]
fn a_hundredth_of_what_is_acknowledged_is_added_and_a_loss_takes_an_eighth() {
    play(
        &avoiding("scalable", 100),
        "
        100ms | ack 1 x 100 | ~101 avoidance
        200ms | ack 4 x 25  | ~102      # however many acknowledgements carry it
        200ms | loss 102    | ~89.25
        ",
    );
}

/// Up to 16 segments, the legacy window, it is standard TCP.
#[test]
fn a_legacy_window_is_standard_tcp() {
    play(
        &avoiding("scalable", 16),
        "
        100ms | loss 16 | 8
        200ms | ack 1   | ~8.125
        ",
    );
}

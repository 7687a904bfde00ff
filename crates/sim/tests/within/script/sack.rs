//! Tests of RFC 6675 (recovery by the scoreboard) and RFC 2018 (blocks, if acknowledgements are lost).

use super::{config, play};
use transport::WindowVariant;

/// Section 4, NextSeg: lost holes leave first (1), then new data (2), then other holes (3).
#[test]
fn lost_holes_leave_before_new_data() {
    let mut config = config(12);
    config.total_segments = 14;
    play(
        config,
        "  0 · go             · 0 1 2 3 4 5 6 7 8 9 10 11 | pipe=12
         # 0, 2 and 10 are lost.
         100 · ack 0 sack 1   · 12
         101 · ack 0 sack 3   · 13
         102 · ack 0 sack 4   · 0r | w=6
         103 · ack 0 sack 5   · | pipe=9
         104 · ack 0 sack 6   · | pipe=8
         105 · ack 0 sack 7   · | pipe=7
         106 · ack 0 sack 8   · | pipe=6
         107 · ack 0 sack 9   · 2r | pipe=6
         # No new data are left: a hole that is not known to be lost, rule 3.
         108 · ack 0 sack 11  · 10r | pipe=6",
    );
}

/// One acknowledgement of four arrives; its blocks have the news of the other three.
#[test]
fn blocks_make_up_for_lost_acknowledgements() {
    play(
        config(10),
        "  0 · go                            · 0 1 2 3 4 5 6 7 8 9
         104 · ack 0 sack 6 blocks 6-7 2-5   · 0r | w=5 pipe=5
         105 · ack 0 sack 7 blocks 6-8 2-5   · 1r | pipe=5",
    );
}

/// RFC 2883: a report of a repeat below the cumulative point is not news of anything beyond it.
#[test]
fn a_repeat_is_not_counted() {
    play(
        config(6),
        "  0 · go            · 0 1 2 3 4 5
         100 · ack 2         · 6 7
         101 · ack 2 repeat 1 · | pipe=6
         102 · ack 2 repeat 0 · | pipe=6
         103 · ack 2 repeat 1 · | w=6 pipe=6",
    );
}

/// The acknowledgement that ends fast recovery delivers 0, 4, 5, 6 and 7: more than a window. Linux counts them, RFC
/// 5681 does not.
#[test]
fn in_linux_the_acknowledgement_that_ends_recovery_counts_for_what_it_delivers() {
    for (variant, window) in [(WindowVariant::Rfc, 3), (WindowVariant::Linux, 4)] {
        let mut config = config(6);
        config.transport.host.window_variant = variant;
        let sent = if window == 3 { "8 9 10" } else { "8 9 10 11" };
        play(
            config,
            &format!(
                "  0 · go           · 0 1 2 3 4 5
                 100 · ack 0 sack 1 · 6
                 101 · ack 0 sack 2 · 7
                 102 · ack 0 sack 3 · 0r | w=3
                 202 · ack 8        · {sent} | w={window}"
            ),
        );
    }
}

//! RFC 3168: congestion marks.

use super::{config, play};

/// Section 6.1.2: the window comes down once per window of data, and the next new segment tells the receiver.
#[test]
fn a_window_of_echoes_lowers_the_window_once() {
    let mut config = config(8);
    config.transport.ecn = true;
    play(
        config,
        "  0 · go         · 0 1 2 3 4 5 6 7
         100 · ack 1 ece  · | w=4 pipe=7
         101 · ack 2 ece  · | w=4
         102 · ack 3 ece  ·
         103 · ack 4 ece  ·
         104 · ack 5 ece  · 8+
         105 · ack 6 ece  · 9
         106 · ack 7 ece  · 10
         107 · ack 8 ece  · 11 | w=4
         # 8 told the receiver; another mark came with it.
         204 · ack 9 ece  · | w=2",
    );
}

/// If the window has come down for a loss, echoes from before do not lower it again.
#[test]
fn a_loss_answers_the_marks_of_its_window() {
    let mut config = config(8);
    config.transport.ecn = true;
    play(
        config,
        "  0 · go                · 0 1 2 3 4 5 6 7
         100 · ack 0 sack 1      · 8
         101 · ack 0 sack 2      · 9
         102 · ack 0 sack 3      · 0r | w=4
         103 · ack 0 sack 4 ece  · | w=4
         202 · ack 8 ece         · 10+ 11 | w=4",
    );
}

/// A flow without ECN ignores echoes.
#[test]
fn echoes_mean_nothing_without_it() {
    play(
        config(4),
        "  0 · go         · 0 1 2 3
         100 · ack 1 ece  · 4 | w=4",
    );
}

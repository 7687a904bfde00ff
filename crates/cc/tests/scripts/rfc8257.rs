//! RFC 8257: DCTCP.

use crate::driver::{Setup, avoiding, play};
use tightlink_cc::registry::Tuning;

/// Section 3.3, equations 1 and 2: `alpha = (1 - g) alpha + g M` with g = 1/16, and `cwnd (1 - alpha / 2)`. Alpha begins
/// with one (section 4.2), so the first mark halves the window.
#[test]
fn a_mark_takes_half_of_the_average_share() {
    play(&avoiding("dctcp", 100), "100ms | mark 100 | 50 avoidance threshold 50");
    play(
        &avoiding("dctcp", 100),
        "
        100ms | share 100 0 ends | 100      # 15/16
        200ms | mark 100         | 53.125
        ",
    );
    play(
        &avoiding("dctcp", 100),
        "
        100ms | share 60 15      | 100
        100ms | share 40 10 ends | 100      # 15/16 + 1/4/16
        200ms | mark 100         | ~52.344
        ",
    );
}

/// In the long run alpha is the share: 10 % take 5 %.
#[test]
fn a_share_that_stays_is_the_average() {
    play(
        &avoiding("dctcp", 100),
        "
        100ms | share 100 10 ends x 300 | 100
        200ms | mark 100                | 95
        ",
    );
}

/// Section 3.5 and Linux: a loss takes half, whatever alpha is. Growth is Reno's.
#[test]
fn losses_and_growth_are_renos() {
    play(
        &avoiding("dctcp", 10),
        "
        100ms | share 10 0 ends x 100 | 10
        100ms | ack 1 x 9             | 10
        100ms | ack 1                 | 11
        200ms | loss 11               | 5.5
        900ms | timeout 5             | 1 slow-start threshold 2.5
        ",
    );
}

#[test]
fn a_mark_ends_slow_start() {
    play(
        &Setup { control: "dctcp", window: 20, ..Setup::default() },
        "100ms | mark 20 | 10 avoidance threshold 10",
    );
}

/// Linux counts the reduction in whole segments, rounded down (`dctcp_ssthresh`): 3 % of 40 are one, 1.5 % none.
#[test]
fn linux_rounds_the_reduction_down() {
    let tuning = Tuning { linux_window: true, ..Tuning::default() };
    play(
        &Setup { tuning, ..avoiding("dctcp", 40) },
        "
        100ms | share 100 6 ends x 300 | 40
        200ms | mark 40                | 39
        300ms | share 100 3 ends x 300 | 39
        400ms | mark 39                | 39
        ",
    );
}

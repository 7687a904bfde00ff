//! RFC 9438: CUBIC. From 1000 segments K = 9.086 s; tests/steady has the course of W(t).

use crate::driver::{Setup, avoiding, play};
use tightlink_cc::registry::Tuning;

/// Sections 4.2 and 4.6: 0.7 of the window, then (W(t + RTT) - cwnd) / cwnd per segment, an RTT ahead.
#[test]
fn a_loss_leaves_seven_tenths_and_the_window_follows_w_of_t() {
    play(
        &avoiding("cubic", 1000),
        "
        1s     | loss 1000  | 700 avoidance threshold 700
        1.1s   | ack 1      | ~700.001    # the epoch begins; W(0) is the window, the AIMD has gained 0.529 / 700
        1.2s   | ack 1      | ~700.028    # W(0.2 s) = 719.38
        10.2s  | ack 1 unused | ~700.028
        ",
    );
}

/// Section 4.7: a loss below the last one's window takes W_max down to (1 + beta) / 2 of it. Here to 765, K = 6.963 s.
#[test]
fn a_loss_below_the_last_maximum_makes_room() {
    play(
        &avoiding("cubic", 1000),
        "
        1s     | loss 1000  | 700
        2s     | loss 900   | 490         # of the 700 in the window: W_max = 595
        2s     | spurious   | 700
        ",
    );
}

/// Section 4.3: where an AIMD with Reno's average is larger, the window is that: alpha = 0.529 segments a round trip.
#[test]
fn a_small_window_is_friendly_to_reno() {
    play(
        &avoiding("cubic", 10),
        "
        1s     | loss 10         | 7
        1.01s  | ack 1 rtt 10ms  | ~7.076     # 7 + 0.529 / 7
        ",
    );
}

/// Section 4.3: back at the window before the loss, alpha is 1. Linux's stays 0.529. 48 segments take 7 to 10.
#[test]
fn back_where_it_was_it_grows_as_reno_and_that_of_linux_does_not() {
    let to = |window: &str| {
        format!(
            "
            1s     | loss 10             | 7
            1.01s  | ack 1 x 48 rtt 10ms | ~10
            1.02s  | ack 1 x 60 rtt 10ms | {window}
            "
        )
    };
    play(&avoiding("cubic", 10), &to("~14.846"));
    let tuning = Tuning { linux_cubic: true, ..Tuning::default() };
    play(&Setup { tuning, ..avoiding("cubic", 10) }, &to("~12.793"));
}

/// Section 4.8: after a timeout W(t) begins flat where slow start ends, at K = 0.
#[test]
fn after_a_timeout_w_of_t_begins_on_its_plateau() {
    play(
        &avoiding("cubic", 1000),
        "
        1s     | timeout 1000    | 1 threshold 700 slow-start
        2s     | ack 1 x 699     | 700 avoidance
        2.1s   | ack 1           | ~700.001   # W(0.1 s) = 700.0004, the AIMD 700.0008
        ",
    );
}

/// Linux, `bictcp_update`: without a loss to go by at least one segment for twenty acknowledged ones, 5 % in a round trip.
/// That holds before the first loss and after a timeout (`cubictcp_state`), and not after a loss.
#[test]
fn the_cubic_of_linux_grows_by_a_twentieth_until_it_knows_a_loss() {
    let tuning = Tuning { linux_cubic: true, ..Tuning::default() };
    let script = "
        1s     | ack 1 x 100  | ~105
        1.1s   | ack 1 x 105  | ~110.25
        2s     | loss 110     | 77
        2.1s   | ack 1 x 77   | ~77.529
        3s     | timeout 77   | 1 slow-start
        4s     | ack 1 x 54   | ~54.05 avoidance
        4.1s   | ack 1 x 60   | ~57.05
        ";
    play(&Setup { tuning, ..avoiding("cubic", 100) }, script);
    // By the RFC it grows as Reno does, a segment in a round trip, which is more than W(t) [rfc9438:4.3].
    play(&avoiding("cubic", 100), "1s | ack 1 x 100 | ~100.995");
}

/// Linux, `bictcp_state`: a timeout makes CUBIC forget its losses. The window comes back if the timeout was needless, but
/// the losses do not.
#[test]
fn the_cubic_of_linux_keeps_nothing_but_the_window_over_a_needless_timeout() {
    let script = |window: &str| {
        format!(
            "
            1s     | loss 1000    | 700
            1.1s   | ack 1        | ~700.001
            2s     | timeout 700  | 1
            3s     | spurious     | ~700.001
            3.01s  | ack 20       | {window}
            "
        )
    };
    let tuning = Tuning { linux_cubic: true, ..Tuning::default() };
    play(&Setup { tuning, ..avoiding("cubic", 1000) }, &script("~701.001"));
}

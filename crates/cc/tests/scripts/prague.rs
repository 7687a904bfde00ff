//! Prague, by the rules and values of the L4S team's Linux, `tcp_prague` 0.6.

use crate::driver::{Setup, avoiding, play};
use tightlink_cc::RttScaling;
use tightlink_cc::registry::Tuning;
use units::Span;

/// The window grows by one segment per round trip for the part that is not marked, also while marks come. The fraction
/// of the window shows in the pace; the window itself is rounded up.
#[test]
fn unmarked_data_make_the_window_grow() {
    play(
        &avoiding("prague", 10),
        "
        100ms | share 10 0 | 10
        100ms | ack 10     | 11 avoidance pacing 880kbit/s
        200ms | share 11 5.5 | 11
        200ms | ack 11     | 12 pacing 920kbit/s
        300ms | share 11.5 11.5 | 12
        300ms | ack 11.5   | 12 pacing 920kbit/s
        ",
    );
}

/// Slow start counts everything that is delivered without a mark, at twice the pace of the window. The first mark
/// leaves about half, because alpha begins with one. Two of the thirty segments of this round trip were marked, so that
/// alpha falls to 1 - (14/15)/16, and 10.58 segments remain.
#[test]
fn slow_start_ends_with_the_first_mark() {
    play(
        &Setup { control: "prague", ..Setup::default() },
        "
        100ms | share 10 0  | 10
        100ms | ack 10      | 20 slow-start pacing 3.2Mbit/s
        200ms | share 20 2 ends | 20
        200ms | mark 20     | 11 avoidance pacing 846667bit/s
        ",
    );
}

/// Alpha moves by a sixteenth of the difference once per round trip, but not before the first mark.
#[test]
fn the_average_moves_from_the_first_mark_on() {
    play(
        &avoiding("prague", 100),
        "
        100ms | share 100 0 ends x 50 | 100
        200ms | mark 100              | 50
        ",
    );
    play(
        &avoiding("prague", 100),
        "
        100ms | share 100 4 ends x 300 | 100
        100ms | ack 0 unused           | 100
        200ms | mark 100               | 98 pacing 7.84Mbit/s
        ",
    );
}

/// A loss halves the window as it does Reno's, and nothing grows in recovery.
#[test]
fn a_loss_leaves_half_of_the_window() {
    play(
        &avoiding("prague", 20),
        "
        100ms | loss 20             | 10 threshold 10
        150ms | share 5 0           | 10
        150ms | ack 5 recovering    | 10
        900ms | timeout 5           | 1 slow-start threshold 5
        950ms | spurious            | 10
        ",
    );
}

/// After 500 round trips above the threshold a flow with 10 ms grows by (10/25)^2 segments per round trip, and reduces
/// its window each 25 ms at the most.
#[test]
fn a_short_flow_becomes_independent_of_its_round_trip() {
    let young = "
        1s    | share 10 1 ends x 499 | 10
        1s    | ack 10 unused rtt 10ms | 10
        ";
    play(
        &avoiding("prague", 10),
        &format!("{young} 2s | share 10 0 | 10\n2s | ack 10 rtt 10ms | 11 pacing 8.8Mbit/s"),
    );
    play(
        &avoiding("prague", 10),
        &format!(
            "{young}
        2s    | share 10 1 ends  | 10
        2s    | ack 0 unused rtt 10ms | 10
        2010ms | share 10 0       | 10
        2010ms | ack 10 rtt 10ms  | 11 pacing 8.128Mbit/s
        2020ms | mark 10          | 10 pacing 7.7216Mbit/s
        2030ms | mark 10          | 10 pacing 7.7216Mbit/s
        2044ms | mark 10          | 10 pacing 7.7216Mbit/s
        2045ms | mark 10          | 10 pacing 7.3355Mbit/s
        "
        ),
    );
}

/// Without RTT scaling a flow of any age grows by a segment per round trip, and reduces its window in each. With a
/// transition of no round trips and a target of 20 ms, a flow with 10 ms grows by a quarter of a segment at once.
#[test]
fn scaling_may_be_off_or_have_other_numbers() {
    let setup =
        |prague_rtt| Setup { tuning: Tuning { prague_rtt, ..Tuning::default() }, ..avoiding("prague", 10) };
    play(
        &setup(None),
        "
        1s     | share 10 1 ends x 499 | 10
        2s     | share 10 1 ends  | 10
        2s     | ack 0 unused rtt 10ms | 10
        2010ms | share 10 0       | 10
        2010ms | ack 10 rtt 10ms  | 11 pacing 8.8Mbit/s
        2020ms | mark 10          | 11 pacing 8.36Mbit/s
        2030ms | mark 10          | 10 pacing 7.942Mbit/s
        ",
    );
    play(
        &setup(Some(RttScaling { target: Span::from_millis(20), transition: 0 })),
        "
        2s     | ack 0 unused rtt 10ms | 10
        2010ms | share 10 0       | 10
        2010ms | ack 10 rtt 10ms  | 11 pacing 8.2Mbit/s
        ",
    );
}

/// Marks never take the window below two segments.
#[test]
fn marks_leave_two_segments() {
    play(
        &avoiding("prague", 3),
        "
        100ms | mark 3 | 2
        200ms | mark 2 | 2
        900ms | timeout 2 | 1
        950ms | mark 1 | 1
        ",
    );
}

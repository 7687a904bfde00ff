//! Kuzmanovic and Knightly 2003: TCP-LP. Delays from 100 to 200 ms: the threshold is 115 ms.

use crate::driver::{avoiding, play};

/// Half on the first indication, nothing for a round trip, one segment on a second within the inference phase, growth
/// after it.
#[test]
fn a_rising_delay_makes_way_for_others() {
    play(
        &avoiding("lp", 100),
        "
        1s    | ack 1                            | 100
        1s    | loss 100                         | 50
        2s    | ack 1 rtt 200ms min 100ms        | 50      # smoothed: 112.5 ms
        2s    | ack 1 rtt 200ms min 100ms        | 25      # 123.4 ms
        2.1s  | ack 1 rtt 200ms min 100ms x 30   | 25      # cannot yet tell of the halving
        2.3s  | ack 1 rtt 200ms min 100ms        | 1
        2.4s  | ack 1 rtt 100ms min 100ms x 40   | 1       # the queue is gone; the phase lasts
        2.95s | ack 1 rtt 100ms min 100ms        | 2 avoidance
        ",
    );
}

/// Before the first loss the largest delay is not known.
#[test]
fn indications_count_from_the_first_loss_on() {
    play(
        &avoiding("lp", 100),
        "
        1s    | ack 1                            | 100
        2s    | ack 1 rtt 200ms min 100ms x 50   | 100
        ",
    );
}

/// A loss is halved away as by Reno.
#[test]
fn without_delay_it_is_reno() {
    play(
        &avoiding("lp", 10),
        "
        1s    | ack 1 x 10    | 11
        1s    | loss 11       | 5.5
        ",
    );
}

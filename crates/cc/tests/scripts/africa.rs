//! King, Baraniuk, Riedi 2005: TCP-Africa. a(1000) = 7.752, b(1000) = 0.330, b(999.5) = 0.330.

use crate::driver::{avoiding, play};

/// Without a queue of its own it is HighSpeed.
#[test]
fn without_a_queue_the_mode_is_fast() {
    play(
        &avoiding("africa", 1000),
        "
        100ms | ack 1 x 100 rtt 100ms min 100ms | ~1000.774
        100ms | loss 1000.774                   | ~670.681
        ",
    );
}

/// 1000 segments at 100.2 ms over 100 ms: 1.996 of them wait, more than alpha = 1.641. Then it is Reno.
#[test]
fn with_a_queue_the_mode_is_slow() {
    play(
        &avoiding("africa", 1000),
        "
        100ms | ack 1 x 999 rtt 100.2ms min 100ms | 1000
        100ms | ack 1 rtt 100.2ms min 100ms       | 1001
        100ms | loss 1001                         | ~500.5
        ",
    );
}

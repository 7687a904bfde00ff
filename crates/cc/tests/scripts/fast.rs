//! Jin, Wei and Low 2004: FAST, with paper P3's alpha.

use crate::driver::{avoiding, play};

/// w <- w/2 + (base/RTT w + alpha)/2 in every other round; alpha is 8 below four packets per millisecond.
#[test]
fn without_a_queue_every_other_round_adds_half_of_alpha() {
    play(
        &avoiding("fast", 20),
        "
        100ms | ack 1 rtt 100ms round 1 | 20
        200ms | ack 1 rtt 100ms round 2 | 24
        300ms | ack 1 rtt 100ms round 3 | 24
        400ms | ack 1 rtt 100ms round 4 | 28
        600ms | ack 1 rtt 100ms round 6 unused | 28
        ",
    );
}

/// The mean RTT takes a sample in at 3/w: 115, then 127.75 ms.
#[test]
fn a_queue_is_seen_in_the_mean_rtt() {
    play(
        &avoiding("fast", 20),
        "
        0ms   | ack 1 rtt 100ms round 0 | 20
        100ms | ack 1 rtt 200ms round 1 | 20
        200ms | ack 1 rtt 200ms round 2 | ~21.828    # 10 + (100/127.75 x 20 + 8)/2
        ",
    );
}

/// 80 segments, 10 of 100 ms in the queue: 8 segments are there, alpha; the pace leaves the window the limit.
#[test]
fn with_alpha_packets_in_the_queue_the_window_stays() {
    play(
        &avoiding("fast", 80),
        "
        0ms   | ack 1 rtt 90ms  round 0       | 80
        100ms | ack 1 rtt 100ms round 1 x 400 | 80
        300ms | ack 1 rtt 100ms round 2       | ~80 pacing 8Mbit/s
        400ms | loss 80                       | 40 threshold 40
        ",
    );
}

/// 1000 segments in 100 ms are 10 per millisecond: alpha is 20.
#[test]
fn alpha_is_twice_the_largest_throughput_in_packets_per_millisecond() {
    play(
        &avoiding("fast", 1000),
        "
        100ms | ack 1000 rtt 100ms round 2 | ~1010
        300ms | ack 1000 rtt 100ms round 4 | ~1020      # a slower round does not lower it
        ",
    );
}

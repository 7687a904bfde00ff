//! Super-packets: the number of segments that leave together, and the segments that wait for more (Linux's
//! `tcp_tso_autosize` and `tcp_tso_should_defer`).

use super::{config, ms, play};
use crate::tcp::{Full, Sender, SenderConfig};
use transport::Recovery;

fn offloading(window: u64) -> SenderConfig {
    let mut config = config(window);
    config.transport.host.tso = true;
    config
}

/// The rate is 40 segments of 1000 bytes in 100 ms, so a super-packet has the least number of segments, two.
#[test]
fn an_acknowledgement_that_frees_one_segment_waits_for_the_next() {
    play(
        offloading(40),
        "0 · go · 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 |
         # Nothing has been written for more than a millisecond.
         100 · ack 1 · 40 |
         100 · ack 2 · |
         100 · ack 3 · 41 42 |
         101 · ack 4 · |
         101 · ack 6 · 43 44 |",
    );
}

/// The acknowledgement of the first outstanding segment is expected a round trip after it left.
#[test]
fn what_no_acknowledgement_will_soon_add_to_leaves_at_once() {
    play(
        offloading(20),
        "0 · go · 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 |
         100 · ack 10 · 20 21 22 23 24 25 26 27 28 29 |
         # One of 20 is less than a third, and 11 to 19 left as long ago as those before.
         100 · ack 11 · |
         # Now 20 is the first, and its acknowledgement is 100 ms away: the last of these does not wait. The window is 21.
         100 · ack 20 · 30 31 32 33 34 35 36 37 38 39 40 |
         100 · ack 21 echo 0 · 41 |",
    );
}

#[test]
fn a_third_of_the_window_leaves_whatever_is_expected() {
    play(
        offloading(3),
        "0 · go · 0 1 2 |
         100 · ack 1 · 3 |
         100 · ack 2 · 4 |",
    );
}

/// Nothing waits in recovery.
#[test]
fn a_repair_does_not_wait() {
    let mut config = offloading(20);
    config.transport.recovery = Recovery::Prr;
    play(
        config,
        "0 · go · 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 |
         # Nothing has been written for more than a millisecond; then limited transmit waits for a second segment.
         100 · ack 1 · 20 |
         100 · ack 1 sack 2 · |
         100 · ack 1 sack 3 · 21 22 |
         100 · ack 1 sack 4 · 1r | w=10
         100 · ack 1 sack 5 · |
         100 · ack 1 sack 6 · 23 |",
    );
}

#[test]
fn the_end_of_the_data_does_not_wait() {
    play(
        SenderConfig { total_segments: 41, ..offloading(40) },
        "0 · go · 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31 32 33 34 35 36 37 38 39 |
         100 · ack 1 · 40 |",
    );
}

/// A window of five leaves as two super-packets of two and one segment alone, which has no PSH flag.
#[test]
fn the_last_segment_of_a_super_packet_of_several_is_pushed() {
    let mut sender = Sender::new(offloading(5));
    let mut pushed = Vec::new();
    while let Some(one) = sender.transmit::<Full>(ms(0)) {
        if sender.pushes() {
            pushed.push(one.segment);
        }
    }
    assert_eq!(pushed, [1, 3]);
}

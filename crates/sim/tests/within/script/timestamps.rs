//! Tests of RFC 7323 and Karn's rule: round-trip samples of acknowledgements.

use super::{config, play};

/// Without time stamps a segment that was sent again gives no sample, so the timer stays backed off. With them the echo
/// shows which copy arrived.
#[test]
fn a_retransmission_gives_a_sample_with_time_stamps_only() {
    let script = |timer: u64| {
        format!(
            "   0 · go             · 0 1
             1000 · timer          · 0r | timer=3000
             1100 · ack 1 echo 1000 · 1r 2 | timer={timer}"
        )
    };
    play(config(2), &script(1400));
    let mut config = config(2);
    config.transport.timestamps = false;
    play(config, &script(3100));
}

/// RFC 7323, section 4.1: only an acknowledgement that moves the left edge gives a sample; a duplicate's echo is old.
#[test]
fn a_duplicate_gives_no_sample() {
    play(
        config(4),
        "  0 · go                  · 0 1 2 3
         100 · ack 1 echo 0        · 4 | timer=400
         390 · ack 1 sack 2 echo 0 · 5 | timer=400",
    );
}

/// Without time stamps one segment is timed at a time, and it is the first that left after the last sample.
#[test]
fn without_time_stamps_one_segment_is_timed_at_a_time() {
    let mut config = config(2);
    config.transport.timestamps = false;
    play(
        config,
        "  0 · go     · 0 1
         100 · ack 1  · 2 | timer=400
         # 1 left before the sample: not timed. 2 is, from 100 on: 3/4 of 50 ms and 100 ms / 4 of variation.
         150 · ack 2  · 3 4 | timer=450
         300 · ack 3  · 5 | timer=662",
    );
}

/// The timing of a segment ends when an earlier segment is sent again, because its acknowledgement waits for the
/// repair. The next new segment is timed.
#[test]
fn without_time_stamps_a_repair_stops_the_timing_of_what_left_before() {
    let mut config = config(4);
    config.transport.timestamps = false;
    play(
        config,
        "  0 · go            · 0 1 2 3
         # 4 is timed, 1 is lost.
         100 · ack 1         · 4 | timer=400
         101 · ack 1 sack 2  · 5
         102 · ack 1 sack 3  · 6
         200 · ack 1 sack 4  · 1r
         201 · ack 1 sack 5  ·
         202 · ack 1 sack 6  · 7
         # No sample of 200 ms: the timeout is still 300 ms.
         300 · ack 7         · 8 | timer=600
         # 100 ms of 7: 3/4 of 50 ms of variation.
         302 · ack 8         · 9 | timer=552",
    );
}

/// The next acknowledgement makes up for lost ones, and its echo belongs to the segment that caused it.
#[test]
fn lost_acknowledgements_do_not_lengthen_the_sample() {
    play(
        config(4),
        "  0 · go             · 0 1 2 3
         100 · ack 1 echo 0   · 4 | timer=400
         # Those of 1 and 2 are lost; 3 had waited with them.
         130 · ack 4 echo 30  · 5 6 7 8 | timer=380",
    );
}

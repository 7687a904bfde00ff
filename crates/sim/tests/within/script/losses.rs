//! The losses reported to a controller that wants every one, with selective acknowledgements and without.

use super::heard;

/// Plays a script. A line is `time ms · event · told beside known`: losses reported, the most lost since one of them
/// was sent, losses known as an episode began.
#[track_caller]
fn hears(sack: bool, rate: bool, script: &str) {
    heard::hears(sack, rate, &["told", "beside", "known"], script);
}

/// Segments 0 and 4 of eight are lost. Three duplicates report the first, the partial acknowledgement reports the
/// second, and nothing else does.
#[test]
fn without_names_fast_retransmit_tells_of_each_hole_it_repairs() {
    for rate in [true, false] {
        hears(
            false,
            rate,
            "  0 · go     · 0 0 0
             101 · ack 0  · 0 0 0
             102 · ack 0  · 0 0 0
             103 · ack 0  · 1 1 1
             105 · ack 0  · 1 1 1
             106 · ack 0  · 1 1 1
             107 · ack 0  · 1 1 1
             203 · ack 4  · 2 2 1
             205 · ack 4  · 2 2 1
             303 · ack 12 · 2 2 1
             403 · ack 13 · 2 2 1",
        );
    }
}

/// With names the same losses are reported.
#[test]
fn with_names_each_hole_is_told_of_once() {
    for rate in [true, false] {
        hears(
            true,
            rate,
            "  0 · go           · 0 0 0
             101 · ack 0 sack 1 · 0 0 0
             102 · ack 0 sack 2 · 0 0 0
             103 · ack 0 sack 3 · 1 1 1
             105 · ack 0 sack 5 · 1 1 1
             106 · ack 0 sack 6 · 1 1 1
             107 · ack 0 sack 7 · 2 2 1
             203 · ack 4        · 2 2 1
             303 · ack 12       · 2 2 1",
        );
    }
}

/// A retransmission that is lost, too, ends in a timeout, which takes all outstanding segments for lost. A loss
/// reported before is not reported again.
#[test]
fn a_hole_told_of_is_not_told_of_again_after_a_timeout() {
    hears(
        false,
        true,
        "  0 · go     · 0 0 0
         101 · ack 0  · 0 0 0
         102 · ack 0  · 0 0 0
         103 · ack 0  · 1 1 1
         # 0 to 7, and what limited transmit sent: 8 and 9. Known before: the first.
         1103 · timer · 1 1 1
         1203 · ack 1 · 10 10 1",
    );
}

/// With names every segment that is neither acknowledged nor named is marked lost at a timeout, and reported then.
/// That includes segments which the very next acknowledgement covers [draft-ietf-ccwg-bbr, RFC 6675 section 5.1].
#[test]
fn with_names_a_timeout_tells_of_all_that_it_marks_lost() {
    for rate in [true, false] {
        hears(
            true,
            rate,
            "   0 · go           · 0 0 0
              101 · ack 0 sack 1 · 0 0 0
              102 · ack 0 sack 2 · 0 0 0
             # 0 and 3 to 9, of which limited transmit sent the last two.
             1000 · timer        · 8 8 0
             1100 · ack 3        · 8 8 0
             1200 · ack 10       · 8 8 0",
        );
    }
}

//! Tests of RFC 5681 (fast retransmit and fast recovery) and RFC 3042 (limited transmit).

use super::{config, play};
use transport::Recovery;

/// RFC 3042: the first two duplicates each let a new segment leave, while the window stays. RFC 5681, section 3.2: the
/// third one is a loss. Segments that limited transmit added do not count for the new window, (FlightSize - 2) / 2.
#[test]
fn the_third_duplicate_is_a_loss_and_the_first_two_send_new_segments() {
    for sack in [true, false] {
        let mut config = config(10);
        config.transport.sack = sack;
        play(
            config,
            "  0 · go            · 0 1 2 3 4 5 6 7 8 9 | w=10 pipe=10
             100 · ack 0 sack 1  · 10 | w=10
             101 · ack 0 sack 2  · 11 | w=10
             102 · ack 0 sack 3  · 0r | w=5",
        );
    }
}

/// Section 3.1, equation 4: the window never falls below two segments; section 3.2, step 6: the new acknowledgement
/// ends it.
#[test]
fn the_window_is_never_halved_below_two() {
    play(
        config(3),
        "  0 · go            · 0 1 2
         100 · ack 0 sack 1  · 3
         101 · ack 0 sack 2  · 4
         102 · ack 0 sack 3  · 0r | w=2
         200 · ack 4         · 5 | w=2",
    );
}

/// Section 3.1: the window grows by one segment per window acknowledged.
#[test]
fn congestion_avoidance_adds_one_segment_per_window() {
    play(
        config(4),
        "  0 · go     · 0 1 2 3
         100 · ack 1  · 4 | w=4
         101 · ack 2  · 5 | w=4
         102 · ack 3  · 6 | w=4
         103 · ack 4  · 7 8 | w=5",
    );
}

/// Section 4.3: a second loss episode halves again; one episode halves once, however many segments it lost.
#[test]
fn several_losses_of_one_window_are_one_sign() {
    play(
        config(10),
        "  0 · go            · 0 1 2 3 4 5 6 7 8 9
         100 · ack 0 sack 2  · 10
         101 · ack 0 sack 4  · 11
         102 · ack 0 sack 5  · 0r | w=5
         103 · ack 0 sack 6  ·  | w=5
         104 · ack 0 sack 7  ·  | w=5",
    );
}

/// RFC 2581, section 3.2, step 5: any acknowledgement of new data ends fast recovery, so the second loss waits for the
/// timer. Segments sent meanwhile cause duplicates that start no other one, as in ns-2's Reno.
#[test]
fn reno_repairs_one_loss_of_a_window_and_waits_for_the_timer_with_the_second() {
    let mut config = config(8);
    config.transport.sack = false;
    config.transport.recovery = Recovery::Reno;
    play(
        config,
        "  0 · go     · 0 1 2 3 4 5 6 7
         # 0 and 4 are lost.
         101 · ack 0  · 8 | w=8
         102 · ack 0  · 9
         103 · ack 0  · 0r | w=4
         105 · ack 0  ·
         106 · ack 0  ·
         107 · ack 0  ·
         108 · ack 0  · 10
         109 · ack 0  · 11
         203 · ack 4  · | w=4 pipe=8
         208 · ack 4  ·
         209 · ack 4  · | w=4 pipe=8
         503 · timer  · 4r | w=1
         603 · ack 12 · 12 13 | w=2 pipe=2
         # What was sent again needlessly.
         604 · ack 12 ·
         605 · ack 12 ·
         606 · ack 12 · | w=2 pipe=2
         703 · ack 14 · 14 15 16 | w=3",
    );
}

/// Reno repairs a single loss as NewReno does.
#[test]
fn reno_repairs_one_loss_without_the_timer() {
    let mut config = config(4);
    config.transport.sack = false;
    config.transport.recovery = Recovery::Reno;
    play(
        config,
        "  0 · go    · 0 1 2 3
         101 · ack 0 · 4
         102 · ack 0 · 5
         103 · ack 0 · 0r | w=2
         104 · ack 0 ·
         105 · ack 0 · 6
         201 · ack 6 · 7 | w=2 pipe=2",
    );
}

//! Tests of RFC 6582, section 3.2: recovery without selective acknowledgements, rule by rule.
//!
//! Step 1 has a sender begin with `recover` at the number of its SYN. Taken literally, duplicates for its first segment
//! would then not be a sign. Here `recover` lies before that number, so that the first segment is repaired as any
//! other.

use super::{config, play};

/// Section 3.2, step 3: each partial acknowledgement names the next hole, which leaves at once; the full one ends the
/// episode.
#[test]
fn a_partial_acknowledgement_sends_the_next_hole() {
    let mut config = config(8);
    config.transport.sack = false;
    play(
        config,
        "  0 · go     · 0 1 2 3 4 5 6 7
         # 0 and 4 are lost: eight duplicates with those that limited transmit causes.
         101 · ack 0  · 8 | w=8
         102 · ack 0  · 9
         103 · ack 0  · 0r | w=4
         105 · ack 0  ·
         106 · ack 0  ·
         107 · ack 0  ·
         108 · ack 0  · 10
         109 · ack 0  · 11
         # Four acknowledged, one of them added back: room for the hole and one more.
         203 · ack 4  · 4r 12
         208 · ack 4  · 13
         209 · ack 4  · 14
         303 · ack 12 · 15 | w=4 pipe=4",
    );
}

/// Step 3, partial acknowledgements: the window shrinks by the segments acknowledged and grows by one segment. Two of
/// six duplicates are lost on their way, so the window falls below the threshold: three segments take four and a half
/// of their room.
#[test]
fn a_partial_acknowledgement_takes_back_all_that_it_acknowledges() {
    let mut config = config(8);
    config.transport.sack = false;
    play(
        config,
        "  0 · go     · 0 1 2 3 4 5 6 7
         # 0 and 7 are lost, and the acknowledgements that 4, 5 and 6 cause.
         101 · ack 0  · 8
         102 · ack 0  · 9
         103 · ack 0  · 0r | w=4 pipe=7
         # Inflated to 4 + 3; 7 acknowledged and 1 added back: 1, and 7, 8, 9 are outstanding.
         203 · ack 7  · 7r | w=4 pipe=6
         # Each duplicate adds one: room for a fourth from the third on.
         208 · ack 7  · | pipe=5
         209 · ack 7  · | pipe=4
         210 · ack 7  · 10 | pipe=4
         303 · ack 10 · 11 12 13 | w=4",
    );
}

/// Step 3: only the first partial acknowledgement sets the timer again, and no later retransmission does (the impatient
/// variant of section 4).
#[test]
fn only_the_first_partial_acknowledgement_resets_the_timer() {
    let mut config = config(8);
    config.transport.sack = false;
    play(
        config,
        "  0 · go     · 0 1 2 3 4 5 6 7 | timer=1000
         # 0, 2 and 4 are lost.
         101 · ack 0  · 8
         102 · ack 0  · 9
         103 · ack 0  · 0r
         203 · ack 2  · 2r | timer=503
         303 · ack 4  · 4r | timer=503
         # The full one sets it again, as any acknowledgement does.
         403 · ack 10 · 10 11 12 13 | timer=615",
    );
}

/// Step 3, full acknowledgements: the window is ssthresh, the second of the two that the step allows, as in ns-2.
/// Nothing is outstanding here, so all of it leaves at once.
#[test]
fn after_a_full_acknowledgement_the_window_is_the_threshold() {
    let mut config = config(16);
    config.transport.sack = false;
    play(
        config,
        "  0 · go      · 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
         101 · ack 0   · 16
         102 · ack 0   · 17
         103 · ack 0   · 0r | w=8
         # All else arrived, and its duplicates are lost.
         203 · ack 18  · 18 19 20 21 22 23 24 25 | w=8",
    );
}

/// Step 2: a new fast retransmission needs more than `recover` acknowledged. An acknowledgement of exactly that ends
/// fast recovery. Duplicates after it are not a sign, because segments sent again needlessly cause them.
#[test]
fn duplicates_of_what_was_sent_before_are_no_new_loss() {
    let mut config = config(4);
    config.transport.sack = false;
    play(
        config,
        "  0 · go    · 0 1 2 3
         101 · ack 0 · 4
         102 · ack 0 · 5
         103 · ack 0 · 0r | w=2
         203 · ack 6 · 6 7 | w=2
         204 · ack 6 ·
         205 · ack 6 ·
         206 · ack 6 · | w=2
         # One more than that, and they are.
         303 · ack 7 · 8
         304 · ack 7 · 9
         305 · ack 7 · 10
         306 · ack 7 · 7r 11 | w=2",
    );
}

/// Step 4: a timeout sets `recover` to the last segment sent by then.
#[test]
fn duplicates_of_what_was_sent_before_a_timeout_are_no_loss() {
    let mut config = config(4);
    config.transport.sack = false;
    play(
        config,
        "   0 · go    · 0 1 2 3
         1000 · timer · 0r | w=1
         1100 · ack 4 · 4 5 | w=2
         1101 · ack 4 ·
         1102 · ack 4 ·
         1103 · ack 4 · | w=2
         1200 · ack 5 · 6",
    );
}

/// RFC 5681, section 2: a loss shows by three duplicates in a row, without an acknowledgement of new data between them.
#[test]
fn an_acknowledgement_of_new_data_begins_the_count_of_duplicates_anew() {
    let mut config = config(8);
    config.transport.sack = false;
    play(
        config,
        "  0 · go     · 0 1 2 3 4 5 6 7
         101 · ack 0  · 8
         102 · ack 0  · 9
         103 · ack 1  · | w=8 pipe=9
         104 · ack 1  ·
         105 · ack 1  · 10 | w=8
         106 · ack 1  · 1r | w=4",
    );
}

/// A duplicate counts only if it moves nothing and data are outstanding; jumps over lost acknowledgements do not count.
#[test]
fn jumps_are_no_duplicates() {
    let mut config = config(6);
    config.transport.sack = false;
    play(
        config,
        "  0 · go     · 0 1 2 3 4 5
         100 · ack 3  · 6 7 8
         # An old one, overtaken on its way.
         101 · ack 1  ·
         102 · ack 2  ·
         103 · ack 1  · | w=6
         104 · ack 6  · 9 10 11 12",
    );
}

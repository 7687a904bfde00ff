//! RFC 9406, HyStart++: sections 4.2 (the algorithm) and 4.3 (its constants).

use crate::driver::{Setup, play};
use tightlink_cc::registry::Tuning;

fn hystart(window: u64) -> Setup {
    Setup { slow_start: "hystart++", window, ..Setup::default() }
}

#[test]
fn without_a_rise_in_delay_it_is_slow_start() {
    play(
        &hystart(10),
        "
        100ms | ack 1 round 1 rtt 100ms x 10   | 20
        200ms | ack 1 round 2 rtt 112ms x 20   | 40     # the threshold is 12.5 ms
        300ms | ack 1 round 3 rtt 124ms x 40   | 80 slow-start
        ",
    );
}

/// A rise by RttThresh over the last round's least RTT enters CSS, which grows at a quarter of the speed; five
/// rounds of it, the first one partial, end in congestion avoidance.
#[test]
fn a_lasting_rise_leads_through_five_conservative_rounds_to_avoidance() {
    play(
        &hystart(16),
        "
        100ms | ack 1 round 1 rtt 100ms x 16   | 32
        200ms | ack 1 round 2 rtt 113ms x 7    | 39          # seven samples say nothing yet
        200ms | ack 1 round 2 rtt 113ms        | 40          # the eighth does
        200ms | ack 1 round 2 rtt 113ms x 4    | 41          # conservative round 1, partial
        300ms | ack 1 round 3 rtt 120ms x 4    | 42          # 2
        400ms | ack 1 round 4 rtt 120ms x 4    | 43          # 3
        500ms | ack 1 round 5 rtt 120ms x 4    | 44          # 4
        600ms | ack 1 round 6 rtt 120ms x 4    | 45 slow-start     # 5
        700ms | ack 1 round 7 rtt 120ms        | 45.25 avoidance threshold 45.25
        700ms | ack 1 round 7 rtt 120ms x 45   | 45.25
        700ms | ack 1 round 7 rtt 120ms        | 46.25
        ",
    );
}

/// A round whose least RTT falls below what led into CSS shows that it was jitter.
#[test]
fn conservative_rounds_return_to_slow_start_when_the_delay_falls() {
    play(
        &hystart(16),
        "
        100ms | ack 1 round 1 rtt 100ms x 16   | 32
        200ms | ack 1 round 2 rtt 150ms x 8    | 40
        200ms | ack 1 round 2 rtt 150ms x 4    | 41
        300ms | ack 1 round 3 rtt 149ms x 8    | 43          # below 150 ms: resumed
        300ms | ack 1 round 3 rtt 149ms x 4    | 47 slow-start
        400ms | ack 1 round 4 rtt 165ms x 8    | 55          # 149 + 16 ms: conservative again
        400ms | ack 1 round 4 rtt 165ms x 4    | 56
        ",
    );
}

/// RttThresh = max(4 ms, min(lastRoundMinRTT / 8, 16 ms)).
#[test]
fn the_threshold_is_an_eighth_of_the_rtt_between_4_and_16_ms() {
    for (last, below, at) in [("8ms", "11ms", "12ms"), ("64ms", "71ms", "72ms"), ("400ms", "415ms", "416ms")]
    {
        let rise = |rtt: &str, then: &str| {
            let script = format!(
                "
                1s | ack 1 round 1 rtt {last} x 8 | 18
                2s | ack 1 round 2 rtt {rtt} x 8  | 26
                2s | ack 1 round 2 rtt {rtt} x 4  | {then}
                "
            );
            play(&hystart(10), &script);
        };
        rise(below, "30");
        rise(at, "27");
    }
}

/// Two rounds are compared: a first round, or one without enough samples, cannot be the reason to slow down.
#[test]
fn a_round_needs_eight_samples() {
    play(
        &hystart(4),
        "
        100ms | ack 1 round 1 rtt 100ms x 4   | 8
        200ms | ack 1 round 2 rtt 300ms x 7   | 15
        300ms | ack 1 round 3 rtt 300ms x 20  | 35 slow-start
        ",
    );
}

/// Delay is measured while something else limits the sender, too; the window stays.
#[test]
fn rounds_out_of_use_are_measured_and_do_not_grow() {
    play(
        &hystart(10),
        "
        100ms | ack 1 round 1 rtt 100ms x 10         | 20
        200ms | ack 1 round 2 rtt 150ms unused x 10  | 20
        300ms | ack 1 round 3 rtt 150ms x 4          | 21
        ",
    );
}

/// Section 4.1: once congestion has been met, slow start is the standard one.
#[test]
fn after_congestion_slow_start_is_standard() {
    play(
        &hystart(20),
        "
        100ms | ack 1 round 1 rtt 100ms x 20   | 40
        200ms | ack 1 round 2 rtt 150ms x 8    | 48
        300ms | timeout 40                     | 1 threshold 20
        400ms | ack 1 round 3 rtt 100ms x 9    | 10
        500ms | ack 1 round 4 rtt 200ms x 9    | 19
        600ms | ack 1 round 5 rtt 200ms        | 20 avoidance
        ",
    );
}

#[test]
fn a_false_alarm_leaves_hystart_on() {
    play(
        &hystart(20),
        "
        100ms | ack 1 round 1 rtt 100ms x 20   | 40
        200ms | timeout 40                     | 1
        200ms | spurious                       | 40
        300ms | ack 1 round 2 rtt 150ms x 8    | 48
        300ms | ack 1 round 2 rtt 150ms x 4    | 49
        ",
    );
}

/// Section 4.2 takes RFC 3465's L, and section 4.3 recommends 8 for a sender that does not pace.
#[test]
fn stretch_acknowledgements_count_for_up_to_eight_segments_if_asked_for() {
    let tuning = Tuning { byte_counting: 8, ..Tuning::default() };
    play(
        &Setup { slow_start: "hystart++", tuning, ..Setup::default() },
        "
        100ms | ack 8 round 1 rtt 100ms x 8    | 74
        200ms | ack 9 round 2 rtt 150ms x 8    | 138
        200ms | ack 9 round 2 rtt 150ms        | 140      # a quarter of eight
        ",
    );
}

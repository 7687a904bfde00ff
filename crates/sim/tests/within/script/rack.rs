//! Tests of RFC 8985: losses by time, and the probe of the tail.

use super::{config, play};
use crate::tcp::SenderConfig;
use transport::{LossDetection, WindowVariant};

fn rack(window: u64) -> SenderConfig {
    let mut config = config(window);
    config.transport.loss_detection = LossDetection::Rack;
    config
}

/// Section 6.2, step 5: a retransmission that is lost, too, is found when a segment sent after it arrives. Counting
/// leaves it to the timer.
#[test]
fn a_lost_retransmission_is_sent_again_a_round_trip_later() {
    let script = |again: &str| {
        format!(
            "  0 · go            · 0 1 2 3 4 5 6 7
             100 · ack 0 sack 1  · 8
             101 · ack 0 sack 2  · 9
             102 · ack 0 sack 3  · 0r | w=4
             103 · ack 0 sack 4  ·
             104 · ack 0 sack 5  ·
             105 · ack 0 sack 6  ·
             106 · ack 0 sack 7  · 10
             200 · ack 0 sack 8  · 11
             201 · ack 0 sack 9  · 12
             # 10 left after the retransmission.
             206 · ack 0 sack 10 · {again}"
        )
    };
    play(config(8), &script("13"));
    // RFC 5681, section 4.3: a second sign of congestion. To Linux it is not a sign.
    play(rack(8), &script("0r | w=2"));
    let mut linux = rack(8);
    linux.transport.host.window_variant = WindowVariant::Linux;
    play(linux, &script("0r 13 | w=4"));
}

/// Step 4: before three are selectively acknowledged, reordering may take a quarter of the least round-trip time. Then
/// a timer finds the loss without a third.
#[test]
fn two_selective_acknowledgements_and_a_quarter_of_a_round_trip_are_a_loss() {
    let mut config = rack(4);
    config.total_segments = 7;
    play(
        config,
        "  0 · go            · 0 1 2 3
         100 · ack 4         · 4 5 6
         200 · ack 4 sack 5  · | timer=225
         201 · ack 4 sack 6  · | timer=226
         226 · timer         · 4r | w=2",
    );
}

/// Section 7.2: one more segment leaves two smoothed round-trip times after the last acknowledgement. It is a new one
/// if there is one, and beyond the window if need be.
#[test]
fn a_silent_flight_is_probed_with_new_data() {
    play(
        rack(3),
        "  0 · go     · 0 1 2
         100 · ack 3  · 3 4 5 6 | timer=300
         300 · timer  · 7
         # Nothing of it comes back: the timer of RFC 6298.
         600 · timer  · 3r | w=1",
    );
}

/// Section 7.3 and 7.4: the last segment is lost and the probe repairs it. No other event reports that loss, so the
/// probe lowers the window.
#[test]
fn a_lost_tail_is_mended_by_the_probe() {
    let mut config = rack(6);
    config.total_segments = 9;
    play(
        config,
        "  0 · go     · 0 1 2 3 4 5
         100 · ack 6  · 6 7 8 | w=7 timer=300
         # One is left, so its acknowledgement may be withheld: 600, but the timer's 450 comes first.
         200 · ack 8  · | timer=450
         450 · timer  · 8r
         550 · ack 9  · | pipe=0",
    );
}

/// The tail's last two are lost, and the probe's selective acknowledgement reveals the other one.
#[test]
fn a_probe_reveals_what_else_the_tail_lost() {
    let mut config = rack(6);
    config.total_segments = 10;
    play(
        config,
        "  0 · go            · 0 1 2 3 4 5
         100 · ack 6         · 6 7 8 9
         200 · ack 8         · | timer=400
         400 · timer         · 9r
         500 · ack 8 sack 9  · 8r | w=2",
    );
}

/// Section 6.3: a timeout loses the first segment and those older than a round trip, not those that have just left.
#[test]
fn a_timeout_spares_what_has_just_left() {
    play(
        rack(8),
        "   0 · go                       · 0 1 2 3 4 5 6 7
          100 · ack 0 sack 1             · 8
          101 · ack 0 sack 2             · 9
          102 · ack 0 sack 3             · 0r | w=4 timer=1102
         1100 · ack 0 sack 7 blocks 1-8  · 10 | pipe=4
         # 8 and 9 have had less time than 7 took, and 10 has just left.
         1102 · timer                    · 0r | w=1 pipe=4",
    );
}

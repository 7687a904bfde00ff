//! Tests of RFC 6298: the retransmission timer.

use super::{config, play};
use transport::{LossDetection, WindowVariant};
use units::Span;

/// (2.1), (5.1): the timer runs for one second before the first sample, from the first segment on; (5.2): it stops when
/// nothing is outstanding.
#[test]
fn the_timer_runs_while_something_is_outstanding() {
    let mut config = config(4);
    config.total_segments = 4;
    play(
        config,
        "  0 · go     · 0 1 2 3 | timer=1000
         # (2.2): the smoothed time and four times half of it; (5.3): anew with each.
         100 · ack 2  · | timer=400
         150 · ack 4  · | pipe=0",
    );
}

/// (5.4) to (5.6): the first segment is sent again after twice the time, and so on. RFC 5681: the window is one
/// segment, and the threshold is lowered once.
#[test]
fn each_silence_doubles_the_timer() {
    play(
        config(4),
        "   0 · go     · 0 1 2 3 | timer=1000
         1000 · timer  · 0r | w=1 timer=3000
         3000 · timer  · 0r | w=1 timer=7000
         7000 · timer  · 0r | w=1 timer=15000
         # Slow start to the threshold, half of the four: what was lost first.
         7100 · ack 1  · 1r 2r | w=2
         7200 · ack 3  · 3r 4 5 | w=3",
    );
}

/// RFC 6675, section 5.1: segments selectively acknowledged before the timeout are not sent again.
#[test]
fn a_timeout_keeps_what_is_known_to_have_arrived() {
    play(
        config(4),
        "   0 · go            · 0 1 2 3
          100 · ack 0 sack 2  · 4
         1000 · timer         · 0r | w=1
         1100 · ack 1         · 1r 3r | w=2",
    );
}

/// Linux: the timer waits for the least timeout beyond the smoothed round trip. A selective acknowledgement gives a
/// sample. The timer begins anew if a segment it reports left before the first hole was last sent.
#[test]
fn in_linux_the_timer_is_later_and_knows_of_selective_acknowledgements() {
    let script = |after_sacks: [u64; 2]| {
        format!(
            "  0 · go            · 0 1 2 3
             100 · ack 1         · 4
             200 · ack 1 sack 2  · 5
             201 · ack 1 sack 3  · 6
             202 · ack 1 sack 4  · 1r | timer={}
             # 5 left at 200, and the hole was sent again at 202. Linux adds 200 ms to the smoothed 120.
             320 · ack 1 sack 5  · | timer={}",
            after_sacks[0], after_sacks[1]
        )
    };
    let mut config = config(4);
    config.transport.loss_detection = LossDetection::Rack;
    config.transport.min_rto = Span::from_millis(200);
    play(config, &script([502, 502]));
    let mut config = super::config(4);
    config.transport.loss_detection = LossDetection::Rack;
    config.transport.min_rto = Span::from_millis(200);
    config.transport.host.window_variant = WindowVariant::Linux;
    play(config, &script([551, 640]));
}

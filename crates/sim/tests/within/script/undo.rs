//! Tests of needless timeouts that are taken back: RFC 3522 (Eifel), RFC 5682 (F-RTO) and RFC 4015, as in Linux's
//! `tcp_process_loss()`.

use super::{config, play};
use crate::tcp::SenderConfig;
use transport::LossDetection;

/// Returns a sender that finds losses by time; true if it undoes timeouts.
fn rack(window: u64, undoes: bool) -> SenderConfig {
    let mut config = config(window);
    config.transport.loss_detection = LossDetection::Rack;
    config.transport.host.undo_timeouts = undoes;
    config
}

/// The link stands still after 100 ms. The timer of RFC 6298 expires at 600 ms, and again at 1200.
const SILENCE: &str = "
      0 · go     · 0 1 2
    100 · ack 3  · 3 4 5 6
    # A probe of the tail.
    300 · timer  · 7
    600 · timer  · 3r | w=1
   1200 · timer  · 3r | w=1";

/// RFC 3522: the echo is older than the first retransmission. So the window is back, and nothing else is sent again.
#[test]
fn an_echo_from_before_the_retransmission_undoes_the_timeout() {
    let after = |ack: &str| format!("{SILENCE}\n1600 · ack 4 echo 100 · {ack}");
    play(rack(3, false), &after("4r 5r | w=2"));
    let undone = after("| w=4 pipe=4");
    play(rack(3, true), &format!("{undone}\n1601 · ack 7 echo 100 · 8 9 10 11 | w=5 pipe=5"));
}

/// The acknowledgement of the retransmission shows that the first copy was lost.
#[test]
fn a_true_loss_is_not_undone() {
    for undoes in [false, true] {
        play(rack(3, undoes), &format!("{SILENCE}\n1300 · ack 4 echo 1200 · 4r 5r | w=2"));
    }
}

/// RFC 5682, section 3.1, step 3.b: the arrival of a segment that was not sent again undoes the timeout, also without
/// time stamps. The arrival of one that was says nothing without them.
#[test]
fn a_segment_that_was_not_sent_again_undoes_the_timeout_too() {
    for timestamps in [false, true] {
        let mut config = rack(3, true);
        config.transport.timestamps = timestamps;
        play(config, &format!("{SILENCE}\n1250 · ack 3 sack 4 · | w=4 pipe=5"));
    }
    let mut config = rack(3, true);
    config.transport.timestamps = false;
    play(config, &format!("{SILENCE}\n1600 · ack 4 · 4r 5r | w=2"));
}

/// A timeout in fast recovery stays, because the controller's last window is not the one before both.
#[test]
fn a_timeout_in_fast_recovery_is_not_undone() {
    play(
        rack(8, true),
        "   0 · go                       · 0 1 2 3 4 5 6 7
          100 · ack 0 sack 1             · 8
          101 · ack 0 sack 2             · 9
          102 · ack 0 sack 3             · 0r | w=4 timer=1102
         1100 · ack 0 sack 7 blocks 1-8  · 10 | pipe=4
         1102 · timer                    · 0r | w=1 pipe=4
         1200 · ack 8 echo 0             · | w=2",
    );
}

/// Without selective acknowledgements the option has no effect.
#[test]
fn without_selective_acknowledgements_nothing_is_undone() {
    let mut config = config(4);
    (config.transport.sack, config.transport.host.undo_timeouts) = (false, true);
    play(
        config,
        "   0 · go           · 0 1 2 3
         1000 · timer        · 0r | w=1
         1100 · ack 1 echo 0 · 1r 2r | w=2",
    );
}

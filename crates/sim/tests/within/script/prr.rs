//! RFC 9937: proportional rate reduction, against RFC 6675 on the same losses.

use super::{config, play};
use transport::Recovery;

/// Section 4, first example, at half its size. RFC 6675 waits for half a window and then sends one segment for each
/// that arrives. PRR sends one for two from the start, and ends with the same number in the network.
#[test]
fn one_loss_is_mended_evenly() {
    let script = |from_3: [&str; 8]| {
        let mut text = String::from(
            "  0 · go            · 0 1 2 3 4 5 6 7 8 9
             101 · ack 0 sack 1  · 10
             102 · ack 0 sack 2  · 11
             103 · ack 0 sack 3  · 0r | w=5\n",
        );
        for (sent, segment) in from_3.iter().zip(4..) {
            text += &format!("{} · ack 0 sack {segment} · {sent}\n", 100 + segment);
        }
        text
    };
    play(config(10), &script(["", "", "", "", "12", "13", "14", "15"]));
    let mut config = config(10);
    config.transport.recovery = Recovery::Prr;
    // Twelve were outstanding, five are to remain: ceil(n 5 / 12) have left after the n-th.
    play(config, &script(["", "12", "", "13", "", "", "14", "15"]));
}

/// Most of the window is lost. RFC 6675 fills the network up at once. PRR sends a segment for each that arrives, and
/// two once the left edge moves without a new loss.
#[test]
fn many_losses_are_mended_without_a_burst() {
    let script = |sent: [&str; 4]| {
        let [third, fourth, first, second] = sent;
        format!(
            "  0 · go            · 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15
             116 · ack 0 sack 12 · 16
             117 · ack 0 sack 13 · 17
             118 · ack 0 sack 14 · {third}
             119 · ack 0 sack 15 · {fourth}
             218 · ack 1         · {first}
             219 · ack 2         · {second}"
        )
    };
    play(config(16), &script(["0r 1r 2r 3r 4r", "5r", "6r", "7r"]));
    let mut config = config(16);
    config.transport.recovery = Recovery::Prr;
    play(config, &script(["0r", "1r", "2r 3r", "4r 5r"]));
}

//! Fall and Floyd's `pipe`, as in ns-2's Sack1, against RFC 6675 on the same losses.

use super::{config, play};
use transport::Recovery;

/// Sixteen segments are outstanding, and the window is halved to eight. To RFC 6675 the eight lost segments are gone,
/// so it sends at once. Here they count until the acknowledgement of the segment sent again for them. That
/// acknowledgement takes out two: the hole and its repair.
#[test]
fn what_is_lost_counts_as_under_way_until_it_is_acknowledged() {
    let script = |sent: [&str; 8]| {
        // 0 to 7 are lost.
        let mut text = String::from("  0 · go · 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15\n");
        for (sent, segment) in sent.iter().zip(8..) {
            text += &format!("{} · ack 0 sack {segment} · {sent}\n", 100 + segment);
        }
        text
    };
    play(config(16), &script(["16", "17", "0r", "1r", "2r", "3r", "4r", "5r"]));
    let mut config = config(16);
    config.transport.recovery = Recovery::Sack1;
    let rest = "# 16, then 17: ten lost or new and one repair are under way, and eight may be.
                124 · ack 0 sack 16 ·
                125 · ack 0 sack 17 · | w=8 pipe=1
                # The repair has arrived: seven holes.
                210 · ack 1         · 1r | w=8 pipe=1
                # Again, hole and repair: six are left.
                310 · ack 2         · 2r 3r | w=8 pipe=2";
    play(config, &(script(["16", "17", "0r", "", "", "", "", ""]) + rest));
}

//! RFC 6582: recovery without selective acknowledgements.

use super::{config, play};

/// Section 3.2, step 3: each partial acknowledgement names the next hole, which leaves at once; the full one ends
/// it.
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

/// A duplicate counts only if it moves nothing and data are outstanding; jumps over lost acknowledgements do not.
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

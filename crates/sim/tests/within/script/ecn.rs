//! RFC 3168, RFC 8257 and RFC 9768: congestion marks.

use super::{SEGMENT, SenderConfig, config, play};
use cc::Start;
use transport::EcnMode;

/// Section 6.1.2: the window comes down once per window of data, and the next new segment tells the receiver.
#[test]
fn a_window_of_echoes_lowers_the_window_once() {
    let mut config = config(8);
    config.transport.ecn = EcnMode::Classic;
    play(
        config,
        "  0 · go         · 0 1 2 3 4 5 6 7
         100 · ack 1 ece  · | w=4 pipe=7
         101 · ack 2 ece  · | w=4
         102 · ack 3 ece  ·
         103 · ack 4 ece  ·
         104 · ack 5 ece  · 8+
         105 · ack 6 ece  · 9
         106 · ack 7 ece  · 10
         107 · ack 8 ece  · 11 | w=4
         # 8 told the receiver; another mark came with it.
         204 · ack 9 ece  · | w=2",
    );
}

/// If the window has come down for a loss, echoes from before do not lower it again.
#[test]
fn a_loss_answers_the_marks_of_its_window() {
    let mut config = config(8);
    config.transport.ecn = EcnMode::Classic;
    play(
        config,
        "  0 · go                · 0 1 2 3 4 5 6 7
         100 · ack 0 sack 1      · 8
         101 · ack 0 sack 2      · 9
         102 · ack 0 sack 3      · 0r | w=4
         103 · ack 0 sack 4 ece  · | w=4
         202 · ack 8 ece         · 10+ 11 | w=4",
    );
}

/// A flow without ECN ignores echoes.
#[test]
fn echoes_mean_nothing_without_it() {
    play(
        config(4),
        "  0 · go         · 0 1 2 3
         100 · ack 1 ece  · 4 | w=4",
    );
}

/// RFC 9768, section 3.2: counters in place of echoes. Reno still comes down once per window of data, and nothing is
/// reported to the receiver.
#[test]
fn counters_that_move_lower_the_window_once_per_window() {
    let mut config = config(8);
    config.transport.ecn = EcnMode::Accurate;
    play(
        config,
        "  0 · go             · 0 1 2 3 4 5 6 7
         100 · ack 1 ce 5 0   · 8 | w=8
         101 · ack 2 ce 6 1   · | w=4
         102 · ack 3 ce 7 2   · | w=4
         103 · ack 4 ce 7 2   ·
         104 · ack 5 ce 7 2   ·
         105 · ack 6 ce 7 2   · 9
         106 · ack 7 ce 7 2   · 10 11 | w=5
         # Segment 9 was the next as the window came down.
         202 · ack 10 ce 0 3  · | w=2",
    );
}

fn by_share(control: &str, ecn: EcnMode, window: u64) -> SenderConfig {
    let mut config = config(window);
    let start = Start { segment: SEGMENT, window: SEGMENT * window, threshold: SEGMENT * window };
    config.control = cc::registry::build(control, "standard", start).expect("registered");
    config.transport.ecn = ecn;
    config
}

/// RFC 8257, section 3.3: alpha begins with one, and moves by a sixteenth of the difference to the marked share of each
/// window. The first acknowledgement ends the first window, and leaves 15/16.
#[test]
fn dctcp_takes_half_of_alpha_by_echoes_and_by_counters_alike() {
    for (ecn, marked) in [(EcnMode::Classic, "ece"), (EcnMode::Accurate, "ce 6 1")] {
        let unmarked = if ecn == EcnMode::Accurate { "ce 5 0" } else { "" };
        play(
            by_share("dctcp", ecn, 100),
            &format!(
                "  0 · go                ·
                 100 · ack 1 {unmarked}  · 100
                 100 · ack 2 {marked}    · | w=53"
            )
            .replace("go                ·", &format!("go · {}", numbers(0, 100))),
        );
    }
}

fn numbers(from: u64, to: u64) -> String {
    (from..to).map(|number| number.to_string()).collect::<Vec<_>>().join(" ")
}

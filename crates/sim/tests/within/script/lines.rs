//! Scripts of acknowledgements, as packetdrill has them: a table of times, events and the sender's reactions. Each rule
//! has a file in this folder.
//!
//! A line is `time ms · event · expected`. Events:
//!
//! - `ack 5`, an acknowledgement of everything below segment 5. After it may stand `sack 7` (the segment that caused
//!   it), `blocks 7-9 12-13` (as in [`Sacks::Blocks`](super::Sacks)), `repeat 3` (RFC 2883), `ece` and `ce 7 2` (ACE, and the marked segments that the byte counter stands for). `echo 40` is the
//!   time stamp; without it, the current time less the round-trip time;
//! - `timer`: the earliest timer expires at that time, and not before;
//! - `go`: the sender may send.
//!
//! The third column has the segments that leave, `3 4 5`, and `3r` for one sent again (`+` after a number: with CWR).
//! After `|` may stand the window in segments, `w=5`, the segments in the network, `pipe=4`, and the time of the
//! earliest timer, `timer=1200`.

mod deliveries;
mod ecn;
mod feedback;
mod heard;
mod losses;
mod newreno;
mod offload;
mod pacing;
mod prr;
mod rack;
mod reno;
mod sack;
mod sack1;
mod timer;
mod timestamps;
mod undo;
mod writer;

use super::blocks::Block;
use super::{Acknowledgement, Feedback, Full, Sender, SenderConfig};
use cc::Start;
use transport::Transport;
use units::{Bytes, Span, Time};

const SEGMENT: Bytes = Bytes::new(1000);

/// Returns the settings of a sender whose window starts at `window` segments, in congestion avoidance.
pub(super) fn config(window: u64) -> SenderConfig {
    let start = Start { segment: SEGMENT, window: SEGMENT * window, threshold: SEGMENT * window };
    SenderConfig {
        control: cc::registry::build("reno", "standard", start).expect("registered"),
        payload: SEGMENT,
        buffer_segments: u64::MAX,
        total_segments: u64::MAX,
        transport: Transport::default(),
        line_gap: Span::ZERO,
    }
}

pub(super) fn ms(ms: u64) -> Time {
    Time::from_nanos(ms * 1_000_000)
}

fn number(text: &str) -> u64 {
    text.parse().unwrap_or_else(|_| panic!("no number: {text}"))
}

/// Plays `script` to a sender, with a round-trip time of 100 ms unless a line says otherwise.
///
/// # Panics
/// If a line has another result than it expects.
#[track_caller]
fn play(config: SenderConfig, script: &str) {
    let mut sender = Sender::new(config);
    for (now, event, expected, line) in lines(script) {
        perform(&mut sender, now, event, line);
        let (sent, state) = expected.split_once('|').unwrap_or((expected, ""));
        assert_eq!(leaving(&mut sender, now), sent.split_whitespace().collect::<Vec<_>>(), "{line}");
        for (key, value) in state.split_whitespace().filter_map(|word| word.split_once('=')) {
            let found = match key {
                "w" => sender.window_segments(),
                "pipe" => sender.pipe(),
                "timer" => sender.timer().as_nanos() / 1_000_000,
                _ => panic!("unknown state {key}"),
            };
            assert_eq!(found, number(value), "{key} in: {line}");
        }
    }
}

/// Returns the lines of a script, each with its time, its event and the expected result.
fn lines(script: &str) -> impl Iterator<Item = (Time, &str, &str, &str)> {
    let lines = script.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| {
        let [time, event, expected] = line.split('·').map(str::trim).collect::<Vec<_>>()[..] else {
            panic!("time · event · expected: {line}");
        };
        (ms(number(time)), event, expected, line)
    })
}

fn perform(sender: &mut Sender, now: Time, event: &str, line: &str) {
    let mut words = event.split_whitespace().peekable();
    match words.next() {
        Some("go") => {}
        Some("timer") => {
            assert!(sender.timer() <= now, "the timer expires at {}: {line}", sender.timer());
            sender.on_timer(now);
        }
        Some("ack") => {
            let mut ack = Acknowledgement {
                cumulative: number(words.next().expect("a segment")),
                sacked: None,
                duplicate: false,
                feedback: Feedback::default(),
                newest_sent: now,
                echo: Time::from_nanos(now.as_nanos().saturating_sub(100_000_000)),
                window: u64::MAX,
            };
            let mut blocks: Vec<Block> = Vec::new();
            while let Some(word) = words.next() {
                match word {
                    "ece" => ack.feedback = Feedback::echo(true),
                    "ce" => {
                        let mut count = || words.next().map(number).expect("a number");
                        ack.feedback = Feedback::counters((count() & 7) as u8, count() * SEGMENT.get());
                    }
                    "sack" => ack.sacked = words.next().map(number),
                    "repeat" => (ack.sacked, ack.duplicate) = (words.next().map(number), true),
                    "echo" => ack.echo = ms(number(words.next().expect("a time"))),
                    "blocks" => {
                        while let Some((from, to)) =
                            words.next_if(|word| word.contains('-')).and_then(|word| word.split_once('-'))
                        {
                            blocks.push((number(from), number(to)));
                        }
                    }
                    _ => panic!("unknown word {word}: {line}"),
                }
            }
            sender.on_ack::<Full>(now, &ack, &blocks);
        }
        _ => panic!("unknown event: {line}"),
    }
}

/// Returns the segments that leave now, in words.
fn leaving(sender: &mut Sender, now: Time) -> Vec<String> {
    let mut sent = Vec::new();
    while let Some(one) = sender.transmit::<Full>(now) {
        let again = if one.again { "r" } else { "" };
        let tells = !one.again && sender.take_capable().is_some_and(|headers| headers.reduced);
        sent.push(format!("{}{again}{}", one.segment, if tells { "+" } else { "" }));
    }
    sent
}

//! Tests of the sentence that says what limited a transfer.

use crate::limits::*;
use units::Rate;

const SECOND: u64 = 1_000_000_000;

fn times(limits: LimitTimes) -> Times {
    Times {
        sender: SenderTimes { network: 40 * SECOND, ..SenderTimes::default() },
        receiver: ReceiverTimes { network: 40 * SECOND, disk: SECOND },
        kernel: KernelTimes { busy: 40 * SECOND, window: 30 * SECOND, buffer: 0 },
        limits: Some(LimitTimes { lived: 40 * SECOND, ..limits }),
        window_below_congestion: 0.0,
        sized: true,
    }
}

fn measured() -> Measured {
    Measured {
        bytes: units::Bytes::new(400_000_000),
        goodput: Rate::from_bps(120_000_000),
        streams: 1,
        least_rtt: Span::from_millis(150),
        mean_rtt: Span::from_millis(151),
        segment: units::Bytes::new(1448),
        ..Measured::default()
    }
}

fn sentence_of(limits: LimitTimes, measured: Measured) -> String {
    Limits::new(Span::from_secs(40), &times(limits), measured).to_string()
}

#[test]
fn shares_are_of_all_connections_and_the_sentence_says_them() {
    let four = Measured { streams: 4, ..measured() };
    let limits =
        Limits::new(Span::from_secs(10), &Times { limits: None, ..times(LimitTimes::default()) }, four);
    assert_eq!((limits.receive_window, limits.sender_network), (0.75, 1.0));
    let json = serde_json::to_value(limits).unwrap();
    assert_eq!(json["limited_by"], "receive-window");
    let text = limits.to_string();
    assert!(text.contains("receive window, as intended") && text.contains("75 %"), "{text}");
}

#[test]
fn a_moment_says_nothing() {
    let limits = Limits::new(Span::from_millis(50), &Times::default(), Measured::default());
    assert_eq!(limits.limited_by, LimitedBy::TooShort);
}

#[test]
fn slow_start_is_not_the_path() {
    let ten = Measured { bytes: units::Bytes::new(10_000_000), ..measured() };
    let text = sentence_of(LimitTimes { slow_start: 30 * SECOND, ..LimitTimes::default() }, ten);
    assert!(text.contains("by slow start, not by the path: 75 %"), "{text}");
    assert!(text.contains("10 MB need 10 round trips of 150 ms"), "{text}");
}

#[test]
fn a_full_send_buffer_comes_with_streams_and_a_setting() {
    let text = sentence_of(LimitTimes { buffer: 30 * SECOND, ..LimitTimes::default() }, measured());
    for words in [
        "--streams 8 would have up to 960 Mbit/s",
        "net.ipv4.tcp_wmem=\"4096 16384 67108864\"",
        "/etc/sysctl.d",
    ] {
        assert!(text.contains(words), "{words:?}: {text}");
    }
}

#[test]
fn losses_do_not_reduce_a_rate_based_control_and_reduce_others() {
    let path = LimitTimes { congestion: 30 * SECOND, ..LimitTimes::default() };
    let lossy = Measured { retransmits: 3, ..measured() };
    let bbr = sentence_of(path, Measured { rate_based: true, ..lossy });
    assert!(
        bbr.contains("3 segments were sent again, which does not reduce") && !bbr.contains("--control"),
        "{bbr}"
    );
    let random = sentence_of(path, lossy);
    assert!(random.contains("losses reduce") && random.contains("--control bbr"), "{random}");
    let full = sentence_of(path, Measured { mean_rtt: Span::from_millis(190), ..lossy });
    assert!(full.contains("by the path") && full.contains("3 segments") && full.contains("190 ms"), "{full}");
    let idle = sentence_of(path, measured());
    assert!(idle.contains("the path had room") && !idle.contains("by the path"), "{idle}");
}

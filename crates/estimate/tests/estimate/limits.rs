//! The limit of a transfer, and the advice that follows.

use tightlink_estimate::limits::*;
use units::{Bytes, Rate, Span};

const WAITS: (SenderShares, ReceiverShares) = (
    SenderShares { network: 0.9, disk: 0.0, limit: 0.0, idle: 0.0 },
    ReceiverShares { network: 0.9, disk: 0.0 },
);
const BUSY: ConnectionShares =
    ConnectionShares { slow_start: 0.0, receive_window: 0.0, send_buffer: 0.0, congestion_window: 1.0 };

#[test]
fn a_program_that_seldom_waits_for_the_network_is_the_limit() {
    let sender = |shares| limit_of_transfer(shares, WAITS.1, BUSY).0;
    assert_eq!(sender(SenderShares { limit: 0.8, ..SenderShares::default() }), LimitedBy::RateLimit);
    assert_eq!(sender(SenderShares { disk: 0.8, ..SenderShares::default() }), LimitedBy::SendingDisk);
    assert_eq!(sender(SenderShares { idle: 0.8, ..SenderShares::default() }), LimitedBy::Idle);
    assert_eq!(sender(SenderShares::default()), LimitedBy::SendingApplication);
    let receiver = |shares| limit_of_transfer(WAITS.0, shares, BUSY).0;
    assert_eq!(receiver(ReceiverShares { disk: 0.8, network: 0.1 }), LimitedBy::ReceivingDisk);
    assert_eq!(receiver(ReceiverShares::default()), LimitedBy::ReceivingApplication);
}

#[test]
fn where_both_wait_the_connection_is_asked() {
    let found = |connection| limit_of_transfer(WAITS.0, WAITS.1, connection);
    for (limit, shares) in [
        (LimitedBy::ReceiveWindow, ConnectionShares { receive_window: 0.8, ..ConnectionShares::default() }),
        (LimitedBy::SendBuffer, ConnectionShares { send_buffer: 0.8, ..ConnectionShares::default() }),
        (LimitedBy::SlowStart, ConnectionShares { slow_start: 0.8, ..ConnectionShares::default() }),
    ] {
        assert_eq!(found(shares), (limit, 0.8));
        assert_eq!(
            found(ConnectionShares { congestion_window: 0.81, ..shares }).0,
            LimitedBy::CongestionWindow
        );
    }
}

#[test]
fn a_paced_sender_with_congestion_window_to_spare_is_limited_by_the_window() {
    let paced = ConnectionShares::of_clocks(1.0, 0.25, 0.0, 0.75);
    assert_eq!(limit_of_connection(paced), (LimitedBy::ReceiveWindow, 0.25 + 0.75 * 0.75));
    let clocks = |window, buffer| limit_of_connection(ConnectionShares::of_clocks(1.0, window, buffer, 0.0));
    assert_eq!(clocks(0.25, 0.0), (LimitedBy::CongestionWindow, 0.75));
    assert_eq!(clocks(0.0, 0.8), (LimitedBy::SendBuffer, 0.8));
}

#[test]
fn it_is_known_how_often_the_receive_window_was_the_smaller_one() {
    assert_eq!(window_below_congestion([]), 0.0);
    let moments = [(None, 5), (Some(10), 0), (Some(10), 10), (Some(10), 20), (Some(10), 9), (Some(9), 12)];
    let moments = moments.map(|(window, congestion)| (window.map(Bytes::new), Bytes::new(congestion)));
    assert_eq!(window_below_congestion(moments), 0.75, "the first two say nothing");
}

fn over(rtt_ms: u64, mbps: u64) -> Measured {
    Measured {
        bytes: Bytes::new(400_000_000),
        goodput: Rate::from_bps(mbps * 1_000_000),
        streams: 1,
        least_rtt: Span::from_millis(rtt_ms),
        mean_rtt: Span::from_millis(rtt_ms),
        segment: Bytes::new(1448),
        ..Measured::default()
    }
}

#[test]
fn ten_megabytes_take_ten_round_trips_from_ten_segments_on() {
    assert_eq!(slow_start_rounds(Bytes::new(10_000_000), Bytes::new(1448)), 10);
    assert_eq!(slow_start_rounds(Bytes::new(14_480), Bytes::new(1448)), 1);
    assert_eq!(slow_start_rounds(Bytes::new(14_481), Bytes::new(1448)), 2);
    assert_eq!(slow_start_rounds(Bytes::ZERO, Bytes::ZERO), 0);
}

#[test]
fn streams_are_proposed_with_their_rate_and_a_buffer_for_it() {
    let Advice::Streams(streams, rate, buffer) = advice(LimitedBy::SendBuffer, &over(150, 120)) else {
        panic!("no advice")
    };
    // 960 Mbit/s over 150 ms are 18 MB in flight.
    assert_eq!((streams, rate), (8, Rate::from_bps(960_000_000)));
    assert_eq!(buffer, Bytes::new(64 << 20));
    let eight = Measured { streams: 8, ..over(150, 800) };
    let Advice::Streams(streams, rate, _) = advice(LimitedBy::SendBuffer, &eight) else {
        panic!("no advice")
    };
    assert_eq!((streams, rate), (16, Rate::from_bps(1_600_000_000)));
}

#[test]
fn another_control_is_proposed_where_losses_come_without_a_queue() {
    let lossy = Measured { retransmits: 40, ..over(80, 3) };
    assert_eq!(advice(LimitedBy::CongestionWindow, &lossy), Advice::OtherControl);
    let queue = Measured { mean_rtt: Span::from_millis(110), ..lossy };
    assert_eq!(advice(LimitedBy::CongestionWindow, &queue), Advice::None);
    assert_eq!(advice(LimitedBy::CongestionWindow, &over(80, 3)), Advice::Room);
    let bbr = Measured { rate_based: true, ..lossy };
    assert_eq!(advice(LimitedBy::CongestionWindow, &bbr), Advice::None, "losses do not reduce it");
}

//! The numbers of a computed transfer are found from every place.

use crate::read;
use crate::transfer::{Place, SEGMENT, Transfer};
use estimate::diagnosis::{Cause, Evidence, Vantage, diagnose};
use proptest::prelude::*;
use std::collections::BTreeSet;
use tightlink_capture::connections::Statistics;

const PLACES: [(Place, Vantage); 3] = [
    (Place::Sender, Vantage::SenderCapture),
    (Place::Middle, Vantage::MiddleCapture),
    (Place::Receiver, Vantage::ReceiverCapture),
];

fn transfer() -> Transfer {
    Transfer {
        rate: 50_000_000,
        delay: 20_000_000,
        pace: None,
        window: 128 << 10,
        scale: 7,
        segments: 2000,
        lost: BTreeSet::new(),
        first_sequence: u32::MAX - 500_000,
        stamps: true,
        handshake: true,
    }
}

fn forward(transfer: &Transfer, place: Place) -> (Statistics, Evidence) {
    let mut capture = read(&transfer.capture(place));
    assert_eq!((capture.connections.len(), &capture.notes), (1, &vec![]));
    let connection = capture.connections.remove(0);
    assert_eq!(connection.opened, transfer.handshake);
    let [one, other] = connection.directions;
    let direction = if one.evidence.is_some() { one } else { other };
    (direction.statistics, direction.evidence.unwrap())
}

/// The largest flight in bytes, and the last window.
fn windows(evidence: &Evidence) -> (u64, u64) {
    let peak = evidence.intervals.iter().filter_map(|interval| interval.peak_flight).max().unwrap();
    (peak.get(), evidence.intervals.last().unwrap().receive_window.unwrap().get())
}

#[test]
fn a_window_below_the_path_is_full_from_every_place() {
    let transfer = transfer();
    for (place, vantage) in PLACES {
        let (statistics, evidence) = forward(&transfer, place);
        assert_eq!(evidence.vantage, vantage);
        assert_eq!(statistics.segments, 2000);
        assert_eq!(evidence.delivered().get(), 2000 * SEGMENT);
        let (peak, window) = windows(&evidence);
        assert_eq!(window, 128 << 10, "{place:?}");
        // 90 segments fit. The stamps of a receiver have milliseconds, in which four segments leave the link.
        let most = 90 * SEGMENT;
        assert!((most - 5 * SEGMENT..=most + SEGMENT).contains(&peak), "{place:?}: {peak}");
        let base = evidence.base_round_trip.unwrap().as_millis_f64();
        assert!((40.0..41.5).contains(&base), "{place:?}: {base}");
        assert!(evidence.episodes.is_empty() && evidence.timeouts == 0);
    }
}

#[test]
fn the_scale_of_a_connection_without_handshake_is_bounded_by_what_is_in_flight() {
    let transfer = Transfer { handshake: false, ..transfer() };
    let (_, evidence) = forward(&transfer, Place::Sender);
    // The window is full, so that the least scale is the right one.
    assert!(evidence.inferred_scale && !evidence.scaling_off);
    assert_eq!((evidence.window_scale, windows(&evidence).1), (Some(7), 128 << 10));
    let known = Transfer { handshake: true, ..transfer };
    assert!(!forward(&known, Place::Sender).1.inferred_scale);
}

#[test]
fn a_handshake_without_window_scaling_bounds_the_window_and_is_said() {
    let transfer = Transfer { scale: 0, window: 65_535, ..transfer() };
    for (place, _) in PLACES {
        let (_, evidence) = forward(&transfer, place);
        assert!(evidence.scaling_off && !evidence.inferred_scale, "{place:?}");
        assert_eq!((evidence.window_scale, windows(&evidence).1), (None, 65_535));
        let diagnosis = diagnose(&evidence);
        assert_eq!(diagnosis.cause, Some(Cause::ReceiveWindow), "{place:?}");
        assert!(diagnosis.reason.contains("Window scaling is off"), "{}", diagnosis.reason);
    }
}

#[test]
fn losses_are_counted_once_and_belong_to_their_episodes() {
    // Two losses of one round trip, then one much later.
    let transfer = Transfer { lost: [300, 302, 1200].into(), ..transfer() };
    for (place, _) in PLACES {
        let (statistics, evidence) = forward(&transfer, place);
        let again = statistics.retransmitted;
        assert_eq!((again.segments, again.fast, again.needless), (3, 3, 0), "{place:?}");
        assert_eq!((statistics.out_of_order, statistics.unseen.get()), (0, 0), "{place:?}");
        let episodes: Vec<u64> = evidence.episodes.iter().map(|episode| episode.segments).collect();
        assert_eq!(episodes, [2, 1], "{place:?}");
    }
}

#[test]
fn data_acknowledged_where_an_interval_ends_are_counted() {
    // Each segment takes 3 ms, so that the last acknowledgement comes 20 ms times an integer after the first data.
    let transfer = Transfer { rate: 4_000_000, delay: 79_000_000, ..transfer() };
    for segments in 990..1010 {
        let (_, evidence) = forward(&Transfer { segments, ..transfer.clone() }, Place::Sender);
        assert_eq!(evidence.delivered().get(), segments * SEGMENT);
    }
}

#[test]
fn bursts_too_short_to_measure_give_no_rate() {
    // 12 segments leave the link in 0.75 ms, and the window makes 24 Mbit/s of 193.
    let transfer = Transfer { rate: 193_000_000, delay: 2_000_000, window: 136 * 128, ..transfer() };
    assert_eq!(forward(&transfer, Place::Sender).1.capacity, None);
}

#[test]
fn the_pace_of_a_sender_behind_a_small_window_is_not_the_rate_of_the_path() {
    // The window makes 6.5 Mbit/s of 20; the sender paces at 1.25 times that, as BBR does when it probes.
    let transfer = Transfer { rate: 20_000_000, delay: 40_000_000, window: 64 << 10, ..transfer() };
    for (place, _) in PLACES {
        let paced = Transfer { pace: Some(8_400_000), ..transfer.clone() };
        assert_eq!(forward(&paced, place).1.capacity, None, "{place:?}");
    }
    // A sender that does not pace shows the rate: its slow start leaves twice as fast as it arrives.
    let rate = forward(&transfer, Place::Sender).1.capacity.unwrap().as_bps_f64() / 2e7;
    assert!((0.98..1.02).contains(&rate), "{rate} of the rate");
}

#[test]
fn a_window_just_below_the_path_hides_its_rate_though_packets_are_lost() {
    // The window's pauses are shorter than a millisecond, so that they look like the spacing of packets.
    for (rate, delay, window) in [(43, 7, 47), (99, 3, 47), (195, 3, 90), (27, 3, 14), (11, 7, 14)] {
        let transfer = Transfer {
            rate: rate * 1_000_000,
            delay: delay * 1_000_000,
            window: window * SEGMENT / 128 * 128 + 128,
            segments: 1000,
            lost: [72].into(),
            ..transfer()
        };
        for (place, _) in PLACES {
            let found =
                forward(&transfer, place).1.capacity.map(|found| found.as_bps_f64() / rate as f64 / 1e6);
            assert!(
                found.is_none_or(|found| (0.98..1.02).contains(&found)),
                "{rate}, {place:?}: {found:?} of the rate"
            );
        }
    }
}

#[test]
fn a_window_above_the_path_shows_rate_and_queue() {
    // 50 Mbit/s over 40 ms are 250 kB with headers; the window is twice that, so that the queue is as long as the path.
    let transfer = Transfer { window: 512 << 10, segments: 6000, ..transfer() };
    for (place, _) in PLACES {
        let (_, evidence) = forward(&transfer, place);
        let rate = evidence.capacity.unwrap().as_bps_f64() / 5e7;
        assert!((0.98..1.02).contains(&rate), "{place:?}: {rate}");
        let buffer = evidence.buffer.unwrap();
        let queue = 362 * 1500 - 250_000;
        assert!(buffer.at_least, "{place:?}");
        let found = buffer.size.get() as f64 / f64::from(queue);
        assert!((0.95..1.05).contains(&found), "{place:?}: {found} of the queue");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn known_losses_and_windows_are_found_from_every_place(
        rate in 2u64..200,
        delay in 2u64..80,
        window in 12u64..200,
        lost in proptest::collection::btree_set(20u64..900, 0..6),
        first_sequence: u32,
        stamps: bool,
    ) {
        let transfer = Transfer {
            rate: rate * 1_000_000,
            delay: delay * 1_000_000,
            window: window * SEGMENT / 128 * 128 + 128,
            segments: 1000,
            lost,
            first_sequence,
            stamps,
            ..transfer()
        };
        for (place, vantage) in PLACES {
            let (statistics, evidence) = forward(&transfer, place);
            prop_assert_eq!(evidence.vantage, vantage);
            prop_assert_eq!(statistics.retransmitted.segments, transfer.lost.len() as u64, "{:?}", place);
            prop_assert_eq!(statistics.retransmitted.needless, 0, "{:?}", place);
            prop_assert_eq!((statistics.out_of_order, evidence.timeouts), (0, 0), "{:?}", place);
            prop_assert_eq!(evidence.delivered().get(), 1000 * SEGMENT, "{:?}", place);
            let (peak, last) = windows(&evidence);
            prop_assert_eq!(last, transfer.window);
            if place == Place::Sender {
                prop_assert_eq!(peak / SEGMENT, window, "{:?}", place);
            }
            // Without a queue the rate may be unknown, but it is never wrong.
            let tolerance = evidence.capacity.map_or(0.0, |found| (found.as_bps_f64() / rate as f64 / 1e6 - 1.0).abs());
            prop_assert!(tolerance < 0.05, "{:?}: {:?}", place, evidence.capacity);
        }
    }
}

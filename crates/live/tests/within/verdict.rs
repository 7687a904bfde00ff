//! Tests of the limit of other programs' sockets.

use super::*;

fn seen(round_trips: &[u64], strays: u32) -> ReadingSummary {
    let mut seen = ReadingSummary::default();
    for (at, &ms) in round_trips.iter().enumerate() {
        let last = at + 1 == round_trips.len();
        seen.add_reading(
            Some(Span::from_millis(ms)),
            if last { strays } else { 0 },
            Bytes::new(at as u64 * 10_000_000),
        );
    }
    seen
}

fn found(mbps: f64, window: u64, largest: bool, seen: &ReadingSummary) -> Option<ConnectionLimit> {
    held(Rate::from_bps_f64(mbps * 1e6), Bytes::new(window), largest, seen).map(|(held, _)| held)
}

#[test]
fn sshs_own_window_is_not_taken_for_the_kernels() {
    // 97.8 Mbit/s at 150 ms, in a window of 10.5 MB: ssh's 2 MiB.
    let steady = seen(&[150, 150, 151, 150], 0);
    let (limit, flight) = held(Rate::from_bps(97_800_000), Bytes::new(10_500_000), false, &steady).unwrap();
    assert_eq!(limit, ConnectionLimit::Programs);
    assert!((1_830_000..1_850_000).contains(&flight.get()), "{flight}");
}

#[test]
fn a_window_that_is_in_flight_is_the_limit_and_its_scale_is_named() {
    // 5.1 Mbit/s at 100 ms are 64 kB.
    let steady = seen(&[100, 100], 0);
    assert_eq!(found(5.1, 65_535, true, &steady), Some(ConnectionLimit::Scale));
    assert_eq!(found(5.1, 65_535, false, &steady), Some(ConnectionLimit::Window));
    assert_eq!(found(118.0, 2_390_000, false, &seen(&[150, 152], 0)), Some(ConnectionLimit::Window));
}

#[test]
fn a_queue_or_losses_show_the_path() {
    assert_eq!(found(95.0, 32_000_000, false, &seen(&[40, 60, 75], 0)), Some(ConnectionLimit::Path));
    assert_eq!(found(95.0, 32_000_000, false, &seen(&[40, 40, 40], 50)), Some(ConnectionLimit::Path));
    assert_eq!(found(95.0, 32_000_000, false, &seen(&[40, 40, 40], 2)), Some(ConnectionLimit::Programs));
    assert_eq!(found(95.0, 800_000, false, &seen(&[40, 40], 0)), None, "six tenths decide nothing");
    assert_eq!(found(95.0, 800_000, false, &ReadingSummary::default()), None);
}

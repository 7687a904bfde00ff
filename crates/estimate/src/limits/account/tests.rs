//! Hand-made connections, and readings of real ones (Linux 6.18).

use super::*;

const SEGMENT: u64 = 1448;

/// A connection of `rtt_ms` that is read every 100 ms, whose program always has data. `at` says what a reading is.
fn account(seconds: u64, rtt_ms: u64, at: impl Fn(u64, &mut Reading)) -> Account {
    let mut account = Account::default();
    for tick in 0..=seconds * 10 {
        let mut reading = Reading {
            at: Time::from_nanos(1_000_000_000) + Span::from_millis(100) * tick,
            busy: Span::from_millis(100) * tick,
            round_trip: Span::from_millis(rtt_ms),
            segment: Bytes::new(SEGMENT),
            peer_window: Some(Bytes::new(30_000_000)),
            waiting: true,
            ..Reading::default()
        };
        at(tick, &mut reading);
        account.observe(reading);
    }
    account
}

/// Bytes that slow start has delivered after `ms`: ten segments after a round trip, twice as much after each.
fn slow_start(ms: u64, rtt_ms: u64) -> u64 {
    let rounds = ms / rtt_ms;
    10 * SEGMENT * ((1 << rounds.min(40)) - 1)
}

fn share(part: Span, account: &Account) -> f64 {
    let LimitedTimes { slow_start, receive_window, send_buffer, congestion_window } = account.times();
    part.as_secs_f64() / (slow_start + receive_window + send_buffer + congestion_window).as_secs_f64()
}

#[test]
fn ten_round_trips_that_double_are_slow_start() {
    for rtt_ms in [150, 262, 400] {
        let account = account(rtt_ms * 10 / 1000, rtt_ms, |tick, reading| {
            let acknowledged = slow_start(tick * 100, rtt_ms);
            reading.acknowledged = Bytes::new(acknowledged);
            reading.in_flight = Bytes::new(acknowledged + 10 * SEGMENT);
            reading.congestion_window = reading.in_flight;
        });
        assert_eq!(account.times().congestion_window, Span::ZERO, "{rtt_ms} ms");
        assert!(account.is_opening() && account.times().slow_start > Span::from_secs(1), "{rtt_ms} ms");
    }
}

#[test]
fn a_steady_rate_or_a_loss_ends_slow_start() {
    let steady = account(30, 40, |tick, reading| {
        reading.acknowledged = Bytes::new(1_250_000 * tick);
        reading.in_flight = Bytes::new(500_000);
        reading.congestion_window = Bytes::new(505_000);
    });
    assert!(!steady.is_opening() && share(steady.times().congestion_window, &steady) > 0.97);
    let lossy = account(3, 262, |tick, reading| {
        reading.acknowledged = Bytes::new(slow_start(tick * 100, 262));
        (reading.in_flight, reading.congestion_window) = (reading.acknowledged, reading.acknowledged);
        reading.retransmits = u64::from(tick > 15);
    });
    assert!((0.45..0.55).contains(&share(lossy.times().slow_start, &lossy)));
}

#[test]
fn a_congestion_window_well_above_what_is_in_flight_is_the_send_buffer() {
    // Turn 3, P3: CUBIC at 1 Gbit/s and 100 ms, tcp_wmem of 4 MB. The kernel's own clock has 10 %.
    let cubic = account(20, 110, |tick, reading| {
        reading.acknowledged = Bytes::new(3_200_000 * tick);
        reading.in_flight = Bytes::new(3_600_000);
        reading.congestion_window = Bytes::new(5_817 * SEGMENT);
        reading.buffer_limited = Span::from_millis(10) * tick;
    });
    assert!(share(cubic.times().send_buffer, &cubic) > 0.95);
    // With data that waits although both windows have room, something else holds it back: a queue of the host's own.
    let waits = account(20, 110, |tick, reading| {
        reading.acknowledged = Bytes::new(3_200_000 * tick);
        reading.in_flight = Bytes::new(3_600_000);
        reading.congestion_window = Bytes::new(5_817 * SEGMENT);
        reading.unsent = Bytes::new(900_000);
    });
    assert!(share(waits.times().send_buffer, &waits) < 0.05);
}

/// BBR, with twice in its congestion window of what it has in flight; the socket ran dry at the readings for which `dry`.
fn bbr(dry: impl Fn(u64) -> bool) -> Account {
    account(20, 150, |tick, reading| {
        reading.acknowledged = Bytes::new(1_845_000 * tick);
        reading.in_flight = Bytes::new(1_911 * SEGMENT);
        reading.congestion_window = Bytes::new(5_156 * SEGMENT);
        reading.unsent = Bytes::new(if dry(tick) { 0 } else { 1_200_000 });
        reading.ran_dry = dry(tick);
        reading.rate_based = true;
    })
}

#[test]
fn under_bbr_the_send_buffer_is_the_limit_where_the_socket_runs_dry_again_and_again() {
    let buffer = bbr(|tick| tick % 9 == 0);
    assert!(share(buffer.times().send_buffer, &buffer) > 0.9);
    // Once, in the beginning: the rate is one of the path soon.
    let path = bbr(|tick| tick == 8);
    assert!(share(path.times().congestion_window, &path) > 0.85);
}

#[test]
fn a_window_that_is_full_and_a_pace_are_the_receivers() {
    let full = account(20, 40, |tick, reading| {
        reading.acknowledged = Bytes::new(500_000 * tick);
        reading.in_flight = Bytes::new(199_000);
        reading.peer_window = Some(Bytes::new(200_000));
        reading.congestion_window = Bytes::new(400_000);
    });
    assert!(share(full.times().receive_window, &full) > 0.95);
    let paced = account(20, 40, |tick, reading| {
        reading.acknowledged = Bytes::new(500_000 * tick);
        reading.in_flight = Bytes::new(150_000);
        reading.congestion_window = Bytes::new(400_000);
        reading.paced = true;
    });
    assert!(share(paced.times().receive_window, &paced) > 0.95);
}

#[test]
fn what_the_program_does_not_have_is_not_the_connections_fault() {
    let slow = account(20, 40, |tick, reading| {
        reading.acknowledged = Bytes::new(50_000 * tick);
        reading.in_flight = Bytes::new(20_000);
        reading.congestion_window = Bytes::new(400_000);
        reading.waiting = false;
    });
    let times = slow.times();
    assert_eq!((times.receive_window, times.send_buffer, times.congestion_window), Default::default());
}

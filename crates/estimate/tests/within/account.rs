//! Hand-made connections, and readings of real ones (Linux 6.18).

use super::*;

const SEGMENT: u64 = 1448;

/// Makes the account of a connection of `rtt_ms` that is read every 100 ms, and whose program always has data. `at`
/// fills in each reading.
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

/// Returns the bytes that slow start has delivered after `ms`: ten segments after a round trip, twice as many after
/// each further one.
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
        assert!(
            account.is_opening() && account.times().slow_start > Span::from_secs(rtt_ms * 10 / 1000) / 2,
            "{rtt_ms} ms"
        );
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
    // If data waits although both windows have room, something else holds it back: a queue of the host's own.
    let waits = account(20, 110, |tick, reading| {
        reading.acknowledged = Bytes::new(3_200_000 * tick);
        reading.in_flight = Bytes::new(3_600_000);
        reading.congestion_window = Bytes::new(5_817 * SEGMENT);
        reading.unsent = Bytes::new(900_000);
    });
    assert!(share(waits.times().send_buffer, &waits) < 0.05);
}

/// Makes the account of BBR, with more than twice the data in flight as its congestion window; the socket ran dry at
/// the readings for which `dry` is true.
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
    // The socket ran dry once, in the beginning: the rate is soon one of the path.
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

/// A reading of a real socket: seconds, congestion window and unacknowledged segments, bytes unsent, RTT in ms, whether
/// the last rate was measured dry, the clock of the send buffer in s, MB acknowledged, segments retransmitted.
type Line = (f64, u64, u64, u64, u64, bool, f64, f64, u64);

/// Replays recorded lines. Between two of them the sums grow evenly, and the account reads every 100 ms.
fn recorded(lines: &[Line], rate_based: bool) -> LimitedTimes {
    let mut account = Account::default();
    let (first, last) = (lines[0].0, lines[lines.len() - 1].0);
    for tick in (first * 10.0).round() as u64..=(last * 10.0).round() as u64 {
        let at = tick as f64 / 10.0;
        let after = lines.iter().position(|line| line.0 >= at - 1e-9).unwrap();
        let (before, line) = (lines[after.saturating_sub(1)], lines[after]);
        let share = if line.0 > before.0 { (at - before.0) / (line.0 - before.0) } else { 1.0 };
        let even = |begin: f64, end: f64| begin + (end - begin) * share;
        account.observe(Reading {
            at: Time::ZERO + Span::from_secs_f64(at),
            busy: Span::from_secs_f64(at - first),
            window_limited: Span::ZERO,
            buffer_limited: Span::from_secs_f64(even(before.6, line.6) - lines[0].6),
            acknowledged: Bytes::new((even(before.7, line.7) * 1e6) as u64),
            retransmits: line.8,
            round_trip: Span::from_millis(line.4),
            segment: Bytes::new(SEGMENT),
            congestion_window: Bytes::new(line.1 * SEGMENT),
            peer_window: Some(Bytes::new(20_000_000)),
            in_flight: Bytes::new(line.2 * SEGMENT),
            unsent: Bytes::new(line.3),
            ran_dry: line.5,
            rate_based,
            paced: false,
            waiting: true,
        });
    }
    account.times()
}

/// Linux 6.18, a Python program that polls and writes 256 kB at a time, over `tightlink emulate` with a queue of one BDP.
#[test]
fn recorded_connections_have_the_limit_that_they_had() {
    // CUBIC, 1 Gbit/s, 100 ms: 224 Mbit/s on a path that is 22 % busy. Slow start never ended for the kernel.
    let cubic = recorded(
        &[
            (1.5, 5796, 2398, 0, 111, true, 0.18, 26.1, 0),
            (3.0, 5796, 2442, 0, 111, true, 0.49, 71.6, 0),
            (4.5, 5796, 2488, 0, 111, true, 1.34, 124.0, 0),
            (6.0, 5796, 2172, 0, 111, true, 1.86, 169.5, 0),
            (7.5, 6311, 2171, 0, 111, true, 2.20, 218.6, 0),
        ],
        false,
    );
    assert!(cubic.send_buffer > Span::from_secs(5) && cubic.congestion_window == Span::ZERO, "{cubic:?}");
    // BBR, 1 Gbit/s, 150 ms: 130 Mbit/s on a path that is 13 % busy.
    let bbr = recorded(
        &[
            (1.0, 396, 396, 1_772_352, 150, false, 0.0, 0.6, 0),
            (1.5, 3852, 1899, 0, 150, false, 0.0, 5.6, 0),
            (3.0, 7042, 1978, 0, 150, true, 1.02, 34.1, 0),
            (4.5, 7042, 1940, 476_392, 150, true, 2.08, 64.5, 0),
            (6.0, 7042, 2203, 0, 150, true, 3.12, 95.1, 0),
            (7.5, 7042, 2248, 0, 150, true, 4.16, 125.5, 0),
        ],
        true,
    );
    assert!(bbr.send_buffer > Span::from_secs(4) && bbr.congestion_window == Span::ZERO, "{bbr:?}");
    // BBR and CUBIC, 100 Mbit/s, 40 ms: 87 Mbit/s with the start, and the path is busy.
    let bbr = recorded(
        &[
            (1.0, 706, 352, 3_146_504, 43, false, 0.0, 9.4, 742),
            (1.5, 694, 382, 2_801_880, 48, false, 0.0, 15.4, 742),
            (3.0, 710, 360, 3_363_704, 43, false, 0.0, 33.5, 742),
            (6.0, 704, 352, 2_995_912, 43, false, 0.0, 69.8, 742),
        ],
        true,
    );
    assert!(bbr.congestion_window > Span::from_millis(4900), "{bbr:?}");
    let cubic = recorded(
        &[
            (0.5, 590, 590, 1_180_120, 67, false, 0.0, 3.5, 0),
            (1.0, 498, 494, 1_537_776, 59, false, 0.0, 9.6, 34),
            (3.0, 615, 613, 1_589_904, 73, false, 0.0, 33.7, 34),
            (6.0, 515, 514, 2_397_888, 61, false, 0.0, 69.9, 37),
        ],
        false,
    );
    assert!(cubic.congestion_window > Span::from_millis(4900), "{cubic:?}");
}

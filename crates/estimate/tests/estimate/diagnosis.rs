//! The limit of a connection, from evidence made by hand.

use estimate::diagnosis::{
    Cause, Confidence, Direction, Evidence, Interval, KernelClocks, PathState, Vantage, WindowSizing,
    diagnose,
};
use tightlink_estimate as estimate;
use units::{Bytes, Span, Time};

const LENGTH: Span = Span::from_millis(20);

/// Makes evidence of ten seconds over 40 ms, whose intervals `change` adapts; it gets the number of the interval.
fn evidence(vantage: Vantage, change: impl Fn(u64, &mut Interval)) -> Evidence {
    let ends = Direction {
        source: "192.0.2.1:5000".parse().expect("an address"),
        destination: "192.0.2.2:80".parse().expect("an address"),
    };
    let mut evidence = Evidence::new(ends, vantage);
    evidence.base_round_trip = Some(Span::from_millis(40));
    let at_sender = vantage == Vantage::SenderSocket;
    for number in 0..500 {
        // 100 segments of 1448 bytes in 40 ms are 29 Mbit/s.
        let mut interval = Interval {
            from: Time::ZERO + LENGTH * number,
            length: LENGTH,
            delivered: Bytes::new(72_400),
            sent: (vantage != Vantage::ReceiverSocket).then(|| Bytes::new(72_400)),
            flight: Some(Bytes::new(144_800)),
            receive_window: Some(Bytes::new(1_000_000)),
            least_window: Some(Bytes::new(1_000_000)),
            congestion_window: at_sender.then(|| Bytes::new(144_800)),
            unsent: at_sender.then(|| Bytes::new(200_000)),
            buffer_full: at_sender.then_some(true),
            unread: (vantage == Vantage::ReceiverSocket).then_some(Bytes::ZERO),
            returned: Some(Bytes::ZERO),
            segments: Some(50),
            round_trip: Some(Span::from_millis(40)),
            ..Interval::default()
        };
        change(number, &mut interval);
        evidence.intervals.push(interval);
    }
    evidence
}

#[track_caller]
fn found(evidence: &Evidence, cause: Cause, path: PathState) -> Confidence {
    let found = diagnose(evidence);
    assert_eq!((found.cause, found.path), (Some(cause), Some(path)), "{found:?}");
    let sum: f64 = Cause::ALL.iter().map(|&cause| found.shares.of(cause)).sum();
    assert!((sum - 1.0).abs() < 1e-9, "the shares add to one: {sum}");
    found.confidence
}

fn window(bytes: u64) -> impl Fn(u64, &mut Interval) {
    move |_, interval| {
        interval.receive_window = Some(Bytes::new(bytes));
        interval.least_window = Some(Bytes::new(bytes));
    }
}

#[test]
fn a_full_window_of_one_size_is_the_receive_window() {
    for vantage in [Vantage::SenderSocket, Vantage::ReceiverSocket, Vantage::SenderCapture] {
        let full = evidence(vantage, window(145_000));
        assert_eq!(found(&full, Cause::ReceiveWindow, PathState::WindowLimited), Confidence::High);
    }
    let between = evidence(Vantage::MiddleCapture, window(145_000));
    let confidence = found(&between, Cause::ReceiveWindow, PathState::WindowLimited);
    assert_eq!(confidence, Confidence::Fair, "a slow reader looks the same there");
    let mut inferred = evidence(Vantage::SenderCapture, window(145_000));
    inferred.inferred_scale = true;
    assert_eq!(found(&inferred, Cause::ReceiveWindow, PathState::WindowLimited), Confidence::Fair);
}

#[test]
fn a_setting_that_bounds_the_window_is_named() {
    let reason = |evidence: &Evidence| {
        let found = diagnose(evidence);
        assert_eq!(found.cause, Some(Cause::ReceiveWindow));
        found.reason
    };
    // 45 segments of 1448 bytes fill a window of 65,535.
    let flight = |number: u64, interval: &mut Interval| {
        window(65_535)(number, interval);
        interval.flight = Some(Bytes::new(65_160));
    };
    let mut full = evidence(Vantage::SenderSocket, flight);
    assert!(!reason(&full).contains("off"));
    full.scaling_off = true;
    assert!(reason(&full).ends_with("Window scaling is off, so it has at most 65,535 bytes."));
    let mut small = evidence(Vantage::SenderSocket, window(30_000));
    small.scaling_off = true;
    assert!(!reason(&small).contains("scaling"), "a smaller buffer is the bound");
    small.sizing = Some(WindowSizing::AutotuningOff);
    assert!(reason(&small).contains("Autotuning is off at the receiver (net.ipv4.tcp_moderate_rcvbuf = 0)"));
}

#[test]
fn a_window_that_was_larger_is_the_receiving_program() {
    let slow = evidence(Vantage::SenderSocket, |number, interval| {
        if number > 20 {
            window(30_000)(number, interval);
            interval.flight = Some(Bytes::new(29_000));
            interval.delivered = Bytes::new(10_000);
        }
    });
    found(&slow, Cause::ReceivingProgram, PathState::WindowLimited);
    let unread = evidence(Vantage::ReceiverSocket, |_, interval| {
        window(130_000)(0, interval);
        interval.unread = Some(Bytes::new(100_000));
    });
    found(&unread, Cause::ReceivingProgram, PathState::WindowLimited);
}

#[test]
fn a_full_send_buffer_without_unsent_data_is_the_send_buffer() {
    let dry = |_: u64, interval: &mut Interval| {
        interval.unsent = interval.unsent.map(|_| Bytes::ZERO);
        interval.congestion_window = interval.congestion_window.map(|window| window * 3);
    };
    let at_sender = evidence(Vantage::SenderSocket, dry);
    assert_eq!(found(&at_sender, Cause::SendBuffer, PathState::WindowLimited), Confidence::High);
    let bursts = |number: u64, interval: &mut Interval| {
        interval.delivered = Bytes::new(if number.is_multiple_of(2) { 144_800 } else { 0 });
        interval.segments = Some(if number.is_multiple_of(2) { 100 } else { 0 });
    };
    let at_receiver = evidence(Vantage::ReceiverSocket, bursts);
    let confidence = found(&at_receiver, Cause::SendBuffer, PathState::WindowLimited);
    assert_eq!(confidence, Confidence::Low, "only the sender's socket shows its buffer");
}

#[test]
fn a_program_that_writes_little_and_one_that_pauses_limit_themselves() {
    let little = evidence(Vantage::SenderSocket, |_, interval| {
        interval.unsent = Some(Bytes::ZERO);
        interval.buffer_full = Some(false);
        interval.congestion_window = Some(Bytes::new(500_000));
    });
    found(&little, Cause::SendingProgram, PathState::NotCongested);
    let short = evidence(Vantage::ReceiverSocket, |_, interval| interval.segments = Some(55));
    assert_eq!(found(&short, Cause::SendingProgram, PathState::NotCongested), Confidence::Fair);
    let pauses = evidence(Vantage::ReceiverCapture, |number, interval| {
        if number % 50 > 15 {
            (interval.idle, interval.delivered) = (LENGTH, Bytes::ZERO);
            (interval.sent, interval.segments) = (Some(Bytes::ZERO), Some(0));
        }
    });
    let share = diagnose(&pauses).shares.of(Cause::SendingProgram);
    assert!((share - 0.68).abs() < 0.06, "{share}");
}

#[test]
fn answers_to_requests_with_pauses_between_them_are_no_window_of_the_program() {
    for vantage in [Vantage::SenderCapture, Vantage::MiddleCapture, Vantage::ReceiverCapture] {
        // A second of answers with bursts, and three in which nobody sends; at the end one, and one.
        let asked = evidence(vantage, |number, interval| {
            interval.returned = Some(Bytes::new(400));
            let bursts = number.is_multiple_of(2) && number % 200 < 50;
            (interval.delivered, interval.segments) =
                if bursts { (Bytes::new(144_800), Some(100)) } else { (Bytes::ZERO, Some(0)) };
            interval.sent = Some(interval.delivered);
            if number % 200 >= 50 {
                (interval.idle, interval.returned) = (LENGTH, Some(Bytes::ZERO));
                (interval.flight, interval.peak_flight) = (Some(Bytes::ZERO), Some(Bytes::ZERO));
            }
        });
        let diagnosis = diagnose(&asked);
        let share = diagnosis.shares.of(Cause::SendingProgram);
        assert!((share - 0.7).abs() < 0.06, "{vantage:?}: {share}");
        assert!(diagnosis.in_use.is_none_or(|bytes| bytes > Bytes::ZERO));
    }
}

#[test]
fn messages_that_release_data_show_a_window_of_the_program() {
    let inner = |vantage| {
        evidence(vantage, move |number, interval| {
            interval.unsent = interval.unsent.map(|_| Bytes::ZERO);
            interval.buffer_full = interval.buffer_full.map(|_| false);
            interval.congestion_window = interval.congestion_window.map(|window| window * 3);
            interval.returned = Some(Bytes::new(64));
            // Bursts: the link is not full.
            interval.delivered = Bytes::new(if number.is_multiple_of(2) { 144_800 } else { 0 });
            interval.segments = Some(if number.is_multiple_of(2) { 100 } else { 0 });
        })
    };
    for vantage in [Vantage::SenderSocket, Vantage::ReceiverSocket, Vantage::MiddleCapture] {
        found(&inner(vantage), Cause::ProgramWindow, PathState::WindowLimited);
    }
}

#[test]
fn the_network_has_a_state_by_queue_and_losses() {
    let queue = |at: Vantage, queue: u64| {
        evidence(at, move |number, interval| {
            interval.round_trip = Some(Span::from_millis(40 + queue));
            let lost = u64::from(number % 100 == 50);
            match at {
                Vantage::ReceiverSocket => interval.out_of_order = lost,
                _ => interval.retransmitted = lost,
            }
        })
    };
    for vantage in [Vantage::SenderSocket, Vantage::ReceiverSocket, Vantage::ReceiverCapture] {
        found(&queue(vantage, 30), Cause::Network, PathState::SelfInduced);
        found(&queue(vantage, 0), Cause::Network, PathState::RandomLoss);
    }
    let marks = evidence(Vantage::SenderSocket, |number, interval| interval.marked = number % 2);
    found(&marks, Cause::Network, PathState::Managed);
    let beside = evidence(Vantage::SenderSocket, |number, interval| {
        interval.round_trip = Some(Span::from_millis(70));
        interval.delivered = Bytes::new(30_000 + number / 50 % 3 * 20_000);
    });
    found(&beside, Cause::Network, PathState::Congested);
}

#[test]
fn growth_until_the_end_is_slow_start() {
    let mut short = evidence(Vantage::SenderSocket, |number, interval| {
        let bytes = Bytes::new(14_480 << (number.min(20) / 2));
        (interval.delivered, interval.flight) = (bytes, Some(bytes));
        interval.congestion_window = Some(bytes);
        interval.receive_window = Some(bytes * 4);
        interval.least_window = interval.receive_window;
    });
    short.intervals.truncate(12);
    found(&short, Cause::SlowStart, PathState::NotCongested);
}

#[test]
fn little_data_and_near_shares_are_no_verdict_with_confidence() {
    let mut little = evidence(Vantage::SenderSocket, |_, interval| interval.delivered = Bytes::new(1000));
    little.intervals.truncate(10);
    let unknown = diagnose(&little);
    assert_eq!((unknown.cause, unknown.confidence), (None, Confidence::Low));
    let both = evidence(Vantage::SenderSocket, |number, interval| {
        if number < 250 {
            window(145_000)(number, interval);
        }
    });
    assert_eq!(diagnose(&both).confidence, Confidence::Low);
    assert_eq!(diagnose(&Evidence { intervals: Vec::new(), ..both }).cause, None);
}

#[test]
fn the_kernels_clock_counts_where_the_flight_does_not_show_a_full_window() {
    let clock = evidence(Vantage::SenderSocket, |_, interval| {
        let all = KernelClocks { busy: LENGTH, window_limited: LENGTH, buffer_limited: Span::ZERO };
        interval.kernel = Some(all);
    });
    found(&clock, Cause::ReceiveWindow, PathState::WindowLimited);
}

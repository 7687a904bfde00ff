//! Traces: their packets one after the other. Their files are the room `capture`'s.

use proptest::prelude::*;
use std::sync::Arc;
use tightlink_link::traffic::{Source, Trace, TrafficConfig};
use units::random::Stream;
use units::{Bytes, Span, Time};

/// A trace of packets at milliseconds.
fn trace(packets: &[(f64, u16)]) -> Trace {
    let mut trace = Trace::default();
    let mut before = packets[0].0;
    for (at, size) in packets {
        trace.push(((at - before) * 1e6).round() as u64, *size);
        before = *at;
    }
    trace
}

/// Times in milliseconds, and sizes.
fn played(trace: Trace, repeat: bool, packets: usize) -> Vec<(f64, u64)> {
    let config = TrafficConfig::replay(Arc::new(trace), repeat, Time::ZERO + Span::from_secs(1), Time::NEVER);
    let mut source = Source::new(config, Stream::new(1, "none is drawn"));
    std::iter::from_fn(|| {
        let at = source.wakeup()?;
        Some((at.as_secs_f64() * 1e3, source.emit().get()))
    })
    .take(packets)
    .collect()
}

#[test]
fn a_trace_plays_from_its_start_and_stops() {
    let trace = trace(&[(100_500.0, 1500), (100_500.0, 40), (110_502.0, 60)]);
    assert_eq!((trace.len(), trace.bytes(), trace.largest()), (3, Bytes::new(1600), Bytes::new(1500)));
    assert_eq!(played(trace, false, 9), [(1000.0, 1500), (1000.0, 40), (11_002.0, 60)]);
}

#[test]
fn a_repeated_trace_keeps_its_mean_gap_and_rate() {
    let trace = trace(&[(0.0, 100), (2.0, 200), (4.0, 300)]);
    assert_eq!(trace.mean_rate().as_bps_f64(), 600.0 * 8.0 / 6e-3);
    let times = [(1000.0, 100), (1002.0, 200), (1004.0, 300), (1006.0, 100), (1008.0, 200)];
    assert_eq!(played(trace, true, 5), times);
}

proptest! {
    #[test]
    fn packets_are_those_that_were_pushed(packets in prop::collection::vec((0u64..9_000_000_000, 1u16..), 1..50)) {
        let mut trace = Trace::default();
        for (gap, size) in &packets {
            trace.push(*gap, *size);
        }
        prop_assert_eq!(trace.packets().collect::<Vec<_>>(), packets.clone());
        let sum: u64 = packets.iter().map(|(_, size)| u64::from(*size)).sum();
        prop_assert_eq!(trace.bytes().get(), sum);
        let length: u64 = packets.iter().map(|(gap, _)| *gap).sum();
        prop_assert_eq!(trace.duration(), Span::from_nanos(length));
    }
}

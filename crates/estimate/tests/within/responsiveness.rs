//! Tests of the responsiveness under load.

use super::*;

fn ms(millis: u64) -> Span {
    Span::from_millis(millis)
}

/// Makes ten samples a second of each kind, whose latencies `of` gives for each time in seconds.
fn samples(seconds: u64, of: impl Fn(f64) -> [u64; 4]) -> LatencySamples {
    let mut samples = LatencySamples::default();
    for tenth in 1..=seconds * 10 {
        let at = ms(tenth * 100);
        let [tcp, tls, request, loaded] = of(tenth as f64 / 10.0).map(ms);
        samples.tcp.push((at, tcp));
        samples.tls.push((at, tls));
        samples.request.push((at, request));
        samples.loaded.push((at, loaded));
    }
    samples
}

#[test]
fn both_kinds_of_connection_count_half_each() {
    let steady = responsiveness(&samples(10, |_| [20, 40, 60, 100]), Span::from_secs(10)).unwrap();
    assert_eq!(steady.latencies.foreign(), ms(40));
    // 1500 and 600 round trips per minute.
    assert!((steady.latencies.round_trips_per_minute() - 1050.0).abs() < 1e-6);
    assert_eq!(steady.steadiness, Steadiness::Steady);
}

#[test]
fn only_the_last_four_intervals_count_and_the_slowest_twentieth_does_not() {
    let grows = |at: f64| {
        if at < 6.0 {
            [1, 1, 1, 1]
        } else if ((at * 10.0).round() as u64).is_multiple_of(40) {
            [5000, 5000, 5000, 5000]
        } else {
            [50, 50, 50, 50]
        }
    };
    let last = responsiveness(&samples(10, grows), Span::from_secs(10)).unwrap();
    assert_eq!(last.latencies, Latencies { tcp: ms(50), tls: ms(50), request: ms(50), loaded: ms(50) });
    assert_eq!(last.steadiness, Steadiness::Varying);
}

#[test]
fn a_short_load_is_a_result_of_little_confidence_and_no_sample_is_no_result() {
    let short = responsiveness(&samples(3, |_| [20, 20, 20, 20]), Span::from_secs(3)).unwrap();
    assert_eq!(short.steadiness, Steadiness::Short);
    let mut none = samples(10, |_| [20, 20, 20, 20]);
    none.loaded.clear();
    assert_eq!(responsiveness(&none, Span::from_secs(10)), None);
}

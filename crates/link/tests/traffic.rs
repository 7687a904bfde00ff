//! Cross traffic keeps its long-run rate, its pattern and its interval.

use tightlink_link::traffic::{Pattern, Source, TrafficConfig};
use units::random::Stream;
use units::{Bytes, Rate, Span, Time};

fn source(pattern: Pattern, seconds: u64) -> Source {
    let config = TrafficConfig {
        pattern,
        rate: Rate::from_bps(17_000_000),
        packet: Bytes::new(1500),
        start: Time::ZERO + Span::from_secs(1),
        stop: Time::ZERO + Span::from_secs(1 + seconds),
    };
    Source::new(config, Stream::new(3, "cross"))
}

fn arrivals(mut source: Source) -> Vec<Time> {
    std::iter::from_fn(|| {
        let at = source.wakeup()?;
        source.emit();
        Some(at)
    })
    .collect()
}

fn rate(times: &[Time], seconds: u64) -> f64 {
    times.len() as f64 * 12_000.0 / seconds as f64
}

#[test]
fn cbr_is_exact_and_even() {
    let times = arrivals(source(Pattern::Cbr, 100));
    assert!((rate(&times, 100) / 17e6 - 1.0).abs() < 1e-5);
    let gaps = times.windows(2).map(|pair| pair[1].since(pair[0]).as_nanos());
    assert!(gaps.clone().min() >= Some(705_882) && gaps.max() <= Some(705_883));
    assert_eq!(times[0], Time::ZERO + Span::from_secs(1));
}

#[test]
fn poisson_and_on_off_keep_their_mean_rate() {
    let poisson = arrivals(source(Pattern::Poisson, 1000));
    assert!((rate(&poisson, 1000) / 17e6 - 1.0).abs() < 0.01);
    let on_off =
        Pattern::OnOff { peak: Rate::from_bps(97_000_000), burst: Span::from_millis(5), shape: None };
    let bursty = arrivals(source(on_off, 2000));
    assert!((rate(&bursty, 2000) / 17e6 - 1.0).abs() < 0.02, "{}", rate(&bursty, 2000));
    // Shorter bursts than a packet gap must not add packets.
    let tiny = Pattern::OnOff { peak: Rate::from_bps(97_000_000), burst: Span::from_micros(50), shape: None };
    let tiny = arrivals(source(tiny, 2000));
    assert!((rate(&tiny, 2000) / 17e6 - 1.0).abs() < 0.02, "{}", rate(&tiny, 2000));
}

#[test]
fn poisson_gaps_vary_as_exponentials_do() {
    let times = arrivals(source(Pattern::Poisson, 1000));
    let gaps: Vec<f64> = times.windows(2).map(|pair| pair[1].since(pair[0]).as_secs_f64()).collect();
    let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
    let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
    assert!((variance.sqrt() / mean - 1.0).abs() < 0.02);
}

#[test]
fn nothing_comes_outside_start_and_stop() {
    for pattern in [Pattern::Cbr, Pattern::Poisson] {
        let times = arrivals(source(pattern, 2));
        assert!(times.iter().all(|time| (1.0..3.0).contains(&time.as_secs_f64())));
    }
}

/// The variance of a count over blocks of `size`, over that of single counts times `size`: 1 where counts are
/// independent, rising with `size` where they depend over long times.
fn spread_of_sums(counts: &[f64], size: usize) -> f64 {
    let variance = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / values.len() as f64
    };
    let sums: Vec<f64> = counts.chunks_exact(size).map(|block| block.iter().sum()).collect();
    variance(&sums) / (variance(counts) * size as f64)
}

#[test]
fn pareto_periods_keep_the_rate_and_depend_over_long_times() {
    const SECONDS: u64 = 10_000;
    let counts = |shape| {
        // Twenty sources, as a mean of heavy tails needs many periods.
        let mut counts = vec![0.0; SECONDS as usize * 10];
        for number in 0..20 {
            let config = TrafficConfig {
                pattern: Pattern::OnOff {
                    peak: Rate::from_bps(2_000_000),
                    burst: Span::from_millis(100),
                    shape,
                },
                rate: Rate::from_bps(500_000),
                packet: Bytes::new(1500),
                start: Time::ZERO,
                stop: Time::ZERO + Span::from_secs(SECONDS),
            };
            for at in arrivals(Source::new(config, Stream::new(5, &format!("source {number}")))) {
                counts[(at.as_secs_f64() * 10.0) as usize] += 1.0;
            }
        }
        counts
    };
    let (exponential, pareto) = (counts(None), counts(Some(1.5)));
    for counts in [&exponential, &pareto] {
        let rate = counts.iter().sum::<f64>() * 12_000.0 / SECONDS as f64;
        assert!((rate / 10e6 - 1.0).abs() < 0.05, "{rate}");
    }
    // H = (3 - 1.5)/2: the variance of sums over m grows as m^1.5 in place of m.
    let decade = |counts: &[f64]| libm::log10(spread_of_sums(counts, 1000) / spread_of_sums(counts, 100));
    assert!(decade(&exponential) < 0.2, "{}", decade(&exponential));
    assert!(decade(&pareto) > 0.3, "{}", decade(&pareto));
}

//! Random streams: reproducible, independent by name, with the distributions they claim.

use tightlink_units::random::{Stream, pareto_quantiles};

fn mean(n: u32, mut draw: impl FnMut() -> f64) -> f64 {
    (0..n).map(|_| draw()).sum::<f64>() / f64::from(n)
}

#[test]
fn same_seed_and_name_give_the_same_numbers_and_another_name_does_not() {
    let draw = |seed, name| {
        let mut stream = Stream::new(seed, name);
        (0..8).map(|_| stream.integer(0, u64::MAX)).collect::<Vec<_>>()
    };
    assert_eq!(draw(1, "loss"), draw(1, "loss"));
    assert_ne!(draw(1, "loss"), draw(1, "jitter"));
    assert_ne!(draw(1, "loss"), draw(2, "loss"));
}

#[test]
fn distributions_have_their_means() {
    let mut stream = Stream::new(7, "test");
    assert!((mean(200_000, || stream.uniform()) - 0.5).abs() < 0.005);
    assert!((mean(200_000, || stream.exponential(2.0)) - 2.0).abs() < 0.03);
    // Shape 3 has a finite variance, so its sample mean settles.
    assert!((mean(200_000, || stream.pareto(3.0, 1.5)) - 1.5).abs() < 0.02);
    assert!((mean(200_000, || stream.integer(1, 200) as f64) - 100.5).abs() < 0.6);
    assert!((mean(200_000, || f64::from(u8::from(stream.chance(0.25)))) - 0.25).abs() < 0.005);
}

#[test]
fn a_full_range_integer_does_not_overflow() {
    let mut stream = Stream::new(0, "edge");
    for _ in 0..1000 {
        let _ = stream.integer(0, u64::MAX);
        assert_eq!(stream.integer(5, 5), 5);
    }
}

#[test]
fn pareto_quantiles_ascend_with_exactly_the_mean() {
    for (shape, count) in [(1.2, 1), (1.2, 25), (2.5, 1000)] {
        let values = pareto_quantiles(shape, 0.1, count);
        assert_eq!(values.len() as u64, count);
        assert!(values.is_sorted());
        assert!((values.iter().sum::<f64>() / count as f64 - 0.1).abs() < 1e-12);
        // P(X > x) = (x/scale)^-shape between any two.
        if let [first, .., last] = values[..] {
            let tails = (1.0 - 0.5 / count as f64) / (0.5 / count as f64);
            assert!((libm::pow(last / first, shape) / tails - 1.0).abs() < 1e-9);
        }
    }
}

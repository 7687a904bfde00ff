//! Conversion of a [`Spread`] into one value for each flow.

use scenario::Spread;
use units::Span;
use units::random::{Stream, pareto_quantiles};

/// Draws the values of `count` flows; a list must have as many values.
pub(super) fn values(spread: &Spread<Span>, count: u64, mut stream: Stream) -> Vec<Span> {
    let mut drawn = |draw: &dyn Fn(&mut Stream) -> f64| {
        (0..count).map(|_| Span::from_secs_f64(draw(&mut stream))).collect()
    };
    match spread {
        Spread::All(value) => vec![*value; count as usize],
        Spread::List(values) => values.clone(),
        Spread::Uniform(low, high) => {
            drawn(&|stream| stream.uniform_in(low.as_secs_f64(), high.as_secs_f64()))
        }
        Spread::Pareto { shape, mean } => drawn(&|stream| stream.pareto(*shape, mean.as_secs_f64())),
        Spread::ParetoQuantiles { shape, mean } => {
            let quantiles = pareto_quantiles(*shape, mean.as_secs_f64(), count);
            quantiles.into_iter().map(Span::from_secs_f64).collect()
        }
        Spread::Exponential(mean) => drawn(&|stream| stream.exponential(mean.as_secs_f64())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares with the lists that the ns-2 comparison used, shuffled (tests/reference/README.md).
    #[test]
    fn pareto_quantiles_are_the_reference_lists() {
        for count in [5, 25, 100] {
            let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/reference/ns2");
            let text = std::fs::read_to_string(format!("{folder}/pareto_n{count}_q.txt")).unwrap();
            let lines = text.lines().filter(|line| !line.starts_with('#'));
            let mut reference: Vec<f64> = lines.map(|line| line.trim().parse().unwrap()).collect();
            reference.sort_by(f64::total_cmp);
            let spread = Spread::ParetoQuantiles { shape: 1.2, mean: Span::from_millis(100) };
            let ours = values(&spread, count, Stream::new(1, "rtt"));
            assert_eq!(ours.len(), reference.len());
            for (ours, reference) in ours.iter().zip(reference) {
                assert!((ours.as_secs_f64() - reference).abs() < 2e-9, "{ours} and {reference}");
            }
        }
    }
}

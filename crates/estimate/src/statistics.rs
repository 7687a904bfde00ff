//! Statistics of a handful of numbers.

/// Returns the middle one of `values`, or the mean of the middle two; `None` without values. Reorders them.
///
/// # Panics
/// If one is not a number.
#[must_use]
pub fn median(values: &mut [f64]) -> Option<f64> {
    values.sort_by(|a, b| a.partial_cmp(b).expect("a number"));
    let (below, above) = (values.len().checked_sub(1)? / 2, values.len() / 2);
    Some(f64::midpoint(values[below], values[above]))
}

/// Returns the spread of `values` as a share of their median: (greatest - least)/median. `None` without values, or if
/// the median is not positive. Values are nearly equal if this is small [sobas:IV].
#[must_use]
pub fn spread(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    let middle = median(&mut sorted).filter(|middle| *middle > 0.0)?;
    Some((sorted.last()? - sorted.first()?) / middle)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_or_between_the_middle_two() {
        assert_eq!(median(&mut []), None);
        assert_eq!(median(&mut [3.0, 1.0, 9.0]), Some(3.0));
        assert_eq!(median(&mut [3.0, 1.0, 9.0, 5.0]), Some(4.0));
    }

    #[test]
    fn the_spread_is_a_share_of_the_median() {
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[0.0, 0.0]), None);
        assert_eq!(spread(&[100.0, 95.0, 105.0]), Some(0.1));
        assert_eq!(spread(&[7.0]), Some(0.0));
    }
}

//! Statistics of a few samples: the mean with its confidence interval, and Jain's fairness index.

/// A mean and its uncertainty.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Estimate {
    /// The mean of the samples.
    pub(crate) mean: f64,
    /// Half the width of its 95 % confidence interval; infinite for a single sample.
    pub(crate) half_width: f64,
}

/// Computes the mean and the half width of the 95 % confidence interval of a few samples (Student's t).
pub(crate) fn estimate(samples: &[f64]) -> Estimate {
    let n = samples.len() as f64;
    let mean = samples.iter().sum::<f64>() / n;
    let variance = samples.iter().map(|sample| (sample - mean).powi(2)).sum::<f64>() / (n - 1.0).max(1.0);
    Estimate { mean, half_width: student_t(samples.len()) * (variance / n).sqrt() }
}

/// Returns the two-sided 95 % quantile of Student's t with `samples - 1` degrees of freedom.
fn student_t(samples: usize) -> f64 {
    // The table covers few samples, where the values differ much. Beyond it, one value near the normal quantile fits to
    // within 2 %.
    const T: [f64; 20] = [
        12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.160, 2.145,
        2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
    ];
    samples.checked_sub(2).map_or(f64::INFINITY, |index| T.get(index).copied().unwrap_or(1.98))
}

/// Computes Jain's fairness index, (sum x)^2 / (n sum x^2): 1 when all are equal, 1/n when one has all. Returns `None`
/// for fewer than two values or when all are zero.
#[must_use]
pub fn jain_index(values: &[f64]) -> Option<f64> {
    let sum: f64 = values.iter().sum();
    let squares: f64 = values.iter().map(|value| value * value).sum();
    (values.len() > 1 && squares > 0.0).then(|| sum * sum / (values.len() as f64 * squares))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jain_is_one_for_equals_and_one_over_n_for_a_monopoly() {
        assert_eq!(jain_index(&[3.0, 3.0, 3.0]), Some(1.0));
        assert_eq!(jain_index(&[4.0, 0.0, 0.0, 0.0]), Some(0.25));
        assert_eq!(jain_index(&[4.0]), None);
        assert_eq!(jain_index(&[0.0, 0.0]), None);
    }
}

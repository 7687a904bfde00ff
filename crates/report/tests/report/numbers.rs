//! Numbers as a page shows them, and columns that are thinned to be drawn.

use crate::sample::column;
use tightlink_report::decimate::{envelope, interval_means, interval_sums};
use tightlink_report::text::{decimals_for, difference, number, short};

#[test]
fn numbers_read_well() {
    assert_eq!(number(None, 2), "–");
    assert_eq!(number(Some(f64::NAN), 2), "–");
    assert_eq!(number(Some(-1.25), 1), "−1.2");
    assert_eq!(number(Some(-0.01), 1), "0.0");
    assert_eq!(number(Some(1234.0), 0), "1234");
    assert_eq!(number(Some(1_234_567.0), 0), "1\u{202f}234\u{202f}567");
    assert_eq!([970.0, 77.2, 9.134, 0.01].map(|v| decimals_for(v, 3)), [0, 1, 2, 4]);
    assert_eq!([970.0, 80.0, 9.134, 0.5].map(short), ["970", "80", "9.13", "0.5"]);
    assert_eq!(difference(98.8, 100.0).as_deref(), Some("−1.2\u{202f}%"));
    assert_eq!(difference(125.0, 100.0).as_deref(), Some("+25\u{202f}%"));
    assert_eq!(difference(100.0, 100.0).as_deref(), Some("±0.0\u{202f}%"));
    assert_eq!(difference(1200.0, 100.0).as_deref(), Some("×12"));
    assert_eq!(difference(1.0, 0.0), None);
}

#[test]
fn an_envelope_keeps_first_last_least_and_greatest() {
    for n in [5, 1500, 1501, 3000, 100_003] {
        let (t, y) = column(n);
        let thin = envelope(&t, &y, 1500);
        assert!(thin.t.len() <= 1500 && thin.t.len() == thin.y.len());
        assert_eq!((thin.t[0], thin.y[0]), (t[0], y[0]));
        assert_eq!((thin.t.last(), thin.y.last()), (t.last(), y.last()));
        for extreme in [99.0, -3.0] {
            assert_eq!(thin.y.contains(&extreme), y.contains(&extreme), "{n} samples, {extreme}");
        }
        assert!(thin.t.is_sorted());
    }
    assert_eq!(envelope(&[], &[], 1500).t.len(), 0);
}

#[test]
fn an_envelope_shows_a_gap_as_a_gap() {
    let (t, mut y) = column(3000);
    y[1000..2000].fill(f64::NAN);
    let thin = envelope(&t, &y, 300);
    assert!(thin.y.iter().any(|v| v.is_nan()));
    assert!(thin.y.contains(&y[0]));
}

#[test]
fn interval_means_keep_the_mean_and_sums_keep_the_total() {
    let (t, y) = column(3000);
    let mean = |v: &[f64]| v.iter().sum::<f64>() / v.len() as f64;
    let means = interval_means(&t, &y, 600);
    assert_eq!(means.t.len(), 600);
    assert!((means.every - 0.1).abs() < 1e-9);
    assert!((mean(&means.y) - mean(&y)).abs() < 1e-9);
    let sums = interval_sums(&t, &y, 120);
    assert_eq!(sums.t.len(), 120);
    assert!((sums.y.iter().sum::<f64>() - y.iter().sum::<f64>()).abs() < 1e-6);
}

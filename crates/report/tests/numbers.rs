//! Numbers as a page shows them.

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

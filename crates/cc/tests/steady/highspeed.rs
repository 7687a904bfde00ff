//! RFC 3649: the table of appendix B and the response function.

use crate::path::{Sender, agrees, named, periodic};
use model::response::highspeed::{decrease, increment};
use units::Span;

/// Appendix B: the windows at which a(w) has grown by one segment, from a(38) = 1.
const WINDOWS: [u32; 73] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596,
    5036, 5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082, 12834, 13614, 14424,
    15265, 16137, 17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193, 29557, 30975,
    32450, 33986, 35586, 37253, 38992, 40808, 42707, 44694, 46776, 48961, 51258, 53677, 56230, 58932, 61799,
    64851, 68113, 71617, 75401, 79517, 84035, 89053, 94717,
];

/// Appendix B's b(w) at these windows, in hundredths.
const DECREASES: [u32; 73] = [
    50, 44, 41, 38, 37, 35, 34, 33, 32, 31, 30, 29, 28, 28, 27, 27, 26, 26, 25, 25, 24, 24, 23, 23, 22, 22,
    22, 21, 21, 21, 20, 20, 20, 19, 19, 19, 19, 18, 18, 18, 17, 17, 17, 17, 16, 16, 16, 16, 15, 15, 15, 15,
    14, 14, 14, 14, 13, 13, 13, 13, 13, 12, 12, 12, 12, 11, 11, 11, 10, 10, 10, 10, 9,
];

/// The rows are made as the RFC makes them: the next one where a(w) exceeds the last one's by more than one.
#[test]
fn every_row_of_the_rfc_s_table_comes_from_the_formulas() {
    let (mut rows, mut last) = (vec![38], 1.0);
    for window in 38..100_000u32 {
        let a = increment(f64::from(window));
        if a > last + 1.0 {
            rows.push(window);
            last = a;
        }
    }
    assert_eq!(rows, WINDOWS);
    for (row, (window, hundredths)) in WINDOWS.iter().zip(DECREASES).enumerate() {
        let (w, printed) = (f64::from(*window), f64::from(hundredths) / 100.0);
        assert_eq!(increment(w).floor() as usize, row + 1, "a({window})");
        assert!((decrease(w) - printed).abs() <= 0.005 + 1e-9, "b({window}) = {} ({printed})", decrease(w));
    }
}

/// w = 0.12 / p^0.835 [rfc3649:5].
#[test]
fn highspeed_has_the_average_window_of_its_response_function() {
    for p in [1e-4, 1e-5, 1e-6, 1e-7f64] {
        let published = 0.12 / libm::pow(p, 0.835);
        let sender = Sender::new(named("highspeed", published), Span::from_millis(100));
        agrees(&format!("highspeed, p = {p:e}"), periodic(sender, p, 3), published, 0.05);
    }
}

/// Above a loss rate of 1e-3 the window stays below 38 segments.
#[test]
fn highspeed_is_reno_where_losses_are_frequent() {
    let of = |control| periodic(Sender::new(named(control, 12.0), Span::from_millis(100)), 5e-3, 50);
    agrees("highspeed as reno, p = 5e-3", of("highspeed"), of("reno"), 0.05);
}

//! The root of a monotone function, by bisection.

/// Halvings after which any bracket of `f64` has shrunk to neighbouring numbers or to nothing that matters:
/// from 1e12 seconds to far below a nanosecond takes about 100.
const HALVINGS: u32 = 200;

/// The point in `[low, high]` where the decreasing `function` falls through zero: `low` if it is nowhere
/// positive, `high` if it is nowhere negative.
pub(crate) fn decreasing_root(low: f64, high: f64, function: impl Fn(f64) -> f64) -> f64 {
    if function(low) <= 0.0 {
        return low;
    }
    let (mut positive, mut other) = (low, high);
    for _ in 0..HALVINGS {
        let middle = 0.5 * (positive + other);
        if middle <= positive || middle >= other {
            break;
        }
        if function(middle) > 0.0 {
            positive = middle;
        } else {
            other = middle;
        }
    }
    other
}

//! The root of a monotone function, by bisection.

/// Halvings after which any bracket of `f64` has shrunk to neighbouring numbers or to nothing that matters:
/// from 1e12 seconds to far below a nanosecond takes about 100.
const HALVINGS: u32 = 200;

/// A root, and how it was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Root {
    pub at: f64,
    pub halvings: u32,
}

/// The point in `[low, high]` where the decreasing `function` falls through zero: `low` if it is nowhere
/// positive, `high` if it is nowhere negative.
pub(crate) fn decreasing_root(low: f64, high: f64, function: impl Fn(f64) -> f64) -> f64 {
    bisected(low, high, function).at
}

/// [`decreasing_root`], with the number of halvings.
pub(crate) fn bisected(low: f64, high: f64, function: impl Fn(f64) -> f64) -> Root {
    if function(low) <= 0.0 {
        return Root { at: low, halvings: 0 };
    }
    let (mut positive, mut other) = (low, high);
    for halvings in 0..HALVINGS {
        let middle = 0.5 * (positive + other);
        if middle <= positive || middle >= other {
            return Root { at: other, halvings };
        }
        if function(middle) > 0.0 {
            positive = middle;
        } else {
            other = middle;
        }
    }
    Root { at: other, halvings: HALVINGS }
}

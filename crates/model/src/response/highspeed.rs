//! HighSpeed TCP, RFC 3649: the rule of its window, its response function, and the closed form of the paper on router
//! buffers, `[highspeed:II]`.
//!
//! | | function | source |
//! |---|---|---|
//! | w(p) | [`window`] | `[rfc3649:5]` |
//! | p(w) | [`loss_rate`] | `[rfc3649:5]` |
//! | a(w), b(w) | [`increment`], [`decrease`] | `[rfc3649:5]` |
//! | throughput | [`closed_form`], of which [`peak`] is a step | `[highspeed:II]` |
//!
//! The controller in room `cc` steps its window by [`increment`] and [`decrease`], too.

use super::PowerLaw;
use crate::OutOfRange;
use units::Fraction;

/// The largest window, in segments, for which HighSpeed TCP is standard TCP: `Low_Window` `[rfc3649:5]`.
pub const LOW_WINDOW: f64 = 38.0;
/// The loss rate at [`LOW_WINDOW`]; at this and higher rates HighSpeed TCP is standard TCP: `Low_P` `[rfc3649:5]`.
pub const LOW_LOSS: f64 = 1e-3;
/// The window that belongs to [`HIGH_DECREASE`] and [`HIGH_LOSS`]: `High_Window` `[rfc3649:5]`.
pub const HIGH_WINDOW: f64 = 83_000.0;
/// The loss rate at [`HIGH_WINDOW`]: `High_P` `[rfc3649:5]`.
pub const HIGH_LOSS: f64 = 1e-7;
/// The share of [`HIGH_WINDOW`] that a loss takes `[rfc3649:5]`.
pub const HIGH_DECREASE: f64 = 0.1;
/// The share of the window that a loss takes in standard TCP.
pub const LOW_DECREASE: f64 = 0.5;
/// The least b(w), half of `High_Decrease`; our choice. b(w) falls with the logarithm of the window and would be
/// negative from 5e5 segments on; the RFC's table ends long before, at 0.09.
const LEAST_DECREASE: f64 = 0.05;

/// Returns w(p): the average window in segments at the loss rate `loss`, `0.12 / p^0.835` below [`LOW_LOSS`] and
/// `1.2 / p^0.5` from there on `[rfc3649:5]`; infinite without loss. The two differ by 1.2 % at [`LOW_LOSS`].
#[must_use]
pub fn window(loss: Fraction) -> f64 {
    let p = loss.get();
    if p < LOW_LOSS { 0.12 / libm::pow(p, 0.835) } else { 1.2 / p.sqrt() }
}

/// Returns the loss rate p(w) at which the average window is `window` segments: 0.078 / w^1.2, the inverse of the
/// response function w = 0.12 / p^0.835 `[rfc3649:5]`. It is computed as 1 / (12.8 w^1.2), as the table of appendix B
/// is. For windows above [`LOW_WINDOW`].
#[must_use]
pub fn loss_rate(window: f64) -> f64 {
    1.0 / (12.8 * libm::pow(window, 1.2))
}

/// Returns a(w): segments per round trip added to a window of `window` segments, `w^2 p(w) 2 b(w) / (2 - b(w))` and at
/// least 1 `[rfc3649:5]`.
#[must_use]
pub fn increment(window: f64) -> f64 {
    if window <= LOW_WINDOW {
        return 1.0;
    }
    let b = decrease(window);
    (window * window * loss_rate(window) * 2.0 * b / (2.0 - b)).max(1.0)
}

/// Returns b(w): the part of a window of `window` segments that a loss takes. It falls with the logarithm of the window
/// from 0.5 at [`LOW_WINDOW`] to 0.1 at [`HIGH_WINDOW`] `[rfc3649:5]`.
#[must_use]
pub fn decrease(window: f64) -> f64 {
    if window <= LOW_WINDOW {
        return LOW_DECREASE;
    }
    let way = libm::log(window / LOW_WINDOW) / libm::log(HIGH_WINDOW / LOW_WINDOW);
    (LOW_DECREASE + (HIGH_DECREASE - LOW_DECREASE) * way).max(LEAST_DECREASE)
}

/// Returns `c` of the gain per round trip, `c w^0.8`: `c = 0.156 b / (2 - b)`, from a(w) with p(w) = 0.078 / w^1.2.
fn growth(b: f64) -> f64 {
    0.156 * b / (2.0 - b)
}

/// Returns the closed form of one flow's throughput, as its window: `lambda R` `[highspeed:II]`.
///
/// The window grows by `c w^0.8` per round trip from `(1-b) Wm` to `Wm`, with `b` the same for all windows. Between
/// two losses it grows as the fifth power of time, `1/p` packets are sent, and
///
/// ```text
/// c      = 0.156 b / (2 - b)
/// Wm     = ( 1.2 c / (p (1 - (1-b)^1.2)) )^(1/1.2)
/// lambda = c / ( 5 p R Wm^0.2 (1 - (1-b)^0.2) )     packets/s
/// ```
/// which is a power law in `p`: `lambda R = A / p^(5/6)`. `decrease` is `b`, 0.1 in the source and in
/// [`super::Protocol::HighSpeed`]. The closed form is for losses below [`LOW_LOSS`]; above, Reno's law is the larger
/// one. From 1e-4 to 1e-7 it is 2.1 to 3.3 % below the RFC's 0.12 / p^0.835.
///
/// # Errors
/// If `decrease` is below 1e-9, where the difference of its powers is only rounding error, or not below 1.
pub fn closed_form(decrease: f64) -> Result<PowerLaw, OutOfRange> {
    part(decrease).map(of_decrease)
}

/// Returns [`closed_form`] with [`HIGH_DECREASE`], as in the source.
#[must_use]
pub fn law() -> PowerLaw {
    of_decrease(HIGH_DECREASE)
}

fn of_decrease(b: f64) -> PowerLaw {
    // The factor is the value at p = 1. Because Wm^0.2 goes as p^(-1/6), c / (5 p Wm^0.2 ..) goes as p^(1/6) / p.
    let peak = peak_factor(b);
    let factor = growth(b) / (5.0 * libm::pow(peak, 0.2) * (1.0 - libm::pow(1.0 - b, 0.2)));
    PowerLaw { factor, loss_exponent: 5.0 / 6.0, rtt_exponent: 0.0, source: "highspeed:II" }
}

/// Returns `Wm`: the window in segments at which a loss finds the flow of [`closed_form`]; infinite without loss.
///
/// # Errors
/// If `decrease` is below 1e-9, where the difference of its powers is only rounding error, or not below 1.
pub fn peak(loss: Fraction, decrease: f64) -> Result<f64, OutOfRange> {
    Ok(peak_factor(part(decrease)?) / libm::pow(loss.get(), 5.0 / 6.0))
}

fn peak_factor(b: f64) -> f64 {
    libm::pow(1.2 * growth(b) / (1.0 - libm::pow(1.0 - b, 1.2)), 1.0 / 1.2)
}

/// The least part for which `1 - (1-b)^0.2` is significant in a number of 53 bits.
const LEAST_PART: f64 = 1e-9;

fn part(decrease: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(
        (LEAST_PART..1.0).contains(&decrease),
        "part of a window that a loss takes",
        decrease,
        "from 1e-9 to below 1",
    )
}

//! One loss epoch of a sender, stepped round trip by round trip: the sawtooth that the closed forms approximate.
//!
//! After a loss at a window of `W` segments the window continues at `(1 - b(W)) W`, and gains `a(w)` per round trip.
//! The next loss comes after `1/p` packets. Epochs follow each other until one begins as the last one did. Reno,
//! HighSpeed and Scalable have such an `a(w)` and `b(w)`:
//!
//! | protocol | a(w), segments per round trip | b(w) |
//! |---|---|---|
//! | Reno | 1 | 0.5 |
//! | HighSpeed | [`highspeed::increment`] | [`highspeed::decrease`] |
//! | Scalable | 0.01 w, above 16 segments; else Reno | 0.125 |
//!
//! Left out: random gaps between losses, recovery, timeouts, and windows in whole segments.

use super::{Protocol, highspeed, scalable};
use crate::OutOfRange;
use units::Fraction;

/// The least and the largest loss rate that [`epoch`] accepts. Below the least, an epoch of Reno takes more than a
/// million round trips; above the largest, timeouts dominate.
pub const LOSS: (f64, f64) = (1e-12, super::MOST_LOSS);
/// The relative difference of two epochs' beginnings within which the second repeats the first.
const SAME: f64 = 1e-13;
/// The number of epochs after which the steps end in any case. An epoch leaves at most 0.96 of the error of a first
/// guess (HighSpeed at b = 0.05). So a thousand epochs reach [`SAME`] from any guess.
const MOST_EPOCHS: u32 = 1000;

/// The cycle that repeats from loss to loss.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Epoch {
    /// The window that a loss finds, segments.
    pub peak: f64,
    /// The window after it, segments.
    pub trough: f64,
    /// Round trips from loss to loss.
    pub rounds: f64,
    /// The window averaged over time, segments: packets per round trip.
    pub mean_window: f64,
}

/// Returns the epoch of `protocol` at one loss in every `1/loss` packets; `None` for a protocol whose window does not
/// follow `a(w)` and `b(w)`.
///
/// # Errors
/// If `loss` is not within [`LOSS`].
pub fn epoch(protocol: Protocol, loss: Fraction) -> Result<Option<Epoch>, OutOfRange> {
    let p = loss.get();
    OutOfRange::unless((LOSS.0..=LOSS.1).contains(&p), "loss rate", p, "from 1e-12 to 0.05")?;
    let (Some(rule), Some(guess)) = (Rule::of(protocol), protocol.window(loss, units::Span::from_secs(1)))
    else {
        return Ok(None);
    };
    let mut peak = guess;
    for _ in 0..MOST_EPOCHS {
        let last = peak;
        peak = rule.rise(rule.drop(last), 1.0 / p).0;
        if (peak / last - 1.0).abs() < SAME {
            break;
        }
    }
    let trough = rule.drop(peak);
    let (peak, rounds) = rule.rise(trough, 1.0 / p);
    Ok(Some(Epoch { peak, trough, rounds, mean_window: 1.0 / (p * rounds) }))
}

/// The rule by which a window changes, as functions of its size in segments.
struct Rule {
    /// `a(w)`.
    increment: fn(f64) -> f64,
    /// `b(w)`.
    decrease: fn(f64) -> f64,
}

impl Rule {
    fn of(protocol: Protocol) -> Option<Self> {
        match protocol {
            Protocol::Reno => Some(Self { increment: |_| 1.0, decrease: |_| 0.5 }),
            Protocol::HighSpeed => {
                Some(Self { increment: highspeed::increment, decrease: highspeed::decrease })
            }
            Protocol::Scalable => Some(Self {
                increment: |w| if w > scalable::LEGACY_WINDOW { scalable::INCREASE * w } else { 1.0 },
                decrease: |w| if w > scalable::LEGACY_WINDOW { scalable::DECREASE } else { 0.5 },
            }),
            Protocol::Cubic | Protocol::Bbr => None,
        }
    }

    /// Returns the window that a loss leaves of `window`.
    fn drop(&self, window: f64) -> f64 {
        (1.0 - (self.decrease)(window)) * window
    }

    /// Raises `window` until `packets` are sent; returns the final window, and the round trips taken. Within a round
    /// trip the window rises evenly.
    fn rise(&self, mut window: f64, mut packets: f64) -> (f64, f64) {
        let mut rounds = 0.0;
        loop {
            let step = (self.increment)(window);
            let sent = window + 0.5 * step;
            if sent >= packets {
                // The last packets take the part f of a round trip, for which f w + f^2 step / 2 = packets.
                let part = 2.0 * packets / (window + (window * window + 2.0 * step * packets).sqrt());
                return (window + part * step, rounds + part);
            }
            packets -= sent;
            window += step;
            rounds += 1.0;
        }
    }
}

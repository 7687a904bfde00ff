//! Response functions: the average window of a congestion control as a function of the loss rate, as plain data.
//!
//! Each is the largest of one or two power laws,
//!
//! ```text
//! w(p, R) = max over laws of  A R^r / p^e     segments        throughput = w / R packets per second
//! ```
//! | protocol | laws | source |
//! |---|---|---|
//! | Reno | 1.2 / p^0.5 | `[rfc3649:2]`, `[highspeed:II]` |
//! | HighSpeed | 0.119 / p^(5/6), [`highspeed::closed_form`] with b = 0.1; Reno | `[highspeed:II]`, `[rfc3649:5]` |
//! | Scalable | (a/b) / p = 0.08 / p; Reno | `[scalable:2]` |
//! | CUBIC | 1.054 R^0.75 / p^0.75; (1.5 / p)^0.5 | `[rfc9438:5.1]`, `[rfc9438:4.3]` |
//! | BBR | none: its rate follows the delivery rate, and no source gives a window as a function of loss | |
//!
//! Each source has two regions, divided at a window or a loss rate, where the two laws differ by at most some per cent.
//! Here the larger law is used everywhere, so that `w` is continuous and falls with `p`.
//!
//! Range. The loss rate is of loss *events*, each of which is one reduction of the window. The laws do not include
//! timeouts, which dominate above a loss of about [`MOST_LOSS`]; [`crate::pftk`] does. HighSpeed is defined down to a
//! loss of 1e-7; below, its law is continued.
//!
//! Reading order: [`Protocol`], [`PowerLaw`], then [`highspeed`] (RFC 3649), [`scalable`] and [`cubic`] (the
//! constants). Then [`epoch`], which steps the rules of a sender from one loss to the next without a law.

pub mod cubic;
pub mod epoch;
pub mod highspeed;
pub mod scalable;

use units::{Fraction, Span};

/// The loss rate above which timeouts dominate; the laws do not include timeouts. `[padhye:sigcomm98]` finds that above
/// it the square-root law is more than a fifth too high.
pub const MOST_LOSS: f64 = 0.05;

/// A congestion control, with or without a response function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Protocol {
    /// Standard TCP, RFC 5681.
    Reno,
    /// HighSpeed TCP, RFC 3649.
    HighSpeed,
    /// Scalable TCP, Kelly 2003.
    Scalable,
    /// CUBIC, RFC 9438.
    Cubic,
    /// BBR.
    Bbr,
}

/// `A R^r / p^e`: one region of a response function.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PowerLaw {
    /// `A`, segments, for a round-trip time `R` in seconds; above zero.
    pub factor: f64,
    /// `e`, above zero and at most 1.
    pub loss_exponent: f64,
    /// `r`, from zero to below 1: the part of a longer round-trip time that a larger window compensates.
    pub rtt_exponent: f64,
    /// Id of the source.
    pub source: &'static str,
}

impl PowerLaw {
    /// Returns the natural logarithm of the window, from those of the loss rate and of the round-trip time in seconds.
    #[must_use]
    pub fn ln_window(&self, ln_loss: f64, ln_rtt: f64) -> f64 {
        // Zero times the logarithm of zero would be NaN.
        let rtt = if self.rtt_exponent == 0.0 { 0.0 } else { self.rtt_exponent * ln_rtt };
        libm::log(self.factor) + rtt - self.loss_exponent * ln_loss
    }
}

/// Reno's law, `w = 1.2 / p^0.5` `[rfc3649:2]`. If exactly one in every `1/p` packets is lost, the factor is `(3/2)^0.5
/// = 1.22` instead of 1.2.
pub const RENO: PowerLaw =
    PowerLaw { factor: 1.2, loss_exponent: 0.5, rtt_exponent: 0.0, source: "rfc3649:2" };

impl Protocol {
    /// All protocols.
    pub const ALL: [Self; 5] = [Self::Reno, Self::HighSpeed, Self::Scalable, Self::Cubic, Self::Bbr];

    /// Returns the name of its congestion control in scenarios and registries.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Reno => "reno",
            Self::HighSpeed => "highspeed",
            Self::Scalable => "scalable",
            Self::Cubic => "cubic",
            Self::Bbr => "bbr",
        }
    }

    /// Returns the protocol whose congestion control is called `name`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|protocol| protocol.name() == name)
    }

    /// Returns its response function as laws, of which the largest counts; `None` if no source gives one.
    #[must_use]
    pub fn laws(self) -> Option<Vec<PowerLaw>> {
        match self {
            Self::Reno => Some(vec![RENO]),
            Self::HighSpeed => Some(vec![highspeed::law(), RENO]),
            Self::Scalable => Some(vec![scalable::LAW, RENO]),
            Self::Cubic => Some(vec![cubic::law(), cubic::friendly_law()]),
            Self::Bbr => None,
        }
    }

    /// Returns the average window in segments at the loss rate `loss` and the round-trip time `rtt`. It is infinite
    /// without loss, and `None` if no source gives a response function. Only CUBIC's depends on `rtt`.
    #[must_use]
    pub fn window(self, loss: Fraction, rtt: Span) -> Option<f64> {
        let (ln_loss, ln_rtt) = (libm::log(loss.get()), libm::log(rtt.as_secs_f64()));
        Some(libm::exp(largest(&self.laws()?, ln_loss, ln_rtt)))
    }

    /// Returns the throughput in packets per second at the loss rate `loss` and the round-trip time `rtt`:
    /// [`Protocol::window`] over `rtt`. For HighSpeed this is the closed form of `[highspeed:II]`. Infinite without
    /// loss or round-trip time.
    #[must_use]
    pub fn packets_per_second(self, loss: Fraction, rtt: Span) -> Option<f64> {
        let (ln_loss, ln_rtt) = (libm::log(loss.get()), libm::log(rtt.as_secs_f64()));
        // This is a difference of logarithms, because w / R would be 0/0 for CUBIC at a round-trip time of zero.
        Some(libm::exp(largest(&self.laws()?, ln_loss, ln_rtt) - ln_rtt))
    }
}

/// Returns the logarithm of the largest window of `laws`.
pub(crate) fn largest(laws: &[PowerLaw], ln_loss: f64, ln_rtt: f64) -> f64 {
    laws.iter().map(|law| law.ln_window(ln_loss, ln_rtt)).fold(f64::NEG_INFINITY, f64::max)
}

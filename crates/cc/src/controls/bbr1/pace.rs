//! The rate at which BBR v1 sends [draft-cardwell-iccrg-bbr-congestion-control-00:4.2.1].

use super::state::HIGH_GAIN;
use units::{Bytes, Rate, Span};

/// The pacing rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The rate in bits per second.
    rate: f64,
    /// The rate in the form that the transport gets.
    allowed: Rate,
    seen_rtt: bool,
    /// The pace as a share of the rate that the model aims at.
    margin: f64,
}

impl Pace {
    /// Creates the pace of a first window of `initial`; an unknown round-trip time counts as 1 ms.
    pub(super) fn new(initial: Bytes) -> Self {
        let mut own = Self { rate: 0.0, allowed: Rate::ZERO, seen_rtt: false, margin: 1.0 };
        own.set(HIGH_GAIN * initial.bits_f64() / 1e-3);
        own
    }

    /// Returns the same pace with the margin `margin`.
    pub(super) fn with_margin(self, margin: f64) -> Self {
        Self { margin, ..self }
    }

    #[inline]
    pub(super) fn allowed(&self) -> Rate {
        self.allowed
    }

    pub(super) fn has_seen_rtt(&self) -> bool {
        self.seen_rtt
    }

    fn set(&mut self, rate: f64) {
        if rate != self.rate {
            self.rate = rate;
            self.allowed = Rate::from_bps_f64(rate).max(Rate::from_bps(1));
        }
    }

    /// Sets the pace of the initial window by the first round-trip time, which replaces 1 ms. Returns true if it did
    /// so.
    pub(super) fn on_rtt(&mut self, smoothed: Span, initial: Bytes) -> bool {
        if self.seen_rtt || smoothed == Span::ZERO {
            return false;
        }
        self.seen_rtt = true;
        let first = initial.bits_f64() / smoothed.as_secs_f64();
        self.set(HIGH_GAIN * first * self.margin);
        true
    }

    /// Follows the model's `rate`, a gain included; the pace falls only if the pipe has been `filled`.
    pub(super) fn follow(&mut self, rate: f64, filled: bool) {
        let rate = rate * self.margin;
        if filled || rate > self.rate {
            self.set(rate);
        }
    }
}

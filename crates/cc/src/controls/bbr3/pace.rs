//! The rate at which BBR v3 sends [draft-ietf-ccwg-bbr:5.6.2].

use super::state::STARTUP_GAIN;
use super::window::MOST;
use units::{Rate, Span};

/// `BBR.PacingMarginPercent`.
const MARGIN: f64 = 0.99;

/// The pacing rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pace {
    /// The rate in bytes per second.
    rate: f64,
    /// The rate in the form that the transport gets.
    allowed: Rate,
    seen_rtt: bool,
}

impl Pace {
    /// Creates the pace of a first window of `initial` bytes; an unknown round-trip time counts as 1 ms.
    pub(super) fn new(initial: f64) -> Self {
        let mut own = Self { rate: 0.0, allowed: Rate::ZERO, seen_rtt: false };
        own.set(STARTUP_GAIN * initial / 1e-3);
        own
    }

    pub(super) fn allowed(&self) -> Rate {
        self.allowed
    }

    fn set(&mut self, rate: f64) {
        if rate != self.rate {
            self.rate = rate;
            self.allowed = Rate::from_bps_f64(rate * 8.0).max(Rate::from_bps(1));
        }
    }

    /// Sets the pace of the first `initial` bytes by the first round-trip time.
    pub(super) fn on_rtt(&mut self, smoothed: Span, initial: f64) {
        if !self.seen_rtt && smoothed > Span::ZERO {
            self.seen_rtt = true;
            self.set(STARTUP_GAIN * initial / smoothed.as_secs_f64());
        }
    }

    /// Follows the model's `rate`, a gain included; the pace falls only if the pipe has been `filled`.
    pub(super) fn follow(&mut self, rate: f64, filled: bool) {
        let rate = rate * MARGIN;
        if filled || rate > self.rate {
            self.set(rate.min(MOST));
        }
    }
}

//! Capacity as a rate that holds for a while: see [`Steps`].

use super::outages::Outages;
use crate::changes::{Steps, Walk};
use std::sync::Arc;
use units::{Rate, Span, Time};

const NANOS_PER_SEC: u64 = 1_000_000_000;

/// The time after which a search for a rate above zero ends. Outages can cover all of them.
const PATIENCE: Span = Span::from_secs(86_400);

/// A place in the rates of a link, which only moves on. Packets leave exactly at the rate: the part of a packet's time
/// below a nanosecond is carried over to the next, as [`Serializer`](crate::Serializer) does.
#[derive(Clone, Debug)]
pub(super) struct Pieces {
    rates: Walk<Rate>,
    outages: Option<Outages>,
    /// The rate from `free_at` on, and the time until which it holds.
    piece: (u64, Time),
    /// The time up to which the capacity is used or passed.
    free_at: Time,
    /// Bits times nanoseconds per second that were sent too early, because times are whole nanoseconds.
    carry: u64,
}

impl Pieces {
    /// Creates the capacity with these rates, which count from `origin`.
    pub(super) fn new(rates: Arc<Steps<Rate>>, outages: Option<Outages>, origin: Time) -> Self {
        let rates = Walk::new(rates, origin);
        let mut pieces = Self { rates, outages, piece: (0, origin), free_at: origin, carry: 0 };
        pieces.find_piece();
        pieces
    }

    /// Returns the earliest time from `now` on at which the wire is free and has a rate above zero.
    #[inline]
    pub(super) fn opens(&mut self, now: Time) -> Time {
        if now > self.free_at {
            self.carry = 0;
            self.free_at = now;
            while self.piece.1 <= now {
                self.find_piece();
            }
        }
        if self.piece.0 == 0 || self.piece.1 <= self.free_at {
            self.skip_silence();
        }
        self.free_at
    }

    /// Sends `bytes` from the time at which the wire opens; returns the time at which the last bit has left.
    #[inline]
    pub(super) fn send(&mut self, bytes: u64) -> Time {
        let mut units = bytes * 8 * NANOS_PER_SEC + self.carry;
        loop {
            let (rate, until) = self.piece;
            let holds = rate.saturating_mul(until.since(self.free_at).as_nanos());
            // A remainder below one nanosecond is carried, so a packet may end exactly at the end of a piece.
            if rate > 0 && (units < holds || units - holds < rate) {
                self.free_at += Span::from_nanos(units / rate);
                self.carry = units % rate;
                return self.free_at;
            }
            units -= holds;
            self.free_at = until;
            if self.skip_silence() == Time::NEVER {
                return Time::NEVER;
            }
        }
    }

    /// Moves to the end of `now`; returns the bits times nanoseconds per second passed on the way.
    pub(super) fn pass(&mut self, now: Time) -> u128 {
        let mut passed = 0;
        while let Some((rate, span)) = self.pass_piece(now) {
            passed += u128::from(rate) * u128::from(span.as_nanos());
        }
        passed
    }

    /// Moves to the end of a rate, or of `now` if it comes first; returns the rate, and the time for which it held.
    pub(super) fn pass_piece(&mut self, now: Time) -> Option<(u64, Span)> {
        if self.free_at >= now {
            return None;
        }
        let (rate, ends) = self.piece;
        let span = ends.min(now).since(self.free_at);
        self.free_at += span;
        if ends <= self.free_at {
            self.find_piece();
        }
        Some((rate, span))
    }

    /// Moves to the next time with a rate above zero, and returns it. After the last one it is [`Time::NEVER`].
    #[cold]
    fn skip_silence(&mut self) -> Time {
        let from = self.free_at;
        while self.free_at != Time::NEVER && (self.piece.0 == 0 || self.piece.1 <= self.free_at) {
            self.free_at = if self.piece.1.since(from) > PATIENCE { Time::NEVER } else { self.piece.1 };
            self.find_piece();
        }
        self.free_at
    }

    /// Finds the rate at `free_at`, and the time until which it holds.
    fn find_piece(&mut self) {
        // Rates that repeat would be walked through up to the end of time.
        if self.free_at == Time::NEVER {
            self.piece = (0, Time::NEVER);
            return;
        }
        let rate = self.rates.at(self.free_at).as_bps();
        let mut piece = (rate, self.rates.ends());
        if let Some(outages) = &mut self.outages {
            let (start, end) = outages.from(self.free_at);
            piece = if start <= self.free_at { (0, end.min(piece.1)) } else { (rate, start.min(piece.1)) };
        }
        self.piece = piece;
    }
}

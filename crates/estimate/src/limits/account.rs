//! [`Account`]: where the time of one connection went, from readings of its sender's socket.
//!
//! The kernel has clocks for the receive window and the send buffer, but it does not start them in two cases. In slow
//! start it takes every connection for one that the congestion window limits. A sender with a pace of its own (BBR) has
//! data that waits for the pace, and so it is never short of data. So each interval between two readings is judged by
//! what was in flight, too.

use std::collections::VecDeque;
use units::{Bytes, Span, Time};

/// What is delivered grows by this factor from one round trip to the next while slow start goes on. Slow start doubles
/// it; CUBIC before its first loss has 1.05 (Linux 6.18, `tcp_cubic.c`).
const OPENS: f64 = 1.25;
/// Round trips without that growth after which slow start is over.
const CLOSES: u64 = 2;
/// A rate-based control keeps the best rate of this many round trips (BBR's filter, `tcp_bbr.c`). A rate that the send
/// buffer limited counts that long.
const REMEMBERS: u64 = 10;
/// A window is in use if no more than this share of it is free.
const FREE: f64 = 0.1;
/// Segments that may be missing from a window in use: the kernel gathers some before it sends.
const GATHERED: u64 = 2;
/// Readings that are kept for the growth.
const MOST: usize = 64;

/// One reading of a connection at its sender. Sums run from the beginning of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// When.
    pub at: Time,
    /// Time with data in flight or waiting.
    pub busy: Span,
    /// Of that, the kernel's time with a full receive window.
    pub window_limited: Span,
    /// Of that, the kernel's time with an empty queue behind a full send buffer.
    pub buffer_limited: Span,
    /// Bytes acknowledged.
    pub acknowledged: Bytes,
    /// Segments sent again.
    pub retransmits: u64,
    /// Smoothed round-trip time.
    pub round_trip: Span,
    /// Payload of a full segment.
    pub segment: Bytes,
    /// Congestion window.
    pub congestion_window: Bytes,
    /// The receive window that the peer advertises; `None` if unknown.
    pub peer_window: Option<Bytes>,
    /// In flight.
    pub in_flight: Bytes,
    /// Written, and not sent.
    pub unsent: Bytes,
    /// The kernel measured its last delivery rate while too little had been written.
    pub ran_dry: bool,
    /// The congestion control goes by a rate that it measures: its window is larger than what it has in flight.
    pub rate_based: bool,
    /// The program writes at a pace that the receiver asked for.
    pub paced: bool,
    /// The program has data, and waits until the socket takes more.
    pub waiting: bool,
}

/// What limited a connection, each for how long. What is missing to the whole is the programs' time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedTimes {
    /// Slow start: what is delivered in a round trip still grew, and nothing had been lost.
    pub slow_start: Span,
    /// The receive window, or the pace that the receiver asked for.
    pub receive_window: Span,
    /// The send buffer.
    pub send_buffer: Span,
    /// The congestion window, or the rate that congestion control measures.
    pub congestion_window: Span,
}

impl LimitedTimes {
    /// The sum of both.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            slow_start: self.slow_start + other.slow_start,
            receive_window: self.receive_window + other.receive_window,
            send_buffer: self.send_buffer + other.send_buffer,
            congestion_window: self.congestion_window + other.congestion_window,
        }
    }
}

/// The time of one connection.
#[derive(Clone, Debug, Default)]
pub struct Account {
    times: LimitedTimes,
    last: Option<Reading>,
    /// What was acknowledged, and when: enough for two round trips.
    past: VecDeque<(Time, Bytes)>,
    /// Slow start is over.
    opened: bool,
    /// Growth was seen last.
    grew: Option<Time>,
    /// The socket ran dry last.
    dry: Option<Time>,
}

impl Account {
    /// Counts the interval since the last reading.
    pub fn observe(&mut self, reading: Reading) {
        let before = self.last.replace(reading).unwrap_or_default();
        let since = |now: Span, then: Span| now.saturating_sub(then);
        let busy = since(reading.busy, before.busy);
        self.follow_growth(&reading, busy > Span::ZERO);
        if reading.waiting && (reading.ran_dry || reading.unsent <= reading.segment * GATHERED) {
            self.dry = Some(reading.at);
        }
        let window = since(reading.window_limited, before.window_limited).min(busy);
        let buffer = since(reading.buffer_limited, before.buffer_limited).min(busy - window);
        if !self.opened && reading.retransmits == 0 {
            self.times.slow_start += busy;
            return;
        }
        self.times.receive_window += window;
        self.times.send_buffer += buffer;
        let rest = busy - window - buffer;
        match self.limit(&reading) {
            Some(Limit::ReceiveWindow) => self.times.receive_window += rest,
            Some(Limit::SendBuffer) => self.times.send_buffer += rest,
            Some(Limit::CongestionWindow) => self.times.congestion_window += rest,
            None => {}
        }
    }

    /// What it is so far.
    #[must_use]
    pub const fn times(&self) -> LimitedTimes {
        self.times
    }

    /// Whether slow start still goes on.
    #[must_use]
    pub const fn is_opening(&self) -> bool {
        !self.opened
    }

    /// Whether what is delivered still grows as in slow start.
    fn follow_growth(&mut self, reading: &Reading, busy: bool) {
        if self.opened {
            return;
        }
        if reading.retransmits > 0 {
            self.opened = true;
            return;
        }
        let now = reading.at;
        if !busy {
            // The program had nothing to send: what was delivered before says nothing about now.
            self.past.clear();
            self.grew = None;
        }
        let apart = self.past.back().map_or(Span::ZERO, |last| now.since(last.0));
        self.past.push_back((now, reading.acknowledged));
        if self.past.len() > MOST {
            self.past.pop_front();
        }
        let lag = reading.round_trip.max(apart);
        let (Some(then), Some(earlier)) = (self.acknowledged(now - lag), self.acknowledged(now - lag * 2))
        else {
            return;
        };
        let (last, previous) = (reading.acknowledged.saturating_sub(then), then.saturating_sub(earlier));
        let grew = self.grew.get_or_insert(now);
        if last.get() as f64 >= OPENS * previous.get() as f64 && last > Bytes::ZERO {
            *grew = now;
        } else if now.since(*grew) > lag * CLOSES {
            self.opened = true;
        }
    }

    /// What had been acknowledged at `at`, between two readings in proportion; `None` before the first.
    fn acknowledged(&self, at: Time) -> Option<Bytes> {
        let after = self.past.iter().position(|&(time, _)| time >= at)?;
        let (end, bytes) = self.past[after];
        let Some(&(begin, fewer)) = after.checked_sub(1).and_then(|before| self.past.get(before)) else {
            return (end == at).then_some(bytes);
        };
        let share = at.since(begin).as_secs_f64() / end.since(begin).as_secs_f64().max(1e-9);
        Some(fewer + bytes.saturating_sub(fewer).scale(share))
    }

    /// What held the sender back when it was read; `None`: its program.
    fn limit(&self, reading: &Reading) -> Option<Limit> {
        if !reading.waiting {
            return None;
        }
        let fills = |window: Bytes| {
            let most = reading.in_flight + reading.segment * GATHERED;
            most.get() as f64 >= window.get() as f64 * (1.0 - FREE)
        };
        if fills(reading.congestion_window) {
            return Some(Limit::CongestionWindow);
        }
        if reading.paced || reading.peer_window.is_some_and(fills) {
            return Some(Limit::ReceiveWindow);
        }
        let dry = if reading.rate_based {
            // The rate was measured while data were missing, and is kept.
            self.dry.is_some_and(|dry| reading.at.since(dry) <= reading.round_trip * REMEMBERS)
        } else {
            // Nothing else holds a sender back whose windows have room.
            reading.unsent.get() as f64 <= reading.in_flight.get() as f64 * FREE
                || reading.unsent <= reading.segment * GATHERED
        };
        Some(if dry { Limit::SendBuffer } else { Limit::CongestionWindow })
    }
}

/// What holds back a sender whose program waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    ReceiveWindow,
    SendBuffer,
    CongestionWindow,
}

#[cfg(test)]
mod tests;

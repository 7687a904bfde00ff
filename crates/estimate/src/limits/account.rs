//! [`Account`]: the use of one connection's time, from readings of its sender's socket.
//!
//! The kernel has clocks for the receive window and the send buffer, but it does not start them in two cases. In slow
//! start it considers every connection limited by the congestion window. A sender with a pace of its own (BBR) has data
//! that waits for the pace, and so it is never short of data. So each interval between two readings is judged by the
//! data in flight as well.

use std::collections::VecDeque;
use units::{Bytes, Span, Time};

/// The factor by which the data delivered per round trip grows during slow start. Slow start doubles it; CUBIC before
/// its first loss has 1.05 (Linux 6.18, `tcp_cubic.c`).
const OPENS: f64 = 1.25;
/// The round trips without that growth after which slow start is over.
const CLOSES: u64 = 2;
/// The round trips for which a rate-based control keeps the best rate (BBR's filter, `tcp_bbr.c`). A rate that was
/// limited by the send buffer counts for the same time.
const REMEMBERS: u64 = 10;
/// The largest share of a window that may be free while the window counts as in use.
const FREE: f64 = 0.1;
/// The segments that may be missing from a window in use: the kernel gathers some before it sends.
const GATHERED: u64 = 2;
/// The number of readings that are kept for the growth.
const MOST: usize = 64;

/// One reading of a connection at its sender. Sums run from the beginning of the connection.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Reading {
    /// The time of the reading.
    pub at: Time,
    /// The time with data in flight or waiting.
    pub busy: Span,
    /// The part of `busy` with a full receive window, by the kernel's clock.
    pub window_limited: Span,
    /// The part of `busy` in which the send buffer was full and nothing in it was unsent, by the kernel's clock.
    pub buffer_limited: Span,
    /// Bytes acknowledged.
    pub acknowledged: Bytes,
    /// Segments retransmitted.
    pub retransmits: u64,
    /// Smoothed round-trip time.
    pub round_trip: Span,
    /// Payload of a full segment.
    pub segment: Bytes,
    /// Congestion window.
    pub congestion_window: Bytes,
    /// The receive window that the peer advertises; `None` if unknown.
    pub peer_window: Option<Bytes>,
    /// Bytes in flight.
    pub in_flight: Bytes,
    /// Bytes written, and not sent.
    pub unsent: Bytes,
    /// True if the kernel measured its last delivery rate while too little had been written.
    pub ran_dry: bool,
    /// True if the congestion control sends at a rate that it measures, so that its window is larger than the data in
    /// flight.
    pub rate_based: bool,
    /// True if the program writes at a pace that the receiver requested.
    pub paced: bool,
    /// True if the program has data, and waits until the socket accepts more.
    pub waiting: bool,
}

/// The time for which each limit applied to a connection. In the rest of the time the programs were the limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LimitedTimes {
    /// Slow start: the data delivered per round trip still grew, and none had been lost.
    pub slow_start: Span,
    /// The receive window, or the pace that the receiver requested.
    pub receive_window: Span,
    /// The send buffer.
    pub send_buffer: Span,
    /// The congestion window, or the rate that congestion control measures.
    pub congestion_window: Span,
}

impl LimitedTimes {
    /// Returns the sums of these times and those of `other`.
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
    /// The acknowledged bytes at past times: enough for two round trips.
    past: VecDeque<(Time, Bytes)>,
    /// True once slow start is over.
    opened: bool,
    /// The last time at which growth was seen.
    grew: Option<Time>,
    /// The last time at which the socket ran dry.
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

    /// Returns the times so far.
    #[must_use]
    pub const fn times(&self) -> LimitedTimes {
        self.times
    }

    /// Returns true during slow start.
    #[must_use]
    pub const fn is_opening(&self) -> bool {
        !self.opened
    }

    /// Ends slow start once the data delivered per round trip does not grow as in slow start any more.
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
            // The program had nothing to send, so earlier deliveries say nothing about now.
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

    /// Returns the bytes acknowledged at `at`, interpolated between two readings; `None` before the first.
    fn acknowledged(&self, at: Time) -> Option<Bytes> {
        let after = self.past.iter().position(|&(time, _)| time >= at)?;
        let (end, bytes) = self.past[after];
        let Some(&(begin, fewer)) = after.checked_sub(1).and_then(|before| self.past.get(before)) else {
            return (end == at).then_some(bytes);
        };
        let share = at.since(begin).as_secs_f64() / end.since(begin).as_secs_f64().max(1e-9);
        Some(fewer + bytes.saturating_sub(fewer).scale(share))
    }

    /// Returns the limit of the sender at the reading; `None` if its program is the limit.
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
            // A rate that was measured while data was missing is too low, and stays in use for a while.
            self.dry.is_some_and(|dry| reading.at.since(dry) <= reading.round_trip * REMEMBERS)
        } else {
            // With room in both windows, only a lack of data holds a sender back.
            reading.unsent.get() as f64 <= reading.in_flight.get() as f64 * FREE
                || reading.unsent <= reading.segment * GATHERED
        };
        Some(if dry { Limit::SendBuffer } else { Limit::CongestionWindow })
    }
}

/// The limit of a sender whose program waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Limit {
    ReceiveWindow,
    SendBuffer,
    CongestionWindow,
}

#[cfg(test)]
#[path = "../../tests/within/account.rs"]
mod tests;

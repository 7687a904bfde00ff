//! Windows of probes: the mean queueing delay of each window and its growth from one window to the next. The sender's
//! own rate at the departure of the probes is kept with them.

use std::collections::VecDeque;
use units::{Span, Time};

/// The least number of probes in a window `[madison:4.3]`.
const SAMPLES: u32 = 6;
/// The number of rate changes that are kept; more are never pending.
const MOST_CHANGES: usize = 4096;

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    count: u32,
    /// The sum of the RTTs until the window is full, then their mean; seconds.
    rtt: f64,
    /// The same for the sending times, seconds.
    sent: f64,
    /// The same for the sender's own rate at these times, packets per second.
    own: f64,
    /// The largest RTT, seconds.
    most: f64,
    began: Time,
}

impl Window {
    fn mean(self) -> Self {
        let count = f64::from(self.count);
        Self { rtt: self.rtt / count, sent: self.sent / count, own: self.own / count, ..self }
    }
}

/// The last two full windows of probes, which do not overlap.
#[derive(Clone, Debug, Default)]
pub struct ProbeWindows {
    open: Window,
    full: [Option<Window>; 2],
    least: f64,
    /// Changes of the sender's own rate that are later than all answered probes.
    changes: VecDeque<(Time, f64)>,
    own: f64,
}

impl ProbeWindows {
    /// Sets the sender's rate from `now` on to `rate` packets per second.
    pub fn send_at(&mut self, now: Time, rate: f64) {
        if self.changes.len() >= MOST_CHANGES {
            self.changes.pop_front();
        }
        self.changes.push_back((now, rate));
    }

    /// Adds a probe that was sent at `sent` and took `rtt`; the least round-trip time is `least` seconds. Returns true
    /// if it fills a window: six probes, and `period` from the departure of the first to that of the last.
    pub fn observe(&mut self, sent: Time, rtt: Span, least: f64, period: Span) -> bool {
        while let Some(&(at, rate)) = self.changes.front()
            && at <= sent
        {
            self.own = rate;
            self.changes.pop_front();
        }
        self.least = least;
        if self.open.count == 0 {
            self.open.began = sent;
        }
        let over = sent.since(self.open.began) >= period;
        let (sent, rtt) = (sent.since(Time::ZERO).as_secs_f64(), rtt.as_secs_f64());
        self.open.count += 1;
        self.open.rtt += rtt;
        self.open.sent += sent;
        self.open.own += self.own;
        self.open.most = self.open.most.max(rtt);
        if self.open.count < SAMPLES || !over {
            return false;
        }
        self.full = [self.full[1], Some(self.open.mean())];
        self.open = Window::default();
        true
    }

    fn queueing(&self, rtt: f64) -> f64 {
        (rtt - self.least).max(0.0)
    }

    fn of_both(&self, what: impl Fn(&Window) -> f64) -> Option<f64> {
        let last = self.full[1].as_ref().map(&what)?;
        Some(self.full[0].as_ref().map_or(last, |before| f64::midpoint(what(before), last)))
    }

    /// Returns the mean queueing delay over the last window, in seconds.
    #[must_use]
    pub fn newest_delay(&self) -> Option<f64> {
        self.full[1].map(|window| self.queueing(window.rtt))
    }

    /// Returns the mean queueing delay over the last two windows, in seconds.
    #[must_use]
    pub fn delay(&self) -> Option<f64> {
        self.of_both(|window| self.queueing(window.rtt))
    }

    /// Returns the largest queueing delay in the last two windows, in seconds.
    #[must_use]
    pub fn most_delay(&self) -> Option<f64> {
        let last = self.full[1]?.most;
        Some(self.queueing(self.full[0].map_or(last, |before| last.max(before.most))))
    }

    /// Returns the sender's rate at the departure of the last window's probes, in packets per second.
    #[must_use]
    pub fn newest_own(&self) -> Option<f64> {
        self.full[1].map(|window| window.own)
    }

    /// Returns the sender's rate at the departure of the last two windows' probes, in packets per second.
    #[must_use]
    pub fn own_rate(&self) -> Option<f64> {
        self.of_both(|window| window.own)
    }

    /// Returns the growth of the queueing delay from one of the last two windows to the other, in seconds per second.
    /// While the queue is not empty, this is the excess of arrivals over the capacity, as a share of the capacity.
    /// `None` before there are two windows.
    #[must_use]
    pub fn growth(&self) -> Option<f64> {
        let [Some(before), Some(last)] = self.full else { return None };
        let apart = last.sent - before.sent;
        (apart > 0.0).then(|| (self.queueing(last.rtt) - self.queueing(before.rtt)) / apart)
    }
}

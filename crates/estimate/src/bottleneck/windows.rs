//! Probes in windows: the mean queueing delay of each window and its growth from one window to the next. The sender's
//! own rate as the probes left is kept with them.

use std::collections::VecDeque;
use units::{Span, Time};

/// Probes of a window, at least `[madison:4.3]`.
const SAMPLES: u32 = 6;
/// More changes of the rate are never under way.
const MOST_CHANGES: usize = 4096;

#[derive(Clone, Copy, Debug, Default)]
struct Window {
    count: u32,
    /// Sums until the window is full, means then; seconds, packets per second.
    rtt: f64,
    sent: f64,
    own: f64,
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
    /// Changes of the own rate that no probe of this answer has left after yet.
    changes: VecDeque<(Time, f64)>,
    own: f64,
}

impl ProbeWindows {
    /// From `now` on the sender sends `rate` packets per second.
    pub fn send_at(&mut self, now: Time, rate: f64) {
        if self.changes.len() >= MOST_CHANGES {
            self.changes.pop_front();
        }
        self.changes.push_back((now, rate));
    }

    /// A probe sent at `sent` took `rtt`, where the least round-trip time is `least` seconds. True if with it a
    /// window is full: six probes, and `period` from the first's departure to the last's.
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

    /// Mean queueing delay over the last window, seconds.
    #[must_use]
    pub fn newest_delay(&self) -> Option<f64> {
        self.full[1].map(|window| self.queueing(window.rtt))
    }

    /// Mean queueing delay over the last two windows, seconds.
    #[must_use]
    pub fn delay(&self) -> Option<f64> {
        self.of_both(|window| self.queueing(window.rtt))
    }

    /// The largest queueing delay in the last two windows, seconds.
    #[must_use]
    pub fn most_delay(&self) -> Option<f64> {
        let last = self.full[1]?.most;
        Some(self.queueing(self.full[0].map_or(last, |before| last.max(before.most))))
    }

    /// The sender's rate as the last window's probes left, packets per second.
    #[must_use]
    pub fn newest_own(&self) -> Option<f64> {
        self.full[1].map(|window| window.own)
    }

    /// The sender's rate as the last two windows' probes left, packets per second.
    #[must_use]
    pub fn own_rate(&self) -> Option<f64> {
        self.of_both(|window| window.own)
    }

    /// How fast the queueing delay grew from one of the last two windows to the other, in seconds per second. While
    /// the queue is not empty, this is the arrivals beyond the capacity, as a share of the capacity. `None` before
    /// there are two.
    #[must_use]
    pub fn growth(&self) -> Option<f64> {
        let [Some(before), Some(last)] = self.full else { return None };
        let apart = last.sent - before.sent;
        (apart > 0.0).then(|| (self.queueing(last.rtt) - self.queueing(before.rtt)) / apart)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(ms: u64) -> Time {
        Time::ZERO + Span::from_millis(ms)
    }

    #[test]
    fn a_window_is_full_after_six_probes_and_the_period() {
        let mut windows = ProbeWindows::default();
        let period = Span::from_millis(200);
        let rtt = Span::from_millis(51);
        let full: Vec<u64> = (0..12)
            .map(|probe| 40 * probe)
            .filter(|ms| windows.observe(at(*ms), rtt, 0.05, period))
            .collect();
        // Six take 200 ms here; the next window begins with the next probe.
        assert_eq!(full, [200, 440]);
        let full: Vec<u64> = (12..24)
            .map(|probe| 100 * probe)
            .filter(|ms| windows.observe(at(*ms), rtt, 0.05, period))
            .collect();
        assert_eq!(full, [1700, 2300], "six, however long they take");
        assert!((windows.delay().unwrap() - 0.001).abs() < 1e-12);
    }

    #[test]
    fn growth_and_the_own_rate_are_those_of_when_the_probes_left() {
        let mut windows = ProbeWindows::default();
        windows.send_at(at(0), 1000.0);
        windows.send_at(at(240), 3000.0);
        for probe in 0..12 {
            // A tenth of a millisecond more per millisecond from the second window on.
            let more = 100 * 40 * u64::from(probe >= 6) * (probe - u64::from(probe >= 6) * 5);
            windows.observe(at(40 * probe), Span::from_micros(50_000 + more), 0.05, Span::from_millis(200));
        }
        assert_eq!((windows.newest_own(), windows.own_rate()), (Some(3000.0), Some(2000.0)));
        // Mean of 4, 8 ... 24 ms over that of nothing, 240 ms later.
        assert!((windows.growth().unwrap() - 0.014 / 0.24).abs() < 1e-9, "{:?}", windows.growth());
        assert!((windows.newest_delay().unwrap() - 0.014).abs() < 1e-9);
        assert!((windows.most_delay().unwrap() - 0.024).abs() < 1e-9);
        assert!((windows.delay().unwrap() - 0.007).abs() < 1e-9);
    }
}

//! A transfer round trip by round trip: the part after its slow start, repairs included.

use super::{Connection, Growth, Path};
use std::collections::VecDeque;

/// The state of a transfer after its slow start, at the beginning of a round trip.
#[derive(Clone, Debug)]
pub(super) struct Rounds {
    /// The bottleneck's service time of a segment, seconds.
    pub(super) service: f64,
    /// The round trip without queueing, seconds.
    pub(super) rtt: f64,
    /// The part of the round trip after the bottleneck, seconds.
    pub(super) back: f64,
    /// The most segments that path and buffer hold.
    most: f64,
    /// The largest window that the hosts' buffers allow, segments.
    held: f64,
    growth: Growth,
    total: u64,
    /// The time at which the round trip begins.
    pub(super) at: f64,
    pub(super) window: f64,
    pub(super) threshold: f64,
    /// The lost segments that have not been sent again, ascending.
    holes: VecDeque<u64>,
    /// True if the sender knows the holes. Otherwise everything from `resend` to `resend_to` is sent again, except
    /// segments that an acknowledgement reports as arrived.
    selective: bool,
    resend: u64,
    resend_to: u64,
    /// Segments sent for the first time.
    sent: u64,
    /// The number of segments sent again so far.
    pub(super) resent: u64,
    /// The number of losses so far.
    pub(super) lost: u64,
    /// The number of timeouts so far.
    pub(super) timeouts: u64,
    /// The time of the last overflow of the buffer in congestion avoidance, and the segments sent until then. `None`
    /// before the first one.
    cycle: Option<(f64, u64)>,
    cycles_left_out: bool,
}

impl Rounds {
    /// Creates the state for a round trip that begins at `at`, after `sent` segments that are acknowledged or about to
    /// be.
    pub(super) fn new(path: &Path, of: &Connection, at: f64, sent: u64) -> Self {
        let (service, rtt) = (path.service(), path.rtt.as_secs_f64());
        Self {
            service,
            rtt,
            back: rtt - service,
            most: path.pipe() + path.room(),
            held: of.most,
            growth: of.growth,
            total: of.segments,
            at,
            // The acknowledgements of the round trip before have widened the window beyond the threshold.
            window: of.threshold + 1.0 / of.growth.avoidance(),
            threshold: of.threshold,
            holes: VecDeque::new(),
            selective: true,
            resend: sent,
            resend_to: sent,
            sent,
            resent: 0,
            lost: 0,
            timeouts: 0,
            cycle: None,
            cycles_left_out: false,
        }
    }

    /// Sets the segments to be repaired: `lost`, ascending, of `sent`.
    pub(super) fn lose(&mut self, lost: &[u64], sent: u64, selective: bool) {
        self.holes = lost.iter().copied().collect();
        (self.sent, self.selective) = (sent, selective);
        (self.resend, self.resend_to) = (lost.first().copied().unwrap_or(sent), sent);
        self.lost += lost.len() as u64;
    }

    pub(super) fn holes(&self) -> u64 {
        self.holes.len() as u64
    }

    /// Takes out and returns the holes at the end of the transfer, which no later segment can reveal.
    pub(super) fn set_tail_aside(&mut self) -> Vec<u64> {
        let mut tail = Vec::new();
        let mut last = self.total;
        while last > 0 && self.holes.back() == Some(&(last - 1)) {
            last -= 1;
            tail.extend(self.holes.pop_back());
        }
        tail.reverse();
        tail
    }

    pub(super) fn add_holes(&mut self, holes: Vec<u64>) {
        self.holes.extend(holes);
    }

    /// Handles the expiry of the retransmission timer at `at`: a window of one segment, and a slow start up to
    /// `threshold`.
    pub(super) fn time_out(&mut self, at: f64, threshold: f64) {
        self.timeouts += 1;
        (self.resend, self.resend_to) = (self.holes.front().copied().unwrap_or(self.sent), self.sent);
        (self.at, self.window, self.threshold) = (at, 1.0, threshold);
    }

    /// Sends up to `most` segments in this round trip, of which up to `repairs` are sent again. The first one waits at
    /// the bottleneck for `waits` seconds. Returns the end of the transfer, if this was the last round trip.
    pub(super) fn step(&mut self, most: u64, repairs: u64, waits: f64) -> Option<f64> {
        let (moved, _) = self.send(most, repairs);
        self.end_round(moved, waits + self.rtt)
    }

    fn end_round(&mut self, moved: u64, turn: f64) -> Option<f64> {
        if self.holes.is_empty() && self.sent >= self.total {
            return Some(self.at + turn + moved.saturating_sub(1) as f64 * self.service);
        }
        self.at += turn.max(moved as f64 * self.service);
        None
    }

    /// Sends segments; returns their number, and the amount by which their acknowledgements widen the window in slow
    /// start.
    fn send(&mut self, most: u64, repairs: u64) -> (u64, f64) {
        let (mut moved, mut widened) = (0, 0.0);
        let mut repaired = 0;
        while moved < most {
            if repaired < repairs && self.selective && !self.holes.is_empty() {
                self.holes.pop_front();
                (repaired, widened, self.resent) = (repaired + 1, widened + 1.0, self.resent + 1);
            } else if repaired < repairs && !self.selective && self.resend < self.resend_to {
                if self.holes.front() == Some(&self.resend) {
                    self.holes.pop_front();
                    widened += 1.0;
                }
                (repaired, self.resend, self.resent) = (repaired + 1, self.resend + 1, self.resent + 1);
            } else if self.sent < self.total {
                self.sent += 1;
                widened += 1.0 / self.growth.delayed_ack as f64;
            } else {
                break;
            }
            moved += 1;
        }
        // The acknowledgements also cover segments that had arrived, which are not sent again.
        self.resend = self.resend.max(self.holes.front().copied().unwrap_or(self.resend_to));
        (moved, widened)
    }

    /// Follows the transfer to its end, and returns the time of its end.
    pub(super) fn run(&mut self) -> f64 {
        loop {
            let most = (self.window as u64).max(1);
            let (moved, widened) = self.send(most, most);
            // The part of a window beyond the bandwidth-delay product waits at the bottleneck, and makes the round trip
            // longer.
            let turn = self.rtt.max(self.window.floor() * self.service);
            if let Some(done) = self.end_round(moved, turn) {
                return done;
            }
            if self.window < self.threshold {
                self.window = (self.window + widened).min(self.threshold).min(self.held);
            } else {
                self.window = (self.window + 1.0 / self.growth.avoidance()).min(self.held);
                if self.window >= self.held && self.held <= self.most {
                    self.leave_out_even_rounds();
                }
                if self.window > self.most {
                    self.overflow();
                }
            }
        }
    }

    /// Skips all but the last two round trips at the window that the hosts allow, because each is like the one before.
    fn leave_out_even_rounds(&mut self) {
        let each = (self.held as u64).max(1);
        let rounds = ((self.total - self.sent) / each).saturating_sub(2);
        self.sent += rounds * each;
        self.at += rounds as f64 * self.rtt.max(each as f64 * self.service);
    }

    /// Handles an overflow of one segment: it is lost, and the window halved.
    fn overflow(&mut self) {
        self.window = (self.window / 2.0).max(2.0);
        self.threshold = self.window;
        self.lost += 1;
        self.resent += 1;
        // The repair takes the place of a new segment.
        self.sent -= 1;
        if self.cycles_left_out {
            return;
        }
        if let Some((at, sent)) = self.cycle
            && let (period, segments @ 1..) = (self.at - at, self.sent - sent)
        {
            let cycles = (self.total - self.sent) / segments;
            self.at += cycles as f64 * period;
            self.sent += cycles * segments;
            (self.lost, self.resent) = (self.lost + cycles, self.resent + cycles);
            self.cycles_left_out = true;
        }
        self.cycle = Some((self.at, self.sent));
    }
}

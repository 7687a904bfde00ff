//! Slow start by its clock: each acknowledgement releases the segments that it covers and those by which the window
//! grows, and the bottleneck sends them at its rate. This is a recursion over segments, up to the discovery of the
//! first losses or to the point after which nothing is lost.
//!
//! ```text
//! D_j = max(D_(j-1), S_j) + 1/mu               segment j, sent at S_j, has left the bottleneck at D_j
//! dropped if B segments are there at S_j
//! A   = D_j + T - 1/mu                         the acknowledgement that covers segment j is back at the sender
//! ```
//! The receiver acknowledges every d-th segment, or when the timer of the first waiting one expires. A segment after a
//! hole is acknowledged at once. Times are in seconds from the start of the transfer.

use super::{Connection, Path};
use std::collections::VecDeque;

/// Duplicate acknowledgements after which a segment counts as lost, RFC 5681.
const DUPLICATES: u64 = 3;

/// RFC 6298's clock granularity G, seconds.
const GRANULARITY: f64 = 0.01;

/// The end of a slow start.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum End {
    /// Everything has been acknowledged, at this time.
    Done(f64),
    /// The window reached its threshold without loss. A round trip begins at the time `at`, after `sent` segments.
    Threshold { at: f64, sent: u64 },
    /// Segments were lost.
    Loss(Loss),
}

/// The largest values during a slow start.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Peaks {
    /// The largest window with which a segment was sent, segments.
    pub(super) peak: f64,
    /// The longest time for which a segment waited at the bottleneck, seconds.
    pub(super) waited: f64,
}

/// The losses of a slow start as the sender detects them.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Loss {
    /// The time at which the first lost segment was sent.
    pub(super) at: f64,
    /// The window at that time, segments.
    pub(super) overflow: f64,
    /// The numbers of the lost segments, ascending; at least one.
    pub(super) lost: Vec<u64>,
    /// Segments sent.
    pub(super) sent: u64,
    /// The time at which the third duplicate acknowledgement arrived; `None` if too few came.
    pub(super) detected: Option<f64>,
    /// The window at the end of the slow start, segments.
    pub(super) window: f64,
    /// The time at which the acknowledgement of the last segment that got through is back at the sender.
    pub(super) last: f64,
    /// The time at which the retransmission timer expires, if duplicate acknowledgements do not show a loss before.
    pub(super) expires: f64,
    /// The retransmission timeout, seconds.
    pub(super) timeout: f64,
}

/// The retransmission timer of RFC 6298.
#[derive(Clone, Copy, Debug)]
struct Timer {
    smoothed: f64,
    variation: f64,
    least: f64,
    initial: f64,
}

impl Timer {
    fn observe(&mut self, sample: f64) {
        if self.smoothed == 0.0 {
            (self.smoothed, self.variation) = (sample, sample / 2.0);
        } else {
            self.variation += ((self.smoothed - sample).abs() - self.variation) / 4.0;
            self.smoothed += (sample - self.smoothed) / 8.0;
        }
    }

    fn timeout(&self) -> f64 {
        let known = self.smoothed + (4.0 * self.variation).max(GRANULARITY);
        if self.smoothed == 0.0 { self.initial } else { known }.max(self.least)
    }
}

/// An acknowledgement on its way: the time at which it is back, and the first segment that it does not cover.
type Acknowledgement = (f64, u64);

/// The state of the recursion.
#[derive(Debug)]
pub(super) struct Clock<'a> {
    of: &'a Connection,
    service: f64,
    /// The time from the bottleneck to the receiver and back to the sender.
    back: f64,
    room: usize,
    timer: Timer,
    now: f64,
    window: f64,
    sent: u64,
    acknowledged: u64,
    duplicates: u64,
    /// The first segment that was sent in this round trip.
    round: u64,
    /// The sending time of each unacknowledged segment.
    sent_at: VecDeque<f64>,
    /// The one segment that is timed if there are no time stamps, and the time at which it was sent.
    timed: Option<(u64, f64)>,
    /// The departure times of the segments that may still be at the bottleneck.
    leaving: VecDeque<f64>,
    on_their_way: VecDeque<Acknowledgement>,
    /// The number of segments that the receiver has received in order.
    received: u64,
    /// The number of these segments that it has not acknowledged yet.
    waiting: u64,
    /// The time at which the acknowledgement of these is back, if the receiver's timer sends it.
    deadline: f64,
    /// The time at which the acknowledgement of the last segment that got through is back at the sender.
    last: f64,
    /// The time of the last acknowledgement of new data, which restarts the retransmission timer.
    restarted: f64,
    first: Option<(f64, f64)>,
    lost: Vec<u64>,
    seen: Peaks,
}

impl<'a> Clock<'a> {
    pub(super) fn new(path: &Path, of: &'a Connection) -> Self {
        let service = path.service();
        Self {
            of,
            service,
            back: path.rtt.as_secs_f64() - service,
            room: path.room() as usize,
            timer: Timer {
                smoothed: 0.0,
                variation: 0.0,
                least: of.min_rto.as_secs_f64(),
                initial: of.initial_rto.as_secs_f64(),
            },
            now: 0.0,
            window: of.initial_window as f64,
            sent: 0,
            acknowledged: 0,
            duplicates: 0,
            round: 0,
            sent_at: VecDeque::new(),
            timed: None,
            leaving: VecDeque::new(),
            on_their_way: VecDeque::new(),
            received: 0,
            waiting: 0,
            deadline: f64::INFINITY,
            last: 0.0,
            restarted: 0.0,
            first: None,
            lost: Vec::new(),
            seen: Peaks::default(),
        }
    }

    /// Follows the transfer to the end of its slow start.
    pub(super) fn run(mut self) -> (End, Peaks) {
        let end = self.end();
        (end, self.seen)
    }

    fn end(&mut self) -> End {
        loop {
            if self.acknowledged > self.round {
                if self.lost.is_empty() && self.window >= self.of.threshold {
                    return End::Threshold { at: self.now, sent: self.sent };
                }
                self.round = self.sent;
            }
            self.send();
            let Some((at, covered)) = self.next_acknowledgement() else {
                return End::Loss(self.loss(None));
            };
            self.now = at;
            if covered > self.acknowledged {
                self.acknowledge(covered);
            } else {
                self.duplicates += 1;
                if self.duplicates == DUPLICATES {
                    return End::Loss(self.loss(Some(at)));
                }
            }
            if self.acknowledged == self.of.segments {
                return End::Done(at);
            }
        }
    }

    /// Sends the segments that the window allows, and one more for each of the first duplicates (RFC 3042).
    fn send(&mut self) {
        while self.sent < self.of.segments
            && (self.sent - self.acknowledged) as f64 + 1.0
                <= (self.window + self.duplicates as f64).min(self.of.most)
        {
            self.seen.peak = self.seen.peak.max(self.window.min(self.of.most));
            let segment = self.sent;
            self.sent += 1;
            self.sent_at.push_back(self.now);
            if self.timed.is_none() {
                self.timed = Some((segment, self.now));
            }
            while self.leaving.front().is_some_and(|departure| *departure <= self.now) {
                self.leaving.pop_front();
            }
            if self.leaving.len() >= self.room {
                self.first = self.first.or(Some((self.now, self.window)));
                self.lost.push(segment);
            } else {
                let start = self.leaving.back().copied().unwrap_or(self.now);
                let departure = start + self.service;
                self.seen.waited = self.seen.waited.max(start - self.now);
                self.leaving.push_back(departure);
                self.arrive(departure);
            }
        }
    }

    /// Takes a segment that reaches the receiver. All times are those at which an acknowledgement sent at once is back
    /// at the sender.
    fn arrive(&mut self, departure: f64) {
        let at = departure + self.back;
        self.last = at;
        if self.waiting > 0 && self.deadline <= at {
            self.on_their_way.push_back((self.deadline, self.received));
            self.waiting = 0;
        }
        if !self.lost.is_empty() {
            // The segment is beyond a hole, so it is acknowledged at once, together with those that wait.
            self.on_their_way.push_back((at, self.received));
            self.waiting = 0;
            return;
        }
        if self.waiting == 0 {
            self.deadline = at + self.of.delayed_ack_timeout.as_secs_f64();
        }
        self.received += 1;
        self.waiting += 1;
        if self.waiting == self.of.growth.delayed_ack {
            self.on_their_way.push_back((at, self.received));
            self.waiting = 0;
        }
    }

    /// Returns the next acknowledgement. The one that waits for the receiver's timer comes after all that are on their
    /// way.
    fn next_acknowledgement(&mut self) -> Option<Acknowledgement> {
        let waits = self.on_their_way.is_empty() && self.waiting > 0;
        if waits {
            self.waiting = 0;
            return Some((self.deadline, self.received));
        }
        self.on_their_way.pop_front()
    }

    fn acknowledge(&mut self, covered: u64) {
        let newly = covered - self.acknowledged;
        let first_sent = self.sent_at.front().copied().unwrap_or(self.now);
        self.sent_at.drain(..newly as usize);
        self.acknowledged = covered;
        self.restarted = self.now;
        if self.of.timestamps {
            self.timer.observe(self.now - first_sent);
        } else if let Some((_, sent)) = self.timed.filter(|(segment, _)| *segment < covered) {
            self.timer.observe(self.now - sent);
            self.timed = None;
        }
        let counted = newly.min(self.of.growth.byte_counting.max(1)) as f64;
        self.window = (self.window + counted).min(self.of.threshold.max(self.window));
    }

    fn loss(&mut self, detected: Option<f64>) -> Loss {
        let (at, overflow) = self.first.unwrap_or((self.now, self.window));
        Loss {
            at,
            overflow,
            lost: std::mem::take(&mut self.lost),
            sent: self.sent,
            detected,
            window: self.window,
            last: self.last,
            expires: self.restarted + self.timer.timeout(),
            timeout: self.timer.timeout(),
        }
    }
}

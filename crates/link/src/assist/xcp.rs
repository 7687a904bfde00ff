//! XCP's router. An efficiency controller computes the change of the traffic in a round-trip time. A fairness
//! controller divides the change: an increase in equal parts per flow, a decrease in proportion.

use super::{Assist, CongestionHeader, amount, capacity};
use units::{Bytes, Rate, Span, Time};

/// Weight of spare capacity [xcp:3.5.1].
pub const ALPHA: f64 = 0.4;
/// Weight of the standing queue, alpha^2 sqrt(2) [xcp:3.5.1].
pub const BETA: f64 = 0.226;
/// The least part of the traffic that is shuffled between flows [xcp:3.5.2].
pub const GAMMA: f64 = 0.1;
/// The control interval before a round-trip time is known `[D]`.
const FIRST: f64 = 0.05;
/// The shortest control interval, seconds: a few packets at low rates `[D]`.
const LEAST: f64 = 1e-3;

/// D. Katabi, M. Handley, C. Rohrs, "Congestion control for high bandwidth-delay product networks", 2002.
///
/// ```text
/// phi    = alpha d S - beta Q                      d: mean RTT, S: spare capacity, Q: standing queue
/// h      = max(0, gamma y d - |phi|)               y: input traffic
/// xi_pos = (h + max(phi, 0)) / (d sum rtt s/cwnd)  over the packets of an interval d
/// xi_neg = (h + max(-phi, 0)) / (d sum s)
/// feedback = xi_pos rtt^2 s/cwnd - xi_neg rtt s    of a packet of s bytes
/// ```
///
/// The control interval is the mean RTT over the flows. It ends with the first arrival after its intended end, because
/// no packet could carry feedback before that arrival.
#[derive(Clone, Debug)]
pub struct Xcp {
    /// Bytes/s.
    capacity: f64,
    /// The time at which the interval began.
    began: Time,
    /// The time at which it is to end.
    ends: Time,
    /// Its intended length, seconds.
    length: f64,
    /// Bytes that came in the interval.
    input: f64,
    /// Bytes of them in packets with a header.
    informed: f64,
    /// Sum of rtt s/cwnd over the interval.
    inverse: f64,
    /// Sum of rtt^2 s/cwnd over the interval.
    weighted: f64,
    positive: f64,
    negative: f64,
    queue: StandingQueue,
}

/// The least queue that arrivals saw during the last round-trip time without queueing [xcp:3.5.1].
#[derive(Clone, Copy, Debug)]
struct StandingQueue {
    until: Time,
    least: f64,
    found: f64,
}

impl StandingQueue {
    /// Takes the `backlog` at an arrival; `without_queue` is the round-trip time without queueing, seconds.
    #[inline]
    fn observe(&mut self, now: Time, backlog: f64, without_queue: impl Fn() -> f64) {
        if backlog < self.least {
            self.least = backlog;
        }
        if now >= self.until {
            self.found = self.least;
            self.least = backlog;
            self.until = now + Span::from_secs_f64(without_queue().max(LEAST));
        }
    }
}

impl Xcp {
    /// Creates the router side of a link of `rate`.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        let queue = StandingQueue { until: Time::ZERO, least: f64::INFINITY, found: 0.0 };
        Self {
            capacity: capacity(rate),
            began: Time::ZERO,
            ends: Time::ZERO + Span::from_secs_f64(FIRST),
            length: FIRST,
            input: 0.0,
            informed: 0.0,
            inverse: 0.0,
            weighted: 0.0,
            positive: 0.0,
            negative: 0.0,
            queue,
        }
    }

    /// Ends the interval at `now`, after `elapsed` seconds, and computes the feedback of the next.
    fn decide(&mut self, now: Time, elapsed: f64) {
        if self.inverse > 0.0 {
            self.length = (self.weighted / self.inverse).clamp(LEAST, 10.0);
        }
        let d = self.length;
        let (traffic, per_interval) = (self.input / elapsed, d / elapsed);
        let phi = ALPHA * d * (self.capacity - traffic) - BETA * self.queue.found;
        let shuffled = (GAMMA * traffic * d - phi.abs()).max(0.0);
        let over = |amount: f64, sum: f64| if sum > 0.0 { amount / (d * sum * per_interval) } else { 0.0 };
        self.positive = over(shuffled + phi.max(0.0), self.inverse);
        self.negative = over(shuffled + (-phi).max(0.0), self.informed);
        (self.input, self.informed, self.inverse, self.weighted) = (0.0, 0.0, 0.0, 0.0);
        self.began = now;
        self.ends = now + Span::from_secs_f64(self.length);
    }
}

impl Assist for Xcp {
    fn on_arrival(
        &mut self,
        now: Time,
        length: Bytes,
        backlog: Bytes,
        header: Option<&mut CongestionHeader>,
    ) {
        let (size, backlog) = (amount(length), amount(backlog));
        self.queue.observe(now, backlog, || self.length - backlog / self.capacity);
        if now >= self.ends {
            self.decide(now, now.since(self.began).as_secs_f64());
        }
        self.input += size;
        let Some(header) = header else { return };
        // A sender without a round-trip time gets no feedback.
        let (rtt, window) = (header.rtt, if header.window > 1.0 { header.window } else { 1.0 });
        let inverse = rtt * size / window;
        self.inverse += inverse;
        self.weighted += rtt * inverse;
        self.informed += if rtt > 0.0 { size } else { 0.0 };
        let granted = self.positive * rtt * inverse - self.negative * rtt * size;
        if granted < header.feedback {
            header.feedback = granted;
        }
    }
}

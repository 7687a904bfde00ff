//! RCP's router gives every flow the same rate, as a processor that is shared equally would.

use super::{Assist, CongestionHeader, amount, capacity, seconds};
use units::{Bytes, Rate, Time};

/// Weight of spare capacity `[D]`. Like XCP's it is stable for any number of flows. The authors leave the choice open.
pub const ALPHA: f64 = 0.4;
/// Weight of the queue `[D]`.
pub const BETA: f64 = 0.226;
/// The rate at the start, as a share of the capacity `[D]`.
const FIRST: f64 = 0.05;
/// The weight of a packet's round-trip time in the mean `[D]`.
const RTT_WEIGHT: f64 = 0.02;
/// The mean round-trip time before the first sample, seconds `[D]`.
const RTT: f64 = 0.1;
/// The longest time between updates, seconds; the mean RTT if that is shorter `[D]`.
const PERIOD: f64 = 0.01;
/// The least rate, as a share of the capacity: room for a million flows `[D]`.
const LEAST: f64 = 1e-6;

/// N. Dukkipati, M. Kobayashi, R. Zhang-Shen, N. McKeown, "Processor sharing flows in the Internet", 2005.
///
/// ```text
/// R(t) = R(t - T) [1 + (T/d0) (alpha (C - y) - beta q/d0) / C]
/// ```
///
/// every T = min(10 ms, d0), at the first arrival after that time; y is the input traffic, q the queue, d0 the mean
/// RTT.
#[derive(Clone, Debug)]
pub struct Rcp {
    /// Bytes/s.
    capacity: f64,
    rate: f64,
    mean_rtt: f64,
    began: Time,
    input: f64,
}

impl Rcp {
    /// Creates the router side of a link of `rate`.
    #[must_use]
    pub fn new(rate: Rate) -> Self {
        let capacity = capacity(rate);
        Self { capacity, rate: FIRST * capacity, mean_rtt: RTT, began: Time::ZERO, input: 0.0 }
    }

    /// Returns the rate that every flow may send at, bytes/s.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.rate
    }

    fn update(&mut self, now: Time, elapsed: f64, backlog: f64) {
        let d0 = self.mean_rtt;
        let spare = ALPHA * (self.capacity - self.input / elapsed) - BETA * backlog / d0;
        // A silence counts as one interval, however long it lasts.
        let change = 1.0 + (elapsed / d0).min(1.0) * spare / self.capacity;
        self.rate = (self.rate * change).clamp(LEAST * self.capacity, self.capacity);
        self.began = now;
        self.input = 0.0;
    }
}

impl Assist for Rcp {
    fn on_arrival(
        &mut self,
        now: Time,
        length: Bytes,
        backlog: Bytes,
        header: Option<&mut CongestionHeader>,
    ) {
        let elapsed = seconds(now.since(self.began));
        if elapsed >= self.mean_rtt.min(PERIOD) {
            self.update(now, elapsed, amount(backlog));
        }
        self.input += amount(length);
        let Some(header) = header else { return };
        if header.rtt > 0.0 {
            self.mean_rtt += RTT_WEIGHT * (header.rtt - self.mean_rtt);
        }
        if self.rate < header.feedback {
            header.feedback = self.rate;
        }
    }
}

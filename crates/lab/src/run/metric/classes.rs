//! The waits of the two classes of a queue, in the order of the queueing delay's numbers.

use super::{Metric, delay};

/// The wait of packets of scalable flows.
pub(super) const L4S_DELAY: [Metric; 7] = [
    delay("l4s_delay_s.mean", "l4s_delay_mean_s", "mean wait of L4S packets"),
    delay("l4s_delay_s.p1", "l4s_delay_p1_s", "p1 wait of L4S packets"),
    delay("l4s_delay_s.p5", "l4s_delay_p5_s", "p5 wait of L4S packets"),
    delay("l4s_delay_s.p50", "l4s_delay_p50_s", "median wait of L4S packets"),
    delay("l4s_delay_s.p95", "l4s_delay_p95_s", "p95 wait of L4S packets"),
    delay("l4s_delay_s.p99", "l4s_delay_p99_s", "p99 wait of L4S packets"),
    delay("l4s_delay_s.max", "l4s_delay_max_s", "greatest wait of L4S packets"),
];

/// The wait of packets of all other flows.
pub(super) const CLASSIC_DELAY: [Metric; 7] = [
    delay("classic_delay_s.mean", "classic_delay_mean_s", "mean wait of classic packets"),
    delay("classic_delay_s.p1", "classic_delay_p1_s", "p1 wait of classic packets"),
    delay("classic_delay_s.p5", "classic_delay_p5_s", "p5 wait of classic packets"),
    delay("classic_delay_s.p50", "classic_delay_p50_s", "median wait of classic packets"),
    delay("classic_delay_s.p95", "classic_delay_p95_s", "p95 wait of classic packets"),
    delay("classic_delay_s.p99", "classic_delay_p99_s", "p99 wait of classic packets"),
    delay("classic_delay_s.max", "classic_delay_max_s", "greatest wait of classic packets"),
];

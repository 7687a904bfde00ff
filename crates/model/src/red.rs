//! Random early detection: the probability of a drop against a length of the queue, the current or the average one.
//!
//! ```text
//! p(n) = 0                                            n <= min_th
//!      = p_max (n - min_th) / (max_th - min_th)       up to max_th
//!      = 1                                            from there on
//! ```
//! `[red93]`; by the current length, without the average that RED has to let bursts pass, `[highspeed:IV]`.

/// Thresholds in packets, and the probability between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// `min_th`, zero or more. `[highspeed:IV]` has 0.4 of the buffer, of one bandwidth-delay product at most.
    pub min_threshold: f64,
    /// `max_th`, above `min_threshold`. `[highspeed:IV]` has the buffer, and one bandwidth-delay product at most.
    pub max_threshold: f64,
    /// `p_max`, above 0 and at most 1. `[highspeed:IV]` does not give it; 0.1 is common.
    pub max_probability: f64,
}

impl Red {
    /// The probability of a drop at a queue of `length` packets.
    #[must_use]
    pub fn probability(&self, length: f64) -> f64 {
        let Self { min_threshold, max_threshold, max_probability } = *self;
        if length < min_threshold {
            0.0
        } else if length < max_threshold {
            max_probability * (length - min_threshold) / (max_threshold - min_threshold)
        } else {
            1.0
        }
    }
}

//! Random early detection: the probability of a drop as a function of the queue's length, current or average.
//!
//! ```text
//! p(n) = 0                                            n <= min_th
//!      = p_max (n - min_th) / (max_th - min_th)       up to max_th
//!      = 1                                            from there on
//! ```
//! In `[red93]` `n` is an average, so that bursts pass; in `[highspeed:IV]` `n` is the current length.

/// Thresholds in packets, and the probability between them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Red {
    /// `min_th`, zero or more. `[highspeed:IV]` uses 0.4 of the buffer, or of one bandwidth-delay product if that is
    /// less.
    pub min_threshold: f64,
    /// `max_th`, above `min_threshold`. `[highspeed:IV]` uses the buffer, or one bandwidth-delay product if that is
    /// less.
    pub max_threshold: f64,
    /// `p_max`, above 0 and at most 1. `[highspeed:IV]` does not give it; 0.1 is common.
    pub max_probability: f64,
}

impl Red {
    /// Returns the probability of a drop at a queue of `length` packets.
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

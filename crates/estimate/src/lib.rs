//! Estimators of a path's properties from samples. A simulated receiver or a real socket supplies each sample with its
//! time; nothing here knows where samples come from.
//!
//! Reading order:
//! - `estimator.rs`: the trait;
//! - `round_trip.rs`: base, exogenous and average RTT, and the standing queue;
//! - `goodput.rs`: delivery in windows of two round trips; `statistics.rs`: the spread of samples that may be nearly
//!   equal;
//! - `loss.rs`: gaps in sequence numbers, counters that only rise;
//! - `train.rs`: capacity from packet trains;
//! - `bottleneck.rs`: the backlog at the bottleneck, from probes and packet pairs;
//! - `limits.rs`: the limit of a transfer; `diagnosis.rs`: that of any connection, from a socket or a capture;
//! - `path_buffer.rs`, `responsiveness.rs`: the buffer of a path under load, and its round trips per minute.
//!
//! ```
//! use tightlink_estimate::{Estimator, Train, TrainPacket};
//! use units::{Bytes, Rate, Time};
//! let mut train = Train::new(50);
//! for number in 0..50 {
//!     let at = Time::from_nanos(120_000 * number as u64); // 1500 bytes every 120 us
//!     train.observe(at, TrainPacket { number, at, length: Bytes::new(1500) });
//! }
//! assert_eq!(train.estimate(), Some(Rate::from_bps(100_000_000)));
//! ```

mod bottleneck;
pub mod diagnosis;
mod estimator;
mod goodput;
pub mod limits;
mod loss;
mod path_buffer;
mod responsiveness;
mod round_trip;
mod statistics;
mod train;

pub use bottleneck::{Bottleneck, PAIRS, ProbeWindows};
pub use estimator::Estimator;
pub use goodput::{Goodput, GoodputSample};
pub use loss::{Episodes, SequenceGaps};
pub use path_buffer::buffer_in_front;
pub use responsiveness::{Latencies, LatencySamples, Responsiveness, Steadiness, responsiveness};
pub use round_trip::{RoundTrip, RoundTripTimes, Waits};
pub use statistics::{median, spread};
pub use train::{
    Capacity, LEAST_TRAIN, LONG_TRAIN_PACKETS, TRAIN_PACKET, TRAIN_PACKETS, TRAINS, TRAINS_APART, Train,
    TrainPacket, train_bytes,
};

//! Estimators: what plain samples say of a path. Whoever has the samples, a simulated receiver or a real socket,
//! gives them with the time at which they were taken; nothing here knows where they come from.
//!
//! Reading order: `estimator.rs` (the trait), `round_trip.rs` (base, exogenous and average RTT, and the queue that
//! stands), `goodput.rs` (what is delivered in windows of two round trips, and whether samples are nearly equal),
//! `loss.rs` (gaps in sequence numbers, counters that only rise), `train.rs` (capacity from packet trains),
//! `bottleneck.rs` (what waits at the bottleneck, from probes and packet pairs), `limits.rs` (what limited a transfer).

mod bottleneck;
mod estimator;
mod goodput;
pub mod limits;
mod loss;
mod round_trip;
mod statistics;
mod train;

pub use bottleneck::{Bottleneck, PAIRS, ProbeWindows};
pub use estimator::Estimator;
pub use goodput::{Goodput, GoodputSample};
pub use loss::{Episodes, SequenceGaps};
pub use round_trip::{RoundTrip, RoundTripTimes, Waits};
pub use statistics::{median, spread};
pub use train::{
    Capacity, TRAIN_BYTES, TRAIN_PACKET, TRAIN_PACKETS, TRAINS, TRAINS_APART, Train, TrainPacket,
};

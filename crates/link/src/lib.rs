//! The link: what a packet meets between two hosts, the same object in the simulator and in the emulator.
//!
//! A [`Link`] is loss, then a queue, then a serializer, then a delay line. Time is an argument of every call
//! and never goes backwards; nothing here knows TCP, flows or IO.
//!
//! Reading order: `packet.rs` (words), `link.rs` (the whole), then its parts in path order: `loss.rs`,
//! `queue.rs` and `queue/`, `fifo.rs` (drop-tail when departures are known on arrival), `serializer.rs`,
//! `delay.rs`; beside them `meter.rs`, `occupancy.rs`, `queueing_delay.rs` and `histogram.rs` over `buckets.rs`, and
//! `loss_episodes.rs` (what is measured), `moving_limit.rs` (limits that follow the medium), `served_queue.rs` (a queue whose packets another machine sends), `assist.rs` (what a router tells senders) and `traffic.rs` (packets that do not answer to congestion).

pub mod assist;
mod buckets;
mod delay;
mod fifo;
#[cfg(fuzzing)]
pub mod fuzzing;
mod histogram;
mod link;
mod loss;
mod loss_episodes;
mod meter;
pub mod moving_limit;
mod occupancy;
mod packet;
pub mod queue;
mod queueing_delay;
mod serializer;
mod served_queue;
pub mod traffic;

pub use delay::DelayLine;
pub use histogram::Histogram;
pub use link::{Admission, Held, Link, LinkConfig};
pub use loss_episodes::{LossEpisodes, SynchronizedLosses};
pub use meter::{Conservation, LinkReport, LinkState, Meter};
pub use occupancy::Occupancy;
pub use packet::{Backlog, Datagram, DropReason, Ecn};
pub use queue::{Limit, Queue};
pub use queueing_delay::QueueingDelay;
pub use serializer::Serializer;
pub use served_queue::ServedQueue;

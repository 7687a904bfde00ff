//! The link between two hosts, the same object in the simulator and in the emulator.
//!
//! A [`Link`] is loss, then perhaps a shaper, then a queue, a serializer, and a delay line. Time is an argument of
//! every call and never goes backwards; nothing here knows TCP, flows or IO.
//!
//! Reading order:
//! - `packet.rs`: the terms; `link.rs`: the whole;
//! - the parts in path order: `loss.rs`, `queue.rs` and `queue/`, `fifo.rs` (drop-tail with departures known on
//!   arrival), `serializer.rs`, `delay.rs`;
//! - a shaper in front: `shaper.rs`, `framing.rs`;
//! - a link that changes: `changes.rs` (plain data), `capacity.rs` and `capacity/` (when packets leave),
//!   `changing_fifo.rs`, `freshness.rs` (the age of what has left);
//! - meters: `meter.rs`, `occupancy.rs`, `queueing_delay.rs`, `class_delays.rs`, `loss_episodes.rs`,
//!   `source_meters.rs`, and `histogram.rs` over `buckets.rs`;
//! - `moving_limit.rs`: limits that follow the medium;
//! - `served_queue.rs`: a queue whose packets another object sends;
//! - `assist.rs`: routers that assist senders;
//! - `traffic.rs`: packets that do not react to congestion.
//!
//! ```
//! use tightlink_link::{DropReason, Limit, Link, LinkConfig};
//! use units::{Bytes, Fraction, Rate, Span, Time, random::Stream};
//! let (rate, delay) = (Rate::from_bps(12_000_000), Span::from_millis(10));
//! let config = LinkConfig::constant(rate, delay);
//! let mut link = Link::drop_tail(&config, Limit::Packets(1), Stream::new(1, "link"));
//! let mut dropped = Vec::new();
//! for _ in 0..3 {
//!     link.push(Time::ZERO, Bytes::new(1500), &mut |_, reason| dropped.push(reason));
//! }
//! assert_eq!(dropped, [DropReason::QueueFull]); // one is sent, one waits
//! let arrival = Time::ZERO + Span::from_millis(11); // 1500 bytes take 1 ms, and 10 ms to the far end
//! assert_eq!(link.wakeup(), Some(arrival));
//! assert_eq!(link.poll(arrival, &mut |_, _| ()), Some(Bytes::new(1500)));
//! ```

pub mod assist;
mod buckets;
mod capacity;
pub mod changes;
mod changing_fifo;
mod class_delays;
mod delay;
mod fifo;
mod framing;
#[cfg(fuzzing)]
pub mod fuzzing {
    //! Access for the fuzz targets (`--cfg fuzzing`).

    units::fuzzing_checks!();
}
mod freshness;
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
mod shaper;
mod source_meters;
pub mod traffic;

pub use class_delays::ClassDelays;
pub use delay::DelayLine;
pub use framing::{Cells, Framing};
pub use histogram::Histogram;
pub use link::{Admission, HeldPacket, Link, LinkConfig};
pub use loss_episodes::{LossEpisodes, SynchronizedLosses};
pub use meter::{Changing, ChangingReport, Conservation, LinkReport, LinkState, Meter};
pub use occupancy::Occupancy;
pub use packet::{Backlog, Datagram, DropReason, Ecn};
pub use queue::{Limit, Queue};
pub use queueing_delay::QueueingDelay;
pub use serializer::Serializer;
pub use served_queue::ServedQueue;
pub use shaper::{ShaperConfig, ShaperReport};
pub use source_meters::{SourceMeters, SourceReport, SourcesReport};

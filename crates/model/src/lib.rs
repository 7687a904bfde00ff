//! Closed forms and fixed points for the buffers on a TCP path, one file per theory.
//!
//! This room has pure functions from the description of a path (capacity, base RTT, buffer, window, loss) to the
//! performance of a transfer there. It has no packets, no passing of time, no randomness, and no measurement. A formula
//! that only a simulation can judge still belongs here; its judge is the `sim` room.
//!
//! Reading order:
//! 1. [`throughput`]: the rate of a window, and the limits on both;
//! 2. [`pftk`]: the throughput that random loss leaves;
//! 3. [`sawtooth`]: one Reno flow that fills and overflows the buffer;
//! 4. [`mft`]: the four regimes of one transfer on one path, from the three above;
//! 5. [`overflow`]: the time that a growing window takes to overflow the buffer;
//! 6. [`slow_start`]: the window at which the first slow start overflows the buffer, and the time that a file takes;
//! 7. [`rules`] and [`empty_queue`]: the right size of the buffer;
//! 8. [`bottleneck`]: the bottleneck as end hosts see it, and the rate that reaches a target backlog;
//! 9. [`response`]: the window of each congestion control as a function of the loss rate;
//! 10. [`fixed_point`]: many flows at one queue, drop-tail or RED, by their response functions;
//! 11. [`fluid`]: windows and queue over time, many flows as fluids;
//! 12. [`red`]: RED's probability of a drop, for [`fixed_point`] and [`fluid`];
//! 13. [`bianchi`]: the throughput of a saturated 802.11 cell.
//!
//! A function returns an [`OutOfRange`] for an argument outside the range of its formula. [`bottleneck::calculus`] has
//! inverses.
//!
//! Conventions. A window or a buffer is in bytes, a rate in bits per second. Wire sizes are at the level at
//! which the capacity is stated (the IP layer in `[sobas]`); goodput counts payload only. The re-derivations,
//! and every printed number that contradicts its own equation, are in `docs/papers`.
//!
//! ```
//! use tightlink_model::mft::{self, CrossTraffic, Path, Regime, Target};
//! use units::{Bytes, Fraction, Rate, Span};
//! let path = Path {
//!     capacity: Rate::from_bps(97_000_000),
//!     cross: CrossTraffic::Unresponsive { rate: Rate::from_bps(17_000_000) },
//!     base_rtt: Span::from_millis(40),
//!     buffer: Bytes::new(250_000),
//!     loss: Fraction::ZERO,
//! };
//! let target = Target::reno(Bytes::new(128_000));
//! let prediction = mft::prediction(&path, &target);
//! assert_eq!(prediction.regime, Regime::BufferLimited);
//! assert_eq!(prediction.goodput, Rate::from_bps(25_484_800)); // 88 whole segments in 40 ms
//! ```

pub mod bianchi;
pub mod bottleneck;
pub mod empty_queue;
pub mod fixed_point;
pub mod fluid;
pub mod mft;
pub mod overflow;
pub mod pftk;
mod range;
pub mod red;
pub mod response;
mod root;
pub mod rules;
pub mod sawtooth;
pub mod slow_start;
pub mod throughput;

pub use range::OutOfRange;

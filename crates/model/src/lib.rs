//! Closed forms and fixed points for the buffers on a TCP path, one file per theory.
//!
//! What lives here: pure functions from the description of a path (capacity, base RTT, buffer, window, loss)
//! to what a transfer gets there. What does not: packets, the passing of time, randomness, any measurement. A
//! formula that needs a simulation to be judged still lives here; its judge is the `sim` room.
//!
//! Reading order:
//! 1. [`throughput`]: a window over a round-trip time, and the least of its limits;
//! 2. [`pftk`]: what random loss leaves of it;
//! 3. [`sawtooth`]: one Reno flow that fills and overflows the buffer;
//! 4. [`mft`]: the four regimes of one transfer on one path, from the three above;
//! 5. [`overflow`]: how long a growing window takes to overflow the buffer;
//! 6. [`slow_start`]: at which window the first slow start does, and how long a file takes;
//! 7. [`rules`] and [`empty_queue`]: how large the buffer should be;
//! 8. [`bottleneck`]: what end hosts can say of it, and the rate that reaches a wanted backlog;
//! 9. [`response`]: the window of each congestion control as a function of the loss rate;
//! 10. [`fixed_point`]: many flows at one queue, drop-tail or RED, by their response functions;
//! 11. [`fluid`]: windows and queue against time, many flows as fluids;
//! 12. [`red`]: RED's probability of a drop, for the two before;
//! 13. [`bianchi`]: what a saturated 802.11 cell carries.
//!
//! An argument for which a formula says nothing is an [`OutOfRange`]. [`bottleneck::calculus`] has inverses.
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

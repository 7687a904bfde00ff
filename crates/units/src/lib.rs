//! Exact quantities: time, bytes, rates, fractions, and the text forms people type for them.
//!
//! What lives here: integer nanoseconds ([`Time`], [`Span`]), [`Bytes`], [`Rate`] in bits per second,
//! [`Fraction`], their parsing and printing ("20ms", "1Gbit/s", "512kB", "0.5%"), and named random streams
//! ([`random::Stream`]). What does not: anything that knows what a packet or a network is.
//!
//! Reading order: `time.rs`, `bytes.rs`, `rate.rs`, `fraction.rs`, then `text.rs` (how they are read and
//! printed) and `random.rs`.
//!
//! ```
//! use tightlink_units::{Bytes, Rate, Span};
//! let capacity: Rate = "97Mbit/s".parse()?;
//! let rtt: Span = "40ms".parse()?;
//! assert_eq!(capacity.volume(rtt), Bytes::new(485_000)); // the bandwidth-delay product
//! assert_eq!(capacity.serialization(Bytes::new(1500)).to_string(), "123.712us");
//! # Ok::<(), tightlink_units::TextError>(())
//! ```

mod bytes;
mod fraction;
pub mod random;
mod rate;
mod text;
mod time;

pub use bytes::Bytes;
pub use fraction::Fraction;
pub use rate::Rate;
pub use text::{TextError, split_quantity};
pub use time::{Span, Time};

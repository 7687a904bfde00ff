//! The first slow start of a transfer on a path with one drop-tail bottleneck, `[buffers]`: the windows at which the
//! buffer overflows and at which the sender detects that. The threshold after that and a file's duration follow from
//! them.
//!
//! The path has a bottleneck of rate `mu` (segments per second), with room for `B` segments, the one being sent
//! included. Its round-trip time is `T` without queueing, one segment's service included. In a round trip the window
//! grows by a share `1/d` of itself. If the receiver acknowledges every second segment, `d` is 2, unless the sender
//! counts bytes: then `d` is 1.
//!
//! ```text
//! alpha = (d+1)/d                                            growth of the window per round trip
//! alpha^(nB-1) < B (d+1) <= alpha^nB                         nB: the first round trip whose burst can overflow the buffer
//! WB  = B + min(mu T, alpha^(nB-1))                          Theorem 1
//! WD  = min(Wth, alpha WB)                                   equation 5
//! Wth' = WD/8                                                three halvings
//! ```
//! A burst reaches the buffer at `alpha mu` and leaves it at `mu`, so it overflows `B` after `B (d+1)` segments. Below
//! `B = mu T/d` that happens before the window fills the path: [`burst_buffer`].
//!
//! [`transfer()`] follows one transfer to its end. It counts in whole segments, and includes the timer of delayed
//! acknowledgements. `slow_start/clock.rs` is the slow start up to the discovery of its losses, `slow_start/repair.rs`
//! their repair, and `slow_start/rounds.rs` everything after that, round trip by round trip. `docs/papers/slowstart.md`
//! compares the results with ns-2 and the simulator.
//!
//! ```
//! use tightlink_model::slow_start::{Growth, Path, overflow_window};
//! use units::{Bytes, Rate, Span};
//! let path = Path {
//!     capacity: Rate::from_bps(1_500_000),
//!     segment: Bytes::new(512),
//!     rtt: Span::from_millis(200),
//!     buffer: Bytes::new(20 * 512),
//! };
//! assert_eq!(overflow_window(&path, Growth::per_acknowledgement(1)).unwrap(), 52.0); // 32 + 20
//! ```

mod clock;
mod repair;
mod rounds;
mod transfer;

pub use repair::Repair;
pub use transfer::{Connection, FirstLoss, Transfer, transfer};

use crate::OutOfRange;
use units::{Bytes, Rate, Span};

/// The most segments that path and buffer may hold together, because the computation takes as many steps.
pub const MOST_SEGMENTS: f64 = 1e6;

/// The most segments that one acknowledgement may cover.
pub const MOST_COVERED: u64 = 100;

/// The divisor of the paper's three halvings, `[buffers:II.B]`. Reno halves its window for each of two losses that
/// duplicate acknowledgements reveal, and for the timeout that reveals the third.
const THREE_HALVINGS: f64 = 8.0;

/// A path with one drop-tail bottleneck.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Path {
    /// The capacity of the bottleneck on the wire; above zero.
    pub capacity: Rate,
    /// A full segment on the wire; above zero.
    pub segment: Bytes,
    /// `T`: the round trip without queueing, the service of one segment included.
    pub rtt: Span,
    /// `B`: the room at the bottleneck, the segment being sent included; at least one segment.
    pub buffer: Bytes,
}

impl Path {
    /// Returns the service time of a segment, seconds: `1/mu`.
    #[must_use]
    pub fn service(&self) -> f64 {
        self.segment.bits_f64() / self.capacity.as_bps_f64()
    }

    /// Returns the bandwidth-delay product in segments: `mu T`.
    #[must_use]
    pub fn pipe(&self) -> f64 {
        self.rtt.as_secs_f64() / self.service()
    }

    /// Returns `B` in segments.
    #[must_use]
    pub fn room(&self) -> f64 {
        self.buffer.get() as f64 / self.segment.get() as f64
    }

    /// Checks that each field is in its range.
    ///
    /// # Errors
    /// Returns the first field that is not, with its range.
    pub fn check(&self) -> Result<(), OutOfRange> {
        OutOfRange::unless(self.capacity > Rate::ZERO, "capacity", self.capacity, "above 0")?;
        OutOfRange::unless(self.segment > Bytes::ZERO, "segment", self.segment, "above 0")?;
        OutOfRange::unless(self.pipe() >= 1.0, "rtt", self.rtt, "the service time of a segment, or more")?;
        OutOfRange::unless(self.room() >= 1.0, "buffer", self.buffer, "one segment, or more")?;
        let held = self.pipe() + self.room();
        let few = held <= MOST_SEGMENTS;
        OutOfRange::unless(few, "held by path and buffer", held.round(), "1000000 segments, or fewer")?;
        Ok(())
    }
}

/// The rate at which acknowledgements let a window grow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Growth {
    /// Segments per acknowledgement, 1 to [`MOST_COVERED`].
    pub delayed_ack: u64,
    /// The most segments that one acknowledgement may count for in slow start, the L of RFC 3465. With 0 the sender
    /// counts acknowledgements and not bytes, also in congestion avoidance.
    pub byte_counting: u64,
}

impl Growth {
    /// Creates the growth of a sender that counts acknowledgements, for a receiver that acknowledges every `d`
    /// segments.
    #[must_use]
    pub const fn per_acknowledgement(d: u64) -> Self {
        Self { delayed_ack: d, byte_counting: 0 }
    }

    /// Returns the segments by which one acknowledgement of a full burst widens the window in slow start.
    #[must_use]
    pub fn counted(&self) -> u64 {
        self.byte_counting.clamp(1, self.delayed_ack.max(1))
    }

    /// Returns `d` of slow start: the window grows by a share of `1/d` per round trip.
    #[must_use]
    pub fn slow_start(&self) -> f64 {
        self.delayed_ack as f64 / self.counted() as f64
    }

    /// Returns `d` of congestion avoidance: the window grows by `1/d` segments per round trip.
    #[must_use]
    pub fn avoidance(&self) -> f64 {
        if self.byte_counting == 0 { self.delayed_ack as f64 } else { 1.0 }
    }

    /// Returns `alpha = (d+1)/d` of slow start.
    #[must_use]
    pub fn factor(&self) -> f64 {
        1.0 + 1.0 / self.slow_start()
    }

    /// Checks that the number of segments per acknowledgement is in its range.
    ///
    /// # Errors
    /// Returns the range if it is not.
    pub fn check(&self) -> Result<(), OutOfRange> {
        let fits = (1..=MOST_COVERED).contains(&self.delayed_ack);
        OutOfRange::unless(fits, "delayed_ack", self.delayed_ack, "from 1 to 100")?;
        Ok(())
    }
}

/// Returns `alpha^(nB-1)`: the window one round trip before the first burst that overflows an empty buffer with room
/// for `room` segments.
fn window_before(room: f64, growth: Growth) -> f64 {
    let burst = room * (growth.slow_start() + 1.0);
    let (mut before, mut window) = (1.0 / growth.factor(), 1.0);
    while window < burst {
        (before, window) = (window, window * growth.factor());
    }
    before
}

/// Returns the window at which the buffer overflows in a slow start from one segment, segments, `[buffers:theorem1]`.
///
/// ```text
/// alpha^(nB-1) < B (d+1) <= alpha^nB
/// WB = B + min(mu T, alpha^(nB-1))
/// ```
/// `B` and `mu T` are the path's [`room`](Path::room) and [`pipe`](Path::pipe), `d` that of slow start. The theorem
/// takes every round trip as one burst. In fact the timer of delayed acknowledgements splits a burst in two, which
/// [`transfer()`] includes.
///
/// # Errors
/// If a value of `path` or `growth` is out of range.
pub fn overflow_window(path: &Path, growth: Growth) -> Result<f64, OutOfRange> {
    path.check()?;
    growth.check()?;
    Ok(path.room() + path.pipe().min(window_before(path.room(), growth)))
}

/// Returns the least buffer that overflows at no less than `window` segments, the inverse of [`overflow_window`]; at
/// least one segment. The overflow window rises with the buffer, and jumps where `nB` rises.
///
/// The path's own buffer is not used.
///
/// # Errors
/// If a value of `path` or `growth` is out of range, or `window` is not above zero or exceeds [`MOST_SEGMENTS`].
pub fn buffer_for(path: &Path, growth: Growth, window: f64) -> Result<Bytes, OutOfRange> {
    let path = Path { buffer: path.segment, ..*path };
    path.check()?;
    growth.check()?;
    let fits = window > 0.0 && window <= MOST_SEGMENTS;
    OutOfRange::unless(fits, "window", window, "above 0, up to 1000000 segments")?;
    let mut before = window_before(1.0, growth);
    let mut least: f64 = 1.0;
    loop {
        // For a room from `least` to `most`, `window_before` is `before`.
        let most = (before * growth.factor() / (growth.slow_start() + 1.0)).max(least);
        let room = (window - path.pipe().min(before)).max(least);
        if room <= most {
            let buffer = Bytes::new((room * path.segment.get() as f64).ceil() as u64);
            let enough = buffer.get() as f64 / path.segment.get() as f64;
            let reached = enough + path.pipe().min(window_before(enough, growth));
            // A room of exactly `least` still has the window of the step below, so that a byte more is needed.
            return Ok(if reached < window { buffer + Bytes::new(1) } else { buffer });
        }
        (least, before) = (most, before * growth.factor());
    }
}

/// Returns the window at which the loss is detected, one round trip after the overflow, segments, `[buffers:eq5]`.
///
/// ```text
/// WD = min(Wth, alpha WB)
/// ```
/// `WB` = `overflow`, `Wth` = `threshold`, infinite if slow start has none. The paper prints `W'th` for `Wth`.
///
/// # Errors
/// If a value of `growth` is out of range, the overflow is not from 0 to 2000000 segments, or the threshold is not
/// above 0.
pub fn detection_window(overflow: f64, threshold: f64, growth: Growth) -> Result<f64, OutOfRange> {
    growth.check()?;
    segments("overflow window", overflow)?;
    OutOfRange::unless(threshold > 0.0, "threshold", threshold, "above 0, or infinite")?;
    Ok(threshold.min(growth.factor() * overflow))
}

fn segments(what: &'static str, window: f64) -> Result<f64, OutOfRange> {
    OutOfRange::unless(
        (0.0..=2.0 * MOST_SEGMENTS).contains(&window),
        what,
        window,
        "from 0 to 2000000 segments",
    )
}

/// Returns the slow-start threshold after the recovery, segments, `[buffers:II.B]`.
///
/// ```text
/// Wth' = WD/8
/// ```
/// `WD` = `detection`. The paper's Reno finds two losses by duplicate acknowledgements and the third by a timeout, and
/// halves its window each time. A Reno that repairs one loss per window by duplicate acknowledgements, such as ns-2's,
/// halves it twice: `WD/4`.
///
/// # Errors
/// If the window is not from 0 to 2000000 segments.
pub fn next_threshold(detection: f64) -> Result<f64, OutOfRange> {
    Ok(segments("detection window", detection)? / THREE_HALVINGS)
}

/// Returns the room below which bursts overflow the buffer before the window fills the path, segments,
/// `[buffers:II.B]`.
///
/// ```text
/// B = mu T/d
/// ```
/// # Errors
/// If a value of `path` or `growth` is out of range.
pub fn burst_buffer(path: &Path, growth: Growth) -> Result<f64, OutOfRange> {
    path.check()?;
    growth.check()?;
    Ok(path.pipe() / growth.slow_start())
}

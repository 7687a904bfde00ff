//! A transfer from its first segment to the acknowledgement of its last.

use super::clock::{Clock, End, Peaks};
use super::repair::{Repair, repair};
use super::rounds::Rounds;
use super::{Growth, MOST_SEGMENTS, Path};
use crate::OutOfRange;
use units::Span;

/// The number of segments that are followed one by one if no loss ends the slow start, and the hosts limit the window.
const MOST_FOLLOWED: u64 = 1_000_000;

/// A transfer that is alone on its path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Connection {
    /// The number of its full segments; at least one.
    pub segments: u64,
    /// The rate at which acknowledgements let its window grow.
    pub growth: Growth,
    /// The time for which an acknowledgement may wait for more segments.
    pub delayed_ack_timeout: Span,
    /// The window at the start, segments; at least one.
    pub initial_window: u64,
    /// The largest window that the hosts' buffers allow, segments; at least one, infinite for no limit.
    pub most: f64,
    /// `Wth`: the slow-start threshold at the start, segments, at least one; infinite for none.
    pub threshold: f64,
    /// The way in which several losses of one window are repaired.
    pub repair: Repair,
    /// The least retransmission timeout.
    pub min_rto: Span,
    /// The retransmission timeout before the first round-trip sample.
    pub initial_rto: Span,
    /// True if every acknowledgement gives a round-trip sample; otherwise one segment is timed at a time.
    pub timestamps: bool,
}

impl Connection {
    /// Creates a transfer of `segments` as in ns-2: a window of one segment at the start, no threshold, a timer of 100
    /// ms for delayed acknowledgements, and no time stamps.
    #[must_use]
    pub const fn new(segments: u64, growth: Growth, repair: Repair) -> Self {
        Self {
            segments,
            growth,
            delayed_ack_timeout: Span::from_millis(100),
            initial_window: 1,
            most: f64::INFINITY,
            threshold: f64::INFINITY,
            repair,
            min_rto: Span::from_millis(200),
            initial_rto: Span::from_secs(3),
            timestamps: false,
        }
    }

    fn check(&self) -> Result<(), OutOfRange> {
        self.growth.check()?;
        OutOfRange::unless(self.segments >= 1, "segments", self.segments, "1 or more")?;
        let fits = (1..=MOST_SEGMENTS as u64).contains(&self.initial_window);
        OutOfRange::unless(fits, "initial_window", self.initial_window, "from 1 to 1000000 segments")?;
        // Infinity stands for no limit; NaN does not pass.
        OutOfRange::unless(self.threshold >= 1.0, "threshold", self.threshold, "1 segment, or more")?;
        OutOfRange::unless(self.most >= 1.0, "largest window", self.most, "1 segment, or more")?;
        Ok(())
    }
}

/// The result of a transfer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Transfer {
    /// The time from its first segment to the acknowledgement of its last.
    pub completion: Span,
    /// The first loss of its slow start; `None` if it has none.
    pub first_loss: Option<FirstLoss>,
    /// True if it ended in its slow start without loss.
    pub in_slow_start: bool,
    /// The largest window of its slow start with which a segment was sent, segments.
    pub peak_window: f64,
    /// The longest time for which a segment of its slow start waited at the bottleneck.
    pub longest_wait: Span,
    /// The slow-start threshold at the end, segments; infinite if it has none.
    pub threshold: f64,
    /// Segments lost.
    pub lost: u64,
    /// Segments sent again.
    pub resent: u64,
    /// The number of expiries of the retransmission timer.
    pub timeouts: u64,
}

/// The first loss of a slow start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FirstLoss {
    /// The time at which the lost segment was sent.
    pub at: Span,
    /// `WB`: the window when the lost segment was sent, segments.
    pub overflow_window: f64,
    /// `WD`: the window at the third duplicate acknowledgement, segments; `None` if too few came.
    pub detection_window: Option<f64>,
}

/// Follows `connection` on `path`: its slow start by the clock of its acknowledgements, then the repair of its losses.
/// Congestion avoidance is computed round trip by round trip.
///
/// - Up to the detection of the first losses the result is exact, except for events at the same instant.
/// - Only a timeout interrupts a repair. Losses among the repairs are left out, and so are the bursts that leave when
///   one acknowledgement covers many segments. With a small buffer both cost one or more further timeouts.
/// - In congestion avoidance an overflow costs one segment and half of the window.
///
/// # Errors
/// If a value of `path` or `connection` is out of range.
pub fn transfer(path: &Path, connection: &Connection) -> Result<Transfer, OutOfRange> {
    path.check()?;
    connection.check()?;
    let (end, seen) = followed(path, connection);
    let first_loss = match &end {
        End::Loss(loss) => Some(FirstLoss {
            at: Span::from_secs_f64(loss.at),
            overflow_window: loss.overflow,
            detection_window: loss.detected.map(|_| loss.window),
        }),
        End::Done(_) | End::Threshold { .. } => None,
    };
    let mut rounds = match &end {
        End::Threshold { at, sent } => Rounds::new(path, connection, *at, *sent),
        End::Done(_) | End::Loss(_) => Rounds::new(path, connection, 0.0, 0),
    };
    let completion = match &end {
        End::Done(at) => *at,
        End::Threshold { .. } => rounds.run(),
        End::Loss(loss) => repair(connection.repair, loss, &mut rounds).unwrap_or_else(|| rounds.run()),
    };
    // Round trips overlap where two parts of the computation meet. So the time is at least the link's time for all
    // segments.
    let least = (connection.segments - 1) as f64 * path.service() + path.rtt.as_secs_f64();
    Ok(Transfer {
        completion: Span::from_secs_f64(completion.max(least)),
        first_loss,
        in_slow_start: matches!(end, End::Done(_)) && first_loss.is_none(),
        peak_window: seen.peak,
        longest_wait: Span::from_secs_f64(seen.waited),
        threshold: rounds.threshold,
        lost: rounds.lost,
        resent: rounds.resent,
        timeouts: rounds.timeouts,
    })
}

/// Follows the slow start of `connection`. If the hosts limit the window of a long file, only its first segments are
/// followed, because all later round trips are alike.
fn followed(path: &Path, connection: &Connection) -> (End, Peaks) {
    let followed = connection.segments.min(MOST_FOLLOWED);
    if followed < connection.segments && connection.most.is_finite() {
        let (end, seen) = Clock::new(path, &Connection { segments: followed, ..*connection }).run();
        if let End::Done(at) = end {
            let each = (path.rtt.as_secs_f64() / connection.most.floor()).max(path.service());
            return (End::Done(at + (connection.segments - followed) as f64 * each), seen);
        }
    }
    Clock::new(path, connection).run()
}

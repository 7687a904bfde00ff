//! The limit of a connection whose receiver is tuned, as far as the receiver can see it.
//!
//! The receiver knows the window that it grants, the goodput and the round-trip time. The product of the last two is
//! the data in flight. If that is a small part of the window, the window is not the limit. A standing queue or losses
//! then show that the path is. Without either, the programs limit themselves: ssh, for example, has a window of its own
//! in each channel.

use crate::window::advertisable;
use host::TcpInfo;
use units::{Bytes, Rate, Span};

/// The least share of the window in flight with which the window is the limit. The kernel leaves up to a quarter free
/// behind a send buffer or a queue at the receiver.
const FULL: f64 = 0.7;
/// The share of the window in flight below which the window is not the limit.
const EMPTY: f64 = 0.5;
/// The share of the least round trip above which the excess of the mean shows a queue. The excess must also be above
/// [`QUEUE`].
const QUEUE_SHARE: f64 = 0.1;
/// The excess of the mean round trip over the least one above which there is a queue. The kernel's estimate has steps
/// of 1 ms.
const QUEUE: Span = Span::from_millis(2);
/// The thousands of bytes received for which one segment may be out of order without a loss.
const STRAY: u64 = 10_000;

/// The limit of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionLimit {
    /// The receive window.
    Window,
    /// The receive window, which cannot be larger because of the scale of the handshake.
    Scale,
    /// The programs at the ends: a window or a buffer of their own.
    Programs,
    /// The path: it has a standing queue or losses.
    Path,
}

impl ConnectionLimit {
    /// Returns its name in results.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Window => "receive-window",
            Self::Scale => "window-scale",
            Self::Programs => "programs",
            Self::Path => "path",
        }
    }
}

/// A summary of the readings of one connection at its receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ReadingSummary {
    least: Option<Span>,
    /// The sum of the round-trip times, seconds.
    sum: f64,
    /// The number of round-trip times in the sum.
    count: u64,
    /// The count of segments out of order at the first reading and at the last.
    strays: (Option<u32>, u32),
    /// The bytes received at the first reading and at the last.
    received: (Option<u64>, u64),
}

impl ReadingSummary {
    /// Adds a reading.
    pub fn observe(&mut self, info: &TcpInfo) {
        self.add_reading(info.rcv_rtt, info.rcv_ooopack.unwrap_or(0), info.bytes_received);
    }

    fn add_reading(&mut self, round_trip: Option<Span>, strays: u32, received: Bytes) {
        if let Some(round_trip) = round_trip {
            self.least = Some(self.least.map_or(round_trip, |least| least.min(round_trip)));
            self.sum += round_trip.as_secs_f64();
            self.count += 1;
        }
        self.strays = (Some(self.strays.0.unwrap_or(strays)), strays);
        self.received = (Some(self.received.0.unwrap_or(received.get())), received.get());
    }

    /// Returns the mean of the round-trip times.
    fn mean(&self) -> Option<Span> {
        (self.count > 0).then(|| Span::from_secs_f64(self.sum / self.count as f64))
    }

    /// Returns true if the readings show a standing queue or losses.
    fn shows_the_path(&self) -> bool {
        let queue = self
            .mean()
            .zip(self.least)
            .is_some_and(|(mean, least)| mean.saturating_sub(least) > QUEUE.max(least.scale(QUEUE_SHARE)));
        let strays = u64::from(self.strays.1.saturating_sub(self.strays.0.unwrap_or(0)));
        let received = self.received.1.saturating_sub(self.received.0.unwrap_or(0));
        queue || strays > received / 1000 / STRAY + 2
    }
}

/// Finds what limits a connection of this goodput and window, and the mean data in flight. `largest`: the window cannot
/// be larger. Returns `None` if the round trip is unknown, or if the share of the window in flight shows no limit.
#[must_use]
pub fn held(
    goodput: Rate,
    window: Bytes,
    largest: bool,
    seen: &ReadingSummary,
) -> Option<(ConnectionLimit, Bytes)> {
    let flight = goodput.volume(seen.mean()?);
    if goodput == Rate::ZERO || window == Bytes::ZERO {
        return None;
    }
    let share = flight.get() as f64 / window.get() as f64;
    let held = match share {
        full if full >= FULL && largest => ConnectionLimit::Scale,
        full if full >= FULL => ConnectionLimit::Window,
        _ if seen.shows_the_path() => ConnectionLimit::Path,
        empty if empty < EMPTY => ConnectionLimit::Programs,
        _ => return None,
    };
    Some((held, flight))
}

/// The measurements of a connection before it was taken over.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EarlierMeasurements {
    /// The bytes received per time.
    pub goodput: Rate,
    /// The window that it advertised.
    pub window: Bytes,
    /// The receiver's estimate of the round trip; `None` if unknown.
    pub round_trip: Option<Span>,
    /// The limit, if the use of the window shows it.
    pub held: Option<ConnectionLimit>,
}

impl EarlierMeasurements {
    /// Makes the summary with a goodput that was measured for a moment.
    #[must_use]
    pub fn of(info: &TcpInfo, goodput: Rate) -> Self {
        let largest = advertisable(info);
        let window = info.rcv_wnd.unwrap_or(largest).min(largest);
        let mut seen = ReadingSummary::default();
        seen.observe(info);
        // One reading shows neither a queue nor losses, so it cannot distinguish a limit of the programs from one of
        // the path.
        let held = held(goodput, window, window >= largest, &seen).map(|(held, _)| held);
        let held = held.filter(|held| matches!(held, ConnectionLimit::Window | ConnectionLimit::Scale));
        Self { goodput, window, round_trip: info.rcv_rtt, held }
    }
}

#[cfg(test)]
#[path = "../../tests/within/verdict.rs"]
mod tests;

//! A queue's room in packets, bytes, time and bandwidth-delay products. All conversions between them are here, and
//! [`mean_rtt`] is the only mean round-trip time.

use link::Limit;
use scenario::spec;
use serde::Serialize;
use std::fmt;
use units::{Bytes, Rate, Span};

/// The surroundings of a queue, which determine the conversion between units of its room.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RoomScale {
    /// Rate of the link behind the queue; zero if unknown, as in a wireless cell.
    pub rate: Rate,
    /// Mean base RTT of the flows that cross the link; zero without such flows.
    pub mean_rtt: Span,
    /// Mean length of the packets that come to the queue.
    pub packet: Bytes,
}

impl RoomScale {
    /// Returns the room that a scenario's `limit` stands for.
    ///
    /// ```
    /// use scenario::Limit::{Bdp, Time};
    /// use tightlink_lab::run::resolve::RoomScale;
    /// use units::{Bytes, Rate, Span};
    /// let scale = RoomScale {
    ///     rate: Rate::from_bps(10_000_000),
    ///     mean_rtt: Span::from_millis(40),
    ///     packet: Bytes::new(1500),
    /// };
    /// assert_eq!(scale.limit(Bdp(0.5)), link::Limit::Bytes(Bytes::new(25_000)));
    /// assert_eq!(scale.limit(Time(Span::from_millis(20))), link::Limit::Bytes(Bytes::new(25_000)));
    /// ```
    #[must_use]
    pub fn limit(&self, limit: spec::Limit) -> Limit {
        match limit {
            spec::Limit::Packets(packets) => Limit::Packets(packets),
            spec::Limit::Bytes(bytes) => Limit::Bytes(bytes),
            spec::Limit::Time(time) => Limit::Bytes(self.rate.volume(time)),
            spec::Limit::Bdp(share) => Limit::Bytes(self.rate.volume(self.mean_rtt).scale(share)),
        }
    }

    /// Returns the bytes of `limit`. If it counts packets, each has the mean length.
    #[must_use]
    pub fn bytes(&self, limit: Limit) -> Bytes {
        match limit {
            Limit::Bytes(bytes) => bytes,
            Limit::Packets(packets) => self.packet * packets,
        }
    }

    /// Returns the number of packets of mean length in `limit`.
    #[must_use]
    pub fn packets(&self, limit: Limit) -> f64 {
        limit.in_packets(self.packet)
    }

    /// Returns the seconds that the link takes to send `bytes`; `None` without a rate.
    #[must_use]
    pub fn seconds(&self, bytes: f64) -> Option<f64> {
        let rate = self.rate.as_bps_f64() / 8.0;
        (rate > 0.0).then(|| bytes / rate)
    }

    /// Returns `bytes` as a share of the rate times the mean RTT; `None` if either is zero.
    #[must_use]
    pub fn bdp(&self, bytes: f64) -> Option<f64> {
        let product = self.rate.as_bps_f64() / 8.0 * self.mean_rtt.as_secs_f64();
        (product > 0.0).then(|| bytes / product)
    }

    /// Returns the room of this number of packets of mean length in every unit.
    #[must_use]
    pub fn room(&self, packets: u64) -> Room {
        let bytes = self.packet * packets;
        let exact = bytes.get() as f64;
        Room {
            packets,
            bytes: bytes.get(),
            seconds: self.seconds(exact).unwrap_or_default(),
            bdp: self.bdp(exact),
        }
    }
}

/// A queue's room in packets, bytes, the time that the link takes to send them, and bandwidth-delay products.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Room {
    /// Whole packets of the mean length.
    pub packets: u64,
    /// The same in bytes.
    pub bytes: u64,
    /// The time to send them, seconds.
    pub seconds: f64,
    /// The same as a share of the link's rate times the mean base RTT of the flows that cross it. If RTTs are drawn,
    /// the mean is that of the drawn ones. `None` without such flows.
    pub bdp: Option<f64>,
}

impl fmt::Display for Room {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let plural = if self.packets == 1 { "" } else { "s" };
        let (bytes, time) = (Bytes::new(self.bytes).rounded(), Span::from_secs_f64(self.seconds).rounded());
        write!(f, "{} packet{plural} = {bytes} = {time}", self.packets)?;
        match self.bdp {
            Some(bdp) if bdp >= 0.1 => write!(f, " = {} bdp", (bdp * 100.0).round() / 100.0),
            Some(bdp) => write!(f, " = {} bdp", (bdp * 10_000.0).round() / 10_000.0),
            None => Ok(()),
        }
    }
}

/// Returns the mean of the base RTTs of flows; zero if there are none.
pub(super) fn mean_rtt(rtts: impl Iterator<Item = Span>) -> Span {
    let (sum, count) = rtts.fold((Span::ZERO, 0u64), |(sum, count), rtt| (sum + rtt, count + 1));
    sum / count.max(1)
}

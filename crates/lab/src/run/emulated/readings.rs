//! [`PathReadings`]: the rate, the queue and the round trip of a path, from samples of its links.

use super::{base_rtt, time_of};
use crate::run::record::OfferedRate;
use emu::{LinkSample, PathConfig, PathSample};
use serde::{Deserialize, Serialize};
use units::{Rate, Span};

/// One direction of a path, over the interval that ends with a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct WayReading {
    /// The end of the interval, seconds from the program's start.
    pub t_s: f64,
    /// Rate at which the link sent, headers included, bits per second.
    pub rate_bps: f64,
    /// The time to send the data that waits at the end of the interval, seconds.
    pub delay_s: f64,
    /// Packets dropped.
    pub drops: f64,
    /// The rate that the link offered, bits per second, if it changes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub offered_bps: Option<f64>,
}

/// A path over the interval that ends with a sample.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PathReading {
    /// The direction from the near end to the far end.
    pub to_far: WayReading,
    /// The direction back, if it has a link.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from_far: Option<WayReading>,
    /// The round trip of a packet that enters now: the base RTT and the waits in both queues, seconds.
    pub rtt_s: f64,
}

/// The readings of one direction. Each needs the sample before.
#[derive(Clone, Debug)]
pub(super) struct WayReadings {
    rate: Rate,
    before: Option<(f64, Span, u64)>,
    offered: OfferedRate,
}

impl WayReadings {
    /// Makes the readings from the program's start on.
    pub(super) fn from_start(rate: Rate) -> Self {
        Self { rate, before: Some((0.0, Span::ZERO, 0)), offered: OfferedRate::default() }
    }

    /// Returns the reading at a sample; `None` at the first one of readings that began later than the program.
    pub(super) fn next(&mut self, sample: &LinkSample) -> Option<WayReading> {
        let at = sample.at.as_secs_f64();
        let offered_bps = sample.changing.map(|changing| self.offered.next(sample.at, changing.offered));
        let (began, busy, drops) = self.before.replace((at, sample.busy, sample.drops_total))?;
        let busy = sample.busy.saturating_sub(busy).as_secs_f64();
        let share = if at > began { busy / (at - began) } else { 0.0 };
        // A link whose rate changes can be above its mean for a while.
        let share = if sample.changing.is_some() { share } else { share.min(1.0) };
        let delay_s = match sample.changing {
            Some(changing) => changing.drains.as_secs_f64(),
            None => time_of(self.rate, sample.backlog.bytes),
        };
        Some(WayReading {
            t_s: at,
            rate_bps: share * self.rate.as_bps_f64(),
            delay_s,
            drops: sample.drops_total.saturating_sub(drops) as f64,
            offered_bps,
        })
    }
}

/// The readings of a path while it runs.
#[derive(Clone, Debug)]
pub struct PathReadings {
    to_far: WayReadings,
    from_far: Option<WayReadings>,
    base_rtt: Span,
}

impl PathReadings {
    /// Makes the readings of a path with this configuration. They may begin at any time.
    #[must_use]
    pub fn of(path: &PathConfig) -> Self {
        let way = |rate| WayReadings { before: None, ..WayReadings::from_start(rate) };
        Self {
            to_far: way(path.link.rate),
            from_far: path.back.as_ref().map(|back| way(back.rate)),
            base_rtt: base_rtt(path),
        }
    }

    /// Returns the reading at a sample; `None` at the first one.
    pub fn next(&mut self, sample: &PathSample) -> Option<PathReading> {
        let to_far = self.to_far.next(&sample.to_far);
        let from_far = self.from_far.as_mut().zip(sample.from_far.as_ref());
        let from_far = from_far.map(|(readings, sample)| readings.next(sample));
        let (to_far, from_far) = (to_far?, from_far.flatten());
        let waits = to_far.delay_s + from_far.map_or(0.0, |way| way.delay_s);
        Some(PathReading { to_far, from_far, rtt_s: self.base_rtt.as_secs_f64() + waits })
    }
}

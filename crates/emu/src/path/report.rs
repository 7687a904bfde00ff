//! What a path reports: the link's own measures, samples, flows, and how far the run can be trusted.

use super::time::Stalls;
use crate::flow::{FlowCount, FlowKey};
use link::{Backlog, Histogram, LinkReport};
use units::{Span, Time};

/// The tight link at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSample {
    /// When, from [`Path::begin`](crate::Path::begin).
    pub at: Time,
    /// What waited.
    pub backlog: Backlog,
    /// Drops since [`Path::begin`](crate::Path::begin), cross traffic's included.
    pub drops_total: u64,
    /// Arrivals, counted likewise.
    pub arrivals_total: u64,
    /// Time the link was sending since measurement began; before that, since the path started.
    pub busy: Span,
}

/// How much later than due packets were handed over, in the measured interval. Zero counts as on time; packets
/// may be up to 50 us early, with the one they travel with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Packets (segments) delivered, both directions.
    pub packets: u64,
    /// Mean over all of them.
    pub mean: Span,
    /// The lateness that 99 % do not exceed, to within 1 %.
    pub p99: Span,
    /// The worst.
    pub max: Span,
}

impl Lateness {
    pub(super) fn of(histogram: &Histogram) -> Self {
        Self {
            packets: histogram.count(),
            mean: histogram.mean().unwrap_or_default(),
            p99: histogram.quantile(0.99).unwrap_or_default(),
            max: histogram.max(),
        }
    }
}

/// What happened on a path.
#[derive(Clone, Debug)]
pub struct PathReport {
    /// The tight link, cross traffic included, over the measured interval.
    pub link: LinkReport,
    /// The reverse link of a mirrored path.
    pub reverse: Option<LinkReport>,
    /// The backlog every so often, from [`Path::begin`](crate::Path::begin) on.
    pub samples: Vec<LinkSample>,
    /// Real packets that met the tight link, per flow, over the measured interval.
    pub flows: Vec<(FlowKey, FlowCount)>,
    /// How punctual deliveries were.
    pub lateness: Lateness,
    /// How long the machine did not run the emulator; the path stood still meanwhile.
    pub stalls: Stalls,
    /// Packets of the sender that its device dropped before the emulator read them: should be 0.
    pub lost_before_link: u64,
    /// Packets the emulator could not carry or the receiving kernel refused: should be 0.
    pub refused: u64,
    /// Packets that went back from receiver to sender, as the kernel handed them over.
    pub reverse_packets: u64,
    /// The emulator thread's CPU time over its whole life, and how long that was.
    pub cpu: Span,
    /// See [`PathReport::cpu`].
    pub lived: Span,
    /// Conditions to report with a result, such as a missing real-time priority.
    pub notes: Vec<String>,
}

/// Standing still for less than this share of the time is not worth a word: it is regained.
const STALLED_FLOOR: f64 = 0.005;
/// A path that stood still for more than this share of the time makes a result doubtful.
const STALLED_SHARE: f64 = 0.1;
/// Deliveries later than this share of the base RTT make a result doubtful.
const LATE_SHARE: f64 = 0.02;
/// But nothing below this is held against a run.
const LATE_FLOOR: Span = Span::from_micros(200);

impl PathReport {
    /// All real packets that met the tight link.
    #[must_use]
    pub fn real(&self) -> FlowCount {
        let mut all = FlowCount::default();
        for (_, flow) in &self.flows {
            all.arrived += flow.arrived;
            all.arrived_bytes += flow.arrived_bytes;
            all.dropped += flow.dropped;
            all.dropped_bytes += flow.dropped_bytes;
        }
        all
    }

    /// The rate at which the link sent over the measured interval, all traffic, in bits per second.
    #[must_use]
    pub fn forwarded_bps(&self) -> f64 {
        self.link.forwarded_bytes.bits_f64() / self.link.measured.as_secs_f64().max(1e-9)
    }

    /// How long the path stood still, if that is worth a word: rates on the real clock are lower by that share.
    #[must_use]
    pub fn stalled(&self) -> Option<String> {
        let Stalls { count, total, longest } = self.stalls;
        let measured = self.link.measured;
        (total > measured.scale(STALLED_FLOOR)).then(|| {
            format!(
                "the path stood still for {total} of {measured} while the machine did not run the emulator \
                 ({count} times, {longest} at the longest)"
            )
        })
    }

    /// Why this result should not be trusted, if it should not: late deliveries mean the machine was too busy,
    /// and packets lost outside the emulated queue were not the queue's doing.
    #[must_use]
    pub fn doubts(&self, base_rtt: Span) -> Vec<String> {
        let mut doubts = Vec::new();
        let allowed = base_rtt.scale(LATE_SHARE).max(LATE_FLOOR);
        if self.stalls.total > self.link.measured.scale(STALLED_SHARE) {
            doubts.push(format!(
                "the machine was too busy: it did not run the emulator for {:.0} % of the time; close other programs, or \
                 lower the rate",
                100.0 * self.stalls.total.as_secs_f64() / self.link.measured.as_secs_f64()
            ));
        }
        if self.lateness.p99 > allowed {
            doubts.push(format!(
                "the machine was too busy: 1 % of deliveries were over {} late (allowed {allowed}); \
                 close other programs, or lower the rate",
                self.lateness.p99
            ));
        }
        if self.lost_before_link > 0 {
            doubts.push(format!(
                "{} packets were lost in the sender's device, before the emulated queue",
                self.lost_before_link
            ));
        }
        if self.refused > 0 {
            doubts.push(format!("{} packets could not be carried or delivered", self.refused));
        }
        doubts
    }
}

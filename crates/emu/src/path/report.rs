//! The report of a path: the link's own measures, samples, flows, and how far the run can be trusted.

use super::doubt::Doubt;
use super::hosts::HostReport;
use super::time::{REGAIN, Stalls};
use crate::flow::{FlowCount, FlowKey};
use link::{Backlog, Histogram, LinkReport, SynchronizedLosses};
use units::{Rate, Span, Time};

/// The tight link at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkSample {
    /// The time since [`Path::begin`](crate::Path::begin).
    pub at: Time,
    /// The waiting data.
    pub backlog: Backlog,
    /// Drops since [`Path::begin`](crate::Path::begin), cross traffic's included.
    pub drops_total: u64,
    /// Arrivals, counted in the same way.
    pub arrivals_total: u64,
    /// The time for which the link was sending since measurement began; before that, since the path started.
    pub busy: Span,
    /// The part of the link's state that only a link has whose rate changes, counted as `busy` is.
    pub changing: Option<link::Changing>,
}

/// Both directions of a path at one moment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSample {
    /// The direction from sender to receiver.
    pub to_far: LinkSample,
    /// The direction back, if it has a link.
    pub from_far: Option<LinkSample>,
}

/// The time between a packet's due time and its delivery, in the measured interval. Zero counts as on time; packets may
/// be up to 50 us early, with the group that they belong to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lateness {
    /// Packets (segments) delivered, both directions.
    pub packets: u64,
    /// Mean over all of them.
    pub mean: Span,
    /// The lateness that 99 % do not exceed, to within 1 %.
    pub p99: Span,
    /// The greatest lateness.
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

/// The report of a path.
#[derive(Clone, Debug)]
pub struct PathReport {
    /// The time of [`Path::begin`](crate::Path::begin), counted from 1970. A capture has the same clock.
    pub began: Time,
    /// The tight link, cross traffic included, over the measured interval.
    pub link: LinkReport,
    /// The link back, of a path that has one.
    pub reverse: Option<LinkReport>,
    /// The backlog at regular intervals, from [`Path::begin`](crate::Path::begin) on.
    pub samples: Vec<LinkSample>,
    /// The same samples of the link back, of a path that has one.
    pub back_samples: Vec<LinkSample>,
    /// Real packets that met the tight link, per flow, over the measured interval.
    pub flows: Vec<(FlowKey, FlowCount)>,
    /// Loss episodes at the tight link over the measured interval, of TCP flows and of those of
    /// [`PathConfig::flow_ports`](super::PathConfig::flow_ports). A flow counts from its first packet on,
    /// also after its last, because the link does not know which packet is the last.
    pub losses: SynchronizedLosses,
    /// The lateness of deliveries.
    pub lateness: Lateness,
    /// The measured interval by the machine's clock, without stops of this process; [`LinkReport::measured`] is the same
    /// in the path's time.
    pub elapsed: Span,
    /// The standstills while the machine did not run the emulator.
    pub stalls: Stalls,
    /// The part of the measured interval for which this process was stopped, by Ctrl-Z for example.
    pub stopped: Span,
    /// The hosts at the sender's end and at the receiver's, which are the near end and the far one.
    pub hosts: [HostReport; 2],
    /// Packets that a device in front of a link dropped before the emulator read them: should be 0.
    pub lost_before_link: u64,
    /// Packets the emulator could not carry or the receiving kernel refused: should be 0.
    pub refused: u64,
    /// Packets that went back from receiver to sender, as the kernel handed them over.
    pub reverse_packets: u64,
    /// The emulator thread's CPU time over its whole life.
    pub cpu: Span,
    /// The length of the thread's life, to compare with [`PathReport::cpu`].
    pub lived: Span,
    /// Sentences to report with a result, such as one about a missing real-time priority.
    pub notes: Vec<String>,
}

/// The verdict of a measurement on the machine's clock about a rate.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RateVerdict {
    /// The rate is the expected one.
    Held,
    /// It is not, and stalls of the machine do not explain the difference.
    Missed,
    /// It is not, and stalls of the machine explain the difference, as the text says.
    NotJudged(String),
}

/// The share of the time below which standstills are not mentioned, because the path regains them.
const STALLED_FLOOR: f64 = 0.005;
/// The difference between the path's clock and the machine's that is possible without a stall. Both are read at a
/// wake-up at each end of the interval, which may be late by half of this.
const READ_APART: Span = Span::from_millis(1);
/// The share of the machine's time above which a standstill makes a result doubtful.
const STALLED_SHARE: f64 = 0.1;
/// The share of the base RTT above which lateness makes a result doubtful.
const LATE_SHARE: f64 = 0.02;
/// The lateness up to which no run is in doubt.
const LATE_FLOOR: Span = Span::from_micros(200);

impl PathReport {
    /// Returns the sum over all real packets that met the tight link.
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

    /// Returns the rate at which the link sent over the measured interval, all traffic, in bits per second of the
    /// path's time.
    #[must_use]
    pub fn forwarded_bps(&self) -> f64 {
        self.link.forwarded_bytes.bits_f64() / self.link.measured.as_secs_f64().max(1e-9)
    }

    /// Returns the same in bits per second of the machine's clock, which continues while the path stands still.
    #[must_use]
    pub fn real_bps(&self) -> f64 {
        self.link.forwarded_bytes.bits_f64() / self.elapsed.as_secs_f64().max(1e-9)
    }

    /// Judges whether [`real_bps`](Self::real_bps) is `rate`, to within the share `tolerance`, on a link that should
    /// always be busy. A deviation is excused by stalls, or by time regained from earlier stalls. The stalls must be
    /// longer than the tolerance allows. They and the regained time must explain the difference between the path's time
    /// and the machine's. The rate must hold in the path's time.
    #[must_use]
    pub fn real_rate(&self, rate: Rate, tolerance: f64) -> RateVerdict {
        let off = |bps: f64| (bps / rate.as_bps_f64() - 1.0).abs();
        if off(self.real_bps()) <= tolerance {
            return RateVerdict::Held;
        }
        let (measured, elapsed) = (self.link.measured, self.elapsed);
        let consistent = measured + self.stalls.total + READ_APART >= elapsed
            && measured <= elapsed + elapsed / REGAIN + READ_APART;
        let total = self.stalls.total;
        if off(self.forwarded_bps()) > tolerance || !consistent {
            RateVerdict::Missed
        } else if total > elapsed.scale(tolerance) {
            RateVerdict::NotJudged(format!(
                "the host stalled {:.0} ms of {:.2} s",
                total.as_millis_f64(),
                elapsed.as_secs_f64()
            ))
        } else if measured > elapsed {
            RateVerdict::NotJudged(format!(
                "the path regained {:.0} ms of earlier stalls of the host in {:.2} s",
                (measured - elapsed).as_millis_f64(),
                elapsed.as_secs_f64()
            ))
        } else {
            RateVerdict::Missed
        }
    }

    /// Returns a sentence about the standstill of the path and its effect on the rate, if it is long enough to mention.
    #[must_use]
    pub fn stalled(&self) -> Option<String> {
        let Stalls { count, total, longest } = self.stalls;
        let elapsed = self.elapsed;
        (total > elapsed.scale(STALLED_FLOOR)).then(|| {
            format!(
                "the path stood still for {} of {} while the machine did not run the emulator \
                 ({count} times, {} at the longest): the link sent {:.2} Mbit/s by the machine's clock, {:.2} by \
                 the path's",
                total.rounded(),
                elapsed.rounded(),
                longest.rounded(),
                self.real_bps() / 1e6,
                self.forwarded_bps() / 1e6,
            )
        })
    }

    /// Returns the reasons not to trust this result. Late deliveries mean that the machine was too busy. Packets lost
    /// outside the emulated queue were not lost by the queue.
    #[must_use]
    pub fn doubts(&self, base_rtt: Span) -> Vec<Doubt> {
        let allowed = base_rtt.scale(LATE_SHARE).max(LATE_FLOOR);
        let (stalled, elapsed, by) = (self.stalls.total, self.elapsed, self.lateness.p99);
        let mut doubts = Vec::new();
        if stalled > elapsed.scale(STALLED_SHARE) {
            doubts.push(Doubt::Stalled(stalled.as_secs_f64() / elapsed.as_secs_f64()));
        }
        if by > allowed {
            doubts.push(Doubt::Late { by, allowed });
        }
        doubts.extend(self.hosts.iter().filter_map(HostReport::doubt));
        if self.lost_before_link > 0 {
            doubts.push(Doubt::LostBefore(self.lost_before_link));
        }
        if self.refused > 0 {
            doubts.push(Doubt::Refused(self.refused));
        }
        doubts
    }
}

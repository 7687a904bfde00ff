//! Packets by their source: each source of cross traffic separately, and all other packets together.
//!
//! The packets of a source that sends few and small ones have another delay than the average packet, above all if the
//! queue serves flows in turn. So each source has delays of its own. A packet counts if it arrived within the measured
//! interval, and its delay counts once it has been delivered.

use crate::{DelayLine, Histogram};
use units::{Bytes, Span, Time};

/// One source's packets that arrived within the measured interval.
#[derive(Clone, Debug, Default)]
pub struct SourceReport {
    /// Packets that arrived, dropped ones included.
    pub packets: u64,
    /// Their bytes.
    pub bytes: Bytes,
    /// Packets among them that were dropped, for any reason.
    pub drops: u64,
    /// Packets among them that were delivered with a mark that a queue here set.
    pub marks: u64,
    /// Bytes of the packets delivered.
    pub delivered_bytes: Bytes,
    /// Time from arrival to the start of transmission of the delivered packets.
    pub queueing: Histogram,
    /// One-way delay of the delivered packets [rfc7679:3]: from arrival to delivery at the far end, propagation
    /// included.
    pub delay: Histogram,
    /// Mean of `|D(i-1, i)|` over packets in the order of delivery: the absolute difference between the one-way delays
    /// of consecutive packets [rfc3550:6.4.1]. RFC 3550 smooths it by 1/16; this is its plain mean over the interval.
    /// `None` with fewer than two packets.
    pub jitter: Option<Span>,
}

impl SourceReport {
    /// Returns the number of packets delivered.
    #[must_use]
    pub fn delivered(&self) -> u64 {
        self.delay.count()
    }

    /// Returns drops over packets; `None` without packets.
    #[must_use]
    pub fn loss_rate(&self) -> Option<f64> {
        (self.packets > 0).then(|| self.drops as f64 / self.packets as f64)
    }
}

/// The packets of a link or of a route, by source.
#[derive(Clone, Debug, Default)]
pub struct SourcesReport {
    /// The packets of each source of cross traffic, by its index.
    pub cross: Vec<SourceReport>,
    /// All other packets.
    pub other: SourceReport,
}

/// Meters that count the packets of each source of cross traffic, and all others together.
#[derive(Clone, Debug)]
pub struct SourceMeters {
    since: Time,
    /// The time from a packet's report by the caller to its delivery.
    beyond: Span,
    /// The meter of each source; the last is for packets that are not cross traffic.
    meters: Vec<SourceMeter>,
    /// Packets not delivered yet.
    under_way: DelayLine<Delivery>,
}

#[derive(Clone, Debug, Default)]
struct SourceMeter {
    report: SourceReport,
    /// The delay of the last packet delivered.
    last: Option<Span>,
    /// Sum of the differences between consecutive delays.
    differences: u128,
}

#[derive(Clone, Copy, Debug)]
struct Delivery {
    meter: usize,
    length: Bytes,
    arrived: Time,
    queueing: Span,
    delay: Span,
    marked: bool,
}

impl SourceMeters {
    /// Creates meters for `sources` sources of cross traffic. Packets are delivered `beyond` later than the caller
    /// reports.
    #[must_use]
    pub fn new(sources: usize, beyond: Span) -> Self {
        let meters = vec![SourceMeter::default(); sources + 1];
        Self { since: Time::ZERO, beyond, meters, under_way: DelayLine::default() }
    }

    /// Starts the measured interval: packets that arrived before `now` do not count.
    pub fn begin(&mut self, now: Time) {
        self.since = now;
        self.meters.fill(SourceMeter::default());
    }

    fn meter(&self, source: Option<usize>) -> usize {
        let other = self.meters.len() - 1;
        source.map_or(other, |source| source.min(other))
    }

    /// Counts an arriving packet of `source`; `None` if it is not cross traffic.
    pub fn arrived(&mut self, source: Option<usize>, length: Bytes) {
        let index = self.meter(source);
        let report = &mut self.meters[index].report;
        report.packets += 1;
        report.bytes += length;
    }

    /// Counts the drop of a packet that arrived at `arrived`.
    pub fn dropped(&mut self, source: Option<usize>, arrived: Time) {
        if arrived >= self.since {
            let index = self.meter(source);
            self.meters[index].report.drops += 1;
        }
    }

    /// Takes a packet that arrived at `arrived`, waited for `queueing` and reaches the far end at `at`, which may be in
    /// the future.
    pub fn delivered(
        &mut self,
        source: Option<usize>,
        length: Bytes,
        (arrived, queueing, at): (Time, Span, Time),
        marked: bool,
    ) {
        let (meter, at) = (self.meter(source), at + self.beyond);
        let delay = at.since(arrived);
        self.under_way.push(at, Delivery { meter, length, arrived, queueing, delay, marked });
    }

    /// Counts the packets delivered by `now`.
    pub fn settle(&mut self, now: Time) {
        while let Some(delivery) = self.under_way.pop(now) {
            if delivery.arrived >= self.since {
                self.meters[delivery.meter].count(&delivery);
            }
        }
    }

    /// Returns the counts up to `end`.
    #[must_use]
    pub fn report(&mut self, end: Time) -> SourcesReport {
        self.settle(end);
        let mut reports: Vec<_> = self.meters.iter().map(SourceMeter::report).collect();
        let other = reports.pop().unwrap_or_default();
        SourcesReport { cross: reports, other }
    }
}

impl SourceMeter {
    fn count(&mut self, delivery: &Delivery) {
        let report = &mut self.report;
        report.marks += u64::from(delivery.marked);
        report.delivered_bytes += delivery.length;
        report.queueing.record(delivery.queueing);
        report.delay.record(delivery.delay);
        if let Some(last) = self.last.replace(delivery.delay) {
            let difference = last.as_nanos().abs_diff(delivery.delay.as_nanos());
            self.differences += u128::from(difference);
        }
    }

    fn report(&self) -> SourceReport {
        let pairs = u128::from(self.report.delivered().saturating_sub(1));
        let jitter = (pairs > 0).then(|| Span::from_nanos((self.differences / pairs) as u64));
        SourceReport { jitter, ..self.report.clone() }
    }
}

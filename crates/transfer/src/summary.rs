//! [`Summary`]: the account of a transfer that has ended, of the same form on both sides.

use crate::history::{History, Sample};
use crate::limits::{KernelTimes, LimitTimes, Limits, Times};
use crate::wire::control::{Progress, Report, StreamReport};
use estimate::limits::Measured;
use serde::{Serialize, Serializer};
use std::fmt;
use units::{Bytes, Rate, Span};

/// The side that reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Side {
    /// The sender.
    Sent,
    /// The receiver.
    Received,
}

/// The last reports of both sides on a transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LastReports<'a> {
    pub(crate) progress: &'a Progress,
    pub(crate) report: &'a Report,
    pub(crate) limits: Option<LimitTimes>,
}

/// The account of a transfer that has ended.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// The side that reports.
    pub side: Side,
    /// The number of files, folders and links at the receiver.
    pub entries: u64,
    /// Bytes of files at the receiver, holes included.
    pub bytes: u64,
    /// Bytes of files that this run sent, holes left out; known to the sender only.
    pub sent: Option<u64>,
    /// The number of files that were not sent, because files of their names existed before.
    pub skipped: u64,
    /// The time from the first connection to the last message.
    #[serde(rename = "elapsed_s", serialize_with = "seconds")]
    pub elapsed: Span,
    /// The rate at which this run moved bytes of files, in bits per second, holes left out.
    pub goodput_bps: f64,
    /// The number of data connections.
    pub streams: u16,
    /// The least round-trip time of the first data connection, in seconds; `None` if unknown.
    #[serde(serialize_with = "some_seconds")]
    pub min_rtt_s: Option<Span>,
    /// The mean of the round-trip times in the samples, in seconds; `None` if unknown.
    pub mean_rtt_s: Option<f64>,
    /// The receive window at the end, over all data connections; `None` if it is as large as the kernel allows.
    pub window_bytes: Option<u64>,
    /// The verdict on what limited the transfer.
    pub limits: Limits,
    /// The course of the transfer.
    #[serde(skip)]
    pub history: History,
}

impl Summary {
    /// Makes a summary from the last reports of both sides and the bytes `moved` by this run. The caller fills in the
    /// counts.
    pub(crate) fn new(elapsed: Span, moved: u64, reports: &LastReports<'_>, history: History) -> Self {
        let LastReports { progress, report, limits } = *reports;
        let sum = |part| sum(report, part);
        let streams = report.streams.len();
        let rtt = report.streams.first().map(|stream| Span::from_nanos(stream.min_rtt));
        let goodput = Rate::of(Bytes::new(moved), elapsed);
        let measured = Measured {
            bytes: Bytes::new(moved),
            goodput,
            streams: streams as u64,
            least_rtt: rtt.unwrap_or_default(),
            mean_rtt: Span::from_secs_f64(history.mean_rtt().unwrap_or_default()),
            segment: Bytes::new(report.streams.first().map_or(0, |stream| stream.segment)),
            retransmits: sum(|stream| stream.retransmits),
            rate_based: report.rate_based,
        };
        let times = Times {
            sender: report.times,
            receiver: progress.times,
            kernel: KernelTimes {
                busy: sum(|stream| stream.busy),
                window: sum(|stream| stream.window_limited),
                buffer: sum(|stream| stream.buffer_limited),
            },
            limits,
            window_below_congestion: history.window_below_congestion(),
            sized: progress.sized,
        };
        let limits = Limits::new(elapsed, &times, measured);
        Self {
            side: Side::Sent,
            entries: progress.entries,
            bytes: progress.bytes,
            sent: None,
            skipped: 0,
            elapsed,
            goodput_bps: goodput.as_bps_f64(),
            streams: streams as u16,
            min_rtt_s: rtt.filter(|&rtt| rtt > Span::ZERO),
            mean_rtt_s: history.mean_rtt(),
            window_bytes: progress.window,
            limits,
            history,
        }
    }
}

/// Makes a sample for the history from the reports of both sides at one moment.
pub(crate) fn sample(elapsed: Span, progress: &Progress, report: &Report) -> Sample {
    Sample {
        t_s: elapsed.as_secs_f64(),
        bytes: progress.bytes,
        rtt_s: report.streams.first().map_or(0.0, |stream| Span::from_nanos(stream.rtt).as_secs_f64()),
        window: progress.window,
        acknowledged: sum(report, |stream| stream.acknowledged),
        congestion_window: sum(report, |stream| stream.congestion_window),
        retransmits: sum(report, |stream| stream.retransmits),
    }
}

/// Adds up a value over all data connections. The other side chose the numbers, so the sum saturates.
fn sum(report: &Report, part: fn(&StreamReport) -> u64) -> u64 {
    report.streams.iter().map(part).fold(0, u64::saturating_add)
}

fn seconds<S: Serializer>(span: &Span, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(span.as_secs_f64())
}

fn some_seconds<S: Serializer>(span: &Option<Span>, serializer: S) -> Result<S::Ok, S::Error> {
    span.map(Span::as_secs_f64).serialize(serializer)
}

/// Formats a count in millions, or in a smaller unit where that would show nothing.
fn mega(count: f64, units: [&str; 3]) -> String {
    match count {
        few if few < 1e3 => format!("{few:.0} {}", units[0]),
        some if some < 1e5 => format!("{:.1} {}", some / 1e3, units[1]),
        many => format!("{:.1} {}", many / 1e6, units[2]),
    }
}

/// The summary for a person: the moved bytes, the entries now present, and the limiting factor.
impl fmt::Display for Summary {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = match self.side {
            Side::Sent => "sent",
            Side::Received => "received",
        };
        let seconds = self.elapsed.as_secs_f64();
        // The goodput is exact to one bit per second, so this agrees with the bytes that both sides count.
        let moved = self.sent.map_or(self.goodput_bps * seconds / 8.0, |sent| sent as f64);
        let bytes = |count: f64| mega(count, ["B", "kB", "MB"]);
        write!(
            formatter,
            "{side} {} in {seconds:.2} s{}: {}. ",
            bytes(moved),
            if self.streams > 1 { format!(" over {} TCP connections", self.streams) } else { String::new() },
            mega(self.goodput_bps, ["bit/s", "kbit/s", "Mbit/s"])
        )?;
        let (entries, are) = if self.entries == 1 { ("entry", "is") } else { ("entries", "are") };
        write!(formatter, "{} {entries} with {} {are} there", self.entries, bytes(self.bytes as f64))?;
        let others = self.bytes as f64 - moved;
        let others = if others < 0.005 * self.bytes as f64 { None } else { Some(bytes(others)) };
        match (self.skipped, others) {
            (0, None) => {}
            (0, Some(others)) => write!(formatter, "; {others} of these came before or are holes")?,
            (skipped, others) => {
                let files = if skipped == 1 { "file was" } else { "files were" };
                let others =
                    others.map_or_else(String::new, |others| format!(" ({others} came before or are holes)"));
                write!(formatter, "; {skipped} {files} there before{others}")?;
            }
        }
        write!(formatter, ". {}", self.limits)
    }
}

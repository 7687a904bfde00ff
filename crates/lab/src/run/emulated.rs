//! The path of a scenario with any program at its ends, and the work of the links on it: `tightlink emulate`.
//!
//! Here are the emulator's configuration and the numbers of each direction. The scenario's flows are left out of the
//! configuration, since the program takes their place. Programs are started elsewhere (`emu::shell`).

mod packets;
mod readings;
mod seconds;

pub use packets::{PacketFile, uncopied, unwritable_capture};
pub use readings::{PathReading, PathReadings, WayReading};
pub use seconds::{OfferedSecond, SECOND};

use super::engine::{Misfit, live, no_cell, no_hosts};
use super::record::{DelayStatistics, Engine, Hosts, ShaperSummary};
use super::resolve::Resolved;
use emu::{BackLink, LinkSample, PathConfig, PathReport};
use link::traffic::TrafficConfig;
use link::{Limit, LinkConfig, LinkReport};
use readings::WayReadings;
use scenario::Direction;
use serde::Serialize;
use std::fmt;
use units::{Bytes, Complaint, Rate, Span};

/// The interval between two samples of the queue for a page.
pub const EVERY: Span = Span::from_millis(20);

/// Makes the path of `resolved` for a program that takes the place of its flows. Both directions have a link. The link
/// back is that of `link.reverse`, or like the forward one if the scenario has none. With `one_way` the direction back
/// has a delay only.
///
/// # Errors
/// If the scenario has a wireless cell, a second link, users, or traffic on the way back.
pub fn path(resolved: &Resolved, one_way: bool) -> Result<PathConfig, Misfit> {
    no_cell(Engine::Live, resolved)?;
    no_hosts(Engine::Live, resolved)?;
    let misfit = |key: String, found: String, accepted: &str, help: &str| {
        let complaint = Complaint::new(key, found).accepted(accepted).help(help);
        Err(Misfit { engine: Engine::Live, complaint })
    };
    let forward = resolved.links.iter().position(|link| link.direction == Direction::Forward);
    let others = resolved.links.iter().filter(|link| link.direction == Direction::Forward).count();
    let Some(forward) = forward.filter(|_| others == 1) else {
        let found = format!("{others} links in a row, and the emulated path has one");
        return misfit("link[1]".into(), found, "one [link]", "leave the others out");
    };
    if let Some(sessions) = resolved.sessions.first() {
        let key = format!("traffic[{}].kind", sessions.entry);
        let found = "users that come and go (engset): only the simulator can run them".to_owned();
        let accepted = "\"cbr\", \"poisson\", \"on-off\", \"replay\"";
        return misfit(key, found, accepted, "leave them out: the program takes their place");
    }
    if let Some(traffic) = resolved.traffic.iter().find(|traffic| traffic.route != [forward]) {
        let found = format!("traffic \"{}\" on the way back", traffic.name);
        return misfit("traffic".into(), found, "traffic from the near end to the far end", "leave it out");
    }
    let tight = &resolved.links[forward];
    let path = PathConfig {
        link: tight.config.clone(),
        limit: tight.limit,
        queue: link::queue::PolicyConfig { assist: None, ..tight.queue.clone() },
        reverse_delay: live::least_rtt(resolved).saturating_sub(tight.config.delay),
        extra_delays: std::collections::HashMap::new(),
        flow_ports: std::collections::HashSet::new(),
        sample_every: None,
        back: None,
        ..live::path_config(resolved)
    };
    if one_way {
        return Ok(path);
    }
    let reverse = resolved.links.iter().find(|link| link.direction == Direction::Reverse);
    Ok(match reverse {
        None => path.mirrored(),
        Some(link) => {
            let LinkConfig { rate, loss, changes, shaper, .. } = link.config.clone();
            let back = BackLink { rate, loss, changes, shaper, limit: link.limit, queue: link.queue.clone() };
            PathConfig { back: Some(back), ..path }
        }
    })
}

/// Returns the propagation delay there and back for a program on the path.
#[must_use]
pub fn base_rtt(path: &PathConfig) -> Span {
    path.link.delay + path.reverse_delay
}

/// The number of packets that a new TCP flow sends at once (RFC 6928). A queue with less room drops some of them.
pub const FIRST_WINDOW: u64 = 10;

/// The name of the cross traffic that `--cross` asks for.
pub const UNNAMED: &str = "cross";

/// The congestion control of connections whose programs chose none.
#[derive(Clone, Debug)]
pub struct Control {
    /// Its name.
    pub name: String,
    /// True if the user asked for it; otherwise it is the machine's default.
    pub asked: bool,
}

/// The events on the path while the program ran.
#[derive(Clone, Debug, Serialize)]
pub struct Emulated {
    /// The program's exit code.
    pub code: u8,
    /// The time for which the program ran.
    pub measured_s: f64,
    /// The start of the program, which is also that of a rate over time, in seconds since 1970 by the clock of a capture.
    pub began_unix_s: f64,
    /// The congestion control of connections whose programs chose none.
    pub control: String,
    /// True if the user asked for that control; otherwise it is the machine's default.
    pub control_asked: bool,
    /// The direction from the near end, where the program runs, to the far end.
    pub to_far: DirectionReport,
    /// The direction back; absent where it has no link.
    pub from_far: Option<DirectionReport>,
    /// Packets that came back, as counted when the kernel handed them over.
    pub packets_back: u64,
    /// The time between a packet's due time and its delivery by the emulator.
    pub lateness: LatenessReport,
    /// The losses of the hosts at both ends, and the time for which they waited for a processor.
    pub hosts: Hosts,
    /// Remarks.
    pub notes: Vec<String>,
}

/// The lateness of the emulator's deliveries.
#[derive(Clone, Debug, Default, Serialize)]
pub struct LatenessReport {
    /// Packets delivered, both directions.
    pub packets: u64,
    /// Mean over all of them, seconds.
    pub mean_s: f64,
    /// The lateness that 99 % do not exceed, seconds.
    pub p99_s: f64,
    /// The greatest lateness, seconds.
    pub max_s: f64,
}

impl LatenessReport {
    fn of(lateness: emu::Lateness) -> Self {
        let [mean_s, p99_s, max_s] = [lateness.mean, lateness.p99, lateness.max].map(Span::as_secs_f64);
        Self { packets: lateness.packets, mean_s, p99_s, max_s }
    }
}

/// The work of one direction's link. The programs' packets are counted apart from those of cross traffic.
#[derive(Clone, Debug, Serialize)]
pub struct DirectionReport {
    /// Rate of the programs' packets that the link sent, headers included, bits per second.
    pub rate_bps: f64,
    /// Share of time for which the link was sending, cross traffic included.
    pub utilization: f64,
    /// Packets of the programs that arrived, those dropped included.
    pub packets: u64,
    /// Packets dropped.
    pub packets_dropped: u64,
    /// Drops over arrivals.
    pub loss_rate: f64,
    /// Packets marked instead of dropped.
    pub marks: u64,
    /// Time-average of the bytes waiting.
    pub mean_backlog_bytes: f64,
    /// The time that the packet being sent had waited, zero while the link is idle, weighted by time.
    pub queueing_delay_s: Option<DelayStatistics>,
    /// The wait of the packets of scalable flows (ECT(1) and CE), weighted by their transmission times, if the queue
    /// has a class for them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub l4s_delay_s: Option<DelayStatistics>,
    /// The same of the packets of all other flows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classic_delay_s: Option<DelayStatistics>,
    /// The two queues of a link with a shaper.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shaper: Option<ShaperSummary>,
    /// The packets of each source of cross traffic.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cross: Vec<CrossTraffic>,
    /// The seconds of a link whose rate changes, with the bytes offered and used, where they were sampled.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub seconds: Vec<OfferedSecond>,
    /// The link and its queue against time, where they were sampled.
    #[serde(skip)]
    pub queue: QueueSeries,
}

/// The packets of one source of cross traffic on a link.
#[derive(Clone, Debug, Serialize)]
pub struct CrossTraffic {
    /// Its name in the scenario.
    pub name: String,
    /// Rate of the source's packets that the link sent, bits per second.
    pub rate_bps: f64,
    /// Packets that arrived, those dropped included.
    pub packets: u64,
    /// Packets dropped.
    pub packets_dropped: u64,
    /// Drops over arrivals.
    pub loss_rate: f64,
    /// Packets marked instead of dropped.
    pub marks: u64,
}

/// A link and its queue against time, a value for each interval.
#[derive(Clone, Debug, Default)]
pub struct QueueSeries {
    /// The link's rate, bits per second.
    pub capacity_bps: f64,
    /// The time to send a full queue, seconds.
    pub full_s: f64,
    /// Ends of the intervals, seconds from the program's start.
    pub t_s: Vec<f64>,
    /// The time to send the data that waits at the end of the interval, seconds.
    pub delay_s: Vec<f64>,
    /// Rate at which the link sent, headers included, bits per second.
    pub rate_bps: Vec<f64>,
    /// Packets dropped.
    pub drops: Vec<f64>,
    /// The rate that the link offered, bits per second, if it changes; empty otherwise.
    pub offered_bps: Vec<f64>,
}

impl QueueSeries {
    fn of(samples: &[LinkSample], rate: Rate, limit: Limit, mtu: u16) -> Self {
        let room = match limit {
            Limit::Bytes(bytes) => bytes,
            Limit::Packets(packets) => Bytes::new(u64::from(mtu)) * packets,
        };
        let mut series =
            Self { capacity_bps: rate.as_bps_f64(), full_s: time_of(rate, room), ..Self::default() };
        let mut readings = WayReadings::from_start(rate);
        for reading in samples.iter().filter_map(|sample| readings.next(sample)) {
            series.t_s.push(reading.t_s);
            series.delay_s.push(reading.delay_s);
            series.offered_bps.extend(reading.offered_bps);
            series.rate_bps.push(reading.rate_bps);
            series.drops.push(reading.drops);
        }
        series
    }
}

fn time_of(rate: Rate, bytes: Bytes) -> f64 {
    rate.serialization(bytes).as_secs_f64()
}

impl Emulated {
    /// Returns the closing lines: the work of each direction, cross traffic apart, and the congestion control of the
    /// programs.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        let back = match &self.from_far {
            Some(way) => way.to_string(),
            None => format!("{} packets, without a limit", self.packets_back),
        };
        let by = if self.control_asked { "by --control" } else { "this machine's; --control takes another" };
        let mut lines = vec![format!("to the far end:   {}", self.to_far)];
        lines.extend(self.to_far.cross.iter().map(CrossTraffic::to_string));
        lines.push(format!("from the far end: {back}"));
        lines.push(format!("congestion control of programs that choose none: {} ({by})", self.control));
        lines
    }

    /// Summarizes the `report` of `path`, on which a program ended with `code`.
    #[must_use]
    pub fn of(report: &PathReport, path: &PathConfig, control: Control, code: u8) -> Self {
        let doubts = report.doubts(base_rtt(path));
        let doubts = doubts.iter().map(ToString::to_string);
        let hosts = report.hosts.iter().flat_map(emu::HostReport::notes);
        let notes = report.notes.iter().cloned().chain(short_queues(path)).chain(report.stalled());
        Self {
            code,
            measured_s: report.link.measured.as_secs_f64(),
            began_unix_s: report.began.as_secs_f64(),
            control: control.name,
            control_asked: control.asked,
            to_far: DirectionReport::of(
                &report.link,
                &path.traffic,
                QueueSeries::of(&report.samples, path.link.rate, path.limit, path.mtu),
                &report.samples,
            ),
            from_far: report.reverse.as_ref().zip(path.back.as_ref()).map(|(link, back)| {
                DirectionReport::of(
                    link,
                    &[],
                    QueueSeries::of(&report.back_samples, back.rate, back.limit, path.mtu),
                    &report.back_samples,
                )
            }),
            packets_back: report.reverse_packets,
            lateness: LatenessReport::of(report.lateness),
            hosts: Hosts::of(report),
            notes: notes.chain(doubts).chain(hosts).collect(),
        }
    }
}

/// Returns a sentence about queues with less room than a new flow's first packets need.
fn short_queues(path: &PathConfig) -> Option<String> {
    let back = path.back.as_ref().map(|back| ("from", back.limit));
    let short: Vec<String> = [("to", path.limit)]
        .into_iter()
        .chain(back)
        .map(|(way, limit)| {
            (
                way,
                match limit {
                    Limit::Packets(packets) => packets,
                    Limit::Bytes(bytes) => bytes.get() / u64::from(path.mtu),
                },
            )
        })
        .filter(|(_, packets)| *packets < FIRST_WINDOW)
        .map(|(way, packets)| format!("{packets} packets {way} the far end"))
        .collect();
    (!short.is_empty()).then(|| {
        format!(
            "the queue holds {}. A new TCP flow sends {FIRST_WINDOW} packets at once, and some are dropped: \
             --queue {FIRST_WINDOW}packets has room",
            short.join(" and ")
        )
    })
}

/// Writes "19.20 Mbit/s (96.1 % busy), queueing delay mean 20.1 ms, p95 39.5 ms, 75 of 4060 packets dropped (1.85 %)",
/// and ", 227 marked (3.8 %)" where the queue marked packets. If packets of both classes came, the delay is followed by
/// ", L4S packets mean 0.2 ms, p95 0.9 ms, others mean 15.1 ms, p95 24.0 ms".
impl fmt::Display for DirectionReport {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let of = if self.cross.is_empty() { "" } else { ", cross traffic included" };
        write!(out, "{:.2} Mbit/s ({:.1} % busy{of})", self.rate_bps / 1e6, self.utilization * 100.0)?;
        let mut delay = |words: &str, delay: DelayStatistics| {
            let (mean, p95) = (delay.mean * 1e3, delay.percentiles.p95.unwrap_or_default() * 1e3);
            write!(out, ", {words} mean {mean:.1} ms, p95 {p95:.1} ms")
        };
        self.queueing_delay_s.map_or(Ok(()), |all| delay("queueing delay", all))?;
        if let (Some(l4s), Some(classic)) = (self.l4s_delay_s, self.classic_delay_s) {
            delay("L4S packets", l4s)?;
            delay("others", classic)?;
        }
        write!(out, ", {}", Fate(self.packets, self.packets_dropped, self.marks))?;
        self.shaper.map_or(Ok(()), |shaper| write!(out, "; {shaper}"))
    }
}

/// Writes "cross traffic:    6.00 Mbit/s, 0 of 1062 packets dropped (0.00 %)".
impl fmt::Display for CrossTraffic {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = if self.name == UNNAMED { String::new() } else { format!(" {}", self.name) };
        let label = format!("cross traffic{name}:");
        let fate = Fate(self.packets, self.packets_dropped, self.marks);
        write!(out, "{label:<17} {:.2} Mbit/s, {fate}", self.rate_bps / 1e6)
    }
}

/// The fate of packets: the number of all, of those dropped and of those marked.
struct Fate(u64, u64, u64);

impl fmt::Display for Fate {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(packets, dropped, marks) = *self;
        let share = |count: u64| 100.0 * count as f64 / packets.max(1) as f64;
        write!(out, "{dropped} of {packets} packets dropped ({:.2} %)", share(dropped))?;
        if marks > 0 {
            write!(out, ", {marks} marked ({:.1} %)", share(marks))?;
        }
        Ok(())
    }
}

impl DirectionReport {
    fn of(
        link: &LinkReport,
        traffic: &[(String, TrafficConfig)],
        queue: QueueSeries,
        samples: &[LinkSample],
    ) -> Self {
        let rate = |bytes: Bytes| bytes.bits_f64() / link.measured.as_secs_f64().max(1e-9);
        let sources = link.sources.as_ref();
        let cross = sources.iter().flat_map(|sources| sources.cross.iter().zip(traffic));
        let cross = cross.map(|(source, (name, _))| CrossTraffic {
            name: name.clone(),
            rate_bps: rate(source.delivered_bytes),
            packets: source.packets,
            packets_dropped: source.drops,
            loss_rate: source.loss_rate().unwrap_or_default(),
            marks: source.marks,
        });
        let own = sources.map(|sources| &sources.other);
        Self {
            rate_bps: rate(own.map_or(link.forwarded_bytes, |own| own.delivered_bytes)),
            utilization: link.utilization,
            packets: own.map_or(link.arrivals, |own| own.packets),
            packets_dropped: own.map_or_else(|| link.drops(), |own| own.drops),
            loss_rate: own.map_or_else(|| link.loss_rate(), |own| own.loss_rate().unwrap_or_default()),
            marks: own.map_or(link.marks, |own| own.marks),
            mean_backlog_bytes: link.mean_waiting_bytes,
            queueing_delay_s: DelayStatistics::of_queue(&link.queueing_delay),
            l4s_delay_s: link.classes.as_ref().and_then(|c| DelayStatistics::of_queue(&c.scalable)),
            classic_delay_s: link.classes.as_ref().and_then(|c| DelayStatistics::of_queue(&c.classic)),
            shaper: ShaperSummary::of(link),
            cross: cross.collect(),
            seconds: seconds::seconds(samples),
            queue,
        }
    }
}

//! The path of a scenario with any program at its ends, and what the links on it did: `tightlink emulate`.
//!
//! What lives here: the emulator's configuration for a scenario whose flows are left out, since the program takes their place; and
//! the numbers of each direction. What does not: how programs are started (`emu::shell`).

use super::engine::{Misfit, live, no_cell};
use super::record::{DelayStatistics, Engine};
use super::resolve::Resolved;
use emu::{BackLink, PathConfig, PathReport};
use link::LinkReport;
use scenario::Direction;
use serde::Serialize;
use units::{Complaint, Span};

/// The path of `resolved` for a program that takes the place of its flows. Both directions have a link: the one back is that of
/// `link.reverse`, or like the one there; with `one_way` the direction back has a delay only.
///
/// # Errors
/// A wireless cell, a second link, users, or traffic on the way back.
pub fn path(resolved: &Resolved, one_way: bool) -> Result<PathConfig, Misfit> {
    no_cell(Engine::Live, resolved)?;
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
        let found = "users that come and go (engset): only the simulator has them".to_owned();
        let accepted = "\"cbr\", \"poisson\", \"on-off\", \"replay\"";
        return misfit(key, found, accepted, "leave them out: the program takes their place");
    }
    if let Some(traffic) = resolved.traffic.iter().find(|traffic| traffic.route != [forward]) {
        let found = format!("traffic \"{}\" on the way back", traffic.name);
        return misfit("traffic".into(), found, "traffic from the near end to the far end", "leave it out");
    }
    let tight = &resolved.links[forward];
    let path = PathConfig {
        link: tight.config,
        limit: tight.limit,
        queue: link::queue::PolicyConfig { assist: None, ..tight.queue.clone() },
        reverse_delay: live::least_rtt(resolved).saturating_sub(tight.config.delay),
        extra_delays: std::collections::HashMap::new(),
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
            let (rate, loss, limit) = (link.config.rate, link.config.loss, link.limit);
            PathConfig { back: Some(BackLink { rate, loss, limit, queue: link.queue.clone() }), ..path }
        }
    })
}

/// Propagation there and back for a program on the path.
#[must_use]
pub fn base_rtt(path: &PathConfig) -> Span {
    path.link.delay + path.reverse_delay
}

/// What happened on the path while the program ran.
#[derive(Clone, Debug, Serialize)]
pub struct Emulated {
    /// The program's exit code.
    pub code: u8,
    /// How long it ran.
    pub measured_s: f64,
    /// From the near end, where the program runs, to the far end.
    pub to_far: Way,
    /// The direction back; absent where it has no link.
    pub from_far: Option<Way>,
    /// Packets that came back, as the kernel handed them over.
    pub packets_back: u64,
    /// Remarks.
    pub notes: Vec<String>,
}

/// What one direction's link did.
#[derive(Clone, Debug, Serialize)]
pub struct Way {
    /// Bits per second that it sent, headers included.
    pub rate_bps: f64,
    /// Share of time it was sending.
    pub utilization: f64,
    /// Packets that arrived, those dropped included.
    pub packets: u64,
    /// Packets dropped.
    pub packets_dropped: u64,
    /// Drops over arrivals.
    pub loss_rate: f64,
    /// Packets marked instead of dropped.
    pub marks: u64,
    /// Time-average of the bytes waiting.
    pub mean_backlog_bytes: f64,
    /// How long the packet being sent had waited, zero while the link is idle, weighted by time.
    pub queueing_delay_s: Option<DelayStatistics>,
}

impl Emulated {
    /// From the path's `report`, of a program that ended with `code` on a path with this base RTT.
    #[must_use]
    pub fn of(report: &PathReport, code: u8, base_rtt: Span) -> Self {
        let doubts = report.doubts(base_rtt);
        let doubts = doubts.iter().map(ToString::to_string);
        Self {
            code,
            measured_s: report.link.measured.as_secs_f64(),
            to_far: Way::of(&report.link),
            from_far: report.reverse.as_ref().map(Way::of),
            packets_back: report.reverse_packets,
            notes: report.notes.iter().cloned().chain(report.stalled()).chain(doubts).collect(),
        }
    }
}

impl Way {
    fn of(link: &LinkReport) -> Self {
        Self {
            rate_bps: link.forwarded_bytes.bits_f64() / link.measured.as_secs_f64().max(1e-9),
            utilization: link.utilization,
            packets: link.arrivals,
            packets_dropped: link.drops(),
            loss_rate: link.loss_rate(),
            marks: link.marks,
            mean_backlog_bytes: link.mean_waiting_bytes,
            queueing_delay_s: DelayStatistics::of_queue(&link.queueing_delay),
        }
    }
}

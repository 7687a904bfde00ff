//! A queue's room in every unit that people use.

use crate::run::resolve::Resolved;
use scenario::{Document, Spread};
use serde::Serialize;
use std::fmt;
use units::{Bytes, Rate, Span};

/// A queue's room in packets, bytes, the time that the link takes to send as much, and bandwidth-delay products.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Room {
    /// Whole packets of the mean length.
    pub packets: u64,
    /// As many bytes.
    pub bytes: u64,
    /// The time to send them, seconds.
    pub seconds: f64,
    /// Shares of the link's rate times the mean base RTT of the flows that cross it. Where the RTTs are drawn from a
    /// distribution, the mean is that of the distribution. `None` without such flows.
    pub bdp: Option<f64>,
}

impl Room {
    /// So many packets of mean length `packet` before a link of `rate` that flows of this mean base RTT cross.
    pub(crate) fn of(packets: u64, packet: Bytes, rate: Rate, rtt: Option<Span>) -> Self {
        let bytes = packet * packets;
        let product =
            rtt.map(|rtt| rate.as_bps_f64() * rtt.as_secs_f64() / 8.0).filter(|product| *product > 0.0);
        Self {
            packets,
            bytes: bytes.get(),
            seconds: bytes.bits_f64() / rate.as_bps_f64(),
            bdp: product.map(|product| bytes.get() as f64 / product),
        }
    }
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

/// The mean base RTT of the flows and users that cross the link either way, by the distributions that they are drawn
/// from.
pub(crate) fn mean_rtt(document: &Document, resolved: &Resolved, link: usize) -> Option<Span> {
    let scenario = document.scenario().ok()?;
    let spread = |section: &str, entry: usize| {
        let users = || scenario.sessions.iter().find(|sessions| sessions.entry == entry);
        let flow =
            if section == "flow" { scenario.flows.get(entry) } else { users().map(|users| &users.flow) };
        match flow?.rtt.as_ref()? {
            // These are what the flows have.
            Spread::All(_) | Spread::List(_) => None,
            Spread::Uniform(low, high) => Some((*low + *high) / 2),
            Spread::Pareto { mean, .. }
            | Spread::ParetoQuantiles { mean, .. }
            | Spread::Exponential(mean) => Some(*mean),
        }
    };
    let crossing = resolved
        .connections()
        .filter(|flow| flow.route.contains(&link) || flow.return_route.contains(&link))
        .map(|flow| spread(flow.section, flow.entry).unwrap_or(flow.base_rtt).as_secs_f64());
    let (sum, count) = crossing.fold((0.0, 0u64), |(sum, count), rtt| (sum + rtt, count + 1));
    (count > 0).then(|| Span::from_secs_f64(sum / count as f64))
}

//! Full links elsewhere on the path. While another link is full, no limit of the queue in question raises the
//! utilization.

use crate::run::record::Summary;
use crate::run::resolve::{Resolved, ResolvedLink};
use link::Limit;
use scenario::Direction;
use std::fmt;

/// A link counts as full if it sends for at least this share of the time.
const FULL: f64 = 0.95;

/// A direction of a link that is full, and that flows of the tight link cross.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct SecondQueue {
    /// Its table in keys: `link.reverse`.
    pub(super) table: String,
    name: String,
    reverse: bool,
    busy: f64,
    delay_s: f64,
    /// Its limit as a scenario writes it.
    pub(super) limit: String,
}

/// Finds, among the other full links that data or acknowledgements of the greedy flows cross, the one with the longest
/// queueing delay.
pub(super) fn full(resolved: &Resolved, summary: &Summary) -> Option<SecondQueue> {
    let mut crossed = vec![false; resolved.links.len()];
    for flow in resolved.greedy() {
        flow.route.iter().chain(&flow.return_route).for_each(|link| crossed[*link] = true);
    }
    let one = resolved.links.iter().all(|link| link.name == resolved.links[0].name);
    let full = summary
        .links
        .iter()
        .zip(&resolved.links)
        .zip(crossed)
        .filter(|((found, _), crossed)| *crossed && !found.tight && found.utilization >= FULL);
    let delay =
        |found: &crate::run::record::LinkSummary| found.queueing_delay_s.map_or(0.0, |delay| delay.mean);
    let ((found, link), _) = full.max_by(|((a, _), _), ((b, _), _)| delay(a).total_cmp(&delay(b)))?;
    let reverse = link.direction == Direction::Reverse;
    let own = if one { "link".to_owned() } else { format!("link.{}", link.name) };
    Some(SecondQueue {
        table: if reverse { format!("{own}.reverse") } else { own },
        name: link.name.clone(),
        reverse,
        busy: found.utilization,
        delay_s: delay(found),
        limit: written(link),
    })
}

fn written(link: &ResolvedLink) -> String {
    match link.limit {
        Limit::Packets(packets) => format!("{packets} packets"),
        Limit::Bytes(bytes) => format!("{} B", bytes.get()),
    }
}

impl fmt::Display for SecondQueue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (name, table) = (&self.name, &self.table);
        let (way, waits) =
            if self.reverse { ("reverse", "acknowledgements") } else { ("forward", "packets") };
        write!(
            f,
            "another queue limits the flows: that of {name}, {way} direction, which is busy for {:.1} % of the time and in which \
             {waits} wait for {:.1} ms in the mean. Change {table}.queue (a smaller limit, or kind = \"fq-codel\") or {table}.rate",
            self.busy * 100.0,
            self.delay_s * 1e3
        )
    }
}

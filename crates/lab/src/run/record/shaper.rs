//! The two queues of a link with a shaper.

use link::{Limit, LinkReport, ShaperReport};
use serde::{Deserialize, Serialize};
use std::fmt;

/// The queues of a shaper and of the link behind it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ShaperSummary {
    /// The packets in the shaper's queue that are not exceeded during 99 % of the time.
    pub queue_p99_packets: u64,
    /// The packets in the link's queue behind the shaper that are not exceeded during 99 % of the time.
    pub link_queue_p99_packets: u64,
    /// Packets that the shaper's queue dropped in the measured interval.
    pub packets_dropped: u64,
}

impl ShaperSummary {
    /// Summarizes the queues of a link; `None` without a shaper.
    pub(crate) fn of(link: &LinkReport) -> Option<Self> {
        let ShaperReport { queue_length, link_queue_length, drops } = link.shaper.as_ref()?;
        Some(Self {
            queue_p99_packets: queue_length.quantile(0.99)?,
            link_queue_p99_packets: link_queue_length.quantile(0.99)?,
            packets_dropped: *drops,
        })
    }
}

/// Computes the mean share of a queue's room that is taken; `None` if a shaper makes two queues of it.
pub(super) fn occupancy(link: &LinkReport, limit: Limit) -> Option<f64> {
    link.shaper.is_none().then_some(match limit {
        Limit::Packets(packets) => link.mean_waiting_packets / packets as f64,
        Limit::Bytes(bytes) => link.mean_waiting_bytes / bytes.get() as f64,
    })
}

/// Writes "p99 of the shaper's queue 31 packets, of the link's queue behind it 1 packet".
impl fmt::Display for ShaperSummary {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let packets = |count| format!("{count} packet{}", if count == 1 { "" } else { "s" });
        let (own, behind) = (packets(self.queue_p99_packets), packets(self.link_queue_p99_packets));
        write!(out, "p99 of the shaper's queue {own}, of the link's queue behind it {behind}")
    }
}

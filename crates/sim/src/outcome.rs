//! The result of a run.

mod cell;

pub use cell::{AccessReport, CellReport};

use link::{Histogram, LinkReport, LinkState, SourceReport, SynchronizedLosses};
use sizing::PhaseChange;
use units::{Bytes, Rate, Span, Time};

/// The number of parts into which the measured interval is divided for batch means: enough for a confidence interval,
/// few enough to be nearly independent.
pub const BATCHES: u64 = 10;

/// A finished run.
#[derive(Debug)]
pub struct Outcome<R> {
    /// The time at which it ended.
    pub ended: Time,
    /// The tight link over the measured interval. In a cell, the access point's watched queue, with the share of time
    /// for which the air is busy as its utilization.
    pub link: LinkReport,
    /// The tight link at the ends of [`BATCHES`] equal parts of the measured interval, its beginning first. If the plan
    /// has no end, only the beginning is kept.
    pub batches: Vec<(Time, LinkState)>,
    /// Every link over the measured interval, in the plan's order. In a cell, the access point's watched queue, then
    /// the backhaul.
    pub links: Vec<LinkReport>,
    /// The cell over the measured interval, if there is one.
    pub cell: Option<CellReport>,
    /// Loss episodes of the greedy flows at the tight link over the measured interval.
    pub losses: SynchronizedLosses,
    /// Every flow over the measured interval, in the plan's order.
    pub flows: Vec<FlowReport>,
    /// Every source of cross traffic in the measured interval, with the losses and delays of all links of the source's
    /// route, in the plan's order.
    pub traffic: Vec<SourceReport>,
    /// Every population of users over the measured interval, in the plan's order.
    pub sessions: Vec<SessionsReport>,
    /// Events the loop handled, a measure of its work.
    pub events: u64,
    /// The recorder, with what it saw.
    pub recorder: R,
}

/// One flow over the measured interval.
#[derive(Clone, Debug)]
pub struct FlowReport {
    /// The flow's name.
    pub name: String,
    /// Payload received in order.
    pub delivered: Bytes,
    /// Payload to move; `None`: greedy.
    pub size: Option<Bytes>,
    /// The time for which the flow was active in the interval: from the instant at which it could send data until all
    /// of them were acknowledged, or to the end.
    pub active: Span,
    /// The time from its SYN until it could send data; `None` if it never could, or if its connection existed already.
    pub handshake: Option<Span>,
    /// Segments sent, again or for the first time.
    pub sent: u64,
    /// Segments among these that a link dropped.
    pub dropped: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Expirations of the retransmission timer.
    pub timeouts: u64,
    /// Its send window when a link first dropped one of its segments.
    pub first_loss_window: Option<Bytes>,
    /// Its slow-start threshold in the end; `None` if it has none.
    pub threshold: Option<Bytes>,
    /// Segments that arrived with a congestion mark.
    pub marks: u64,
    /// Acknowledgements sent, if these cross queues.
    pub acknowledgements: u64,
    /// Acknowledgements among these that a link dropped.
    pub acknowledgements_dropped: u64,
    /// Round-trip samples.
    pub rtt: Histogram,
    /// The mean absolute difference between consecutive samples.
    pub rtt_jitter: Option<Span>,
    /// The least sample.
    pub min_rtt: Option<Span>,
    /// The greatest smoothed round-trip time after a sample (RFC 6298). `None` without a sample, and if all propagation
    /// is lumped behind one link, because no time is spent on it there.
    pub max_smoothed_rtt: Option<Span>,
    /// The time from the instant at which it could send data to its last byte's acknowledgement, for a sized flow that
    /// ended.
    pub completion: Option<Span>,
    /// The phases of its sizer, from the start of the run on.
    pub sizing: Vec<PhaseChange>,
    /// The window its sizer wanted in the end; `None` without a sizer that measures.
    pub sized: Option<Bytes>,
}

impl FlowReport {
    /// Returns the size over the completion time of a sized flow that ended, and the payload over the active time of
    /// any other.
    #[must_use]
    pub fn goodput(&self) -> Rate {
        match (self.size, self.completion) {
            (Some(size), Some(completion)) => Rate::of(size, completion),
            _ => Rate::of(self.delivered, self.active),
        }
    }
}

/// One population of users over the measured interval.
#[derive(Clone, Debug)]
pub struct SessionsReport {
    /// The population's name.
    pub name: String,
    /// The number of users.
    pub users: usize,
    /// Sessions that ended.
    pub completed: u64,
    /// The time average of the number of users with a session under way.
    pub mean_active: f64,
    /// Payload received in order.
    pub delivered: Bytes,
    /// The length of the interval.
    pub measured: Span,
    /// Packets sent: segments, again or for the first time, and those of handshakes.
    pub sent: u64,
    /// Packets among these that the tight link dropped.
    pub dropped: u64,
    /// Packets among these that were sent again.
    pub retransmits: u64,
    /// The times from a session's beginning, handshake included, to its last byte's acknowledgement; of sessions that
    /// ended.
    pub completion: Histogram,
}

impl SessionsReport {
    /// Returns the payload of all users over the measured time.
    #[must_use]
    pub fn goodput(&self) -> Rate {
        Rate::of(self.delivered, self.measured)
    }
}

/// A run that its recorder ended because it took too much memory.
#[derive(Debug)]
pub struct TooLarge<R> {
    /// The time at which it ended.
    pub at: Time,
    /// The recorder.
    pub recorder: R,
}

//! What a run leaves behind.

mod cell;

pub use cell::{AccessReport, CellReport};

use link::{Histogram, LinkReport, LinkState, SourceReport, SynchronizedLosses};
use sizing::PhaseChange;
use units::{Bytes, Rate, Span, Time};

/// Into so many parts the measured interval is divided for batch means: enough for a confidence interval, few enough
/// to be nearly independent.
pub const BATCHES: u64 = 10;

/// A finished run.
#[derive(Debug)]
pub struct Outcome<R> {
    /// When it ended.
    pub ended: Time,
    /// The tight link over the measured interval. In a cell, the access point's watched queue, with the share of time
    /// the air is busy as its utilization.
    pub link: LinkReport,
    /// The tight link at the ends of [`BATCHES`] equal parts of the measured interval, its beginning first. Only the
    /// beginning if the plan has no end.
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
    /// Every source of cross traffic over the measured interval and its whole route, in the plan's order.
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
    /// How long the flow was there within the interval: from the instant at which it could send data until all of
    /// them were acknowledged, or to the end.
    pub active: Span,
    /// From its SYN until it could send data; `None` if it never could, or if its connection was there already.
    pub handshake: Option<Span>,
    /// Segments sent, again or for the first time.
    pub sent: u64,
    /// Of those, dropped by a link.
    pub dropped: u64,
    /// Segments sent again.
    pub retransmits: u64,
    /// Times the retransmission timer expired.
    pub timeouts: u64,
    /// Its send window when a link first dropped one of its segments.
    pub first_loss_window: Option<Bytes>,
    /// Its slow-start threshold in the end; `None` if it has none.
    pub threshold: Option<Bytes>,
    /// Segments that arrived with a congestion mark.
    pub marks: u64,
    /// Acknowledgements sent, where these cross queues.
    pub acknowledgements: u64,
    /// Of those, dropped by a link.
    pub acknowledgements_dropped: u64,
    /// Round-trip samples.
    pub rtt: Histogram,
    /// Mean absolute difference between consecutive ones.
    pub rtt_jitter: Option<Span>,
    /// The least of them.
    pub min_rtt: Option<Span>,
    /// The greatest smoothed round-trip time after a sample (RFC 6298). `None` without a sample. Also `None` where
    /// all propagation is lumped behind one link, since no time is spent on it there.
    pub max_smoothed_rtt: Option<Span>,
    /// From the instant at which it could send data to its last byte's acknowledgement, for a sized flow that ended.
    pub completion: Option<Span>,
    /// The phases of its sizer, from the start of the run on.
    pub sizing: Vec<PhaseChange>,
    /// The window its sizer wanted in the end; `None` without a sizer that measures.
    pub sized: Option<Bytes>,
}

impl FlowReport {
    /// Of a sized flow that ended, its size over its completion; of any other, payload per time that it was there.
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
    /// How many users.
    pub users: usize,
    /// Sessions that ended.
    pub completed: u64,
    /// Time-average number of users with a session under way.
    pub mean_active: f64,
    /// Payload received in order.
    pub delivered: Bytes,
    /// Length of the interval.
    pub measured: Span,
    /// Packets sent: segments, again or for the first time, and those of handshakes.
    pub sent: u64,
    /// Of those, dropped by the tight link.
    pub dropped: u64,
    /// Of those sent, how many were so again.
    pub retransmits: u64,
    /// From a session's beginning, handshake included, to its last byte's acknowledgement; of those that ended.
    pub completion: Histogram,
}

impl SessionsReport {
    /// Payload of all users per time.
    #[must_use]
    pub fn goodput(&self) -> Rate {
        Rate::of(self.delivered, self.measured)
    }
}

/// A run that its recorder ended for want of memory.
#[derive(Debug)]
pub struct TooLarge<R> {
    /// When that was.
    pub at: Time,
    /// The recorder.
    pub recorder: R,
}

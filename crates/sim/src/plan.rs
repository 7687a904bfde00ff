//! What a simulation is made from: every quantity resolved to a number.

use cc::CongestionControl;
use link::queue::PolicyConfig;
use link::traffic::TrafficConfig;
use link::{Limit, LinkConfig};
use sizing::BufferSizer;
use units::{Bytes, Span, Time};

/// A whole run.
#[derive(Debug)]
pub struct Plan {
    /// The links, one per direction.
    pub links: Vec<LinkPlan>,
    /// Which of them an outcome is about.
    pub tight: usize,
    /// The transfers under study.
    pub flows: Vec<FlowPlan>,
    /// Cross traffic that does not answer to congestion.
    pub traffic: Vec<TrafficPlan>,
    /// When the run stops; `None`: when every sized flow has ended.
    pub end: Option<Time>,
    /// Metrics leave out what happens before this.
    pub warmup: Time,
    /// Seeds every random stream.
    pub seed: u64,
}

/// One direction of a link.
#[derive(Clone, Debug)]
pub struct LinkPlan {
    /// Names its random streams, unless it is the only one.
    pub name: String,
    /// Rate, delay, random loss.
    pub config: LinkConfig,
    /// The queue's policy, of the registry of `link`, and its settings.
    pub queue: PolicyConfig,
    /// Room in the queue.
    pub limit: Limit,
}

impl Plan {
    /// Whether all packets cross the same one link and no acknowledgement waits: the case with a faster way.
    #[must_use]
    pub fn is_single(&self) -> bool {
        let alone = |flow: &FlowPlan| flow.route == [0] && flow.return_route.is_empty();
        self.links.len() == 1
            && self.flows.iter().all(alone)
            && self.traffic.iter().all(|traffic| traffic.route == [0])
    }
}

/// One transfer.
#[derive(Debug)]
pub struct FlowPlan {
    /// Names the flow, and its random streams.
    pub name: String,
    /// Its congestion controller, at its start.
    pub control: Box<dyn CongestionControl>,
    /// Payload of a full segment.
    pub payload: Bytes,
    /// Headers around each segment's payload.
    pub header: Bytes,
    /// Propagation there and back, the links' delay included, queueing and serialization excluded.
    pub base_rtt: Span,
    /// The links its segments cross, in order: indices of [`Plan::links`].
    pub route: Vec<usize>,
    /// The links its acknowledgements cross, in order; empty: they meet no queue and are never lost.
    pub return_route: Vec<usize>,
    /// Payload to move; `None`: greedy.
    pub size: Option<Bytes>,
    /// When the first segment may leave.
    pub start: Time,
    /// The receiver acknowledges every this many segments.
    pub delayed_ack: u64,
    /// A withheld acknowledgement leaves after this at the latest.
    pub delayed_ack_timeout: Span,
    /// The smaller of send and receive buffer; [`Bytes::MAX`] when it is never the limit.
    pub socket_buffer: Bytes,
    /// Decides on the window that the receiver advertises, up to `socket_buffer`; `None`: always that.
    pub sizer: Option<Box<dyn BufferSizer>>,
    /// What a window opens for leaves later by a uniform random share of this.
    pub send_jitter: Span,
    /// Least retransmission timeout.
    pub min_rto: Span,
    /// Every acknowledgement of new data gives a round-trip sample (RFC 7323). Without, one segment is timed at a
    /// time, and not if it was sent again, so a backed-off timer stays so for longer.
    pub timestamps: bool,
    /// Selective acknowledgements (RFC 2018, RFC 6675); without, NewReno (RFC 6582).
    pub sack: bool,
    /// How much fast recovery may send.
    pub recovery: Recovery,
    /// How losses are found.
    pub loss_detection: LossDetection,
    /// Data packets may be marked instead of dropped (RFC 3168).
    pub ecn: bool,
    /// Packets leave at a rate: the controller's, or else by window and round-trip time. A controller with a rate is
    /// paced in any case.
    pub pacing: bool,
}

/// How much fast recovery may send for what is acknowledged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Recovery {
    /// What the window has room for, beside what is in the network (RFC 6675).
    #[default]
    Rfc6675,
    /// Proportional rate reduction with the slow-start reduction bound (RFC 6937).
    Prr,
}

/// How losses are found.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum LossDetection {
    /// By three duplicate or selective acknowledgements (RFC 5681, RFC 6675).
    #[default]
    DupAck,
    /// By time, with a probe of the tail (RACK-TLP, RFC 8985). Needs selective acknowledgements; without them it is
    /// [`DupAck`](LossDetection::DupAck).
    Rack,
}

/// One source of cross traffic.
#[derive(Clone, Debug)]
pub struct TrafficPlan {
    /// Names the source's random stream.
    pub name: String,
    /// Its arrival process.
    pub config: TrafficConfig,
    /// The links its packets cross, in order.
    pub route: Vec<usize>,
}

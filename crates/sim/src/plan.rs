//! What a simulation is made from: every quantity resolved to a number.

use cc::CongestionControl;
use link::queue::PolicyConfig;
use link::traffic::TrafficConfig;
use link::{Limit, LinkConfig, LossEpisodes};
use sizing::BufferSizer;
use std::fmt;
use transport::Transport;
use units::random::{Distribution, Stream};
use units::{Bytes, Rate, Span, Time};

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
    /// Users that come and go.
    pub sessions: Vec<SessionsPlan>,
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
            && self.sessions.iter().all(|sessions| sessions.connections().take(1).all(|user| alone(&user)))
            && self.traffic.iter().all(|traffic| traffic.route == [0])
    }

    /// What groups the tight link's drops: it watches the greedy flows that cross it.
    pub(crate) fn loss_episodes(&self) -> LossEpisodes {
        let crosses = |flow: &FlowPlan| flow.size.is_none() && flow.route.contains(&self.tight);
        let watched = || self.flows.iter().enumerate().filter(|(_, flow)| crosses(flow));
        let total: Span = watched().map(|(_, flow)| flow.base_rtt).sum();
        let mut episodes = LossEpisodes::new(total / watched().count().max(1) as u64);
        watched().for_each(|(index, flow)| episodes.watch(index, flow.start));
        episodes
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
    /// How its two ends send, acknowledge and repair losses.
    pub transport: Transport,
    /// The rate of the sender's own line, on the wire: segments leave one after the other at no more than this, and the host holds
    /// back what the line has no room for, as one with byte queue limits does; `None`: without limit.
    pub access_rate: Option<Rate>,
}

/// What a fresh connection of user `number` of a population is like; its size is the session's, its start says when the
/// user begins to think. `syn_lost`
/// says that its handshake was not answered at once, so that its window begins at one segment [rfc5681:3.1].
pub type Connect = Box<dyn Fn(usize, bool) -> FlowPlan + Send>;

/// An Engset population: each of `users` thinks, sends a drawn amount over a fresh connection until all of it is
/// acknowledged, and thinks again.
pub struct SessionsPlan {
    /// Names the population and its random streams.
    pub name: String,
    /// How many users.
    pub users: usize,
    /// A fresh connection.
    pub connect: Connect,
    /// What a session sends.
    pub size: SessionSize,
    /// Seconds between the end of a session and the beginning of the next.
    pub think: Distribution,
    /// A SYN of 40 bytes passes the link before the data; its loss costs a timeout [rfc6298:2].
    pub handshake: bool,
}

impl SessionsPlan {
    /// When user `number` begins to think.
    pub(crate) fn arrival(&self, number: usize) -> Time {
        (self.connect)(number, false).start
    }

    /// What the connections of each user are like.
    pub(crate) fn connections(&self) -> impl Iterator<Item = FlowPlan> + '_ {
        (0..self.users).map(|number| (self.connect)(number, false))
    }

    /// Of each user.
    pub(crate) fn base_rtts(&self) -> impl Iterator<Item = Span> + '_ {
        self.connections().map(|connection| connection.base_rtt)
    }

    /// The connection of a session.
    pub(crate) fn connection(&self, number: usize, syn_lost: bool, start: Time, size: Bytes) -> FlowPlan {
        FlowPlan { start, size: Some(size), ..(self.connect)(number, syn_lost) }
    }
}

impl fmt::Debug for SessionsPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SessionsPlan")
            .field("name", &self.name)
            .field("users", &self.users)
            .finish_non_exhaustive()
    }
}

/// What a session sends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SessionSize {
    /// Full segments.
    Packets(Distribution),
    /// Bytes of payload.
    Bytes(Distribution),
}

impl SessionSize {
    /// Payload of one session, at least a byte.
    pub(crate) fn draw(&self, payload: Bytes, stream: &mut Stream) -> Bytes {
        match self {
            Self::Packets(packets) => payload * packets.draw_whole(stream),
            Self::Bytes(bytes) => Bytes::new(bytes.draw_whole(stream)),
        }
    }
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

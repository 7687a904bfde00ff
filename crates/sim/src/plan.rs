//! The input of a simulation, with every quantity resolved to a number.

mod cell;
mod control;
mod topology;

pub use cell::{
    CellPlace, CellPlan, Direction, DownlinkPlan, QueuePlan, StationPlan, UplinkPlan, UplinkSource,
};
pub use control::{ControlPlan, SizerPlan};
pub use topology::{LinkPlan, Topology};

use link::LossEpisodes;
use link::traffic::TrafficConfig;
use serde::Serialize;
use transport::Transport;
use units::random::{Distribution, Stream};
use units::{Bytes, Rate, Span, Time};

/// A whole run as plain data, so that it can be kept, compared, and sent to another process.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Plan {
    /// The medium that carries the packets.
    pub topology: Topology,
    /// The transfers under study.
    pub flows: Vec<FlowPlan>,
    /// Cross traffic that does not answer to congestion.
    pub traffic: Vec<TrafficPlan>,
    /// Users that come and go.
    pub sessions: Vec<SessionsPlan>,
    /// The time at which the run stops; `None`: when every sized flow has ended.
    pub end: Option<Time>,
    /// The time before which metrics leave out everything.
    pub warmup: Time,
    /// The seed of every random stream.
    pub seed: u64,
}

impl Plan {
    /// Returns the flows, and the connections of all users.
    pub(crate) fn connections(&self) -> impl Iterator<Item = &FlowPlan> {
        self.flows.iter().chain(self.sessions.iter().flat_map(|sessions| &sessions.connections))
    }

    /// Returns true if all packets cross the first link and no other, and no acknowledgement waits.
    pub(crate) fn crosses_one_link(&self) -> bool {
        self.connections().all(|flow| flow.route == [0] && flow.return_route.is_empty())
            && self.traffic.iter().all(|traffic| traffic.route == [0])
    }

    /// Replaces a network of one link by [`Topology::OneLink`], the faster medium, if no acknowledgement waits.
    #[must_use]
    pub fn simplified(mut self) -> Self {
        if self.topology.links().len() == 1 && self.crosses_one_link() {
            self.topology = self.topology.into_one_link();
        }
        self
    }

    /// Makes the grouping of the tight link's drops, which watches the greedy flows that cross it.
    pub(crate) fn loss_episodes(&self) -> LossEpisodes {
        let crosses = |flow: &FlowPlan| {
            flow.size.is_none()
                && match (&self.topology, flow.place) {
                    (Topology::Cell(cell), Some(place)) => cell.is_watched(place),
                    (Topology::Cell(_), None) => false,
                    (topology, _) => flow.route.contains(&topology.tight()),
                }
        };
        let watched = || self.flows.iter().enumerate().filter(|(_, flow)| crosses(flow));
        let total: Span = watched().map(|(_, flow)| flow.base_rtt).sum();
        let mut episodes = LossEpisodes::new(total / watched().count().max(1) as u64);
        watched().for_each(|(index, flow)| episodes.watch(index, flow.start));
        self.leaving().for_each(|(at, index)| episodes.leave(index, at));
        episodes
    }

    /// Returns the flows that leave and the times at which they do, in the plan's order.
    pub(crate) fn leaving(&self) -> impl Iterator<Item = (Time, usize)> {
        self.flows.iter().enumerate().filter_map(|(index, flow)| Some((flow.stop?, index)))
    }
}

/// One transfer.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FlowPlan {
    /// The name of the flow and of its random streams.
    pub name: String,
    /// Its congestion controller.
    pub control: ControlPlan,
    /// Payload of a full segment.
    pub payload: Bytes,
    /// Headers around each segment's payload.
    pub header: Bytes,
    /// Propagation there and back, the links' delay included, queueing and serialization excluded.
    pub base_rtt: Span,
    /// The links its segments cross, in order: indices of the topology's links. Empty in a cell.
    pub route: Vec<usize>,
    /// The links its acknowledgements cross, in order. If empty, they meet no queue and are never lost. In a cell this
    /// is empty, too, but acknowledgements always meet queues.
    pub return_route: Vec<usize>,
    /// The flow's place in a wireless cell; `None`: the run has no cell.
    pub place: Option<CellPlace>,
    /// Payload to move; `None`: greedy.
    pub size: Option<Bytes>,
    /// The time at which the first segment may leave, or the SYN if there is a handshake.
    pub start: Time,
    /// The time at which the flow leaves; `None`: it stays. From then on it sends no new data. Data already sent is
    /// still delivered, and repaired if it is lost. A user's connection does not leave.
    pub stop: Option<Time>,
    /// The number of segments that one acknowledgement covers.
    pub delayed_ack: u64,
    /// The longest time for which an acknowledgement is withheld.
    pub delayed_ack_timeout: Span,
    /// The smaller of send and receive buffer; [`Bytes::MAX`] if it is never the limit.
    pub socket_buffer: Bytes,
    /// The sizer of the window that the receiver advertises, up to `socket_buffer`; `None`: always `socket_buffer`.
    pub sizer: Option<SizerPlan>,
    /// The upper limit of the extra delay of segments that leave as a window opens. Each delay is drawn uniformly from
    /// zero to this limit.
    pub send_jitter: Span,
    /// True if a SYN and its answer cross the path before the data. A user's connection has this from its population.
    pub handshake: bool,
    /// The options by which its two ends send, acknowledge and repair losses.
    pub transport: Transport,
    /// The rate of the sender's own line, on the wire; `None`: without limit. Segments leave one after the other at no
    /// more than this rate. The host holds back segments that the line has no room for, as a host with byte queue
    /// limits does.
    pub access_rate: Option<Rate>,
    /// The hosts and the class of its packets.
    pub marking: Marking,
}

impl FlowPlan {
    /// Returns true if its acknowledgements cross queues.
    pub(crate) fn acknowledgements_wait(&self) -> bool {
        !self.return_route.is_empty() || self.place.is_some()
    }

    /// Makes a flow that always has data to send, from the beginning, over the first link, on an established
    /// connection. Segments have 1500 bytes on the wire, each acknowledged by itself. The socket buffer is never the
    /// limit.
    #[must_use]
    pub fn greedy(name: &str, control: &str, base_rtt: Span) -> Self {
        let payload = Bytes::new(1448);
        Self {
            name: name.into(),
            control: ControlPlan::new(control, payload),
            payload,
            header: Bytes::new(52),
            base_rtt,
            route: vec![0],
            return_route: Vec::new(),
            place: None,
            size: None,
            start: Time::ZERO,
            stop: None,
            delayed_ack: 1,
            delayed_ack_timeout: Span::from_millis(100),
            socket_buffer: Bytes::MAX,
            sizer: None,
            send_jitter: Span::ZERO,
            handshake: false,
            transport: Transport::default(),
            access_rate: None,
            marking: Marking::default(),
        }
    }
}

/// The hosts and the class of a flow's packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Marking {
    /// The number of the sending host, from 1; 0: a host of the flow's own.
    pub sender: u8,
    /// The number of the receiving host, from 1; 0: a host of the flow's own.
    pub receiver: u8,
    /// The DSCP, 0 to 63.
    pub dscp: u8,
}

/// An Engset population: each user thinks, sends a drawn amount over a fresh connection until all of it is
/// acknowledged, and thinks again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SessionsPlan {
    /// The name of the population and of its random streams.
    pub name: String,
    /// A fresh connection for each user. Its size is the session's; its start is the time at which the user begins to
    /// think.
    pub connections: Vec<FlowPlan>,
    /// The size of a session.
    pub size: SessionSize,
    /// Seconds between the end of a session and the beginning of the next.
    pub think: Distribution,
    /// True if a SYN of 40 bytes passes the link before the data. Its loss costs a timeout (RFC 6298, 2), and the
    /// connection then begins with a window of one segment [rfc5681:3.1].
    pub handshake: bool,
}

impl SessionsPlan {
    /// Returns the number of users.
    #[must_use]
    pub fn users(&self) -> usize {
        self.connections.len()
    }

    /// Makes the connection of a session of user `number`; `syn_lost`: its SYN had to be sent again.
    pub(crate) fn connection(&self, number: usize, syn_lost: bool, start: Time, size: Bytes) -> FlowPlan {
        let own = self.connections[number].clone();
        let mut connection = FlowPlan { start, size: Some(size), handshake: false, ..own };
        if syn_lost {
            connection.control.start.window = connection.payload;
        }
        connection
    }
}

/// The size of a session.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub enum SessionSize {
    /// Full segments.
    Packets(Distribution),
    /// Bytes of payload.
    Bytes(Distribution),
}

impl SessionSize {
    /// Draws the payload of one session, at least a byte.
    pub(crate) fn draw(&self, payload: Bytes, stream: &mut Stream) -> Bytes {
        match self {
            Self::Packets(packets) => payload * packets.draw_whole(stream),
            Self::Bytes(bytes) => Bytes::new(bytes.draw_whole(stream)),
        }
    }
}

/// One source of cross traffic.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TrafficPlan {
    /// The name of the source's random stream.
    pub name: String,
    /// Its arrival process.
    pub config: TrafficConfig,
    /// The links its packets cross, in order.
    pub route: Vec<usize>,
    /// The hosts and the class of its packets.
    pub marking: Marking,
}

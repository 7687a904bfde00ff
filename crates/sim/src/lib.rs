//! The simulator: TCP flows and cross traffic over a tight link, packet by packet, without IO or a clock.
//!
//! [`Simulation`] is an owned value made from a [`Plan`]; running it yields an [`Outcome`]. The same plan gives
//! the same outcome, to the last bit.
//!
//! A flow's propagation delay, forward and return, is lumped behind the tight link. This does not change the flow's
//! dynamics, because only sums of delays matter to it. Behind a drop-tail queue a packet costs one event. Its departure
//! is known as it is sent, and the receiver's reaction is computed when its acknowledgement reaches the sender. Behind
//! any other queue the link's departures are events, too.
//!
//! Flows of the same base RTT share a line behind the link, and the loop looks only at the head of a line. The agenda
//! holds one entry per flow, source and link, never one per packet. A flow's entry is its next deadline. It moves at
//! once only if the deadline comes nearer, and otherwise when its time has come.
//!
//! An event that concerns one flow alone need not wait for its turn. A host that gathers segments takes those that arrive
//! next together with the first, as long as nobody else can tell the difference. A burst on a flow's own line is one
//! event if nobody else acts meanwhile.
//!
//! If packets cross several links, or acknowledgements cross queues, packets move hop by hop. Every link's propagation
//! is then real, with an event for each packet and link, and only a flow's access lines are lumped. Over a single link
//! both methods give the same packets. A wireless cell is a third method: [`air::Cell`] sends the packets that wait for
//! the air.
//!
//! Reading order:
//! - `plan.rs`: the input; `simulation.rs`: the loop; `agenda.rs`, `packet.rs`, `early.rs`;
//! - `medium.rs` and `medium/`: one link, a network of links, a wireless cell, a record of their packets;
//! - `endpoints.rs`: flows and users by one index; `flow.rs`: sender and receiver of one transfer;
//! - `user.rs` and `population.rs`: Engset sessions; `tcp.rs` and `tcp/`: the protocol;
//! - `recorder.rs`, `watched.rs` and `outcome.rs`: the output.
//!
//! ```
//! use link::{Limit, LinkConfig};
//! use tightlink_sim::{FlowPlan, LinkPlan, NoRecorder, Plan, Simulation, Topology};
//! use units::{Fraction, Rate, Span, Time};
//! let (rate, delay) = (Rate::from_bps(20_000_000), Span::from_millis(10));
//! let config = LinkConfig::constant(rate, delay);
//! let (name, queue, limit) = ("link".into(), "drop-tail".into(), Limit::Packets(66));
//! let plan = Plan {
//!     topology: Topology::OneLink(LinkPlan { name, config, queue, limit }),
//!     flows: vec![FlowPlan::greedy("one", "cubic", Span::from_millis(40))],
//!     traffic: Vec::new(),
//!     sessions: Vec::new(),
//!     end: Some(Time::ZERO + Span::from_secs(12)),
//!     warmup: Time::ZERO + Span::from_secs(2),
//!     seed: 1,
//! };
//! let outcome = Simulation::new(plan, NoRecorder).run();
//! assert!(outcome.flows[0].goodput() > Rate::from_bps(18_000_000));
//! ```

mod agenda;
mod early;
mod endpoints;
mod flow;
mod handshake;
mod medium;
mod outcome;
mod packet;
mod plan;
mod population;
mod recorder;
mod simulation;
mod tagged;
mod tcp;
mod user;
mod watched;

pub use outcome::{AccessReport, BATCHES, CellReport, FlowReport, Outcome, SessionsReport, TooLarge};
pub use plan::{
    CellPlace, CellPlan, ControlPlan, Direction, DownlinkPlan, FlowPlan, LinkPlan, Marking, Plan, QueuePlan,
    SessionSize, SessionsPlan, SizerPlan, StationPlan, Topology, TrafficPlan, UplinkPlan, UplinkSource,
};
pub use recorder::{FlowView, NoRecorder, Recorder};
pub use simulation::Simulation;
pub use transport::{EcnMode, Host, LossDetection, Recovery, Transport};
pub use watched::{AckFeedback, AckView, PacketView, PathEnd, SegmentView, SenderState, Watches};

//! The simulator: TCP flows and cross traffic over a tight link, packet by packet, without IO or a clock.
//!
//! [`Simulation`] is an owned value made from a [`Plan`]; running it yields an [`Outcome`]. The same plan gives
//! the same outcome, to the last bit.
//!
//! How time passes: a flow's propagation delay, forward and return, is lumped behind the tight link. The
//! flow's own dynamics do not change by it, since only sums of delays matter to it. Behind a drop-tail queue a
//! packet costs one event: its departure is known as it is sent, and what happens at the receiver is worked out
//! when its acknowledgement reaches the sender. Behind any other queue the link's departures are events, too. Flows
//! of the same base RTT share a line behind the link, of which only the head is looked at; the agenda holds one
//! entry per flow (its next deadline, kept lazily), per source and per link, never one per packet.
//!
//! Where packets cross several links, or acknowledgements cross queues, packets move hop by hop: every link's
//! propagation is real, with an event for each packet and link, and only a flow's access lines are lumped. Over a single
//! link both ways give the same packets. A wireless cell is a third way: what waits for the air is sent by [`air::Cell`].
//!
//! Reading order: `plan.rs` (what goes in), `simulation.rs` (the loop), `agenda.rs`, `packet.rs`, `medium.rs` and
//! `medium/` (what carries packets: one link, a network of them, a wireless cell), `endpoints.rs` (flows and users by one index),
//! `flow.rs` (one transfer: sender and receiver), `user.rs` and `population.rs` (Engset sessions), `tcp.rs` and `tcp/`
//! (the protocol), `recorder.rs` and `outcome.rs` (what comes out).

mod agenda;
mod endpoints;
mod flow;
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

pub use outcome::{AccessReport, BATCHES, CellReport, FlowReport, Outcome, SessionsReport};
pub use plan::{
    CellPlace, CellPlan, ControlPlan, Direction, DownlinkPlan, FlowPlan, LinkPlan, Plan, QueuePlan,
    SessionSize, SessionsPlan, SizerPlan, StationPlan, Topology, TrafficPlan, UplinkPlan, UplinkSource,
};
pub use recorder::{FlowView, NoRecorder, Recorder};
pub use simulation::Simulation;
pub use transport::{Host, LossDetection, Recovery, Transport};

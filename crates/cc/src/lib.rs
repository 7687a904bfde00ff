//! Congestion controllers: how much may be in flight, given what the acknowledgements say.
//!
//! A controller is a [`CongestionControl`]; the transport tells it what happened and asks for its
//! [`Allowance`]. Nothing here knows queues, sockets or sequence numbers.
//!
//! Reading order: `control.rs` (the trait and its events), `loss_based.rs` (slow start x growth), `growth.rs`, `slow_start.rs` and
//! its parts, `byte_counting.rs` (what an acknowledgement counts for), `registry.rs` (what a name stands for), `controls.rs` (the
//! names). The controllers are in `controls/`: loss-based ones; those that go by delay or rate, `vegas.rs`, `fast.rs`, `bbr1.rs`,
//! `bbr3.rs` (of the parts in `bbr.rs`) and `madison.rs`; those that routers assist, `assisted.rs` (with `in_flight.rs`).

mod byte_counting;
mod control;
pub mod controls;
pub mod growth;
mod in_flight;
mod loss_based;
mod quantum;
pub mod registry;
pub mod slow_start;
#[cfg(test)]
mod tests;

pub use control::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, RateSample,
    RouterHeader, RttView, Wants,
};
pub use controls::{
    Bbr1, Bbr3, Fast, FixedWindow, Madison, MadisonLosses, MadisonParameters, MadisonRules, Rcp, Vegas, Xcp,
};
pub use loss_based::{LossBased, Start};
pub use quantum::{SUPER_PACKET, send_quantum, super_packet};

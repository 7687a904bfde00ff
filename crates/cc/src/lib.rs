//! Congestion controllers: how much may be in flight, given what the acknowledgements say.
//!
//! A controller is a [`CongestionControl`]; the transport tells it what happened and asks for its
//! [`Allowance`]. Nothing here knows queues, sockets or sequence numbers.
//!
//! Reading order: `control.rs` (the trait and its events), `loss_based.rs` (slow start x growth), the parts in
//! `slow_start/` and `growth/`, `byte_counting.rs` (what an acknowledgement counts for), `fixed.rs`, then
//! the controllers that go by delay or rate, `vegas.rs`, `fast.rs`,
//! `bbr1.rs`, `bbr3.rs` (of the parts in `bbr.rs`) and `madison.rs`, those that routers assist, `assisted.rs` (with `in_flight.rs`), and `registry.rs` (names).

mod assisted;
mod bbr;
mod bbr1;
mod bbr3;
mod byte_counting;
mod control;
mod fast;
mod fixed;
pub mod growth;
mod in_flight;
mod loss_based;
mod madison;
mod quantum;
pub mod registry;
pub mod slow_start;
#[cfg(test)]
mod tests;
mod vegas;

pub use assisted::{Rcp, Xcp};
pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use control::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Phase, RateSample,
    RouterHeader, RttView, Wants,
};
pub use fast::Fast;
pub use fixed::FixedWindow;
pub use loss_based::{LossBased, Start};
pub use madison::{Losses as MadisonLosses, Madison, Parameters as MadisonParameters, Rules as MadisonRules};
pub use quantum::{SUPER_PACKET, send_quantum, super_packet};
pub use vegas::Vegas;

//! Congestion controllers: they decide from acknowledgements how much may be in flight.
//!
//! A controller is a [`CongestionControl`]. The transport reports events to the controller and asks for its
//! [`Allowance`]. Nothing here knows queues, sockets or sequence numbers.
//!
//! Reading order:
//! - `control.rs`: the trait and its events;
//! - `loss_based.rs`: a slow start combined with a growth, from `slow_start.rs` and `growth.rs`;
//! - `byte_counting.rs`: the number of bytes that an acknowledgement counts for;
//! - `marked_share.rs`: the moving average by which `dctcp` and `prague` answer congestion marks;
//! - `controls.rs`: the names; `registry.rs`: the recipe behind each name;
//! - `controls/`: one file per controller. `vegas.rs`, `fast.rs`, `bbr1.rs`, `bbr3.rs` and `madison.rs` use delay or
//!   rate; `prague.rs` and `dctcp.rs` use the share of marked data. `assisted.rs` has the controllers that routers assist, with `in_flight.rs`. The others are loss-based.
//!
//! ```
//! use tightlink_cc::{Congestion, CongestionKind, Start, registry};
//! use units::{Bytes, Time};
//! let segment = Bytes::new(1448);
//! let start = Start { segment, window: segment * 100, threshold: Bytes::MAX };
//! let mut control = registry::build("cubic", "standard", start).expect("in the registry");
//! assert_eq!(control.allowance().window, segment * 100);
//! let lost = Congestion { now: Time::ZERO, kind: CongestionKind::Loss, lost: segment, in_flight: segment * 100 };
//! control.on_congestion(&lost);
//! assert_eq!(control.allowance().window, segment * 70); // CUBIC keeps 0.7 of its window [rfc9438:4.6]
//! ```

mod byte_counting;
mod control;
pub mod controls;
pub mod growth;
mod in_flight;
mod loss_based;
mod marked_share;
mod quantum;
#[cfg(test)]
#[path = "../tests/within/random_events.rs"]
mod random_events;
pub mod registry;
pub mod slow_start;

pub use control::{
    Ack, Allowance, CcState, Congestion, CongestionControl, CongestionKind, LostSegment, Marks, Phase,
    RateSample, RouterHeader, RttView, Wants,
};
pub use controls::{
    Bbr1, Bbr3, Fast, FixedWindow, Madison, MadisonLosses, MadisonParameters, MadisonRules, Rcp, RttScaling,
    Vegas, Xcp,
};
pub use loss_based::{LossBased, Start};
pub use quantum::{FAR_RTT, PAIR_GAP, SUPER_PACKET, send_quantum, super_packet};

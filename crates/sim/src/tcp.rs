//! TCP as the simulator needs it: sequence numbers count segments, one flow moves data one way.
//!
//! Reading order: `sender.rs` (windows, recovery), `scoreboard.rs` (what is acknowledged, lost, in flight),
//! `receiver.rs` (reassembly, delayed and selective acknowledgements), `rtt.rs` (estimator and retransmission
//! timer), `bits.rs`.

mod bits;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;

pub(crate) use receiver::{Acknowledgement, Receiver};
pub(crate) use sender::{Sender, SenderConfig};

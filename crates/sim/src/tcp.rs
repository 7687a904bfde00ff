//! TCP as the simulator needs it: sequence numbers count segments, one flow moves data one way.
//!
//! Reading order: `sender.rs` (windows, recovery), `scoreboard.rs` (what is acknowledged, lost, in flight),
//! `receiver.rs` (reassembly, delayed and selective acknowledgements), `rtt.rs` (estimator and retransmission
//! timer), `blocks.rs` (selective acknowledgements where some are lost), `bits.rs`.

mod bits;
mod blocks;
mod receiver;
mod rtt;
mod scoreboard;
mod sender;

pub(crate) use blocks::{Block, SackBlocks};
pub(crate) use receiver::{Acknowledgement, Receiver, Sacks};
pub(crate) use sender::{Sender, SenderConfig};

//! TCP as the simulator needs it: sequence numbers count segments, and a flow moves data one way.
//!
//! Reading order: `sender.rs` (windows), `sender/recovery.rs`, `scoreboard.rs` (segments acknowledged, lost, in
//! flight), `receiver.rs` (reassembly, delayed and selective acknowledgements). Then `rtt.rs` (estimator and
//! retransmission timer), `blocks.rs` (selective acknowledgements if some can be lost), `advertised.rs` (a receive
//! window that moves), `bits.rs`. Rates are in `sender/pacing.rs`, `pacer.rs`, `delivery.rs`. A flow may turn on
//! `sender/options.rs`, `prr.rs`, `rack.rs` and `tlp.rs`, `ecn.rs`, with `times.rs`. `sender/undo.rs` takes timeouts back.
//! Hosts' treatment of segments that are close together is in `sender/offload.rs`, `coalescing.rs`.

mod advertised;
mod bits;
mod blocks;
mod coalescing;
mod delivery;
mod ecn;
mod few;
#[cfg(test)]
#[path = "../tests/within/lossy.rs"]
mod lossy;
mod pacer;
mod prr;
mod rack;
mod receiver;
mod rtt;
mod scoreboard;
#[cfg(test)]
#[path = "../tests/within/script/lines.rs"]
mod script;
mod sender;
mod times;
mod tlp;

pub(crate) use blocks::{Block, SackBlocks};
pub(crate) use coalescing::Batch;
pub(crate) use ecn::Feedback;
pub(crate) use receiver::{Acknowledgement, Receiver, Sacks};
pub(crate) use sender::{Features, Full, Paced, Plain, Sender, SenderConfig};

#[cfg(test)]
#[path = "../tests/within/tcp.rs"]
mod tests;

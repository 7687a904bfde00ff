//! The load generator of the engine: bulk flows between two addresses, whose payload is zeros.
//!
//! Reading order: `session.rs` (the settings of a run), `results.rs` (its results), `run.rs` (the entry points),
//! `receiver.rs` and `sender.rs` (one loop each, no thread per flow). Then `liaison.rs` (messages between the two
//! sides) and `ticks.rs`.

mod liaison;
mod receiver;
mod results;
mod run;
mod sender;
mod session;
mod ticks;

pub use liaison::Liaison;
pub use receiver::Receiver;
pub use results::{
    Measured, ReceivedFlow, ReceiverSample, RttStatistics, SendCounts, SenderSample, SentFlow,
};
pub use run::{receive, receive_with, send, send_with};
pub use session::{FlowConfig, KERNEL_DECIDES, PREAMBLE, SessionConfig, SizerChoice};

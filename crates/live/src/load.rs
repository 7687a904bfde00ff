//! The load generator of the engine: bulk flows between two addresses, whose payload is zeros.
//!
//! Reading order: `session.rs` (the settings of a run), `results.rs` (its results), `run.rs` (the entry points),
//! `receiver.rs` and `sender.rs` (one loop each, no thread per flow). Then `side_channel.rs` (messages between the two
//! sides) and `sample_times.rs`.

mod receiver;
mod results;
mod run;
mod sample_times;
mod sender;
mod session;
mod side_channel;

pub use receiver::Receiver;
pub use results::{
    Lateness, Measured, ReceivedFlow, ReceiverSample, RttStatistics, SendCounts, SenderSample, SentFlow,
};
pub use run::{receive, receive_with, send, send_with};
pub use sample_times::{STOP_CHECK, SampleTimes};
pub use session::{FlowConfig, KERNEL_DECIDES, PREAMBLE, SessionConfig, SizerChoice};
pub use side_channel::SideChannel;

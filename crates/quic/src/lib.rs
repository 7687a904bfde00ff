//! Real transfers over QUIC: every congestion controller of room `cc`, unchanged, on UDP packets.

mod batch;
mod gate;
mod keys;
mod lateness;
mod ledger;
mod port;
mod receiving_end;
mod run;
mod sending_end;
mod session;
mod transport;

#[cfg(any(test, fuzzing))]
#[path = "../fuzzing/scripts.rs"]
mod scripts;

#[cfg(fuzzing)]
#[path = "../fuzzing/harness.rs"]
pub mod fuzzing;

pub use batch::Batch;
pub use keys::Keys;
pub use ledger::{Ledger, LedgerCounts};
pub use receiving_end::ReceivingEnd;
pub use run::{Receiver, receive, send};
pub use sending_end::{SendingEnd, SendingPhase, Wakeup};
pub use session::{
    ControlChoice, FlowConfig, HEADERS, LARGEST_WINDOW, LEAST_PACKET, MOST_TOGETHER, OVERHEAD, SessionConfig,
};

//! Real transfers over QUIC: every congestion controller of room `cc`, unchanged, on UDP packets.

mod keys;
mod run;
mod session;

pub use keys::Keys;
pub use run::{Receiver, receive, send};
pub use session::{ControlChoice, FlowConfig, HEADERS, LARGEST_WINDOW, LEAST_PACKET, SessionConfig};
use {bytes as _, probe as _, quinn_proto as _, quinn_udp as _, rustls as _, sizing as _, socket2 as _, thiserror as _};

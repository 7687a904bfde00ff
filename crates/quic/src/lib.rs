//! Real transfers over QUIC: every congestion controller of room `cc`, unchanged, on UDP packets.
//!
//! The library quinn-proto (RFC 9000, 9001, 9002) makes packets, finds losses and repairs them. This room decides when
//! a packet may leave. The controllers get the events that the simulator gives them, so that what was simulated is what
//! runs. No public type speaks of the library.
//!
//! ```text
//!   SendingEnd                                              ReceivingEnd
//!   data ─► quinn-proto ─► Gate ─► Port ══ UDP packets ══► Port ─► quinn-proto ─► payload counted and discarded
//!              │            ▲                                          ▲
//!              ▼            │ window, pace, gaps                       │ receive window
//!            Ledger ─► controller                                    sizer
//! ```
//!
//! Reading order:
//! - `session.rs` (the settings of a run), `keys.rs` (the handshake), `transport.rs` (the library's settings);
//! - `ledger.rs` (packets in, a controller's events out), `gate.rs` (the next departure), `lateness.rs`;
//! - `sending_end.rs` and `receiving_end.rs`: one end each, without IO or a clock; `batch.rs`;
//! - `run.rs`, `run/sending.rs`, `run/receiving.rs`: the loops over sockets (`port.rs`); `run/sized.rs`: sizers.
//!
//! ```
//! use cc::{Start, registry::Tuning};
//! use host::Clock;
//! use std::sync::atomic::AtomicBool;
//! use tightlink_quic::{ControlChoice, FlowConfig, Keys, Receiver, SessionConfig, receive, send};
//! use units::{Bytes, Span};
//!
//! let segment = Bytes::new(1472);
//! let control = ControlChoice {
//!     name: "madison".into(),
//!     slow_start: "standard".into(),
//!     start: Start { segment, window: segment * 10, threshold: Bytes::MAX },
//!     tuning: Tuning::default(),
//! };
//! let mut flow = FlowConfig::greedy("one", control);
//! flow.common.size = Some(Bytes::new(100_000));
//! let config = SessionConfig { flows: vec![flow], warmup: Span::ZERO, end: None, every: Span::from_millis(20) };
//! let keys = Keys::random()?;
//! let receiver = Receiver::bind(&config, [127, 0, 0, 1].into(), &keys)?;
//! let (servers, clock, stop) = (receiver.addresses(), Clock::start(), AtomicBool::new(false));
//! let (received, sent) = std::thread::scope(|threads| {
//!     let receiving = threads.spawn(|| receive(&config, receiver, clock, &stop, None));
//!     let sent = send(&config, &servers, &keys, clock, &stop, None);
//!     (receiving.join().expect("no panic"), sent)
//! });
//! assert_eq!(received?[0].payload, Bytes::new(100_000));
//! assert!(sent?[0].completion.is_some());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

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

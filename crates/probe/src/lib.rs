//! Probes: round trips, losses and packet trains over UDP, between two programs that share a key.
//!
//! ```text
//!   data's receiver                                      data's sender
//!   Prober ── probe, 100 bytes, every 10 ms ──────────► Echoer
//!          ◄────────────────── echo, 100 bytes ──────────      counts what it echoes
//!          ── train request, 100 bytes ─────────────────►
//!          ◄─── 20 or 100 packets of 1500 bytes ─────────      in one go
//! ```
//!
//! The receiver probes [sobas:IV]. Echoes travel in the direction of the data, and each echo carries the echoer's
//! count. A gap in the count is a packet lost in the direction of the data. A probe that was never counted was lost in
//! the direction of the acknowledgements. Both sides stamp arrivals in the kernel (`SO_TIMESTAMPNS`), and an echo
//! states how long the echoer held it. So a busy program at either end does not lengthen the round trip. Neither side
//! has a thread: their owners poll them when their sockets are readable.
//!
//! **Access.** Every datagram is authenticated with a key that both sides share ([`ProbeKey`]), for one session, and
//! counts once. A datagram that fails, or is repeated, is ignored without an answer. An echo has the length of its
//! probe.
//!
//! A train goes only to an address that returns a cookie which the echoer sent there within the last twenty seconds. So
//! no train can be directed at a third party. An echoer sends trains no larger and no more often than a prober of this
//! project requests ([`TrainLimits`]). Its owner may count trains in a limit of its own, and accept only one address.
//! The contents are not encrypted, because they carry no secrets.
//!
//! Reading order: `key.rs`, `wire.rs` (the datagrams), `prober.rs`, `echoer.rs`. Their parts are `replay.rs`,
//! `echoes.rs` (missing echoes), `train.rs` (the arrivals of a train), `socket.rs`, `error.rs`.
//!
//! ```
//! use host::Clock;
//! use tightlink_probe::{Echoer, ProbeEvent, ProbeKey, Prober, TrainLimits};
//! use units::Span;
//! let (key, session) = (ProbeKey::random()?, 7);
//! let mut echoer = Echoer::bind("127.0.0.1:0".parse()?, &key, [session], TrainLimits::default())?;
//! let mut prober = Prober::connect(echoer.address()?, &key, session)?;
//! let clock = Clock::start();
//! prober.set_interval(Some(Span::from_millis(10)), clock.now());
//! let round_trip = loop {
//!     echoer.poll(&clock);
//!     if let Some(ProbeEvent::Echo(round_trip)) = prober.poll(&clock).first() {
//!         break *round_trip;
//!     }
//! };
//! assert!(round_trip < Span::from_secs(1));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod cookie;
mod echoer;
mod echoes;
mod error;
#[cfg(fuzzing)]
#[path = "../fuzzing/harness.rs"]
pub mod fuzzing;
mod key;
mod prober;
mod replay;
mod socket;
mod train;
mod wire;

pub use echoer::{EchoCounts, Echoer, TrainLimits};
pub use error::ProbeError;
pub use key::ProbeKey;
pub use prober::{ProbeCounts, ProbeEvent, Prober};
pub use train::TrainArrivals;

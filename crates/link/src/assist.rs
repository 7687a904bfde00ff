//! Routers that assist senders: the header that a packet carries, and the link's answer to it.
//!
//! A controller that wants the router's feedback sends a [`CongestionHeader`] with every packet. The link's [`Assist`]
//! reads the header as the packet arrives, and may lower its feedback. The feedback comes back with the
//! acknowledgement. Packets without a header count as traffic and get no feedback. `assist/xcp.rs` and `assist/rcp.rs`
//! are the routers, one file each.

mod rcp;
mod xcp;

pub use rcp::Rcp;
pub use xcp::Xcp;

use std::fmt::Debug;
use units::{Bytes, Rate, Span, Time};

/// The header that a packet of an assisted flow carries.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CongestionHeader {
    /// The sender's window, bytes: `H_cwnd`.
    pub window: f64,
    /// The sender's smoothed round-trip time, seconds; zero before it has one: `H_rtt`.
    pub rtt: f64,
    /// The sender's wish, and then the least that a router grants. XCP: change of the window for this packet, bytes.
    /// RCP: rate, bytes/s.
    pub feedback: f64,
}

/// The router side of a control, at one link.
pub trait Assist: Send + Debug {
    /// Takes a packet of `length` that arrives at the queue, where `backlog` waits. It counts even if the queue drops
    /// it.
    fn on_arrival(&mut self, now: Time, length: Bytes, backlog: Bytes, header: Option<&mut CongestionHeader>);
}

/// A router side in the registry.
#[derive(Clone, Copy, Debug)]
pub struct AssistName {
    /// The name in a scenario, which is its control's.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// The source that defines it.
    pub source: &'static str,
    build: fn(Rate) -> Box<dyn Assist>,
}

impl CongestionHeader {
    /// Creates the header of a sender with this window and smoothed round-trip time, if it has one, that wishes for
    /// `feedback`.
    #[must_use]
    #[inline]
    pub fn new(window: Bytes, rtt: Option<Span>, feedback: f64) -> Self {
        Self { window: amount(window), rtt: rtt.map_or(0.0, seconds), feedback }
    }
}

/// All router sides that can be named.
pub const ASSISTS: &[AssistName] = &[
    AssistName {
        name: "xcp",
        summary: "shares out spare capacity less the standing queue as changes of windows, the same to every flow",
        source: "Katabi, Handley, Rohrs 2002",
        build: |rate| Box::new(Xcp::new(rate)),
    },
    AssistName {
        name: "rcp",
        summary: "one rate for all flows, raised by spare capacity and lowered by the queue",
        source: "Dukkipati, Kobayashi, Zhang-Shen, McKeown 2005",
        build: |rate| Box::new(Rcp::new(rate)),
    },
];

/// Builds the router side called `name` at a link of `rate`; returns `None` if the registry lacks it.
#[must_use]
pub fn build(name: &str, rate: Rate) -> Option<Box<dyn Assist>> {
    ASSISTS.iter().find(|assist| assist.name == name).map(|assist| (assist.build)(rate))
}

/// Converts a rate to bytes per second.
fn capacity(rate: Rate) -> f64 {
    rate.as_bps_f64() / 8.0
}

/// Converts bytes of a packet or a queue, far below 2^63, to a float: a signed integer takes one instruction, an
/// unsigned one seven.
#[inline]
fn amount(bytes: Bytes) -> f64 {
    bytes.get() as i64 as f64
}

/// Converts a time far below 2^63 ns to seconds, in one instruction as well.
#[inline]
fn seconds(span: Span) -> f64 {
    span.as_nanos() as i64 as f64 * 1e-9
}

//! Queue policies: the [`Queue`] trait, the room that they have ([`Limit`]), and the registry that makes one from its
//! name. One file per policy in `queue/`.
//!
//! Reading order: this file, `settings.rs` (the settings that a scenario may change), `store.rs` (the line of packets
//! that all policies share), then the policies, `drop_tail.rs` first. Those with queues per flow share `flows.rs`.

mod adaptive_red;
mod cake;
mod cobalt;
mod codel;
mod drop_head;
mod drop_tail;
mod dualpi2;
mod flows;
mod fq_codel;
mod fq_pie;
mod pie;
mod red;
mod settings;
mod store;

pub use adaptive_red::{AdaptiveRed, AdaptiveRedParameters};
pub use cake::{Cake, CakeParameters, Isolation, Tins};
pub use cobalt::{Cobalt, CobaltParameters};
pub use codel::{Codel, CodelParameters};
pub use drop_head::DropHead;
pub use drop_tail::DropTail;
pub use dualpi2::{DualPi2, DualPi2Parameters, StepThreshold};
pub use fq_codel::{FqCodel, FqCodelParameters};
pub use fq_pie::{FqPie, FqPieParameters};
pub use pie::{Pie, PieParameters};
pub use red::{LengthUnit, Red, RedParameters};
pub use settings::{BuildError, PolicyConfig, Settings};

use crate::{Backlog, Datagram, DropReason, Framing};
use serde::Serialize;
use units::random::Stream;
use units::{Bytes, Rate, Time};

/// A queue policy. Every packet given to [`enqueue`](Queue::enqueue) or [`pass`](Queue::pass) leaves exactly
/// once: by `dequeue` or `pass`, or through `drops` with a reason.
///
/// Policies need no timer of their own. Work that became due since the last call is done at the next call, with the
/// result that it would have had on time.
pub trait Queue<P: Datagram>: Send {
    /// Takes a packet that arrives while another is being sent. The policy may drop it or another.
    fn enqueue(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason));

    /// Returns the next packet to send, because the serializer is free. The policy may drop some on the way, but
    /// returns `None` only if nothing waits any more. Called as each packet's last bit leaves; so after `None` the link
    /// is idle from `now` on.
    fn dequeue(&mut self, now: Time, drops: &mut dyn FnMut(P, DropReason)) -> Option<P>;

    /// Takes a packet that arrives while nothing waits and the serializer is free. It goes straight to the wire and
    /// takes no room, unless the policy drops it. A policy whose state changes with an arrival or a departure overrides
    /// this.
    fn pass(&mut self, now: Time, packet: P, drops: &mut dyn FnMut(P, DropReason)) -> Option<P> {
        let _ = (now, drops);
        Some(packet)
    }

    /// Returns the current backlog.
    fn backlog(&self) -> Backlog;

    /// Returns true if packets of scalable flows have a queue of their own, so that the link meters the two classes
    /// apart.
    fn has_classes(&self) -> bool {
        false
    }
}

/// The room in a queue. Waiting packets count, the one being sent does not.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Limit {
    /// At most this many packets wait.
    Packets(u64),
    /// At most this many bytes wait.
    Bytes(Bytes),
}

impl Limit {
    /// Returns true if `arriving` still fits behind `backlog`.
    #[must_use]
    pub fn admits(self, backlog: Backlog, arriving: Bytes) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets < limit,
            Self::Bytes(limit) => backlog.bytes + arriving <= limit,
        }
    }

    /// Returns true if `backlog` is within the limit.
    #[must_use]
    pub fn holds(self, backlog: Backlog) -> bool {
        match self {
            Self::Packets(limit) => backlog.packets <= limit,
            Self::Bytes(limit) => backlog.bytes <= limit,
        }
    }

    /// Returns the room in packets of `mean` length.
    #[must_use]
    pub fn in_packets(self, mean: Bytes) -> f64 {
        match self {
            Self::Packets(limit) => limit as f64,
            Self::Bytes(limit) => limit.get() as f64 / mean.get().max(1) as f64,
        }
    }
}

/// The description of a link for the policy that serves it.
#[derive(Clone, Debug)]
pub struct Context {
    /// Room in the queue.
    pub limit: Limit,
    /// Rate of the link.
    pub rate: Rate,
    /// Mean length of a packet on the wire.
    pub mean_packet: Bytes,
    /// The rule for the length of a packet on the medium, which counts against the rate.
    pub framing: Framing,
    /// The stream that random policies draw from.
    pub stream: Stream,
}

impl Context {
    /// The mean packet if nothing else is known: Ethernet's payload, which bulk transfers send.
    pub const MEAN_PACKET: Bytes = Bytes::new(1500);

    /// Creates a context with packets of [`MEAN_PACKET`](Context::MEAN_PACKET).
    #[must_use]
    pub fn new(limit: Limit, rate: Rate, stream: Stream) -> Self {
        Self { limit, rate, mean_packet: Self::MEAN_PACKET, framing: Framing::default(), stream }
    }

    /// Returns the link's rate in mean packets per second.
    fn packet_rate(&self) -> f64 {
        self.rate.as_bps_f64() / self.mean_packet.bits_f64().max(1.0)
    }

    /// Returns the limit in mean packets.
    fn limit_packets(&self) -> f64 {
        self.limit.in_packets(self.mean_packet)
    }
}

/// A function that makes a policy with settings on a link described by the context, or reports a setting out of its
/// range.
pub type Build<P> = fn(&Settings, Context) -> Result<Box<dyn Queue<P>>, BuildError>;

/// A policy in the registry, for packets of type `P`. Its name and its settings are the same for all.
#[derive(Clone, Copy, Debug)]
pub struct Policy<P = Bytes> {
    /// The name in a scenario.
    pub name: &'static str,
    /// A description in one line.
    pub summary: &'static str,
    /// The source that defines it.
    pub source: &'static str,
    /// The [`Settings`] it accepts.
    pub settings: &'static [&'static str],
    /// The function that makes one.
    pub build: Build<P>,
}

/// The name of the policy that a [`Link`](crate::Link) can apply without a queue.
pub const DROP_TAIL: &str = "drop-tail";
/// The policy that drops by the average queue.
pub const RED: &str = "red";
/// RED that adapts its own probability.
pub const ADAPTIVE_RED: &str = "adaptive-red";

/// All policies that a scenario can name.
pub const POLICIES: &[Policy] = Policy::ALL;

impl<P: Datagram + Send + 'static> Policy<P> {
    /// [`POLICIES`], for packets of type `P`.
    pub const ALL: &'static [Self] = &[
        Policy {
            name: DROP_TAIL,
            summary: "first in, first out; an arrival that does not fit is dropped",
            source: "RFC 7567 section 2; marking above a step: RFC 8257 section 3.1",
            settings: &["mark_above"],
            build: |settings, context| {
                let step = settings.step(&context)?;
                Ok(Box::new(DropTail::new(context.limit).marking_above(step)))
            },
        },
        Policy {
            name: "drop-head",
            summary: "first in, first out; an arrival that does not fit pushes out the oldest",
            source: "RFC 2309 section 2 (\"drop front on full\")",
            settings: &["mark_above"],
            build: |settings, context| {
                let step = settings.step(&context)?;
                Ok(Box::new(DropHead::new(context.limit).marking_above(step)))
            },
        },
        Policy {
            name: RED,
            summary: "drops or marks at random, more often the longer the average queue",
            source: "Floyd and Jacobson 1993; gentle: Floyd 2000",
            settings: &[
                "min_threshold",
                "max_threshold",
                "max_probability",
                "weight",
                "gentle",
                "wait",
                "by_bytes",
                "ecn",
            ],
            build: |settings, context| Ok(Box::new(Red::new(settings.red(&context)?, context))),
        },
        Policy {
            name: ADAPTIVE_RED,
            summary: "RED that turns its own max_probability to keep the average queue at a target",
            source: "Floyd, Gummadi and Shenker 2001",
            settings: &[
                "target",
                "interval",
                "min_threshold",
                "max_threshold",
                "max_probability",
                "weight",
                "gentle",
                "wait",
                "by_bytes",
                "ecn",
            ],
            build: |settings, context| {
                Ok(Box::new(AdaptiveRed::new(settings.adaptive_red(&context)?, context)))
            },
        },
        Policy {
            name: "codel",
            summary: "drops or marks at the head, ever faster while packets wait longer than a target",
            source: "RFC 8289",
            settings: &["target", "interval", "ecn"],
            build: |settings, context| Ok(Box::new(Codel::new(settings.codel(), context.limit))),
        },
        Policy {
            name: "pie",
            summary: "drops or marks arrivals with a probability steered by the queueing delay",
            source: "RFC 8033",
            settings: &[
                "target",
                "interval",
                "burst",
                "alpha",
                "beta",
                "derandomize",
                "ecn",
                "ecn_probability",
            ],
            build: |settings, context| Ok(Box::new(Pie::new(settings.pie(), context))),
        },
        Policy {
            name: "fq-codel",
            summary: "a queue and a CoDel per flow, served in turn, new flows first",
            source: "RFC 8290",
            settings: &["target", "interval", "quantum", "flows", "ecn"],
            build: |settings, context| Ok(Box::new(FqCodel::new(settings.fq_codel(), context))),
        },
        Policy {
            name: "fq-pie",
            summary: "a queue and a PIE per flow, served in turn, new flows first",
            source: "RFC 8033; scheduling of Linux 6.18, sch_fq_pie",
            settings: &[
                "target",
                "interval",
                "burst",
                "alpha",
                "beta",
                "derandomize",
                "quantum",
                "flows",
                "ecn",
                "ecn_probability",
            ],
            build: |settings, context| Ok(Box::new(FqPie::new(settings.fq_pie(), context))),
        },
        Policy {
            name: "dualpi2",
            summary: "L4S: a queue for scalable flows, marked early, beside one for all others, under one PI",
            source: "RFC 9332; defaults and scheduling of Linux 6.17, sch_dualpi2",
            settings: &[
                "target",
                "interval",
                "alpha",
                "beta",
                "coupling",
                "step_threshold",
                "step_queue",
                "classic_protection",
                "drop_on_overload",
                "ecn",
            ],
            build: |settings, context| Ok(Box::new(DualPi2::new(settings.dualpi2()?, context))),
        },
        Policy {
            name: "cobalt",
            summary: "CoDel that takes its drops back step by step, and BLUE for flows that do not answer",
            source: "Linux sch_cake",
            settings: &["target", "interval", "ecn"],
            build: |settings, context| Ok(Box::new(Cobalt::new(settings.cobalt(context.rate), context))),
        },
        Policy {
            name: "cake",
            summary: "a queue and a COBALT per flow, even shares of hosts and of their flows, classes by DSCP",
            source: "Linux sch_cake",
            settings: &["rtt", "isolation", "tins", "ecn"],
            build: |settings, context| Ok(Box::new(Cake::new(settings.cake(), context))),
        },
    ];
}

/// Makes the policy called `name` on a link described by `context`; returns `None` if the registry does not have it.
#[must_use]
pub fn make<P: Datagram + Send + 'static>(name: &str, context: Context) -> Option<Box<dyn Queue<P>>> {
    build_with(name, &Settings::default(), context).ok()
}

/// Makes a policy as [`make`] does, for a caller that knows neither rate nor seed. The policy assumes 100 Mbit/s, which
/// enters RED's idle time and default thresholds, and draws from a fixed stream.
#[must_use]
pub fn build<P: Datagram + Send + 'static>(name: &str, limit: Limit) -> Option<Box<dyn Queue<P>>> {
    make(name, Context::new(limit, Rate::from_bps(100_000_000), Stream::new(0, "queue")))
}

/// Makes the policy called `name` with `settings` on a link described by `context`.
///
/// # Errors
/// If the registry does not have the policy, the policy does not have a given setting, or a setting is out of its
/// range.
pub fn build_with<P: Datagram + Send + 'static>(
    name: &str,
    settings: &Settings,
    context: Context,
) -> Result<Box<dyn Queue<P>>, BuildError> {
    let policy = Policy::ALL
        .iter()
        .find(|policy| policy.name == name)
        .ok_or_else(|| BuildError::UnknownPolicy { name: name.to_owned() })?;
    settings.check(policy.name, policy.settings)?;
    (policy.build)(settings, context)
}

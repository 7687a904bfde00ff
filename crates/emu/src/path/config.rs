//! [`PathConfig`]: the settings of a path, and the check that this emulator can provide it.

use crate::EmuError;
use link::changes::Changes;
use link::queue::{BuildError, PolicyConfig};
use link::traffic::{Pattern, TrafficConfig};
use link::{Limit, LinkConfig, ShaperConfig};
use std::collections::{HashMap, HashSet};
use units::{Bytes, Complaint, Rate, Span};

/// The settings of a path.
#[derive(Clone, Debug)]
pub struct PathConfig {
    /// The tight link, from sender to receiver.
    pub link: LinkConfig,
    /// The room in its queue.
    pub limit: Limit,
    /// A policy of [`link::queue::POLICIES`] and its settings.
    pub queue: PolicyConfig,
    /// One-way delay from receiver to sender. The base RTT is this plus the link's delay.
    pub reverse_delay: Span,
    /// The time by which the way back is longer for single flows. The key is the port of a flow's TCP socket at the
    /// sender, or of its UDP socket at the receiver. It cannot be combined with `back`.
    pub extra_delays: HashMap<u16, Span>,
    /// The UDP ports of flows, at both their ends. Their losses count in the loss episodes, as those of TCP do; other
    /// UDP packets are probes or programs of their own.
    pub flow_ports: HashSet<u16>,
    /// Unresponsive cross traffic through the same queue, each with its name, which selects its random stream. Times
    /// count from [`Path::begin`](crate::Path::begin).
    pub traffic: Vec<(String, TrafficConfig)>,
    /// The class (DSCP) of each source's packets, in the order of `traffic`; 0 where it is missing.
    pub traffic_classes: Vec<u8>,
    /// Seed of the random streams.
    pub seed: u64,
    /// MTU of both devices, in bytes: the largest packet on the wire.
    pub mtu: u16,
    /// The time between notes of the backlog; `None`: no notes.
    pub sample_every: Option<Span>,
    /// True if the kernel may hand over super-packets, which are split here. Each segment still meets the queue on its
    /// own; the processing only costs less. If false, every packet crosses the device alone.
    pub offload: bool,
    /// The link from receiver to sender; `None`: that direction has a delay only.
    pub back: Option<BackLink>,
}

/// The link from receiver to sender. Its delay is [`PathConfig::reverse_delay`].
#[derive(Clone, Debug)]
pub struct BackLink {
    /// The rate at which it sends.
    pub rate: Rate,
    /// The share of the packets that it loses at random.
    pub loss: units::Fraction,
    /// Its changes over time.
    pub changes: Changes,
    /// The shaper in front of its queue, if there is one.
    pub shaper: Option<Box<ShaperConfig>>,
    /// The room in its queue.
    pub limit: Limit,
    /// A policy of [`link::queue::POLICIES`] and its settings.
    pub queue: PolicyConfig,
}

/// The highest rate with offload at 1500 B that one path carried without delay on a busy two-core virtual machine, with
/// a small margin. Three runs there, with and without offload, gave 6.8 to 9.8 Gbit/s and 115 000 to 130 000 packets/s
/// with a rate set out of reach (`examples/hold_rate.rs ceiling`). A faster machine does more. The limits do not
/// promise anything: [`Lateness`](crate::Lateness) shows how punctual a run really was.
const CEILING_OFFLOAD: Rate = Rate::from_bps(7_000_000_000);
/// The highest rate without offload, measured as [`CEILING_OFFLOAD`].
const CEILING_PACKETS_PER_SEC: u64 = 110_000;

/// The most memory that packets in flight and waiting packets may take.
const HELD_MAX: Bytes = Bytes::new(2 << 30);

/// The least MTU: below it, IPv4 itself does not work well; the kernel's own floor is 68.
const MTU_MIN: u16 = 576;

impl PathConfig {
    /// Makes a path with a drop-tail link of `delay` in both directions, MTU 1500, offload on, nothing else.
    #[must_use]
    pub fn new(rate: Rate, delay: Span, limit: Limit) -> Self {
        Self {
            link: LinkConfig::constant(rate, delay),
            limit,
            queue: link::queue::DROP_TAIL.into(),
            reverse_delay: delay,
            extra_delays: HashMap::new(),
            flow_ports: HashSet::new(),
            traffic: Vec::new(),
            traffic_classes: Vec::new(),
            seed: 1,
            mtu: 1500,
            sample_every: None,
            offload: true,
            back: None,
        }
    }

    /// Returns the same path with a link from receiver to sender that is like the one from sender to receiver.
    #[must_use]
    pub fn mirrored(self) -> Self {
        let (rate, loss) = (self.link.rate, self.link.loss);
        let (changes, shaper) = (self.link.changes.clone(), self.link.shaper.clone());
        let back = BackLink { rate, loss, changes, shaper, limit: self.limit, queue: self.queue.clone() };
        Self { back: Some(back), ..self }
    }

    /// Returns the highest rate that this configuration can be expected to hold on a machine like the one it was
    /// measured on.
    #[must_use]
    pub fn reachable_rate(&self) -> Rate {
        let one_way = if self.offload {
            // Each segment costs the same whatever its length, so a smaller MTU lowers the ceiling.
            CEILING_OFFLOAD.scale(f64::from(self.mtu.min(1500)) / 1500.0)
        } else {
            Rate::from_bps(CEILING_PACKETS_PER_SEC * u64::from(self.mtu) * 8)
        };
        if self.back.is_some() { one_way.scale(0.5) } else { one_way }
    }

    /// Checks that the emulator can provide this path. [`Path::start`](crate::Path::start) calls it first.
    ///
    /// # Errors
    /// [`EmuError::Refused`] with the setting, its value, the accepted range and the remedy.
    pub fn check(&self) -> Result<(), EmuError> {
        let refuse = |key, found: String, accepted: String, help: &str| {
            Err(EmuError::Refused(Complaint::new(key, found).accepted(accepted).help(help)))
        };
        let reachable = self.reachable_rate();
        let rate = self.back.as_ref().map_or(self.link.rate, |back| back.rate.max(self.link.rate));
        let one_way = Self { back: None, ..self.clone() }.reachable_rate();
        if rate == Rate::ZERO || rate > reachable {
            let help = if rate > Rate::ZERO && rate <= one_way {
                "limit one direction only, which reaches twice this rate: --one-way"
            } else if self.offload {
                "simulate this rate instead: tightlink run --engine sim"
            } else {
                "turn segmentation offload on, or simulate it: tightlink run --engine sim"
            };
            return refuse("rate", rate.to_string(), format!("1bit/s to {reachable}"), help);
        }
        if self.mtu < MTU_MIN {
            return refuse(
                "mtu",
                format!("{} B", self.mtu),
                format!("{MTU_MIN} B to 65535 B"),
                "use a larger packet, or simulate it: tightlink run --engine sim",
            );
        }
        let back = self
            .back
            .as_ref()
            .map_or(Bytes::ZERO, |back| back.rate.volume(self.reverse_delay) + self.room(back.limit));
        let held = self.link.rate.volume(self.link.delay) + self.room(self.limit) + back;
        if held > HELD_MAX {
            return refuse(
                "rate x delay + queue limit",
                held.to_string(),
                format!("up to {HELD_MAX} of packets held in memory"),
                "lower the delay or the queue limit, or simulate it: tightlink run --engine sim",
            );
        }
        if self.back.is_some() && !self.extra_delays.is_empty() {
            return refuse(
                "extra delays",
                format!("{} of them, together with a limited way back", self.extra_delays.len()),
                "one delay for all flows, where both directions are limited".into(),
                "leave one of the two out",
            );
        }
        let back = self.back.as_ref().map(|back| (&back.queue, back.limit, back.rate));
        let queues = std::iter::once((&self.queue, self.limit, self.link.rate)).chain(back);
        for (queue, limit, rate) in queues {
            match queue.check(limit, rate).and_then(|()| self.check_shapers()) {
                Ok(()) => {}
                Err(BuildError::UnknownPolicy { name }) => {
                    let names: Vec<_> = link::queue::POLICIES.iter().map(|policy| policy.name).collect();
                    return refuse("queue kind", format!("{name:?}"), names.join(", "), "name one of these");
                }
                Err(error) => {
                    let help = "change the setting or leave it out";
                    return refuse(
                        "queue settings",
                        error.to_string(),
                        "settings the policy has".into(),
                        help,
                    );
                }
            }
        }
        // A trace whose packets all arrive at one instant has no rate.
        let replays = |traffic: &TrafficConfig| matches!(traffic.pattern, Pattern::Replay { .. });
        let still = |traffic: &TrafficConfig| traffic.rate == Rate::ZERO || traffic.packet == Bytes::ZERO;
        if self.traffic.iter().any(|(_, traffic)| still(traffic) && !replays(traffic)) {
            return refuse(
                "traffic rate",
                "0".into(),
                "a rate and a packet size above zero".into(),
                "leave the traffic out instead",
            );
        }
        if self.sample_every.is_some_and(|every| every < Span::from_micros(100)) {
            return refuse(
                "record every",
                self.sample_every.unwrap_or_default().to_string(),
                "100us or longer".into(),
                "sample less often, or simulate it: tightlink run --engine sim",
            );
        }
        Ok(())
    }

    fn check_shapers(&self) -> Result<(), BuildError> {
        let back = self.back.iter().filter_map(|back| back.shaper.as_ref());
        self.link.shaper.iter().chain(back).try_for_each(|shaper| shaper.check())
    }

    fn room(&self, limit: Limit) -> Bytes {
        match limit {
            Limit::Bytes(bytes) => bytes,
            Limit::Packets(packets) => Bytes::new(u64::from(self.mtu)) * packets,
        }
    }
}

//! The settings of a queue policy in a scenario, and the errors in them.
//!
//! [`Settings`] is flat and optional, as a person writes it. Each policy lists its keys in its registry entry, and
//! turns them into its own parameters here; those with a PI controller are in `settings/pi.rs`.

mod pi;

use super::{
    AdaptiveRedParameters, CakeParameters, CobaltParameters, CodelParameters, Context, FqCodelParameters,
    Isolation, LengthUnit, RedParameters, StepThreshold, Tins,
};
use crate::Limit;
use serde::Serialize;
use std::fmt;
use units::random::Stream;
use units::{Bytes, Rate, Span};

/// The settings of all policies; an absent one has the policy's default.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Settings {
    /// Target queueing delay: CoDel, FQ-CoDel and COBALT 5 ms, PIE, FQ-PIE and DualPI2 15 ms, adaptive RED 5 ms.
    pub target: Option<Span>,
    /// CoDel, FQ-CoDel and COBALT: the time for which the delay may exceed the target, 100 ms. Others: the time between
    /// updates; PIE and FQ-PIE 15 ms, DualPI2 16 ms, adaptive RED 500 ms.
    pub interval: Option<Span>,
    /// PIE and FQ-PIE: the time after a period without congestion in which nothing is dropped, 150 ms.
    pub burst: Option<Span>,
    /// PIE and FQ-PIE: true if drops are kept from clustering, the default.
    pub derandomize: Option<bool>,
    /// RED: average queue, in mean packets, from which packets are dropped.
    pub min_threshold: Option<f64>,
    /// RED: average queue, in mean packets, at which the probability is `max_probability`.
    pub max_threshold: Option<f64>,
    /// RED: probability at `max_threshold`, 0.1. Adaptive RED: the initial value.
    pub max_probability: Option<f64>,
    /// RED: weight of one arrival in the average.
    pub weight: Option<f64>,
    /// RED: true if the probability climbs beyond `max_threshold`, the default; otherwise it jumps to 1.
    pub gentle: Option<bool>,
    /// RED: true if drops keep a distance; by default they do not.
    pub wait: Option<bool>,
    /// RED: true if queue and probability count bytes; by default packets.
    pub by_bytes: Option<bool>,
    /// FQ-CoDel and FQ-PIE: bytes a flow sends in a turn, 1514.
    pub quantum: Option<Bytes>,
    /// FQ-CoDel and FQ-PIE: number of queues, 1024.
    pub flows: Option<usize>,
    /// True if packets that can be marked are marked rather than dropped, the default.
    pub ecn: Option<bool>,
    /// Drop-tail and drop-head: the backlog, in mean packets, from which arrivals that can be marked are marked; by
    /// default never. Without it these two policies never mark.
    pub mark_above: Option<f64>,
    /// PIE, FQ-PIE and DualPI2: weight of the error in an update, per second; 0.125, DualPI2 0.16.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alpha: Option<f64>,
    /// PIE, FQ-PIE and DualPI2: weight of the trend in an update, per second; 1.25, DualPI2 3.2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beta: Option<f64>,
    /// PIE and FQ-PIE: the probability above which packets are dropped even if they could be marked, 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ecn_probability: Option<f64>,
    /// DualPI2: the factor between the probability of marks in the L queue and the root of that in the C queue, 2.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub coupling: Option<u64>,
    /// DualPI2: the threshold of the L queue's own marks, 1 ms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_threshold: Option<StepThreshold>,
    /// DualPI2: the packets that a packet must find in the L queue for that threshold to apply, 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step_queue: Option<u64>,
    /// DualPI2: the share of the C queue while both queues have packets, 0.1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classic_protection: Option<f64>,
    /// DualPI2: true if overload drops packets, the default; otherwise the queues grow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub drop_on_overload: Option<bool>,
    /// CAKE: the round-trip time of the flows, 100 ms. Its target delay is a 20th of this.
    pub rtt: Option<Span>,
    /// CAKE: the parties that have even shares, hosts and their flows.
    pub isolation: Option<Isolation>,
    /// CAKE: the classes of packets, three.
    pub tins: Option<Tins>,
}

/// The policy of a queue, its settings, and the expected packets. A value made from a policy's name has the defaults.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct PolicyConfig {
    /// Its name in the registry.
    pub policy: String,
    /// The settings that differ from the defaults.
    pub settings: Settings,
    /// Mean length of the packets expected, on the wire.
    pub mean_packet: Bytes,
    /// The router side that works with it, of the registry in `assist.rs`.
    pub assist: Option<String>,
}

impl From<&str> for PolicyConfig {
    fn from(policy: &str) -> Self {
        Self {
            policy: policy.into(),
            settings: Settings::default(),
            mean_packet: Context::MEAN_PACKET,
            assist: None,
        }
    }
}

impl PolicyConfig {
    /// Checks that the registry has the policy and that the settings suit it, on a link of `rate` with room for
    /// `limit`.
    ///
    /// # Errors
    /// If the registry does not have the policy, or a setting does not suit it.
    pub fn check(&self, limit: Limit, rate: Rate) -> Result<(), BuildError> {
        let context = self.context(limit, rate, Stream::new(0, "queue"));
        super::build_with::<Bytes>(&self.policy, &self.settings, context).map(drop)
    }

    /// Returns the parameters of RED, or of the RED inside of adaptive RED, on a link of `rate` with room for `limit`.
    /// Returns `None` for another policy, and for settings that [`Self::check`] refuses.
    #[must_use]
    pub fn red(&self, limit: Limit, rate: Rate) -> Option<RedParameters> {
        let context = self.context(limit, rate, Stream::new(0, "queue"));
        match self.policy.as_str() {
            super::RED => self.settings.red(&context).ok(),
            super::ADAPTIVE_RED => Some(self.settings.adaptive_red(&context).ok()?.red),
            _ => None,
        }
    }

    /// Returns the description of a link of `rate` with room for `limit` for the policy.
    #[must_use]
    pub fn context(&self, limit: Limit, rate: Rate, stream: Stream) -> Context {
        Context { mean_packet: self.mean_packet, ..Context::new(limit, rate, stream) }
    }
}

/// The reason why a policy cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BuildError {
    /// The registry does not have the policy.
    UnknownPolicy {
        /// The requested name.
        name: String,
    },
    /// The policy does not have this setting.
    UnknownSetting {
        /// The policy.
        policy: &'static str,
        /// The setting.
        key: &'static str,
        /// The settings that it has.
        accepted: &'static [&'static str],
    },
    /// A setting is out of its range.
    OutOfRange {
        /// The setting.
        key: &'static str,
        /// The value found.
        found: String,
        /// The values that are accepted.
        accepted: &'static str,
    },
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownPolicy { name } => {
                let known: Vec<_> = super::POLICIES.iter().map(|policy| policy.name).collect();
                write!(f, "unknown queue policy \"{name}\"; there are {}", known.join(", "))
            }
            Self::UnknownSetting { policy, key, accepted: [] } => {
                write!(f, "queue policy {policy} has no setting \"{key}\"; it has none")
            }
            Self::UnknownSetting { policy, key, accepted } => {
                write!(f, "queue policy {policy} has no setting \"{key}\"; it has {}", accepted.join(", "))
            }
            Self::OutOfRange { key, found, accepted } => {
                write!(f, "queue setting {key} is {found}; it must be {accepted}")
            }
        }
    }
}

fn within<T: fmt::Display>(
    key: &'static str,
    value: Option<T>,
    fits: impl Fn(&T) -> bool,
    accepted: &'static str,
) -> Result<(), BuildError> {
    match value {
        Some(value) if !fits(&value) => {
            Err(BuildError::OutOfRange { key, found: value.to_string(), accepted })
        }
        _ => Ok(()),
    }
}

impl Settings {
    /// The shortest interval between updates, or of a search for packets to drop.
    const INTERVAL_LEAST: Span = Span::from_micros(1);
    /// The shortest round-trip time of CAKE, whose 20th is the target.
    const RTT_LEAST: Span = Span::from_micros(20);
    /// The most queues that FQ-CoDel makes: the number that Linux allows.
    const FLOWS_MAX: usize = 65_536;

    /// Returns the keys that are given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let Self { target, interval, burst, derandomize, min_threshold, max_threshold, .. } = self;
        let Self { max_probability, weight, gentle, wait, by_bytes, quantum, flows, ecn, mark_above, .. } =
            self;
        let rest = self.given_of_pi();
        let Self { rtt, isolation, tins, .. } = self;
        [
            ("target", target.is_some()),
            ("interval", interval.is_some()),
            ("burst", burst.is_some()),
            ("derandomize", derandomize.is_some()),
            ("min_threshold", min_threshold.is_some()),
            ("max_threshold", max_threshold.is_some()),
            ("max_probability", max_probability.is_some()),
            ("weight", weight.is_some()),
            ("gentle", gentle.is_some()),
            ("wait", wait.is_some()),
            ("by_bytes", by_bytes.is_some()),
            ("quantum", quantum.is_some()),
            ("flows", flows.is_some()),
            ("ecn", ecn.is_some()),
            ("mark_above", mark_above.is_some()),
            ("rtt", rtt.is_some()),
            ("isolation", isolation.is_some()),
            ("tins", tins.is_some()),
        ]
        .into_iter()
        .chain(rest)
        .filter_map(|(key, given)| given.then_some(key))
    }

    /// Checks that `policy` accepts every given setting, and that each is within its own range.
    pub(super) fn check(
        &self,
        policy: &'static str,
        accepted: &'static [&'static str],
    ) -> Result<(), BuildError> {
        if let Some(key) = self.given().find(|key| !accepted.contains(key)) {
            return Err(BuildError::UnknownSetting { policy, key, accepted });
        }
        let share = "above 0, at most 1";
        let is_share = |value: &f64| *value > 0.0 && *value <= 1.0;
        let often = "1us or more: a shorter one would be over many times between two packets";
        within(
            "rtt",
            self.rtt,
            |span| *span >= Self::RTT_LEAST,
            "20us or more, so that the target is 1us or more",
        )?;
        within("interval", self.interval, |span| *span >= Self::INTERVAL_LEAST, often)?;
        within("max_probability", self.max_probability, is_share, share)?;
        within("weight", self.weight, is_share, share)?;
        self.check_pi()?;
        within("quantum", self.quantum, |bytes| (1..1 << 32).contains(&bytes.get()), "1 B to 4 GB")?;
        within("flows", self.flows, |flows| (1..=Self::FLOWS_MAX).contains(flows), "1 to 65536")
    }

    /// Returns the room above which drop-tail marks, in the unit of its limit.
    pub(super) fn step(&self, context: &Context) -> Result<Option<Limit>, BuildError> {
        within(
            "mark_above",
            self.mark_above,
            |step| *step >= 0.0 && step.is_finite(),
            "zero or more packets",
        )?;
        Ok(self.mark_above.map(|step| match context.limit {
            Limit::Packets(_) => Limit::Packets(step.round() as u64),
            Limit::Bytes(_) => Limit::Bytes(context.mean_packet.scale(step)),
        }))
    }

    pub(super) fn red(&self, context: &Context) -> Result<RedParameters, BuildError> {
        self.red_over(RedParameters::defaults(context))
    }

    pub(super) fn adaptive_red(&self, context: &Context) -> Result<AdaptiveRedParameters, BuildError> {
        let target = self.target.unwrap_or(AdaptiveRedParameters::TARGET);
        let defaults = AdaptiveRedParameters::defaults(context, target);
        Ok(AdaptiveRedParameters {
            red: self.red_over(defaults.red)?,
            interval: self.interval.unwrap_or(defaults.interval),
        })
    }

    /// Applies RED's settings to `defaults`. A threshold given alone keeps the default's ratio to the other, so that
    /// one key is enough.
    fn red_over(&self, defaults: RedParameters) -> Result<RedParameters, BuildError> {
        let ratio = defaults.max_threshold / defaults.min_threshold;
        let (min_threshold, max_threshold) = match (self.min_threshold, self.max_threshold) {
            (Some(min), Some(max)) => (min, max),
            (Some(min), None) => (min, min * ratio),
            (None, Some(max)) => (max / ratio, max),
            (None, None) => (defaults.min_threshold, defaults.max_threshold),
        };
        within("min_threshold", Some(min_threshold), |min| *min >= 0.0, "zero or more packets")?;
        within(
            "max_threshold",
            Some(max_threshold),
            |max| *max > min_threshold && max.is_finite(),
            "above min_threshold",
        )?;
        let unit = match self.by_bytes {
            Some(true) => LengthUnit::Bytes,
            Some(false) => LengthUnit::Packets,
            None => defaults.unit,
        };
        Ok(RedParameters {
            min_threshold,
            max_threshold,
            max_probability: self.max_probability.unwrap_or(defaults.max_probability),
            weight: self.weight.unwrap_or(defaults.weight),
            gentle: self.gentle.unwrap_or(defaults.gentle),
            wait: self.wait.unwrap_or(defaults.wait),
            unit,
            ecn: self.ecn.unwrap_or(defaults.ecn),
        })
    }

    pub(super) fn codel(&self) -> CodelParameters {
        let defaults = CodelParameters::default();
        CodelParameters {
            target: self.target.unwrap_or(defaults.target),
            interval: self.interval.unwrap_or(defaults.interval),
            ecn: self.ecn.unwrap_or(defaults.ecn),
            mtu: defaults.mtu,
        }
    }

    pub(super) fn fq_codel(&self) -> FqCodelParameters {
        let defaults = FqCodelParameters::default();
        FqCodelParameters {
            codel: self.codel(),
            quantum: self.quantum.unwrap_or(defaults.quantum),
            flows: self.flows.unwrap_or(defaults.flows),
        }
    }

    pub(super) fn cobalt(&self, rate: Rate) -> CobaltParameters {
        let target = self.target.unwrap_or(CobaltParameters::TARGET);
        let interval = self.interval.unwrap_or(CobaltParameters::INTERVAL);
        CobaltParameters::at(rate, target, interval, self.ecn.unwrap_or(true))
    }

    pub(super) fn cake(&self) -> CakeParameters {
        let defaults = CakeParameters::default();
        CakeParameters {
            rtt: self.rtt.unwrap_or(defaults.rtt),
            isolation: self.isolation.unwrap_or(defaults.isolation),
            tins: self.tins.unwrap_or(defaults.tins),
            ecn: self.ecn.unwrap_or(defaults.ecn),
        }
    }
}

//! What an operator asks: the link, the flows over it, and what is wished of them.

use super::hosts::Hosts;
use crate::run::resolve::{KERNEL_CONTROLS, Resolved, ResolvedFlow};
use model::rules::bandwidth_delay_product;
use scenario::did_you_mean;
use serde::Serialize;
use std::fmt;
use std::str::FromStr;
use units::{Bytes, Complaint, Fraction, Rate, Span, TextError};

/// Where a queue stands, for an operator who does not know the number of flows: how many greedy ones to expect there.
pub const PLACES: [(&str, Ends<u64>); 3] = [
    ("edge", Ends { least: 1, most: 10 }),
    ("aggregation", Ends { least: 50, most: 500 }),
    ("core", Ends { least: 1000, most: 10_000 }),
];
/// The base RTT that is assumed where none is given: between one within a continent and one across an ocean.
pub const RTT: Ends<Span> = Ends { least: Span::from_millis(50), most: Span::from_millis(50) };
/// What most hosts send with.
pub const CONTROL: &str = "cubic";
/// The utilization that is asked for where none is given, in the mean.
pub const TARGET: f64 = 0.99;
/// A full Ethernet packet.
pub const PACKET: Bytes = Bytes::new(1500);

/// More flows than this take more memory than most machines have.
const MOST_FLOWS: u64 = 1_000_000;
/// Below this a packet takes seconds.
const LEAST_RATE: Rate = Rate::from_bps(10_000);
/// The sizes of a segment that a scenario may have and that carry data.
const PACKETS: (u64, u64) = (64, 65_535);

/// The RTTs of so few flows are spread by rule: drawn ones would be luck. A flow alone has the longest.
pub(super) const FEW: u64 = 50;

/// Controls that do not fill a link by themselves: one needs a window, two need routers that tell them their rate.
const NEEDY: [&str; 3] = ["fixed", "xcp", "rcp"];

/// From the least to the most: written as `20ms..80ms`, or as one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ends<T> {
    /// The least.
    pub least: T,
    /// The most.
    pub most: T,
}

impl<T: Copy + PartialEq> Ends<T> {
    /// One value.
    pub const fn at(value: T) -> Self {
        Self { least: value, most: value }
    }

    /// Whether there is one value only.
    pub fn is_one(&self) -> bool {
        self.least == self.most
    }
}

impl Ends<Span> {
    /// The mean of a uniform spread.
    #[must_use]
    pub fn mean(&self) -> Span {
        Span::from_nanos(self.least.as_nanos().midpoint(self.most.as_nanos()))
    }

    /// The upper ends of `count` equal parts, ascending.
    pub(super) fn spread(self, count: u64) -> impl Iterator<Item = Span> {
        let width = self.most.saturating_sub(self.least);
        (1..=count).map(move |part| self.least + width.scale(part as f64 / count as f64))
    }
}

/// What can have a least and a most.
pub trait Value: Copy + PartialOrd + fmt::Display {
    /// Reads one value.
    ///
    /// # Errors
    /// What was found and what is accepted.
    fn read(text: &str) -> Result<Self, Complaint>;
}

impl Value for Span {
    fn read(text: &str) -> Result<Self, Complaint> {
        text.parse().map_err(|error: TextError| Complaint::new("", error.to_string()))
    }
}

impl Value for u64 {
    fn read(text: &str) -> Result<Self, Complaint> {
        let accepted = "a whole number such as 100, or a range such as 100..500";
        text.parse()
            .map_err(|_| Complaint::new("", format!("\"{text}\" is no whole number")).accepted(accepted))
    }
}

impl<T: Value> FromStr for Ends<T> {
    type Err = Complaint;

    fn from_str(text: &str) -> Result<Self, Complaint> {
        let Some((least, most)) = text.split_once("..") else { return T::read(text.trim()).map(Self::at) };
        let (least, most) = (T::read(least.trim())?, T::read(most.trim())?);
        if least > most {
            return Err(Complaint::new("", format!("{least} before {most}"))
                .accepted("the least first, then the most")
                .help(format!("write {most}..{least}")));
        }
        Ok(Self { least, most })
    }
}

impl<T: fmt::Display + PartialEq + Copy> fmt::Display for Ends<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_one() {
            true => self.least.fmt(f),
            false => write!(f, "{}..{}", self.least, self.most),
        }
    }
}

/// Which controls the flows have: `cubic`, or `cubic:80%,bbr:20%` of the flows.
#[derive(Clone, Debug, PartialEq)]
pub struct Mix(Vec<(String, f64)>);

impl Mix {
    /// All flows with one control.
    #[must_use]
    pub fn only(control: &str) -> Self {
        Self(vec![(control.into(), 1.0)])
    }

    /// Of shares that are counted.
    #[must_use]
    pub fn counted(counts: &[(String, u64)]) -> Self {
        let all: u64 = counts.iter().map(|(_, count)| count).sum();
        Self(counts.iter().map(|(control, count)| (control.clone(), *count as f64 / all as f64)).collect())
    }

    /// As these flows have it.
    pub(super) fn of_flows(flows: &[&ResolvedFlow]) -> Self {
        let mut counts: Vec<(String, u64)> = Vec::new();
        for flow in flows {
            match counts.iter_mut().find(|(control, _)| *control == flow.control) {
                Some((_, count)) => *count += 1,
                None => counts.push((flow.control.clone(), 1)),
            }
        }
        Self::counted(&counts)
    }

    /// Each control and its share of the flows, which add to 1.
    #[must_use]
    pub fn shares(&self) -> &[(String, f64)] {
        &self.0
    }

    /// How many of `flows` have each control: one at least, and together `flows` or, of fewer flows than controls, one each.
    #[must_use]
    pub fn counts(&self, flows: u64) -> Vec<(&str, u64)> {
        let mut counts: Vec<(&str, u64)> = Vec::new();
        let (mut share, mut given) = (0.0, 0);
        for (control, of) in &self.0 {
            share += of;
            let count = ((share * flows as f64).round() as u64).saturating_sub(given);
            given += count;
            counts.push((control, count));
        }
        while let Some(none) = counts.iter().position(|(_, count)| *count == 0) {
            counts[none].1 = 1;
            if let Some((_, largest)) =
                counts.iter_mut().max_by_key(|(_, count)| *count).filter(|most| most.1 > 1)
            {
                *largest -= 1;
            }
        }
        counts
    }

    /// Whether some flows have `control`.
    #[must_use]
    pub fn has(&self, control: &str) -> bool {
        self.0.iter().any(|(name, _)| name == control)
    }

    /// The mix with `new` in place of `old`.
    #[must_use]
    pub fn instead(&self, old: &str, new: &str) -> Self {
        let rename = |name: &String| if name == old { new.to_owned() } else { name.clone() };
        let mut shares: Vec<(String, f64)> = Vec::new();
        for (name, share) in self.0.iter().map(|(name, share)| (rename(name), share)) {
            match shares.iter_mut().find(|(known, _)| *known == name) {
                Some((_, sum)) => *sum += share,
                None => shares.push((name, *share)),
            }
        }
        Self(shares)
    }
}

impl FromStr for Mix {
    type Err = Complaint;

    fn from_str(text: &str) -> Result<Self, Complaint> {
        let known = cc::registry::CONTROLS.iter().map(|control| control.name);
        let known: Vec<&str> = known.filter(|name| !NEEDY.contains(name)).collect();
        let accepted = "a control such as cubic, or shares such as cubic:80%,bbr:20%";
        let mut shares: Vec<(String, f64)> = Vec::new();
        for part in text.split(',') {
            let (name, share) = match part.split_once(':') {
                Some((name, share)) => {
                    let share = share
                        .trim()
                        .parse::<Fraction>()
                        .map_err(|error| Complaint::new(part, error.to_string()))?;
                    (name.trim(), share.get())
                }
                None if text.contains(',') => {
                    return Err(Complaint::new("", format!("\"{part}\" without a share")).accepted(accepted));
                }
                None => (part.trim(), 1.0),
            };
            if !known.contains(&name) {
                let help = did_you_mean(name, known.clone());
                let unknown =
                    Complaint::new("", format!("unknown control \"{name}\"")).accepted(known.join(", "));
                return Err(Complaint { help, ..unknown });
            }
            if share <= 0.0 || shares.iter().any(|(other, _)| other == name) {
                let found = if share <= 0.0 { "a share of nothing" } else { "a second share" };
                return Err(Complaint::new("", format!("{found} for \"{name}\""))
                    .accepted("each control once, with a share above 0"));
            }
            shares.push((name.into(), share));
        }
        let sum: f64 = shares.iter().map(|(_, share)| share).sum();
        if (sum - 1.0).abs() > 0.005 {
            return Err(Complaint::new("", format!("shares that add to {:.1}%", sum * 100.0))
                .accepted("shares that add to 100%"));
        }
        shares.iter_mut().for_each(|(_, share)| *share /= sum);
        Ok(Self(shares))
    }
}

impl fmt::Display for Mix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let [(control, _)] = &self.0[..] {
            return f.write_str(control);
        }
        let part = |(control, share): &(String, f64)| format!("{control}:{:.0}%", share * 100.0);
        f.write_str(&self.0.iter().map(part).collect::<Vec<_>>().join(","))
    }
}

/// What an operator asks.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Capacity of the link that the queue stands before.
    pub rate: Rate,
    /// Base RTT of the flows, spread uniformly.
    pub rtt: Ends<Span>,
    /// Greedy flows at a time.
    pub flows: Ends<u64>,
    /// Their congestion controls.
    pub mix: Mix,
    /// What their hosts do.
    pub hosts: Hosts,
    /// A full packet.
    pub packet: Bytes,
    /// The mean utilization that is wished.
    pub target: Fraction,
    /// The longest queueing delay that is wished, for 95 % of the time.
    pub max_delay: Option<Span>,
    /// The most that may be lost, of all packets.
    pub max_loss: Option<Fraction>,
    /// The queue policy.
    pub queue: String,
    /// The wireless cell whose access point has the queue. `rate` is then what a download alone would have.
    pub cell: Option<InCell>,
}

/// A wireless cell, as far as the answer speaks of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct InCell {
    /// The PHY's name.
    pub phy: String,
    /// Rate of the frames, bits per second.
    pub frame_bps: f64,
    /// Stations.
    pub stations: u64,
    /// Greedy downloads whose data wait in the queue.
    pub downloads: u64,
    /// Greedy uploads that share the cell with the downloads.
    pub uploads: u64,
    /// The queue's access category: `be`, `bk`, `vi` or `vo`.
    pub category: &'static str,
    /// Air that a full frame and its acknowledgement take, without contention: what airtime limits count, seconds.
    pub frame_s: f64,
}

impl Question {
    /// What is asked of a link of `rate`, with the defaults of this file.
    ///
    /// # Panics
    /// Never: the defaults are in range.
    #[must_use]
    pub fn of(rate: Rate) -> Self {
        Self {
            rate,
            rtt: RTT,
            flows: PLACES[0].1,
            mix: Mix::only(CONTROL),
            hosts: Hosts::linux(CONTROL),
            packet: PACKET,
            target: Fraction::new(TARGET).expect("a share"),
            max_delay: None,
            max_loss: None,
            queue: link::queue::DROP_TAIL.into(),
            cell: None,
        }
    }

    /// What is asked of a scenario: its tight link, its greedy flows and their RTTs, with the wishes of this file.
    ///
    /// # Errors
    /// Where it has no greedy flow.
    pub fn of_scenario(resolved: &Resolved) -> Result<Self, Complaint> {
        if let Some(plan) = &resolved.cell {
            return super::cell::question(resolved, plan);
        }
        let greedy: Vec<_> = resolved.greedy().collect();
        let rtts = greedy.iter().map(|flow| flow.base_rtt);
        let (Some(least), Some(most)) = (rtts.clone().min(), rtts.max()) else {
            return Err(Complaint::new(
                "flow.size",
                "no flow that always has data to send: a buffer for such flows is what is asked",
            )
            .accepted("a [[flow]] without a size"));
        };
        Ok(Self {
            rtt: Ends { least, most },
            flows: Ends::at(greedy.len() as u64),
            mix: Mix::of_flows(&greedy),
            hosts: Hosts::of_flows(&greedy),
            packet: resolved.segment(),
            queue: resolved.queue.policy.clone(),
            ..Self::of(resolved.link.rate)
        })
    }

    /// Whether this can be asked.
    ///
    /// # Errors
    /// The option whose value is out of range.
    pub fn check(&self) -> Result<(), Complaint> {
        if self.rate < LEAST_RATE {
            return Err(
                Complaint::new("--rate", self.rate.to_string()).accepted(format!("{LEAST_RATE} or more"))
            );
        }
        if self.rtt.least == Span::ZERO {
            return Err(Complaint::new("--rtt", "0s: without a round trip there is nothing to buffer for")
                .accepted("a time such as 20ms, or a range such as 20ms..80ms"));
        }
        if self.flows.least == 0 || self.flows.most > MOST_FLOWS {
            let found = if self.flows.least == 0 { self.flows.least } else { self.flows.most };
            return Err(Complaint::new("--flows", found.to_string())
                .accepted(format!("1 to {MOST_FLOWS}, or a range such as 100..500")));
        }
        let (least, most) = PACKETS;
        if !(least..=most).contains(&self.packet.get()) {
            return Err(
                Complaint::new("--packet", self.packet.to_string()).accepted(format!("{least}B to {most}B"))
            );
        }
        if !(0.5..1.0).contains(&self.target.get()) {
            return Err(Complaint::new("--target-utilization", self.target.to_string())
                .accepted("from 50% to below 100%, such as 99%")
                .help("no measurement can tell 100% from a little less: ask for 99.9%"));
        }
        if self.max_delay == Some(Span::ZERO) {
            return Err(Complaint::new("--max-delay", "0s").accepted("a time such as 5ms"));
        }
        let known: Vec<&str> = link::queue::POLICIES.iter().map(|policy| policy.name).collect();
        if !known.contains(&self.queue.as_str()) {
            let complaint = Complaint::new("--queue", format!("unknown queue \"{}\"", self.queue));
            let complaint = complaint.accepted(known.join(", "));
            return Err(match did_you_mean(&self.queue, known) {
                Some(help) => complaint.help(help),
                None => complaint,
            });
        }
        if self.bdp_packets() < 1.0 {
            let (rate, rtt) = (self.rate, self.rtt.mean());
            return Err(Complaint::new(
                "--rtt",
                format!("{rtt} at {rate}: less than one packet is under way"),
            )
            .accepted(format!("a rate and an RTT that hold a packet of {}", self.packet)));
        }
        Ok(())
    }

    /// The bandwidth-delay product of the mean RTT.
    #[must_use]
    pub fn bdp(&self) -> Bytes {
        bandwidth_delay_product(self.rate, self.rtt.mean())
    }

    /// The same in packets.
    #[must_use]
    pub fn bdp_packets(&self) -> f64 {
        self.bdp().get() as f64 / self.packet.get() as f64
    }

    /// Packets under way on a full link without a queue, those in hosts as well, at most.
    pub(super) fn pipe_packets(&self) -> f64 {
        self.bdp_packets() * (1.0 + self.hosts.most_held() / self.rtt.mean().as_secs_f64())
    }

    /// Packets that each of `flows` has under way where they fill the link without a queue.
    #[must_use]
    pub fn window(&self, flows: u64) -> f64 {
        self.bdp_packets() / flows as f64
    }

    /// The mean RTT of `flows` over that of the range. It is more than 1 where the flows are few, as the far end of
    /// the range needs more.
    #[must_use]
    pub fn reach(&self, flows: u64) -> f64 {
        if self.rtt.is_one() || flows > FEW {
            return 1.0;
        }
        let each = self.rtt.spread(flows).map(Span::as_secs_f64);
        each.sum::<f64>() / flows as f64 / self.rtt.mean().as_secs_f64()
    }

    /// The time in which the link sends `packets`.
    #[must_use]
    pub fn drain(&self, packets: f64) -> f64 {
        packets * self.packet.bits_f64() / self.rate.as_bps_f64()
    }

    /// Whether the kernel has all of these controls.
    #[must_use]
    pub fn is_for_the_kernel(&self) -> bool {
        self.mix.shares().iter().all(|(control, _)| KERNEL_CONTROLS.contains(&control.as_str()))
    }
}

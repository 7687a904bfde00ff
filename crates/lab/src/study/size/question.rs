//! The operator's question: the link, the flows over it, and the wishes.

mod ends;
mod mix;

pub use ends::Ends;
pub use mix::Mix;

use super::hosts::Hosts;
use crate::run::resolve::{KERNEL_CONTROLS, Resolved, RoomScale};
use cc::registry::wants_marks;
use link::queue::Settings;
use model::rules::bandwidth_delay_product;
use scenario::did_you_mean;
use serde::Serialize;
use units::{Bytes, Complaint, Fraction, Rate, Span};

/// Places of a queue, and the number of greedy flows to expect there, for an operator who does not know it.
pub const PLACES: [(&str, Ends<u64>); 3] = [
    ("edge", Ends { least: 1, most: 10 }),
    ("aggregation", Ends { least: 50, most: 500 }),
    ("core", Ends { least: 1000, most: 10_000 }),
];
/// The default base RTT: between one within a continent and one across an ocean.
pub const RTT: Ends<Span> = Ends { least: Span::from_millis(50), most: Span::from_millis(50) };
/// The default congestion control: that of most hosts.
pub const CONTROL: &str = "cubic";
/// The default target of the mean utilization.
pub const TARGET: f64 = 0.99;
/// A full Ethernet packet.
pub const PACKET: Bytes = Bytes::new(1500);

/// The most flows. More take more memory than most machines have.
pub(super) const MOST_FLOWS: u64 = 1_000_000;
/// The least rate. Below it a packet takes seconds.
const LEAST_RATE: Rate = Rate::from_bps(10_000);
/// The least and the greatest size of a segment that a scenario may have and that carries data.
const PACKETS: (u64, u64) = (64, 65_535);

/// The longest time for which a queue in front of a link that changes holds data at the mean rate. Cellular base
/// stations hold data for several seconds (Winstein, Sivaraman and Balakrishnan, NSDI 2013).
const LONGEST: Span = Span::from_secs(5);

/// The number of flows up to which RTTs are spread evenly over the range, because drawn RTTs would depend on luck. A
/// single flow has the longest.
pub(super) const FEW: u64 = 50;

/// The operator's question.
#[derive(Clone, Debug, PartialEq)]
pub struct Question {
    /// Capacity of the link that the queue stands before.
    pub rate: Rate,
    /// Base RTT of the flows, spread uniformly.
    pub rtt: Ends<Span>,
    /// The number of concurrent greedy flows.
    pub flows: Ends<u64>,
    /// Their congestion controls.
    pub mix: Mix,
    /// The effects of their hosts.
    pub hosts: Hosts,
    /// A full packet.
    pub packet: Bytes,
    /// The mean packet that arrives at the queue; `None`: all are full.
    pub mean: Option<Bytes>,
    /// The mean rate of unresponsive cross traffic over the link.
    pub unresponsive: Rate,
    /// The wished mean utilization.
    pub target: Fraction,
    /// The longest wished queueing delay, for 95 % of the time.
    pub max_delay: Option<Span>,
    /// The highest wished loss rate, of all packets.
    pub max_loss: Option<Fraction>,
    /// The queue policy.
    pub queue: String,
    /// The settings of the policy.
    pub settings: Settings,
    /// True if flows negotiate ECN by their own settings.
    pub ecn: bool,
    /// The wireless cell whose access point has the queue. `rate` is then that of a download alone.
    pub cell: Option<CellFacts>,
    /// The link's changes over time; `None`: it has none. `rate` is then the mean rate.
    pub changing: Option<ChangingFacts>,
}

/// The facts about a link that changes over time.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ChangingFacts {
    /// The file with the rate over time; `None` if the changes are those of a scenario.
    pub trace: Option<String>,
    /// The time after which the trace begins anew, seconds; `None` if the changes are those of a scenario.
    pub period_s: Option<f64>,
    /// True if the file is a table, whose period the scenario has to name.
    #[serde(skip)]
    pub(super) is_table: bool,
}

/// The facts about a wireless cell that the answer mentions.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CellFacts {
    /// The PHY's name.
    pub phy: String,
    /// The rate of the frames, bits per second.
    pub frame_bps: f64,
    /// The number of stations.
    pub stations: u64,
    /// The number of greedy downloads whose data wait in the queue.
    pub downloads: u64,
    /// The number of greedy uploads that share the cell with the downloads.
    pub uploads: u64,
    /// The queue's access category: `be`, `bk`, `vi` or `vo`.
    pub category: &'static str,
    /// The airtime of a full frame and its acknowledgement, without contention, as airtime limits count it, seconds.
    pub frame_s: f64,
}

impl Question {
    /// Returns the question about a link of `rate`, with the defaults of this file.
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
            mean: None,
            unresponsive: Rate::ZERO,
            target: Fraction::new(TARGET).expect("a share"),
            max_delay: None,
            max_loss: None,
            queue: link::queue::DROP_TAIL.into(),
            settings: Settings::default(),
            ecn: false,
            cell: None,
            changing: None,
        }
    }

    /// Returns the question that a scenario of links poses: its tight link, its greedy flows and their RTTs, with the
    /// wishes of this file.
    ///
    /// # Errors
    /// If it has no greedy flow.
    pub(super) fn of_path(resolved: &Resolved) -> Result<Self, Complaint> {
        let greedy: Vec<_> = resolved.greedy().collect();
        let rtts = greedy.iter().map(|flow| flow.base_rtt);
        let (Some(least), Some(most)) = (rtts.clone().min(), rtts.max()) else {
            return Err(Complaint::new(
                "flow.size",
                "no flow always has data to send, and the question is about a buffer for such flows",
            )
            .accepted("a [[flow]] without a size"));
        };
        Ok(Self {
            rtt: Ends { least, most },
            flows: Ends::at(greedy.len() as u64),
            mix: Mix::of_flows(&greedy),
            hosts: Hosts::of_flows(&greedy),
            packet: greedy.iter().map(|flow| flow.segment()).max().unwrap_or(PACKET),
            mean: Some(resolved.queue.mean_packet),
            unresponsive: resolved.unresponsive(),
            queue: resolved.queue.policy.clone(),
            settings: resolved.queue.settings,
            ecn: greedy.iter().any(|flow| flow.transport.ecn.is_on()),
            changing: resolved.changes().then_some(ChangingFacts {
                trace: None,
                period_s: None,
                is_table: false,
            }),
            ..Self::of(resolved.link.rate)
        })
    }

    /// Checks that this question can be answered.
    ///
    /// # Errors
    /// The option whose value is out of range.
    pub fn check(&self) -> Result<(), Complaint> {
        if self.rate < LEAST_RATE {
            let (option, found) = match self.trace() {
                Some(trace) => ("--trace", format!("{trace}: a mean rate of {}", self.rate.rounded())),
                None => ("--rate", self.rate.to_string()),
            };
            return Err(Complaint::new(option, found).accepted(format!("{LEAST_RATE} or more")));
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
            let (rate, rtt) = (self.rate.rounded(), self.rtt.mean());
            return Err(Complaint::new(
                "--rtt",
                format!("{rtt} at {rate}: less than one packet is under way"),
            )
            .accepted(format!("a rate and an RTT that hold a packet of {}", self.packet)));
        }
        Ok(())
    }

    /// Returns true if some flows negotiate ECN, by their settings or because their control answers the share of marks.
    pub(super) fn has_ecn(&self) -> bool {
        self.ecn || self.mix.shares().iter().any(|(control, _)| wants_marks(control))
    }

    /// Returns the bandwidth-delay product of the mean RTT.
    #[must_use]
    pub fn bdp(&self) -> Bytes {
        bandwidth_delay_product(self.rate, self.rtt.mean())
    }

    /// Returns the bandwidth-delay product in full packets, as windows count them.
    #[must_use]
    pub fn bdp_packets(&self) -> f64 {
        self.bdp().get() as f64 / self.packet.get() as f64
    }

    /// Returns the mean packet that arrives at the queue.
    #[must_use]
    pub fn mean_packet(&self) -> Bytes {
        self.mean.unwrap_or(self.packet)
    }

    /// Returns true if packets of several lengths arrive at the queue, so that a limit in packets differs from one in
    /// bytes.
    #[must_use]
    pub fn is_mixed(&self) -> bool {
        self.mean_packet() != self.packet
    }

    /// Returns the length of a full packet over the mean length.
    pub(super) fn mean_per_full(&self) -> f64 {
        self.packet.get() as f64 / self.mean_packet().get() as f64
    }

    /// Returns the limit, in packets of the mean length, that holds a bandwidth-delay product.
    #[must_use]
    pub fn bdp_limit(&self) -> f64 {
        self.bdp_packets() * self.mean_per_full()
    }

    /// Returns the most packets under way on a full link without a queue, as a limit. It includes packets that hosts
    /// hold.
    pub(super) fn pipe_limit(&self) -> f64 {
        self.bdp_limit() * (1.0 + self.hosts.most_held() / self.rtt.mean().as_secs_f64())
    }

    /// Returns the file with the rate over time, if one is in question.
    pub(super) fn trace(&self) -> Option<&str> {
        self.changing.as_ref()?.trace.as_deref()
    }

    /// Returns the largest limit that is tried on a link that changes, packets; 0 on another one.
    pub(super) fn longest_limit(&self) -> f64 {
        let volume = self.rate.volume(LONGEST).get() as f64 / self.mean_packet().get() as f64;
        if self.changing.is_some() { volume } else { 0.0 }
    }

    /// Returns the packets that each of `flows` has under way if the flows fill the link without a queue.
    #[must_use]
    pub fn window(&self, flows: u64) -> f64 {
        self.bdp_packets() / flows as f64
    }

    /// Returns the ratio of the mean RTT of `flows` to the mean of the range. It is more than 1 for a few flows,
    /// because each gets the upper end of its part of the range.
    #[must_use]
    pub fn reach(&self, flows: u64) -> f64 {
        if self.rtt.is_one() || flows > FEW {
            return 1.0;
        }
        let each = self.rtt.spread(flows).map(Span::as_secs_f64);
        each.sum::<f64>() / flows as f64 / self.rtt.mean().as_secs_f64()
    }

    /// Returns the conversion between the units of a limit. A wireless cell has no bandwidth-delay product.
    pub(super) fn scale(&self) -> RoomScale {
        let mean_rtt = if self.cell.is_some() { Span::ZERO } else { self.rtt.mean() };
        RoomScale { rate: self.rate, mean_rtt, packet: self.mean_packet() }
    }

    /// Returns the time in which the link sends `packets` of the mean length, in seconds.
    #[must_use]
    pub fn drain(&self, packets: f64) -> f64 {
        self.scale().seconds(packets * self.mean_packet().get() as f64).unwrap_or(f64::INFINITY)
    }

    /// Returns true if the kernel has all of these controls.
    #[must_use]
    pub fn is_for_the_kernel(&self) -> bool {
        self.mix.shares().iter().all(|(control, _)| KERNEL_CONTROLS.contains(&control.as_str()))
    }
}

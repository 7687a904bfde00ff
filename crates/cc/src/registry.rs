//! The names of controllers and slow starts in a scenario, and what they stand for.

use crate::growth::{Africa, Bic, Cubic, Growth, HighSpeed, LowPriority, Reno, Scalable, Westwood};
use crate::slow_start::{HyStart, HyStartPlusPlus, Limited, SlowStart, Standard};
use crate::{
    Bbr1, Bbr3, CongestionControl, Fast, FixedWindow, LossBased, Madison, MadisonLosses, MadisonParameters,
    Rcp, Start, Vegas, Xcp,
};
use serde::Serialize;
use units::Bytes;

/// A controller in the registry.
#[derive(Clone, Copy, Debug)]
pub struct Control {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// What that is: [`STANDARD`], [`EXPERIMENTAL`], [`PAPER`] or [`YARDSTICK`].
    pub status: &'static str,
    /// Makes one.
    pub build: fn(&Recipe<'_>) -> Box<dyn CongestionControl>,
}

/// A slow start in the registry, for controllers that grow by `G`. Its name and what is said of it are the same for all.
#[derive(Clone, Copy, Debug)]
pub struct SlowStartName<G = Reno> {
    /// The name in a scenario.
    pub name: &'static str,
    /// What it does, in one line.
    pub summary: &'static str,
    /// Where it is defined.
    pub source: &'static str,
    /// What that is, as for a [`Control`].
    pub status: &'static str,
    /// Makes a controller of it and a growth, to begin and tuned as said.
    pub build: fn(Start, &Tuning, G) -> Box<dyn CongestionControl>,
}

/// What a controller is made from.
#[derive(Clone, Copy, Debug)]
pub struct Recipe<'a> {
    /// Where it begins.
    pub start: Start,
    /// The slow start's name, one of [`SLOW_STARTS`]; for those that are a slow start times a growth.
    pub slow_start: &'a str,
    /// What a scenario may set of it.
    pub tuning: Tuning,
}

impl Recipe<'_> {
    /// `growth`, made for the recipe's segments, with its slow start.
    pub fn loss_based<G: Growth + 'static>(&self, growth: fn(Bytes) -> G) -> Box<dyn CongestionControl> {
        let slow_start = SlowStartName::ALL.iter().find(|entry| entry.name == self.slow_start);
        let slow_start = slow_start.unwrap_or(&SlowStartName::STANDARD);
        (slow_start.build)(self.start, &self.tuning, growth(self.start.segment))
    }
}

/// An RFC on the standards track.
pub const STANDARD: &str = "standard";
/// An experimental RFC or a draft.
pub const EXPERIMENTAL: &str = "experimental";
/// A publication without an RFC.
pub const PAPER: &str = "paper";
/// Not for networks: to compare or validate with.
pub const YARDSTICK: &str = "yardstick";

/// Every controller that can be named in a scenario for the simulator.
pub const CONTROLS: &[Control] = &[
    Control {
        name: "fixed",
        summary: "no congestion control; the socket buffer is the window",
        source: "sobas:eq3",
        status: YARDSTICK,
        build: |_| Box::new(FixedWindow),
    },
    Control {
        name: "reno",
        summary: "additive increase, multiplicative decrease: one segment per round trip, half on loss",
        source: "RFC 5681",
        status: STANDARD,
        build: |recipe| recipe.loss_based(Reno::new),
    },
    Control {
        name: "newreno",
        summary: "reno by the name it has with NewReno's recovery; how losses are repaired is the flow's `sack` and `recovery`",
        source: "RFC 6582",
        status: STANDARD,
        build: |recipe| recipe.loss_based(Reno::new),
    },
    Control {
        name: "cubic",
        summary: "window as a cubic function of the time since the last loss, never slower than reno",
        source: "RFC 9438",
        status: STANDARD,
        build: |recipe| recipe.loss_based(Cubic::new),
    },
    Control {
        name: "highspeed",
        summary: "additive increase and decrease by the size of the window; reno up to 38 segments",
        source: "RFC 3649",
        status: EXPERIMENTAL,
        build: |recipe| recipe.loss_based(HighSpeed::new),
    },
    Control {
        name: "scalable",
        summary: "0.01 segments per segment acknowledged, an eighth on loss: recovery takes 13 round trips at any window",
        source: "Kelly 2003",
        status: PAPER,
        build: |recipe| recipe.loss_based(Scalable::new),
    },
    Control {
        name: "bic",
        summary: "binary search for the window of the last loss, 0.01 to 32 segments per round trip",
        source: "Xu, Harfoush, Rhee 2004",
        status: PAPER,
        build: |recipe| recipe.loss_based(Bic::new),
    },
    Control {
        name: "westwood",
        summary: "reno that keeps the measured rate times the least RTT on loss (Westwood+)",
        source: "Grieco, Mascolo 2004",
        status: PAPER,
        build: |recipe| recipe.loss_based(Westwood::new),
    },
    Control {
        name: "africa",
        summary: "highspeed while the RTT says that it has no queue, else reno (TCP-Africa)",
        source: "King, Baraniuk, Riedi 2005",
        status: PAPER,
        build: |recipe| recipe.loss_based(Africa::new),
    },
    Control {
        name: "lp",
        summary: "reno that gives way when delay rises: low priority (TCP-LP)",
        source: "Kuzmanovic, Knightly 2003",
        status: PAPER,
        build: |recipe| recipe.loss_based(LowPriority::new),
    },
    Control {
        name: "vegas",
        summary: "keeps 2 to 4 packets of its own in the queue, seen in the RTT; slow start of its own",
        source: "Brakmo and Peterson, JSAC 1995",
        status: PAPER,
        build: |recipe| Box::new(Vegas::new(recipe.start)),
    },
    Control {
        name: "fast",
        summary: "paced; an equation for the window keeps alpha packets in the queue; slow start of its own",
        source: "Jin, Wei and Low, INFOCOM 2004; alpha as in madison:5.1",
        status: PAPER,
        build: |recipe| Box::new(Fast::with_alpha(recipe.start, recipe.tuning.fast_alpha)),
    },
    Control {
        name: "bbr",
        summary: "BBR v1: paced at the largest delivery rate of ten rounds, twice rate x least RTT in flight",
        source: "draft-cardwell-iccrg-bbr-congestion-control-00",
        status: EXPERIMENTAL,
        build: |recipe| Box::new(Bbr1::new(recipe.start).on(recipe.tuning)),
    },
    Control {
        name: "bbr3",
        summary: "BBR v3: as BBR, with bounds on what is in flight where probing meets more than 2 % loss",
        source: "draft-ietf-ccwg-bbr",
        status: EXPERIMENTAL,
        build: |recipe| Box::new(Bbr3::new(recipe.start)),
    },
    Control {
        name: "madison",
        summary: "TCP-Madison: measures the bottleneck, sends at the rate that leaves a small target backlog there",
        source: "Kola and Vernon 2007 (paper P3)",
        status: PAPER,
        build: |recipe| Box::new(Madison::new(recipe.start)),
    },
    Control {
        name: "madison-events",
        summary: "TCP-Madison that counts the losses of one round trip as one in its loss rate",
        source: "Kola and Vernon 2007 (paper P3)",
        status: PAPER,
        build: |recipe| {
            let events = MadisonParameters { losses: MadisonLosses::Events, ..MadisonParameters::default() };
            Box::new(Madison::with(recipe.start, events))
        },
    },
    Control {
        name: "madison-aging",
        summary: "TCP-Madison with the paper's least loss rate, by which the target of a flow without losses grows with its age",
        source: "Kola and Vernon 2007 (paper P3)",
        status: PAPER,
        build: |recipe| {
            let least_loss = MadisonParameters::printed().least_loss;
            let aging = MadisonParameters { least_loss, ..MadisonParameters::default() };
            Box::new(Madison::with(recipe.start, aging))
        },
    },
    Control {
        name: "madison-even",
        summary: "TCP-Madison with evenly spaced packets, nearer to the paper; wants random cross traffic",
        source: "Kola and Vernon 2007 (paper P3)",
        status: PAPER,
        build: |recipe| {
            let even = MadisonParameters { randomness: 0.0, ..MadisonParameters::default() };
            Box::new(Madison::with(recipe.start, even))
        },
    },
    Control {
        name: "madison-printed",
        summary: "TCP-Madison by the letter of the paper: overflows where few flows share; there to show it",
        source: "Kola and Vernon 2007 (paper P3)",
        status: PAPER,
        build: |recipe| Box::new(Madison::with(recipe.start, MadisonParameters::printed())),
    },
    Control {
        name: "xcp",
        summary: "moves its window by what routers say, equal shares and no standing queue; needs [link] assist = \"xcp\"",
        source: "Katabi, Handley, Rohrs 2002",
        status: YARDSTICK,
        build: |recipe| Box::new(Xcp::new(recipe.start)),
    },
    Control {
        name: "rcp",
        summary: "sends at the one rate that routers name for all flows; needs [link] assist = \"rcp\"",
        source: "Dukkipati, Kobayashi, Zhang-Shen, McKeown 2005",
        status: YARDSTICK,
        build: |recipe| Box::new(Rcp::new(recipe.start)),
    },
];

/// Every slow start that can be named.
pub const SLOW_STARTS: &[SlowStartName] = SlowStartName::ALL;

impl<G: Growth + 'static> SlowStartName<G> {
    const STANDARD: Self = Self {
        name: "standard",
        summary: "one segment per acknowledgement",
        source: "RFC 5681 section 3.1",
        status: STANDARD,
        build: |start, tuning, growth| pair(start, tuning, Standard, growth),
    };

    /// [`SLOW_STARTS`], for controllers that grow by `G`.
    pub const ALL: &'static [Self] = &[
        Self::STANDARD,
        Self {
            name: LIMITED,
            summary: "above max_ssthresh segments, at most half of that per round trip",
            source: "RFC 3742",
            status: EXPERIMENTAL,
            build: |start, tuning, growth| {
                pair(start, tuning, Limited::new(start.segment, tuning.max_ssthresh), growth)
            },
        },
        Self {
            name: HYSTART,
            summary: "ends when a round's acknowledgements span half the path, or its least RTT rises; Linux's CUBIC has it",
            source: "Ha, Rhee 2011; Linux, tcp_cubic.c",
            status: PAPER,
            build: |start, tuning, growth| pair(start, tuning, HyStart::new(start.segment), growth),
        },
        Self {
            name: HYSTART_PLUS_PLUS,
            summary: "slows down when a round's least RTT rises, and leaves slow start if that lasts",
            source: "RFC 9406",
            status: STANDARD,
            build: |start, tuning, growth| pair(start, tuning, HyStartPlusPlus::default(), growth),
        },
    ];
}

/// A slow start times a growth: one monomorphised controller for each pair.
fn pair<S: SlowStart + 'static, G: Growth + 'static>(
    start: Start,
    tuning: &Tuning,
    slow_start: S,
    growth: G,
) -> Box<dyn CongestionControl> {
    Box::new(LossBased::new(start, tuning.byte_counting, slow_start, growth))
}

/// The slow start that [`Tuning::max_ssthresh`] is for.
pub const LIMITED: &str = "limited";
/// What Linux's CUBIC has.
pub const HYSTART: &str = "hystart";
const HYSTART_PLUS_PLUS: &str = "hystart++";

/// What a scenario may set of a controller beyond its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Tuning {
    /// Segments one acknowledgement may count for in slow start, the L of RFC 3465. Zero: acknowledgements are
    /// counted, not bytes, in slow start and in congestion avoidance, as RFC 2581 allowed.
    pub byte_counting: u64,
    /// Where limited slow start begins to be slower, segments.
    pub max_ssthresh: u64,
    /// Packets that FAST wants in the queue; `None`: by its own throughput.
    pub fast_alpha: Option<u64>,
    /// The host sends super-packets ([`super_packet`](crate::super_packet)), for which BBR leaves room.
    pub offload: bool,
    /// BBR v1 is Linux's rather than the draft's.
    pub linux_bbr: bool,
}

impl Default for Tuning {
    /// RFC 5681's `min(N, SMSS)`, and what RFC 3742 recommends.
    fn default() -> Self {
        Self {
            byte_counting: 1,
            max_ssthresh: crate::slow_start::MAX_SSTHRESH,
            fast_alpha: None,
            offload: false,
            linux_bbr: false,
        }
    }
}

/// Whether a controller is called `name`.
#[must_use]
pub fn has_control(name: &str) -> bool {
    CONTROLS.iter().any(|control| control.name == name)
}

/// The router's part that the controller called `control` needs at every link, if it is of the registry and needs one.
#[must_use]
pub fn assist(control: &str) -> Option<&'static str> {
    let start = Start { segment: Bytes::new(1), window: Bytes::new(1), threshold: Bytes::MAX };
    build(control, "standard", start)?.assist()
}

/// Whether a slow start is called `name`.
#[must_use]
pub fn has_slow_start(name: &str) -> bool {
    SLOW_STARTS.iter().any(|slow_start| slow_start.name == name)
}

/// The controller called `control` with the slow start called `slow_start`, or `None` if the registry lacks
/// either.
#[must_use]
pub fn build(control: &str, slow_start: &str, start: Start) -> Option<Box<dyn CongestionControl>> {
    tuned(control, slow_start, start, Tuning::default())
}

/// The same with other than the usual settings.
#[must_use]
pub fn tuned(
    control: &str,
    slow_start: &str,
    start: Start,
    tuning: Tuning,
) -> Option<Box<dyn CongestionControl>> {
    let entry = CONTROLS.iter().find(|entry| entry.name == control)?;
    has_slow_start(slow_start).then(|| (entry.build)(&Recipe { start, slow_start, tuning }))
}

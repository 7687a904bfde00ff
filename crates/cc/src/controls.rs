//! The controllers, a file each, and the table that names them in a scenario.
//!
//! A loss-based controller is a [`Growth`](crate::growth::Growth); `registry.rs` describes the entries of the table.

mod africa;
mod assisted;
mod bbr;
mod bbr1;
mod bbr3;
pub mod bic;
pub mod cubic;
mod dctcp;
mod fast;
mod fixed;
mod highspeed;
mod low_priority;
mod madison;
mod prague;
mod reno;
mod scalable;
mod vegas;
mod westwood;

pub use africa::Africa;
pub use assisted::{Rcp, Xcp};
pub use bbr1::Bbr1;
pub use bbr3::Bbr3;
pub use bic::Bic;
pub use cubic::Cubic;
pub use dctcp::Dctcp;
pub use fast::Fast;
pub use fixed::FixedWindow;
pub use highspeed::HighSpeed;
pub use low_priority::LowPriority;
pub use madison::{Losses as MadisonLosses, Madison, Parameters as MadisonParameters, Rules as MadisonRules};
pub use prague::{Prague, RttScaling};
pub use reno::Reno;
pub use scalable::Scalable;
pub use vegas::Vegas;
pub use westwood::Westwood;

use crate::registry::{Control, EXPERIMENTAL, PAPER, STANDARD, YARDSTICK};

/// All controllers that a scenario for the simulator can name.
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
        build: |recipe| {
            recipe.loss_based(if recipe.tuning.linux_cubic { Cubic::of_linux } else { Cubic::new })
        },
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
        name: "dctcp",
        summary: "reno that answers congestion marks by their share: alpha/2 of the window, not half; turns ecn on",
        source: "RFC 8257",
        status: STANDARD,
        build: |recipe| {
            recipe.loss_based(if recipe.tuning.linux_window { Dctcp::of_linux } else { Dctcp::new })
        },
    },
    Control {
        name: "prague",
        summary: "paced, scalable (L4S): a window of 2/p at a marked share p, alike for RTTs up to 25 ms; turns accecn on",
        source: "draft-briscoe-iccrg-prague-congestion-control-04; L4STeam Linux, tcp_prague 0.6",
        status: EXPERIMENTAL,
        build: |recipe| Box::new(Prague::new(recipe.start, recipe.tuning.prague_rtt)),
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

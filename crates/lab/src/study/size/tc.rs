//! Policies that keep the queue short by themselves, as `tc` reads them.
//!
//! COBALT has no queueing discipline of its own in Linux: CAKE has one for each flow.

use link::queue::{CodelParameters, DualPi2Parameters, PieParameters, Settings, StepThreshold};
use units::Span;

/// The limits that the disciplines have by default, packets (tc-fq_codel(8), tc-codel(8), tc-pie(8), tc-fq_pie(8),
/// tc-dualpi2(8)). CAKE's is that without a bandwidth (net/sched/sch_cake.c of Linux).
const DEFAULTS: [(&str, u64); 6] = [
    ("fq-codel", 10_240),
    ("codel", 1000),
    ("pie", 1000),
    ("fq-pie", 10_240),
    ("dualpi2", 10_000),
    ("cake", 10_240),
];
/// The parts of a second in which tc-pie(8) and tc-fq_pie(8) count gains, and the largest gain.
const GAIN_PARTS: (f64, f64) = (16.0, 32.0);

/// A queueing discipline with its settings.
pub(super) struct Discipline {
    pub(super) text: String,
    /// The settings that the line cannot say exactly, each with the reason; empty if it says all.
    pub(super) doubts: Vec<String>,
}

/// Returns the limit that a policy has by default, packets; `None` if it does not keep the queue short by itself.
pub(super) fn default_limit(queue: &str) -> Option<u64> {
    DEFAULTS.iter().find(|(name, _)| *name == queue).map(|(_, limit)| *limit)
}

/// Returns the names of a policy's lines: on the interface itself, and behind a shaper.
pub(super) fn names(queue: &str) -> Option<(&'static str, &'static str)> {
    Some(match queue {
        "fq-codel" => ("Linux, FQ-CoDel", "Linux, FQ-CoDel behind a shaper"),
        "codel" => ("Linux, CoDel", "Linux, CoDel behind a shaper"),
        "pie" => ("Linux, PIE", "Linux, PIE behind a shaper"),
        "fq-pie" => ("Linux, FQ-PIE", "Linux, FQ-PIE behind a shaper"),
        "dualpi2" => ("Linux, DualPI2", "Linux, DualPI2 behind a shaper"),
        _ => return None,
    })
}

/// Writes a policy and its settings with a limit that holds `safe` packets. `ecn` is true if flows use ECN.
pub(super) fn discipline(queue: &str, own: &Settings, ecn: bool, safe: u64) -> Option<Discipline> {
    let limit = default_limit(queue)?.max(safe);
    let marks = if ecn && own.ecn.unwrap_or(true) { "ecn" } else { "noecn" };
    let mut doubts = Vec::new();
    let text = match queue {
        "fq-codel" => format!("fq_codel limit {limit} {}{} {marks}", codel(own), turns(own)),
        "codel" => format!("codel limit {limit} {} {marks}", codel(own)),
        "pie" => {
            if own.ecn_probability.is_some() {
                doubts.push("tc cannot set ecn_probability, so that Linux has 10 %".into());
            }
            format!("pie limit {limit} {} {marks}", pie(own, &mut doubts))
        }
        "fq-pie" => {
            let text = format!("fq_pie limit {limit} {}{}", pie(own, &mut doubts), turns(own));
            // tc sends no gain and no percentage of zero, and Linux keeps its default then.
            let percent =
                own.ecn_probability.map(|share| whole_percent("ecn_probability", share, &mut doubts));
            match percent {
                Some(0.0) => format!("{text} noecn"),
                Some(percent) => format!("{text} ecn_prob {percent} {marks}"),
                None => format!("{text} {marks}"),
            }
        }
        _ => format!("dualpi2 limit {limit} {}", dualpi2(own, &mut doubts)),
    };
    Some(Discipline { text, doubts })
}

fn codel(own: &Settings) -> String {
    let codel = CodelParameters::default();
    let (target, interval) = (own.target.unwrap_or(codel.target), own.interval.unwrap_or(codel.interval));
    format!("target {target} interval {interval}")
}

/// Returns the number of queues and the bytes of a turn, if they are given.
fn turns(own: &Settings) -> String {
    let flows = own.flows.map_or_else(String::new, |flows| format!(" flows {flows}"));
    let quantum = own.quantum.map_or_else(String::new, |quantum| format!(" quantum {}", quantum.get()));
    flows + &quantum
}

fn pie(own: &Settings, doubts: &mut Vec<String>) -> String {
    let pie = PieParameters::default();
    let mut text = target_and_update(own, pie.target, pie.interval);
    for (key, gain) in [("alpha", own.alpha), ("beta", own.beta)] {
        let Some(gain) = gain else { continue };
        let (parts, most) = GAIN_PARTS;
        let written = (gain * parts).round().clamp(1.0, most);
        if written != gain * parts {
            doubts.push(format!("tc takes 1 to 32 sixteenths as {key}, which is {gain}"));
        }
        text += &format!(" {key} {written}");
    }
    for (key, given) in [("burst", own.burst.is_some()), ("derandomize", own.derandomize == Some(false))] {
        if given {
            doubts.push(format!("tc cannot set {key}, so that Linux has its own"));
        }
    }
    text
}

fn dualpi2(own: &Settings, doubts: &mut Vec<String>) -> String {
    let dualpi2 = DualPi2Parameters::default();
    let mut text = target_and_update(own, dualpi2.target, dualpi2.interval);
    for (key, gain) in [("alpha", own.alpha), ("beta", own.beta)] {
        if let Some(gain) = gain {
            text += &format!(" {key} {gain}");
        }
    }
    if let Some(coupling) = own.coupling {
        text += &format!(" coupling_factor {coupling}");
    }
    match own.step_threshold {
        None => {}
        // tc sends no threshold of zero, and Linux keeps its default then.
        Some(StepThreshold::Time(time)) => {
            text += &format!(" step_thresh {}", time.max(Span::from_micros(1)));
        }
        Some(StepThreshold::Packets(packets)) => {
            if packets == 0 {
                doubts.push("tc cannot set a step_threshold of 0 packets".into());
            }
            text += &format!(" step_thresh {}p", packets.max(1));
        }
    }
    if let Some(packets) = own.step_queue {
        text += &format!(" min_qlen_step {packets}");
    }
    if let Some(share) = own.classic_protection {
        let percent = whole_percent("classic_protection", share, doubts);
        text += &format!(" classic_protection {percent}%");
    }
    match own.drop_on_overload {
        None => {}
        Some(true) => text += " drop_on_overload",
        Some(false) => text += " overflow",
    }
    text
}

fn target_and_update(own: &Settings, target: Span, update: Span) -> String {
    format!("target {} tupdate {}", own.target.unwrap_or(target), own.interval.unwrap_or(update))
}

/// Rounds a share to a whole percent.
fn whole_percent(key: &str, share: f64, doubts: &mut Vec<String>) -> f64 {
    let percent = (share * 100.0).round();
    if (percent - share * 100.0).abs() > 1e-9 {
        doubts.push(format!("tc takes whole percents as {key}, which is {share}"));
    }
    percent
}

//! Lines to paste into configurations. A limit is per queue, not per box.
//!
//! Linux counts a packet with its Ethernet header in limits of bytes and in the rates of `tbf` and `htb`. It counts
//! packets in `pfifo` and in the policies that keep the queue short by themselves. Their limit only bounds memory.

use super::answer::{Line, Point, Policy};
use super::call::SHAPED;
use super::question::Question;
use super::systems::{beyond_tc, line, mikrotik, openwrt, routers, with_range};
use super::tc::{default_limit, discipline, names};
use link::queue::{CodelParameters, Settings};

/// Bytes of an Ethernet header, which Linux counts; a VLAN tag is 4 more.
pub(super) const ETHERNET: u64 = 14;
/// Ticks a second of Linux's timer by default (kernel/Kconfig.hz). A bucket holds the bytes that the rate sends in a
/// tick (tc-tbf(8)), and two packets at least.
const HZ: u64 = 250;
/// Limits and policies that were simulated in addition to the recommended limit.
#[derive(Default)]
pub(super) struct AlsoSimulated {
    /// The recommended limit in bytes, where packets are not all full.
    pub(super) in_bytes: Option<Point>,
    /// The limit behind which a policy's own rule decides, packets.
    pub(super) room: Option<u64>,
    /// Other policies, and their effects.
    pub(super) policies: Vec<Policy>,
}

/// Returns the lines that give a queue the limit of `point`, and those of policies that keep the queue short by
/// themselves.
pub(super) fn lines(question: &Question, point: &Point, also_simulated: &AlsoSimulated) -> Vec<Line> {
    let mut lines = match question.queue.as_str() {
        "drop-tail" => drop_tail(question, point, also_simulated),
        "drop-head" => vec![line(
            "Linux",
            format!("tc qdisc replace dev DEV root pfifo_head_drop limit {}", point.packets),
            String::new(),
        )],
        _ => Vec::new(),
    };
    let safe = also_simulated.room.unwrap_or_else(|| question.bdp_limit().ceil() as u64).max(point.packets);
    if names(&question.queue).is_some() {
        lines.extend(policies(question, &question.queue, safe, None));
    } else {
        for other in &also_simulated.policies {
            lines.extend(policies(question, &other.queue, safe, Some(&other.point)));
        }
    }
    lines
}

/// Returns the bytes that Linux counts for `packets` of the mean length, each with its Ethernet header.
pub(super) fn bytes_on_ethernet(question: &Question, packets: u64) -> u64 {
    packets * (question.mean_packet().get() + ETHERNET)
}

fn drop_tail(question: &Question, point: &Point, also_simulated: &AlsoSimulated) -> Vec<Line> {
    let packets = point.packets;
    let bytes = bytes_on_ethernet(question, packets);
    let mut lines = Vec::new();
    let mean = question.mean_packet().get();
    let header = format!(
        "{packets} packets of {mean} bytes, each with the {ETHERNET} of its Ethernet header (18 with a VLAN tag)"
    );
    let counts = match (&also_simulated.in_bytes, question.is_mixed()) {
        (Some(other), _) => {
            lines.push(line(
                "Linux, in packets",
                format!("tc qdisc replace dev DEV root pfifo limit {packets}"),
                format!("of whatever length: {}", does(point)),
            ));
            format!(
                "{header}. A limit in bytes makes another queue than one in packets, because not all packets are full: {}",
                does(other)
            )
        }
        (None, true) => {
            lines.push(line(
                "Linux, in packets",
                format!("tc qdisc replace dev DEV root pfifo limit {packets}"),
                "of whatever length".into(),
            ));
            format!(
                "{header}. A limit in bytes makes another queue than one in packets, because not all packets are full"
            )
        }
        (None, false) => header,
    };
    let counts = with_range(counts, beyond_tc(bytes));
    lines.push(line("Linux", format!("tc qdisc replace dev DEV root bfifo limit {bytes}"), counts));
    // A shaper, or a limit in time, needs one rate.
    if question.changing.is_none() {
        lines.push(line(
            "Linux, shaped",
            format!(
                "tc qdisc replace dev DEV root tbf rate {}bit burst {} limit {bytes}",
                question.rate.as_bps(),
                burst(question)
            ),
            on_ethernet(question),
        ));
    }
    // Junos takes whole microseconds. A rounding error adds none.
    let micros = question.changing.is_none().then(|| (point.ms * 1e3 - 1e-6).ceil().max(1.0) as u64);
    lines.extend(routers(packets, bytes, micros));
    lines
}

/// Describes the effects of a queue's limit.
fn does(point: &Point) -> String {
    format!(
        "{:.1} % of utilization, {:.1} ms of delay at the 95th percentile",
        point.utilization * 100.0,
        point.queueing_delay_s.p95 * 1e3
    )
}

/// Returns the bucket of a shaper, bytes.
fn burst(question: &Question) -> u64 {
    (question.rate.as_bps() / 8 / HZ).max(2 * (question.packet.get() + ETHERNET))
}

/// Describes the bytes that a shaper's rate counts.
fn on_ethernet(question: &Question) -> String {
    let mean = question.mean_packet().get();
    let share = mean as f64 / (mean + ETHERNET) as f64;
    format!(
        "the rate counts Ethernet's {ETHERNET} bytes, too: of packets of {mean} bytes it lets {:.2} % through, {:.2} Mbit/s of IP",
        share * 100.0,
        share * question.rate.as_bps_f64() / 1e6
    )
}

/// Returns the settings of a policy: those of the question's own, the defaults of others.
fn own(question: &Question, queue: &str) -> Settings {
    if queue == question.queue { question.settings } else { Settings::default() }
}

/// Returns the lines of a policy that keeps the queue short by itself, on the interface and behind a shaper. `point`
/// has the effects of that policy, in place of those of the limit in question.
fn policies(question: &Question, queue: &str, safe: u64, point: Option<&Point>) -> Vec<Line> {
    let Some((plain, shaped)) = names(queue) else { return Vec::new() };
    let Some(policy) = discipline(queue, &own(question, queue), question.has_ecn(), safe) else {
        return Vec::new();
    };
    let (rate, burst) = (question.rate.as_bps(), burst(question));
    let decides = "target and interval decide; the limit only bounds memory".to_owned();
    let bound = [decides].into_iter().chain(policy.doubts).collect::<Vec<_>>().join("; ");
    let policy = policy.text;
    let shaper = line(
        shaped,
        format!(
            "tc qdisc replace dev DEV root handle 1: htb default 1\n\
             tc class replace dev DEV parent 1: classid 1:1 htb rate {rate}bit burst {burst} cburst {burst} quantum 1514\n\
             tc qdisc replace dev DEV parent 1:1 {policy}"
        ),
        match point {
            Some(point) if point.unsettled => {
                format!("instead of the limit; its row had not settled. {bound}")
            }
            Some(point) => format!("instead of the limit: {}; {bound}", does(point)),
            None => format!("{bound}; {}", on_ethernet(question)),
        },
    );
    let mut lines = Vec::new();
    let changes = question.changing.is_some();
    let here = "where the interface itself is the tight link";
    if point.is_none() || changes {
        let does = point.map_or_else(String::new, |point| format!("instead of the limit: {}; ", does(point)));
        lines.push(line(
            plain,
            format!("tc qdisc replace dev DEV root {policy}"),
            format!("{does}{here}; {bound}"),
        ));
    }
    if !changes {
        lines.push(shaper);
    }
    if queue == "fq-codel" {
        lines.extend(with_queues_per_flow(question, safe, here));
    }
    lines
}

/// Returns the lines of other systems that have FQ-CoDel, and of CAKE.
fn with_queues_per_flow(question: &Question, safe: u64, here: &str) -> Vec<Line> {
    let (own, codel) = (own(question, "fq-codel"), CodelParameters::default());
    let limit = default_limit("fq-codel").unwrap_or_default().max(safe);
    let (target, interval) = (own.target.unwrap_or(codel.target), own.interval.unwrap_or(codel.interval));
    let settings = format!(" fq-codel-limit={limit} fq-codel-target={target} fq-codel-interval={interval}");
    let fq_codel = mikrotik("MikroTik, FQ-CoDel", "fq-codel", &settings, here);
    if question.changing.is_some() {
        return vec![fq_codel];
    }
    let rate = question.rate.as_bps();
    // sqm-scripts takes whole kilobits a second.
    let kbps = ((rate as f64 * SHAPED / 1e3).floor() as u64).max(1);
    let shaper = format!("for packets that leave by DEV, at {:.0} % of the rate", SHAPED * 100.0);
    let cake = "a shaper, and queues per flow under COBALT, in one";
    // The base RTT that CAKE expects. Its default suits the Internet, and a longer path needs its own (tc-cake(8)).
    let rtt = question.rtt.most.max(codel.interval);
    let fq_codel_on_openwrt = openwrt(
        "OpenWrt, FQ-CoDel",
        "fq_codel",
        "simplest.qos",
        kbps,
        &format!("{shaper}; target as in sqm-scripts"),
    );
    vec![
        line(
            "Linux, CAKE",
            format!("tc qdisc replace dev DEV root cake bandwidth {rate}bit rtt {rtt}"),
            cake.into(),
        ),
        fq_codel_on_openwrt,
        openwrt("OpenWrt, CAKE", "cake", "piece_of_cake.qos", kbps, &format!("{shaper}; {cake}")),
        fq_codel,
        mikrotik("MikroTik, CAKE", "cake", &format!(" cake-bandwidth={rate}"), cake),
    ]
}

#[cfg(test)]
#[path = "../../../tests/within/lines.rs"]
mod tests;

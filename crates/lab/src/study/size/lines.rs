//! Lines to paste into configurations. A limit is per queue, not per box.
//!
//! Linux counts a packet with its Ethernet header in limits of bytes and in the rates of `tbf` and `htb`. It counts
//! packets in `pfifo` and in the policies that keep the queue short by themselves. Their limit only bounds memory.

use super::answer::{Line, Point, Policy};
use super::question::Question;
use link::queue::{CodelParameters, PieParameters};
use units::Span;

/// Bytes of an Ethernet header, which Linux counts; a VLAN tag is 4 more.
pub(super) const ETHERNET: u64 = 14;
/// Ticks a second of Linux's timer by default (kernel/Kconfig.hz). A bucket holds the bytes that the rate sends in a
/// tick (tc-tbf(8)), and two packets at least.
const HZ: u64 = 250;
/// The limits that fq_codel, codel and pie have by default, packets (tc-fq_codel(8), tc-codel(8), tc-pie(8)).
const DEFAULTS: [(&str, u64); 3] = [("fq-codel", 10_240), ("codel", 1000), ("pie", 1000)];

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
        "drop-head" => vec![Line {
            system: "Linux",
            line: format!("tc qdisc replace dev DEV root pfifo_head_drop limit {}", point.packets),
            says: String::new(),
        }],
        _ => Vec::new(),
    };
    let safe = also_simulated.room.unwrap_or_else(|| question.bdp_limit().ceil() as u64).max(point.packets);
    if policy(question, &question.queue, safe).is_some() {
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
    // Junos takes whole microseconds.
    let micros = (point.ms * 1e3).ceil().max(1.0);
    let line = |system, line, says| Line { system, line, says };
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
    lines.push(line("Linux", format!("tc qdisc replace dev DEV root bfifo limit {bytes}"), counts));
    lines.push(line(
        "Linux, shaped",
        format!(
            "tc qdisc replace dev DEV root tbf rate {}bit burst {} limit {bytes}",
            question.rate.as_bps(),
            burst(question)
        ),
        on_ethernet(question),
    ));
    lines.push(line(
        "Junos",
        format!("set class-of-service schedulers SCHEDULER buffer-size temporal {micros:.0}"),
        String::new(),
    ));
    lines.push(line(
        "IOS",
        // Any other class needs a bandwidth or a shape before it accepts a queue-limit.
        format!("policy-map POLICY\n class class-default\n  queue-limit {packets} packets"),
        String::new(),
    ));
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

/// Writes a policy and its settings as `tc` reads them, with a limit that holds `safe` packets.
fn policy(question: &Question, queue: &str, safe: u64) -> Option<String> {
    let own = if queue == question.queue { question.settings } else { link::queue::Settings::default() };
    let limit = DEFAULTS.iter().find(|(name, _)| *name == queue)?.1.max(safe);
    let (codel, pie) = (CodelParameters::default(), PieParameters::default());
    let time = |set: Option<Span>, default: Span| set.unwrap_or(default);
    let ecn = if question.ecn && own.ecn.unwrap_or(true) { "ecn" } else { "noecn" };
    let controlled =
        format!("target {} interval {}", time(own.target, codel.target), time(own.interval, codel.interval));
    Some(match queue {
        "fq-codel" => format!("fq_codel limit {limit} {controlled} {ecn}"),
        "codel" => format!("codel limit {limit} {controlled} {ecn}"),
        _ => format!(
            "pie limit {limit} target {} tupdate {} {ecn}",
            time(own.target, pie.target),
            time(own.interval, pie.interval)
        ),
    })
}

/// Returns the lines of a policy that keeps the queue short by itself, on the interface and behind a shaper. `point`
/// has the effects of that policy, in place of those of the limit in question.
fn policies(question: &Question, queue: &str, safe: u64, point: Option<&Point>) -> Vec<Line> {
    let Some(policy) = policy(question, queue, safe) else { return Vec::new() };
    let (rate, burst) = (question.rate.as_bps(), burst(question));
    let bound = "target and interval decide; the limit only bounds memory".to_owned();
    let (plain, shaped) = match queue {
        "fq-codel" => ("Linux, FQ-CoDel", "Linux, FQ-CoDel behind a shaper"),
        "codel" => ("Linux, CoDel", "Linux, CoDel behind a shaper"),
        _ => ("Linux, PIE", "Linux, PIE behind a shaper"),
    };
    let shaper = Line {
        system: shaped,
        line: format!(
            "tc qdisc replace dev DEV root handle 1: htb default 1\n\
             tc class replace dev DEV parent 1: classid 1:1 htb rate {rate}bit burst {burst} cburst {burst} quantum 1514\n\
             tc qdisc replace dev DEV parent 1:1 {policy}"
        ),
        says: match point {
            Some(point) if point.unsettled => {
                format!("instead of the limit; its row had not settled. {bound}")
            }
            Some(point) => format!("instead of the limit: {}; {bound}", does(point)),
            None => format!("{bound}; {}", on_ethernet(question)),
        },
    };
    let mut lines = Vec::new();
    if point.is_none() {
        let line = format!("tc qdisc replace dev DEV root {policy}");
        lines.push(Line {
            system: plain,
            line,
            says: format!("where the interface itself is the tight link; {bound}"),
        });
    }
    lines.push(shaper);
    if queue == "fq-codel" {
        lines.push(Line {
            system: "Linux, CAKE",
            line: format!("tc qdisc replace dev DEV root cake bandwidth {rate}bit"),
            says: "shaper, queues per flow and CoDel in one; not simulated here".into(),
        });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::{Bytes, Rate};

    fn of(lines: &[Line], system: &str) -> String {
        lines
            .iter()
            .find(|line| line.system == system)
            .unwrap_or_else(|| panic!("{system}: {lines:?}"))
            .line
            .clone()
    }

    #[test]
    fn every_line_has_the_limit_in_its_own_unit() {
        let question = Question::of(Rate::from_bps(10_000_000));
        let lines = lines(&question, &Point::at(&question, 20), &AlsoSimulated::default());
        // Each of the 20 packets has 1500 bytes, and 14 of Ethernet.
        assert_eq!(of(&lines, "Linux"), "tc qdisc replace dev DEV root bfifo limit 30280");
        assert_eq!(
            of(&lines, "Linux, shaped"),
            "tc qdisc replace dev DEV root tbf rate 10000000bit burst 5000 limit 30280"
        );
        // Each of the 20 packets takes 1.2 ms.
        assert_eq!(
            of(&lines, "Junos"),
            "set class-of-service schedulers SCHEDULER buffer-size temporal 24000"
        );
        assert!(of(&lines, "IOS").ends_with("queue-limit 20 packets"));
    }

    #[test]
    fn limits_in_bytes_hold_as_many_packets_with_their_headers() {
        for packet in [64, 576, 1500, 9000] {
            for packets in [1, 2, 10, 129, 40_000] {
                for rate in [64_000, 500_000, 10_000_000, 10_000_000_000] {
                    let question =
                        Question { packet: Bytes::new(packet), ..Question::of(Rate::from_bps(rate)) };
                    let lines = lines(&question, &Point::at(&question, packets), &AlsoSimulated::default());
                    let last = |line: String, key: &str| -> u64 {
                        let after = line.split(&format!("{key} ")).nth(1).unwrap();
                        after.split(' ').next().unwrap().parse().unwrap()
                    };
                    let whole = packets * (packet + 14);
                    assert_eq!(last(of(&lines, "Linux"), "limit"), whole);
                    let shaped = of(&lines, "Linux, shaped");
                    assert_eq!(last(shaped.clone(), "limit"), whole);
                    let burst = last(shaped, "burst");
                    assert!(burst >= 2 * (packet + 14) && burst >= rate / 8 / 250, "{burst}");
                }
            }
        }
    }

    #[test]
    fn policies_that_keep_the_queue_short_have_a_shaper_and_a_limit_that_does_not_decide() {
        let mut question = Question::of(Rate::from_bps(20_000_000));
        question.queue = "fq-codel".into();
        let lines = lines(&question, &Point::at(&question, 26), &AlsoSimulated::default());
        let shaped = of(&lines, "Linux, FQ-CoDel behind a shaper");
        assert!(shaped.contains("htb rate 20000000bit burst 10000 cburst 10000 quantum 1514\n"), "{shaped}");
        assert!(
            shaped.ends_with("parent 1:1 fq_codel limit 10240 target 5ms interval 100ms noecn"),
            "{shaped}"
        );
        assert_eq!(of(&lines, "Linux, CAKE"), "tc qdisc replace dev DEV root cake bandwidth 20000000bit");
        // On a fast link the default limit would decide.
        let question =
            Question { queue: "codel".into(), ecn: true, ..Question::of(Rate::from_bps(10_000_000_000)) };
        let lines = super::lines(&question, &Point::at(&question, 26), &AlsoSimulated::default());
        assert!(
            of(&lines, "Linux, CoDel").ends_with("codel limit 41667 target 5ms interval 100ms ecn"),
            "{lines:?}"
        );
    }

    #[test]
    fn packets_that_are_not_all_full_have_both_lines() {
        let question = Question { mean: Some(Bytes::new(188)), ..Question::of(Rate::from_bps(10_000_000)) };
        let point = Point { utilization: 0.996, ..Point::at(&question, 300) };
        let other = Point { utilization: 0.998, ..point };
        let also_simulated = AlsoSimulated { in_bytes: Some(other), ..AlsoSimulated::default() };
        let lines = lines(&question, &point, &also_simulated);
        assert_eq!(of(&lines, "Linux, in packets"), "tc qdisc replace dev DEV root pfifo limit 300");
        assert_eq!(of(&lines, "Linux"), format!("tc qdisc replace dev DEV root bfifo limit {}", 300 * 202));
        let says = |system: &str| lines.iter().find(|line| line.system == system).unwrap().says.clone();
        assert!(
            says("Linux, in packets").contains("99.6 %") && says("Linux").contains("99.8 %"),
            "{lines:?}"
        );
    }
}

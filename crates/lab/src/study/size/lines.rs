//! Lines to paste into configurations. A limit is per queue, not per box.

use super::answer::{Line, Point};
use super::question::Question;

/// The lines that give a queue `point` as its limit.
pub(super) fn lines(question: &Question, point: &Point) -> Vec<Line> {
    let Point { packets, bytes, .. } = *point;
    // Junos takes whole microseconds.
    let micros = (point.ms * 1e3).ceil().max(1.0);
    let mut lines = Vec::new();
    let linux = match question.queue.as_str() {
        "drop-tail" => Some(format!("tc qdisc replace dev DEV root bfifo limit {bytes}")),
        "codel" => Some(format!("tc qdisc replace dev DEV root codel limit {packets}")),
        "fq-codel" => Some(format!("tc qdisc replace dev DEV root fq_codel limit {packets}")),
        "pie" => Some(format!("tc qdisc replace dev DEV root pie limit {packets}")),
        "drop-head" => Some(format!("tc qdisc replace dev DEV root pfifo_head_drop limit {packets}")),
        _ => None,
    };
    lines.extend(linux.map(|line| Line { system: "Linux", line }));
    if question.queue == "drop-tail" {
        lines.push(Line {
            system: "Linux, shaped",
            line: format!(
                "tc qdisc replace dev DEV root tbf rate {}bit burst {} limit {bytes}",
                question.rate.as_bps(),
                // A timer's tick, a quarter of a millisecond at most, and a packet.
                (question.rate.as_bps() / 8 / 4000).max(question.packet.get() * 2)
            ),
        });
        lines.push(Line {
            system: "Junos",
            line: format!("set class-of-service schedulers SCHEDULER buffer-size temporal {micros:.0}"),
        });
        lines.push(Line {
            system: "IOS",
            // Any other class needs a bandwidth or a shape before it takes a queue-limit.
            line: format!("policy-map POLICY\n class class-default\n  queue-limit {packets} packets"),
        });
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use units::Rate;

    #[test]
    fn every_line_has_the_limit_in_its_own_unit() {
        let question = Question::of(Rate::from_bps(10_000_000));
        let lines = lines(&question, &Point::at(&question, 20));
        let of = |system: &str| lines.iter().find(|line| line.system == system).unwrap().line.clone();
        assert_eq!(of("Linux"), "tc qdisc replace dev DEV root bfifo limit 30000");
        assert_eq!(
            of("Linux, shaped"),
            "tc qdisc replace dev DEV root tbf rate 10000000bit burst 3000 limit 30000"
        );
        // 20 packets of 1.2 ms.
        assert_eq!(of("Junos"), "set class-of-service schedulers SCHEDULER buffer-size temporal 24000");
        assert!(of("IOS").ends_with("queue-limit 20 packets"));
    }

    #[test]
    fn other_policies_have_lines_where_linux_has_them() {
        let mut question = Question::of(Rate::from_bps(10_000_000));
        question.queue = "fq-codel".into();
        let lines = lines(&question, &Point::at(&question, 1000));
        assert_eq!(lines.len(), 1);
        assert_eq!(lines[0].line, "tc qdisc replace dev DEV root fq_codel limit 1000");
    }
}

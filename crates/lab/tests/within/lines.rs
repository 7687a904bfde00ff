//! Tests of the lines of configuration for a limit.

use super::*;
use crate::study::size::systems::SOURCES;
use link::queue::StepThreshold;
use units::{Bytes, Rate, Span};

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
    assert_eq!(of(&lines, "Junos"), "set class-of-service schedulers SCHEDULER buffer-size temporal 24000");
    let arista: serde_json::Value = serde_json::from_str(&of(&lines, "Arista EOS")).unwrap();
    let profile =
        "/openconfig-qos:qos/buffer-allocation-profiles/buffer-allocation-profile/0/queues/queue/0/config";
    let limit = arista.pointer(&format!("{profile}/static-shared-buffer-limit-temporal"));
    assert_eq!(limit.and_then(serde_json::Value::as_u64), Some(24_000));
    assert!(of(&lines, "IOS").ends_with("queue-limit 20 packets"));
}

#[test]
fn every_line_has_a_source_and_the_guide_has_the_same() {
    let path = testkit::repository().join("docs/guide/size.md");
    let guide = std::fs::read_to_string(path).unwrap();
    for (system, source) in SOURCES {
        assert!(guide.contains(&format!("| {system} | {source} |\n")), "{system}");
    }
    let question = Question::of(Rate::from_bps(10_000_000));
    let point = Point::at(&question, 20);
    let row = |queue: &str| Policy { queue: queue.into(), point, best: false, call: None };
    let policies = ["codel", "fq-codel", "pie", "fq-pie", "dualpi2"].map(row).to_vec();
    let lines = lines(&question, &point, &AlsoSimulated { policies, ..AlsoSimulated::default() });
    assert!(lines.iter().all(|line| !line.source.is_empty()), "{lines:?}");
    assert_eq!(of(&lines, "Nokia SR OS"), "/configure qos sap-egress \"POLICY\" queue 1 mbs 30280");
    assert!(of(&lines, "IOS XR").ends_with("queue-limit 30280 bytes"));
    assert!(of(&lines, "MikroTik").starts_with("/queue type add name=tightlink kind=pfifo pfifo-limit=20\n"));
    // 95 % of 10 Mbit/s, in kbit/s.
    assert!(of(&lines, "OpenWrt, CAKE").contains("upload='9500'\n"));
    assert!(
        of(&lines, "MikroTik, FQ-CoDel")
            .contains(" fq-codel-limit=10240 fq-codel-target=5ms fq-codel-interval=100ms")
    );
}

#[test]
fn a_value_that_a_system_does_not_take_is_named() {
    let question = Question::of(Rate::from_bps(100_000_000_000));
    let says = |packets: u64, system: &str| {
        let lines = lines(&question, &Point::at(&question, packets), &AlsoSimulated::default());
        lines.into_iter().find(|line| line.system == system).unwrap().says
    };
    // 200 ms of 100 Gbit/s are 1 666 667 packets, which have 2.5 GB.
    for (system, held, beyond) in [
        ("Junos", 1_666_666, 1_666_667),
        ("Nokia SR OS", 709_208, 709_209),
        ("IOS XR", 2_836_834, 2_836_835),
        ("Linux", 2_836_834, 2_836_835),
    ] {
        assert!(!says(held, system).contains("beyond"), "{system}");
        assert!(says(beyond, system).contains("is beyond what"), "{system}");
    }
}

#[test]
fn limits_in_bytes_hold_as_many_packets_with_their_headers() {
    for packet in [64, 576, 1500, 9000] {
        for packets in [1, 2, 10, 129, 40_000] {
            for rate in [64_000, 500_000, 10_000_000, 10_000_000_000] {
                let question = Question { packet: Bytes::new(packet), ..Question::of(Rate::from_bps(rate)) };
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
    assert!(shaped.ends_with("parent 1:1 fq_codel limit 10240 target 5ms interval 100ms noecn"), "{shaped}");
    assert_eq!(
        of(&lines, "Linux, CAKE"),
        "tc qdisc replace dev DEV root cake bandwidth 20000000bit rtt 100ms"
    );
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
    assert!(says("Linux, in packets").contains("99.6 %") && says("Linux").contains("99.8 %"), "{lines:?}");
}

#[test]
fn every_setting_is_in_the_line_or_the_line_says_why_it_is_not() {
    let mut question = Question { queue: "dualpi2".into(), ..Question::of(Rate::from_bps(20_000_000)) };
    let line = |question: &Question, system: &str| {
        let lines = lines(question, &Point::at(question, 26), &AlsoSimulated::default());
        let line = lines.into_iter().find(|line| line.system == system).unwrap();
        (line.line.replace("tc qdisc replace dev DEV root ", ""), line.says)
    };
    assert_eq!(
        line(&question, "Linux, DualPI2").0,
        "dualpi2 limit 10000 target 15ms tupdate 16ms",
        "defaults are those of Linux"
    );
    question.settings = Settings {
        alpha: Some(0.2),
        beta: Some(3.0),
        coupling: Some(4),
        step_threshold: Some(StepThreshold::Packets(5)),
        step_queue: Some(2),
        classic_protection: Some(0.25),
        drop_on_overload: Some(false),
        ..Settings::default()
    };
    assert_eq!(
        line(&question, "Linux, DualPI2").0,
        "dualpi2 limit 10000 target 15ms tupdate 16ms alpha 0.2 beta 3 coupling_factor 4 step_thresh 5p \
         min_qlen_step 2 classic_protection 25% overflow"
    );
    question.settings.classic_protection = Some(0.255);
    question.settings.step_threshold = Some(StepThreshold::Packets(0));
    let (_, says) = line(&question, "Linux, DualPI2");
    assert!(
        says.contains("whole percents as classic_protection") && says.contains("step_threshold of 0"),
        "{says}"
    );

    let mut question = Question { queue: "fq-pie".into(), ecn: true, ..question };
    question.settings = Settings {
        alpha: Some(0.25),
        beta: Some(1.3),
        burst: Some(Span::ZERO),
        flows: Some(64),
        quantum: Some(Bytes::new(300)),
        ecn_probability: Some(0.2),
        ..Settings::default()
    };
    let (text, says) = line(&question, "Linux, FQ-PIE");
    assert_eq!(
        text,
        "fq_pie limit 10240 target 15ms tupdate 15ms alpha 4 beta 21 flows 64 quantum 300 ecn_prob 20 ecn"
    );
    assert!(says.contains("as beta, which is 1.3") && says.contains("cannot set burst"), "{says}");
    question.queue = "fq-codel".into();
    question.settings = Settings { flows: Some(64), quantum: Some(Bytes::new(300)), ..Settings::default() };
    assert_eq!(
        line(&question, "Linux, FQ-CoDel").0,
        "fq_codel limit 10240 target 5ms interval 100ms flows 64 quantum 300 ecn"
    );
}

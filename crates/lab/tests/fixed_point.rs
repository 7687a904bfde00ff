//! The fixed point of many flows as a theory of the engine `model`: what it fits, what it says there, and what it takes otherwise.

use scenario::Document;
use tightlink_lab::run::engine::{UNWATCHED, check, run};
use tightlink_lab::run::record::{Engine, Record};
use tightlink_lab::run::resolve::{Resolved, resolve_document};

/// Case 1 of the paper on router buffers. A limit of N packets holds N + 1 with the one being sent.
fn case_1(queue: &str, flow: &str) -> Resolved {
    let text = format!(
        "title = 't'\nsource = 'paper:case-1'\nduration = '90s'\n[link]\nrate = '1Gbit/s'\nqueue = {{ {queue} }}\n\
         [[flow]]\ncount = 10\ncontrol = 'highspeed'\nsegment = '1000B'\n\
         rtt = ['115.5ms', '116.5ms', '117.5ms', '118.5ms', '119.5ms', '120.5ms', '121.5ms', '122.5ms', '123.5ms', '124.5ms']\n{flow}"
    );
    let document = Document::parse("x.toml", &text).unwrap_or_else(|faults| panic!("{faults}"));
    resolve_document(&document).unwrap_or_else(|faults| panic!("{faults}"))
}

fn answered(resolved: &Resolved) -> Record {
    run(Engine::Model, resolved, UNWATCHED).unwrap_or_else(|error| panic!("{error}"))
}

fn is_fixed_point(record: &Record) -> bool {
    record.notes[0].text().starts_with("answered by the theory fixed point [highspeed:III]")
}

#[test]
fn case_1_of_the_paper_is_what_it_is_about() {
    for (limit, utilization) in [(124, 0.934), (624, 0.989), (1249, 0.995), (2499, 0.998)] {
        let resolved = case_1(&format!("limit = '{limit} packets'"), "");
        assert_eq!(check(Engine::Model, &resolved), Ok(()));
        let record = answered(&resolved);
        let summary = &record.summary;
        assert!(is_fixed_point(&record) && summary.is_exact(), "{:?}", summary.assumptions);
        assert!((summary.utilization.unwrap() - utilization).abs() < 0.002, "{limit}: {summary:?}");
        // What the flows have of the link, on the wire: the default header takes 52 of 1000 bytes.
        let goodput: f64 = summary.flows.iter().map(|flow| flow.goodput_bps).sum();
        assert!((goodput / 0.948 / 1e9 - summary.utilization.unwrap()).abs() < 1e-6);
        let lengths = summary.queue_length_packets.unwrap();
        assert!(lengths.mean < lengths.percentiles.p95 as f64 && lengths.percentiles.p99 <= lengths.max);
        assert_eq!(lengths.max, limit);
        let waiting: f64 = summary.flows.iter().map(|flow| flow.backlog_packets.unwrap()).sum();
        assert!((waiting / lengths.mean - 1.0).abs() < 1e-6, "{waiting}");
        let delay = summary.queueing_delay_s.unwrap();
        assert!((summary.flows[3].rtt_s.unwrap().mean - 0.1185 - 8e-6 - delay.mean).abs() < 1e-8);
    }
}

/// The source's thresholds. Adaptive RED is taken for simple RED there, too: a note, and no broken assumption.
#[test]
fn red_and_adaptive_red_are_simple_red() {
    let of = |kind: &str| {
        let queue =
            format!("kind = '{kind}', limit = '1249 packets', min_threshold = '40%', max_threshold = '100%'");
        answered(&case_1(&queue, ""))
    };
    let (simple, adaptive) = (of("red"), of("adaptive-red"));
    assert!(is_fixed_point(&adaptive) && adaptive.summary.is_exact());
    assert_eq!(simple.summary.utilization, adaptive.summary.utilization);
    assert!((simple.summary.utilization.unwrap() - 0.988).abs() < 0.001, "{:?}", simple.summary.utilization);
    let said = |record: &Record, words: &str| record.notes.iter().any(|note| note.text().contains(words));
    assert!(said(&simple, "simple RED") && !said(&simple, "stays where it starts"));
    assert!(said(&adaptive, "the probability stays where it starts"));
}

#[test]
fn each_part_that_it_takes_otherwise_is_listed() {
    let queue = "limit = '1249 packets'";
    let cases = [
        (case_1("kind = 'codel', limit = '1249 packets'", ""), "a codel queue is taken for drop-tail"),
        (case_1(queue, "size = '1GB'\n[model]\ntheory = 'fixed point'\n"), "have data all the time"),
        (case_1(queue, "[[flow]]\nname = 'b'\ncontrol = 'bbr'\nrtt = '50ms'\n"), "bbr is taken for Reno"),
        (case_1(queue, "stop = '60s'"), "to be there all the time"),
        (case_1("kind = 'red', limit = '1249 packets'", "ecn = true"), "marked are taken to be dropped"),
    ];
    for (resolved, words) in cases {
        let record = answered(&resolved);
        let assumptions = &record.summary.assumptions;
        assert!(is_fixed_point(&record), "{words}: {}", record.notes[0].text());
        assert!(assumptions.len() == 1 && assumptions[0].contains(words), "{words}: {assumptions:?}");
        assert!(check(Engine::Model, &resolved).is_err());
    }
}

#[test]
fn two_flows_are_too_few_to_arrive_at_random() {
    let two = case_1("limit = '1249 packets'", "").flows.len();
    assert_eq!(two, 10);
    let mut resolved = case_1("limit = '1249 packets'", "");
    resolved.flows.truncate(2);
    let record = answered(&resolved);
    assert!(is_fixed_point(&record));
    assert_eq!(
        record.summary.assumptions,
        ["fixed point: packets are taken to arrive at random, as those of many flows do"]
    );
}

/// Random loss, a largest window and traffic that does not yield are within the theory.
#[test]
fn what_the_path_takes_counts() {
    let lossy = case_1("limit = '1249 packets'", "[[traffic]]\nkind = 'poisson'\nrate = '200Mbit/s'\n");
    let mut held = lossy.clone();
    held.link.loss = "1%".parse().unwrap();
    let (free, held) = (answered(&lossy).summary, answered(&held).summary);
    assert!(free.is_exact() && held.is_exact(), "{free:?}");
    assert!(free.utilization.unwrap() > 0.98);
    // Ten windows of 12 segments in 120 ms are 8 Mbit/s, beside 200.
    assert!((held.utilization.unwrap() - 0.208).abs() < 0.001, "{held:?}");
    assert!((held.loss_rate.unwrap() - 0.01).abs() < 1e-6);
    let windows = case_1("limit = '1249 packets'", "socket_buffer = '94800B'\ntimestamps = true\n");
    // 100 segments of 1000 bytes each in 120 ms: 6.7 Mbit/s.
    let used = answered(&windows).summary.utilization.unwrap();
    assert!((used - 0.0667).abs() < 0.0005, "{used}");
}

#[test]
fn traffic_that_fills_the_link_leaves_nothing_to_say() {
    let full = case_1("limit = '1249 packets'", "[[traffic]]\nkind = 'cbr'\nrate = '1Gbit/s'\n");
    assert!(check(Engine::Model, &full).is_err());
    // Another theory may say something, but this one has no point.
    if let Ok(record) = run(Engine::Model, &full, UNWATCHED) {
        assert!(!is_fixed_point(&record));
    }
}

//! The theory of fluids as an answer: where it fits, what it breaks, its series, and the limit of its work.

use crate::common::{answered, resolved};
use scenario::Document;
use testkit::close;
use tightlink_lab::run::engine::{UNWATCHED, can_answer, check, run};
use tightlink_lab::run::record::{Engine, Record};

/// Twenty flows behind RED, whose loop is stable.
const SCENARIO: &str = "title = 't'
source = 'paper:fluid'
duration = '60s'
warmup = '20s'
[link]
rate = '100Mbit/s'
queue = { kind = 'red', limit = '2000 packets', min_threshold = 0, max_threshold = 1500, max_probability = 0.01, weight = 0.01 }
[[flow]]
name = 'flow'
count = 20
rtt = '50ms'
[model]
theory = 'fluid'
[record]
every = '100ms'
";

#[test]
fn flows_behind_red_settle_at_the_square_root_law_and_share_what_the_link_sends() {
    let Record { summary, series, notes } = answered(Engine::Model, SCENARIO);
    assert!(summary.is_exact(), "{:?}", summary.assumptions);
    assert_eq!(notes[0].text(), "answered by the theory fluid [misra:sigcomm00]");
    assert_eq!(summary.utilization, Some(1.0));
    let loss = summary.loss_rate.unwrap();
    let window = series.flows[0].window_bytes.last().unwrap() / 1448.0;
    close(window, (2.0 / loss).sqrt(), 0.03);
    let wire: f64 = summary.flows.iter().map(|flow| flow.goodput_bps * 1500.0 / 1448.0).sum();
    close(wire, 100e6, 1e-9);
    // The window over the round trip is the rate, of which the loss is taken off.
    let rtt = summary.flows[0].rtt_s.unwrap().mean;
    close(summary.flows[0].goodput_bps, window * 1448.0 * 8.0 / rtt * (1.0 - loss), 0.01);
    close(summary.mean_backlog_bytes.unwrap() * 8.0 / 100e6, rtt - 0.05012, 1e-6);
}

#[test]
fn windows_rates_and_the_queue_are_told_against_time() {
    let Record { series, .. } = answered(Engine::Model, SCENARIO);
    assert_eq!((series.flows.len(), series.link.t_s.len()), (20, 601));
    for (sample, t) in series.link.t_s.iter().enumerate() {
        assert!((t - 0.1 * sample as f64).abs() < 1e-6, "{t}");
    }
    let flow = &series.flows[3];
    assert_eq!(flow.t_s, series.link.t_s);
    for column in [&flow.rate_bps, &flow.rtt_s, &flow.window_bytes, &series.link.backlog_bytes] {
        assert_eq!(column.len(), 601);
    }
    // At the start each has its share of the path, and the queue is empty.
    close(flow.window_bytes[0], 100e6 * 0.05012 / (8.0 * 1500.0) / 20.0 * 1448.0, 1e-6);
    assert_eq!(series.link.backlog_bytes[0], 0.0);
    close(flow.rtt_s[0], 0.05012, 1e-9);
    let late = |column: &[f64]| column[601 - 100..].iter().sum::<f64>() / 100.0;
    assert!(late(&series.link.backlog_bytes) > 10_000.0);
    let few = answered(
        Engine::Model,
        &SCENARIO.replace("every = '100ms'", "every = '100ms'\ncolumns = ['window']"),
    )
    .series;
    assert!(few.flows[0].rate_bps.is_empty() && few.link.backlog_bytes.is_empty());
    assert_eq!(few.flows[0].window_bytes, flow.window_bytes);
    let none = answered(Engine::Model, &SCENARIO.replace("every = '100ms'", "columns = []")).series;
    assert!(none.link.t_s.is_empty() && none.flows.iter().all(|flow| flow.t_s.is_empty()));
}

#[test]
fn it_answers_only_where_it_is_asked_for() {
    let by = |text: &str| answered(Engine::Model, text).notes[0].text().to_owned();
    assert!(by(SCENARIO).contains("fluid"));
    assert!(by(&SCENARIO.replace("'fluid'", "'nearest'")).contains("fixed point"));
    assert!(by(&SCENARIO.replace("'fluid'", "'mft'")).contains("mft"));
    let unknown = Document::parse("x.toml", &SCENARIO.replace("'fluid'", "'fliud'")).unwrap();
    let fault = unknown.scenario().unwrap_err().to_string();
    assert!(fault.contains("model.theory") && fault.contains("did you mean \"fluid\""), "{fault}");
}

#[test]
fn each_part_of_a_scenario_that_the_equations_leave_out_is_an_assumption() {
    let second = "[[flow]]\nname = 'other'\ncount = 10\nrtt = '50ms'\n";
    let with = |more: &str| SCENARIO.replace("[model]", &format!("{more}[model]"));
    for (text, place, part) in [
        (SCENARIO.replace("count = 20", "count = 9"), "flow[0].count", "the mean window of many"),
        (SCENARIO.replace("warmup = '20s'", ""), "warmup", "without a slow start"),
        (with("start = '30s'\n"), "flow[0].start", "there all the time"),
        (with("socket_buffer = '1MB'\n"), "flow[0].socket_buffer", "the receive window is never the limit"),
        (with("control = 'scalable'\n"), "flow[0].control", "scalable is taken for Reno"),
        (with("size = '1GB'\n"), "flow[0].size", "data all the time"),
        (with("stop = '50s'\n"), "flow[0].stop", "there all the time"),
        (with(&format!("{second}segment = '1000B'\n")), "flow[1].segment", "the mean size"),
        (
            SCENARIO.replace("rate = '100Mbit/s'", "rate = '100Mbit/s'\nloss = 1e-6"),
            "link.loss",
            "loses nothing by itself",
        ),
        (
            SCENARIO.replace("'red'", "'codel'").replace(
                ", min_threshold = 0, max_threshold = 1500, max_probability = 0.01, weight = 0.01",
                "",
            ),
            "link.queue.kind",
            "a codel queue is taken for drop-tail",
        ),
        (with("[[traffic]]\nkind = 'cbr'\nrate = '1Mbit/s'\n"), "traffic", "no room in the queue"),
        (
            SCENARIO.replace("rtt = '50ms'", "rtt = { uniform = ['40ms', '60ms'] }"),
            "flow[0].rtt",
            "20 round-trip times are taken for 7",
        ),
    ] {
        let resolved = resolved(&text);
        let misfit = check(Engine::Model, &resolved).expect_err(part);
        assert_eq!(misfit.complaint.place, place, "{part}");
        let summary = run(Engine::Model, &resolved, UNWATCHED).unwrap().summary;
        assert_eq!(summary.assumptions.len(), 1, "{:?}", summary.assumptions);
        let assumption = &summary.assumptions[0];
        assert!(assumption.starts_with("fluid: ") && assumption.contains(part), "{assumption}");
        assert!(summary.utilization.is_some_and(|utilization| utilization > 0.8), "{summary:?}");
    }
}

#[test]
fn more_work_than_a_second_or_two_is_refused_with_the_bound() {
    let refused = |text: &str| can_answer(Engine::Model, &resolved(text)).unwrap_err().complaint;
    let short = refused(&SCENARIO.replace("rtt = '50ms'", "rtt = '100us'"));
    assert_eq!(short.place, "duration");
    assert!(short.accepted.contains("2e6"), "{short:?}");
    let deep = SCENARIO
        .replace("2000 packets", "40000000 packets")
        .replace("duration = '60s'", "duration = '6000s'");
    assert!(refused(&deep).accepted.contains("4e8"));
    let open = SCENARIO
        .replace("duration = '60s'\nwarmup = '20s'", "")
        .replace("count = 20", "count = 20\nsize = '1MB'");
    assert_eq!(refused(&open).place, "duration");
}

#[test]
fn the_shorter_round_trip_has_the_larger_share() {
    let text = SCENARIO
        .replace("[model]", "[[flow]]\nname = 'far'\ncount = 10\nrtt = '100ms'\ncontrol = 'cubic'\n[model]");
    let record = answered(Engine::Model, &text);
    assert!(record.summary.is_exact(), "{:?}", record.summary.assumptions);
    let (near, far) = (&record.summary.flows[0], &record.summary.flows[29]);
    assert!(near.goodput_bps > far.goodput_bps, "{near:?} {far:?}");
    assert!((far.rtt_s.unwrap().mean - near.rtt_s.unwrap().mean - 0.05).abs() < 1e-6);
}

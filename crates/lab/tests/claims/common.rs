//! Answers without a run, and what becomes of a claim about them.

use scenario::Document;
use tightlink_lab::run::record::{
    DelayStatistics, Engine, FlowSummary, Percentiles, Record, RttStatistics, Series, Summary,
};
use tightlink_lab::study::claims::Verdict;
use tightlink_lab::study::claims::{Claim, check, parse_claims};
use tightlink_lab::study::task::{Answer, Task, tasks};

pub const SCENARIO: &str = "title = 't'
duration = '2s'
[link]
rate = '100Mbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
[sweep]
'flow.socket_buffer' = ['100kB', 'max']
'link.queue.limit' = ['1 bdp', '2 bdp']
";

/// What an engine found: goodput in Mbit/s, mean RTT in ms, segments sent again.
pub fn record(engine: Engine, task: &Task, goodput: f64, rtt: f64, retransmits: Option<u64>) -> Record {
    let flow = FlowSummary {
        name: "flow".into(),
        goodput_bps: goodput * 1e6,
        loss_rate: Some(0.0),
        retransmits,
        marks: None,
        rtt_s: Some(RttStatistics { min: 0.02, mean: rtt / 1e3, p95: None }),
        completion_s: None,
        ..FlowSummary::default()
    };
    let summary = Summary {
        engine,
        scenario_hash: task.resolved.hash.clone(),
        seed: 1,
        measured_s: 2.0,
        utilization: Some(0.5),
        idle_fraction: Some(0.5),
        loss_rate: Some(0.01),
        mean_occupancy: Some(0.5),
        queueing_delay_s: Some(DelayStatistics {
            mean: 0.01,
            percentiles: Percentiles::default(),
            max: None,
        }),
        flows: vec![flow],
        ..Summary::default()
    };
    Record { summary, series: Series::default(), notes: Vec::new() }
}

/// Both engines at all four points: the simulator finds 40 Mbit/s and 21 ms at 100 kB, 90 Mbit/s, 30 ms and 5
/// segments sent again at the maximum; the model 2 Mbit/s more, the same RTT, and it does not know retransmissions
/// where there is loss.
pub fn answers() -> Vec<Answer> {
    let document = Document::parse("x.toml", SCENARIO).unwrap();
    let answer = |task: Task| {
        let max = task.point[0].1 == "max";
        let (goodput, rtt, lost) = if max { (90.0, 30.0, 5) } else { (40.0, 21.0, 0) };
        let model = record(Engine::Model, &task, goodput + 2.0, rtt, (!max).then_some(0));
        let sim = record(Engine::Sim, &task, goodput, rtt, Some(lost));
        Answer {
            task,
            records: vec![model, sim],
            runs: Vec::new(),
            absent: vec!["live: no kernel has control \"x\"; help".into()],
            found: None,
        }
    };
    tasks(&document).unwrap().into_iter().map(answer).collect()
}

pub fn claim(text: &str) -> Claim {
    let text = format!("[[claim]]\nfigure = 'f'\nsays = 'so'\n{text}");
    parse_claims("x.toml", &text).unwrap().remove(0)
}

pub fn verdict(text: &str) -> Verdict {
    check(&[claim(text)], &answers(), &Engine::ALL).remove(0)
}

#[track_caller]
pub fn held(text: &str) {
    let verdict = verdict(text);
    assert!(verdict.held, "{}", verdict.detail);
}

#[track_caller]
pub fn failed(text: &str, because: &str) {
    let verdict = verdict(text);
    assert!(!verdict.held && verdict.detail.contains(because), "{verdict:?}");
}

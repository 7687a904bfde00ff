//! The page of many flows: a sample has curves of its own, percentiles stand for all.

use lab::run::record::Engine;
use lab::study::repeat::record;
use lab::study::task::{Answer, tasks};
use lab::study::watch::SharedWatch;
use scenario::Document;
use tightlink_report::{Case, Report};

const SCENARIO: &str = "title = 't'
duration = '6s'
[link]
rate = '50Mbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
name = 'user'
count = 42
start = { uniform = ['0s', '2s'] }
[record]
every = '40ms'
";

#[test]
fn percentiles_over_all_flows_are_drawn() {
    let document = Document::parse("t.toml", SCENARIO).unwrap();
    let task = tasks(&document).unwrap().remove(0);
    let record = record(&task, Engine::Sim, &SharedWatch::by_nobody()).unwrap();
    let answer = Answer::of(task, vec![record]);
    let page = Report {
        title: "t".into(),
        source: None,
        scenario_text: String::new(),
        scenario_name: "t.toml".into(),
        cases: vec![Case::of(&answer)],
        verdicts: Vec::new(),
        command: String::new(),
    };
    let page = page.html();
    assert!(page.contains("median of all flows") && page.contains("Of 42 flows 12 have curves of their own"));
}

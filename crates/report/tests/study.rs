//! The page of a comparison: its cases, or its figure.

use lab::run::record::Engine;
use lab::study::experiment::Experiment;
use lab::study::watch::Unwatched;
use scenario::Document;
use tightlink_report::page_of;

const SCENARIO: &str = "title = 'a title of its own'
duration = '1s'
[link]
rate = '10Mbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
[sweep]
'link.queue.limit' = ['10 packets', '30 packets']
";

#[test]
fn an_experiments_page_is_about_its_cases_or_its_figure() {
    let folder = tempfile::tempdir().unwrap();
    let page = |text: &str| {
        let document = Document::parse("t.toml", text).unwrap();
        let mut experiment = Experiment::new(&document, folder.path()).unwrap();
        experiment.engines = vec![Engine::Sim];
        experiment.command = "tightlink compare t.toml".into();
        page_of(&experiment, &experiment.compare(&[], &mut Unwatched).unwrap())
    };
    let cases = page(SCENARIO);
    let figure = page(&format!("{SCENARIO}[figure]\nx = 'link.queue.limit'\ny = ['utilization']\n"));
    let against = page(&format!("{SCENARIO}[figure]\nx = 'queueing_delay_s.mean'\ny = ['utilization']\n"));
    assert!(against.contains("against mean queueing delay; each point a value of buffer"));
    assert!(against.contains("<tr><th scope=\"row\">30 packets</th><td data-value="));
    for page in [&cases, &figure, &against] {
        assert!(page.contains("a title of its own") && page.contains("tightlink compare t.toml"));
    }
    assert!(cases.contains("limit = 30 packets") && !cases.contains("2 points simulated"));
    assert!(figure.contains("2 points simulated"));
}

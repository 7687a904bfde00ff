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
    let named = SCENARIO.replace("[sweep]", "[sweep]\n'flow.0.control' = ['reno', 'cubic']");
    let named = page(&format!("{named}[figure]\nx = 'flow.0.control'\ny = ['utilization']\n"));
    assert!(named.contains("<tr><th scope=\"row\">cubic</th><td data-value="));
    assert!(named.contains("\"names\":[\"reno\",\"cubic\"]"));
    for page in [&cases, &figure, &against, &named] {
        assert!(page.contains("a title of its own") && page.contains("tightlink compare t.toml"));
    }
    assert!(cases.contains("limit = 30 packets") && !cases.contains("2 points simulated"));
    assert!(figure.contains("2 points simulated"));
}

#[test]
fn an_estimate_that_was_not_asked_for_by_name_is_a_line_and_no_number() {
    let folder = tempfile::tempdir().unwrap();
    let document =
        Document::parse("t.toml", &SCENARIO.replace("[[flow]]", "[[flow]]\ncontrol = 'cubic'")).unwrap();
    let found = |estimates: bool| {
        let mut experiment = Experiment::new(&document, folder.path()).unwrap();
        (experiment.engines, experiment.estimates) = (vec![Engine::Model, Engine::Sim], estimates);
        let compared = experiment.compare(&[], &mut Unwatched).unwrap();
        (page_of(&experiment, &compared), compared.answers)
    };
    let why = "model: the scenario breaks ";
    let (page, answers) = found(false);
    for answer in &answers {
        let engines: Vec<Engine> = answer.records.iter().map(|record| record.summary.engine).collect();
        assert_eq!(engines, [Engine::Sim]);
        assert!(answer.absent[0].starts_with(why), "{:?}", answer.absent);
    }
    // The table's row and the data of the charts are of the simulation alone.
    assert!(
        page.contains(why) && page.contains("data-engine=\"sim\"") && !page.contains("data-engine=\"model\"")
    );
    assert!(!page.contains("\"engine\":\"model\"") && !page.contains("broken assumptions"));
    let (page, answers) = found(true);
    assert!(page.contains("data-engine=\"model\"") && page.contains("under broken assumptions"));
    assert!(answers.iter().all(|answer| answer.records.len() == 2 && answer.absent.is_empty()));
    // It is kept, with what it assumes.
    let kept = std::fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().path().join("model/summary.json"));
    let kept: Vec<String> = kept.filter_map(|path| std::fs::read_to_string(path).ok()).collect();
    assert!(kept.len() == 2 && kept.iter().all(|text| text.contains("\"assumptions\"")), "{kept:?}");
}

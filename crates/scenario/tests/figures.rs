//! `[figure]`.

mod common;

use common::{SCENARIO, says};
use tightlink_scenario::{Document, FigureEngine, FigureNumbers};

const SWEEP: &str = "[sweep]
'flow.target.count' = [1, 2]
'link.queue.limit' = ['9 packets', '20 packets']
";

fn document(figure: &str) -> Document {
    Document::parse("x.toml", &format!("{SCENARIO}{SWEEP}{figure}\n")).unwrap()
}

#[track_caller]
fn refused(text: &str, words: &[&str]) {
    says(&document(text).figure().expect_err("a fault").to_string(), words);
}

#[test]
fn a_figure_draws_numbers_or_the_smallest_value_of_a_key() {
    assert_eq!(document("").figure().unwrap(), None);
    let figure = document("[figure]\nx = 'link.queue.limit'\ny = ['loss_rate']\npublished = 'it falls'");
    let figure = figure.figure().unwrap().unwrap();
    assert_eq!(figure.y, FigureNumbers::Numbers(vec!["loss_rate".into()]));
    assert_eq!((figure.x.as_str(), figure.published.as_deref()), ("link.queue.limit", Some("it falls")));
    let searched = "[figure]\nx = 'flow.target.count'\nsmallest = { over = 'flow.target.segment', metric = 'idle_fraction', \
                    at_most = ['1%', '20ms', 0.5] }";
    let FigureNumbers::Smallest(smallest) = document(searched).figure().unwrap().unwrap().y else {
        panic!("a search was written");
    };
    let bounds: Vec<f64> = smallest.at_most.iter().map(|(_, bound)| *bound).collect();
    assert_eq!(bounds, [0.01, 0.02, 0.5]);
}

#[test]
fn a_figure_is_drawn_from_simulation_once_unless_it_says_otherwise() {
    let figure = |rest: &str| {
        let text = format!("[figure]\nx = 'link.queue.limit'\ny = ['loss_rate']\n{rest}");
        document(&text).figure().unwrap().unwrap()
    };
    let plain = figure("");
    assert_eq!((plain.engines, plain.repeat), (vec![FigureEngine::Sim], 1));
    let both = figure("engines = ['sim', 'live']\nrepeat = 5");
    assert_eq!((both.engines, both.repeat), (vec![FigureEngine::Sim, FigureEngine::Live], 5));
    assert_eq!(figure("engines = 'live'").engines, [FigureEngine::Live]);
}

#[test]
fn a_figure_with_rows_is_a_heat_map_over_two_swept_keys() {
    let text = "[figure]\nx = 'link.queue.limit'\nrows = 'flow.target.count'\ny = ['loss_rate']";
    let figure = document(text).figure().unwrap().unwrap();
    assert_eq!((figure.x.as_str(), figure.rows.as_deref()), ("link.queue.limit", Some("flow.target.count")));
}

#[test]
fn a_figure_may_draw_one_result_against_another_along_a_swept_key() {
    let spec = |rest: &str| {
        let text = format!("[figure]\nx = 'queueing_delay_s.mean'\ny = ['utilization']\n{rest}");
        document(&text).figure().unwrap().unwrap()
    };
    let figure = spec("");
    assert_eq!(
        (figure.x.as_str(), figure.along.as_deref()),
        ("queueing_delay_s.mean", Some("link.queue.limit"))
    );
    assert_eq!(spec("along = 'flow.target.count'").swept_key(), "flow.target.count");
    assert_eq!(
        document("[figure]\nx = 'link.queue.limit'\ny = ['a']").figure().unwrap().unwrap().along,
        None
    );
}

#[test]
fn a_figure_may_draw_each_point_against_its_baseline() {
    let lists = |baseline: &str| {
        let sweep =
            "[sweep]\n'link.queue.limit' = ['0.1 bdp', '1 bdp']\n'flow.transport' = ['tcp', 'quic']\n";
        let text = format!(
            "title = 't'\n[link]\nrate = '1Mbit/s'\ndelay = '1ms'\nqueue.limit = '1 bdp'\n[[flow]]\n{sweep}{baseline}\n\
             [figure]\nx = 'baseline'\ny = ['a']"
        );
        Document::parse("x.toml", &text).unwrap().figure()
    };
    let figure = lists("baseline = { 'flow.transport' = 'tcp' }").unwrap().unwrap();
    assert_eq!(
        figure.along.as_deref(),
        Some("link.queue.limit"),
        "the last key that the baseline leaves alone"
    );
    assert_eq!(figure.baseline, [("flow.transport".to_owned(), "tcp".to_owned())]);
    let refused = lists("").unwrap_err().to_string();
    for part in ["figure.x", "[sweep] has no baseline", "baseline = { KEY = VALUE }"] {
        assert!(refused.contains(part), "{part}: {refused}");
    }
}

#[test]
fn a_figure_may_have_the_results_of_another_program_beside_it() {
    let text =
        "[figure]\nx = 'link.queue.limit'\ny = ['loss_rate']\nreference = { name = 'ns-2', file = 'a.csv' }";
    let reference = document(text).figure().unwrap().unwrap().reference.unwrap();
    assert_eq!((reference.name.as_str(), reference.file.as_str()), ("ns-2", "a.csv"));
}

#[test]
fn a_figure_does_not_change_the_scenario_it_draws() {
    let hash = |figure: &str| document(figure).scenario().unwrap().hash();
    assert_eq!(hash(""), hash("[figure]\nx = 'link.queue.limit'\ny = ['loss_rate']"));
}

#[test]
fn what_is_wrong_with_a_figure_is_said_with_its_place() {
    refused(
        "[figure]\nx = 'link.queue.limt'\ny = ['loss_rate']",
        &["x.toml:13", "[sweep] does not vary", "link.queue.limit"],
    );
    refused("[figure]\ny = ['loss_rate']", &["figure.x", "missing"]);
    refused("[figure]\nx = 'link.queue.limit'", &["nothing to draw"]);
    refused("[figure]\nx = 'link.queue.limit'\ny = []", &["idle_fraction"]);
    refused("[figure]\nx = 'link.queue.limit'\ncolor = 'red'\ny = ['a']", &["unknown key", "figure.color"]);
    let result = |rest: &str| format!("[figure]\nx = 'rtt_s.mean'\n{rest}");
    refused(&result("y = ['a']\nalong = 'link.rate'"), &["figure.along", "[sweep] does not vary"]);
    refused(&result("y = ['a']\nrows = 'flow.target.count'"), &["figure.x", "together with rows"]);
    let searched = "smallest = { over = 'link.rate', metric = 'a', at_most = ['1%'] }";
    refused(&result(searched), &["figure.x", "together with smallest"]);
    refused(
        "[figure]\nx = 'link.queue.limit'\ny = ['a']\nalong = 'flow.target.count'",
        &["figure.along", "a swept key", "remove along"],
    );
    let numbers = |rest: &str| format!("[figure]\nx = 'link.queue.limit'\ny = ['a']\n{rest}");
    refused(&numbers("engines = ['ns2']"), &["figure.engines[0]", "\"model\", \"sim\", \"live\""]);
    refused(&numbers("engines = ['sim', 'sim']"), &["for the second time"]);
    refused(&numbers("engines = []"), &["engines such as"]);
    refused(&numbers("repeat = 0"), &["figure.repeat", "from 1 to 99"]);
    let rows = |key: &str| refused(&numbers(&format!("rows = '{key}'")), &["figure.rows"]);
    rows("link.queue.limit");
    rows("link.rate");
    refused(&numbers("reference = 'a.csv'"), &["figure.reference", "a table with name, file"]);
    refused(&numbers("reference = { file = 'a.csv' }"), &["figure.reference.name", "such as \"ns-2\""]);
    let beside = "rows = 'flow.target.count'\nreference = { name = 'ns-2', file = 'a.csv' }";
    refused(&numbers(beside), &["reference together with rows"]);
    let searched = "smallest = { over = 'link.rate', metric = 'a', at_most = ['1%'] }";
    for (key, help) in [
        ("engines = ['live']", "a search simulates"),
        ("repeat = 5", "a search simulates"),
        ("rows = 'flow.target.count'", "a heat map draws numbers"),
        ("reference = { name = 'ns-2', file = 'a.csv' }", "numbers of the summary"),
    ] {
        let text = format!("[figure]\nx = 'link.queue.limit'\n{searched}\n{key}");
        refused(&text, &["together with smallest", help]);
    }
    let search = |inner: &str| format!("[figure]\nx = 'flow.target.count'\nsmallest = {{ {inner} }}");
    refused(&search("over = 'link.queue.limit', metric = 'a', at_most = ['1%']"), &["varies already"]);
    refused(&search("over = 'link.rate', metric = 'a', at_most = ['some']"), &["such as \"1%\""]);
    refused(&search("over = 'link.rate', metric = 'a', at_most = '1%'"), &["a list of targets"]);
}

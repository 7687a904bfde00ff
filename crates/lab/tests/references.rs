//! Figures that draw what another program found.

use scenario::Document;
use std::fs;
use std::path::Path;
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::curves::CurveChart;
use tightlink_lab::study::experiment::{Comparison, Experiment, ExperimentError};
use tightlink_lab::study::figures::figures;
use tightlink_lab::study::watch::Unwatched;

const SCENARIO: &str = "title = 't'
source = 'a figure'
duration = '10s'
[link]
rate = '10Mbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
name = 'many'
count = 10
[sweep]
'flow.many.control' = ['reno', 'cubic']
'link.queue.limit' = ['10 packets', '30 packets']
[figure]
x = 'link.queue.limit'
y = ['utilization', 'loss_rate']
engines = ['model']
reference = { name = 'ns-2', file = 'ns2.csv' }
";

const TABLE: &str = "link.queue.limit,flow.many.control,run,loss_rate,utilization
10 packets,reno,1,0.02,0.5
10 packets,reno,2,,0.7
10 packets,reno,3,0.03,0.6
30 packets,reno,1,0.01,0.9

10 packets,cubic,1,0.04,0.8
";

/// The figure of [`SCENARIO`] with `set` over it, beside `table`.
fn drawn(table: &str, set: &[(&str, &str)]) -> Result<Comparison, ExperimentError> {
    figure_of(SCENARIO, table, set)
}

fn figure_of(scenario: &str, table: &str, set: &[(&str, &str)]) -> Result<Comparison, ExperimentError> {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ns2.csv"), table).unwrap();
    let mut document =
        Document::parse(&folder.path().join("t.toml").display().to_string(), scenario).unwrap();
    set.iter().for_each(|(key, value)| document.set(key, value).unwrap());
    compared(&document, folder.path())
}

fn compared(document: &Document, folder: &Path) -> Result<Comparison, ExperimentError> {
    let mut experiment = Experiment::new(document, folder).unwrap();
    (experiment.engines, experiment.jobs) = (vec![Engine::Model], 1);
    experiment.compare(&[], &mut Unwatched)
}

fn charts(compared: Comparison) -> (Vec<CurveChart>, String) {
    let drawn = compared.drawn.unwrap();
    (drawn.curves.charts, drawn.headline)
}

/// x, y, and the extent.
type Drawn = (f64, f64, Option<(f64, f64)>);

/// The points of the curve called `name`.
fn curve(chart: &CurveChart, name: &str) -> Vec<Drawn> {
    let Some(curve) = chart.curves.iter().find(|curve| curve.name == name) else { return Vec::new() };
    curve.points.iter().map(|point| (point.x, point.y, point.extent)).collect()
}

#[test]
fn a_figure_draws_the_median_of_what_another_program_found_at_each_point() {
    let (charts, headline) = charts(drawn(TABLE, &[]).unwrap());
    assert!(headline.ends_with("Next to them, ns-2 at 3 points, 5 results."), "{headline}");
    let names: Vec<&str> = charts[0].curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["model, reno", "model, cubic", "ns-2, reno", "ns-2, cubic"]);
    // In percent, as the axis is.
    assert_eq!(curve(&charts[0], "ns-2, reno"), [(10.0, 60.0, Some((50.0, 70.0))), (30.0, 90.0, None)]);
    // An empty cell is not known.
    assert_eq!(curve(&charts[1], "ns-2, reno"), [(10.0, 2.0, Some((2.0, 3.0))), (30.0, 1.0, None)]);
    assert_eq!(curve(&charts[1], "ns-2, cubic"), [(10.0, 4.0, None)]);
}

#[test]
fn an_axis_has_names_if_a_value_is_a_word_or_the_units_differ() {
    let rows = |scenario: &str, table: &str| {
        let (charts, _) = charts(figure_of(scenario, table, &[]).unwrap());
        let rows: Vec<String> = charts[0].rows().iter().map(|(x, name)| format!("{x} {name}")).collect();
        (charts, rows)
    };
    let (charts, found) = rows(&SCENARIO.replace("x = 'link.queue.limit'", "x = 'flow.many.control'"), TABLE);
    assert_eq!(found, ["1 reno", "2 cubic"], "in the order of the sweep");
    assert_eq!(
        curve(&charts[0], "ns-2, limit = 10 packets"),
        [(1.0, 60.0, Some((50.0, 70.0))), (2.0, 80.0, None)]
    );
    // A point without a result leaves its place free.
    let late = TABLE.replace("30 packets,reno", "30 packets,cubic");
    let (charts, _) = rows(&SCENARIO.replace("x = 'link.queue.limit'", "x = 'flow.many.control'"), &late);
    assert_eq!(curve(&charts[0], "ns-2, limit = 30 packets"), [(2.0, 90.0, None)]);
    for (limits, expected, unit) in [
        (["10 packets", "45kB"], ["1 10 packets", "2 45kB"], ""),
        (["1 packet", "30 packets"], ["1 1", "30 30"], "packet"),
    ] {
        let swap = |text: &str| text.replace("10 packets", limits[0]).replace("30 packets", limits[1]);
        let (charts, found) = rows(&swap(SCENARIO), &swap(TABLE));
        assert_eq!((found, charts[0].x.unit.as_str()), (expected.map(str::to_owned).to_vec(), unit));
    }
}

#[test]
fn of_a_key_that_is_set_the_rows_with_its_value_are_drawn() {
    let (charts, _) = charts(drawn(TABLE, &[("flow.many.control", "cubic"), ("seed", "7")]).unwrap());
    let names: Vec<&str> = charts[0].curves.iter().map(|curve| curve.name.as_str()).collect();
    assert_eq!(names, ["model", "ns-2"]);
    assert_eq!(curve(&charts[0], "ns-2"), [(10.0, 80.0, None)]);
}

#[test]
fn results_of_another_scenario_are_not_drawn() {
    let (charts, headline) = charts(drawn(TABLE, &[("link.rate", "20Mbit/s")]).unwrap());
    assert!(charts[0].curves.iter().all(|curve| curve.name.starts_with("model")));
    assert!(
        headline.contains("ns-2 is not drawn, because it was not run with link.rate as set"),
        "{headline}"
    );
}

#[test]
fn what_is_wrong_with_a_table_is_said_with_its_line_before_anything_runs() {
    let refused = |table: &str, words: &[&str]| {
        let error = drawn(table, &[]).expect_err("a fault").to_string();
        for word in words.iter().chain(&["figure.reference.file", "ns2.csv:"]) {
            assert!(error.contains(word), "no {word:?} in:\n{error}");
        }
    };
    refused("", &[":1: no column flow.many.control", "columns flow.many.control, link.queue.limit"]);
    refused(&TABLE.replace("utilization", "utilisation"), &[":1: no column utilization"]);
    refused(
        &TABLE.replace("30 packets,reno", "31 packets,reno"),
        &[":5:", "limit = 31 packets", "[sweep] has"],
    );
    refused(&TABLE.replace("0.01,0.9", "0.01"), &[":5: 4 cells", "as many as columns: 5"]);
    refused(&TABLE.replace("0.01,0.9", "0.01,high"), &[":5:", "\"high\"", "a number, or nothing"]);
    refused(&TABLE.replace("0.01,0.9", "inf,0.9"), &[":5:", "\"inf\""]);
    let folder = tempfile::tempdir().unwrap();
    let document = Document::parse(&folder.path().join("t.toml").display().to_string(), SCENARIO).unwrap();
    let error = compared(&document, folder.path()).expect_err("a fault").to_string();
    assert!(
        error.contains("No such file") && error.contains("relative to the folder of the scenario"),
        "{error}"
    );
}

#[test]
fn a_published_figure_has_its_table_inside_the_program() {
    let known = figures().unwrap();
    let figure = known.iter().find(|figure| figure.id == "compare:utilization").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let (charts, headline) = charts(compared(&figure.document, folder.path()).unwrap());
    assert!(headline.contains("Next to them, ns-2 at 12 points, 36 results."), "{headline}");
    for chart in &charts {
        for name in ["model, reno", "model, cubic", "ns-2, reno", "ns-2, cubic"] {
            assert_eq!(curve(chart, name).len(), 6, "{name}");
        }
    }
}

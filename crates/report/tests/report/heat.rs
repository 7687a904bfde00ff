//! Heat maps: every point of the sweep is in the cell of its row and column, and kept points are found again.

use lab::study::curves::{Curves, draw};
use lab::study::sweep::Runner;
use lab::study::task::tasks;
use lab::study::watch::SharedWatch;
use scenario::Document;
use tightlink_report::figure::FigurePage;

const MATRIX: &str = "title = 't'
duration = '10s'
warmup = '2s'
[link]
rate = '5Mbit/s'
queue.limit = '1 bdp'
[[flow]]
name = 'first'
rtt = '30ms'
[[flow]]
name = 'second'
rtt = '30ms'
start = '100ms'
[sweep]
'link.queue.limit' = ['1 bdp', '3 bdp']
'flow.first.control' = ['reno', 'lp', 'bbr']
'flow.second.control' = ['reno', 'lp']
[figure]
x = 'flow.second.control'
rows = 'flow.first.control'
y = ['flows.first.goodput_share', 'utilization']
";

fn drawn(text: &str, folder: &std::path::Path) -> Result<Curves, String> {
    let document = Document::parse("t.toml", text).unwrap();
    let (tasks, spec) = (tasks(&document).unwrap(), document.figure().unwrap().unwrap());
    let runner = Runner { jobs: 2, folder: Some(folder), watched: &SharedWatch::by_nobody() };
    let drawn = draw(&spec, &tasks, &runner);
    drawn.map(|(curves, _)| curves).map_err(|error| error.to_string())
}

#[test]
fn each_pair_stands_in_the_cell_of_its_row_and_column() {
    let folder = tempfile::tempdir().unwrap();
    let curves = drawn(MATRIX, folder.path()).unwrap();
    assert!(curves.charts.is_empty());
    // Two numbers, two buffers.
    let names: Vec<(&str, &str)> =
        curves.maps.iter().map(|map| (map.z.label.as_str(), map.name.as_str())).collect();
    let share = "share of the goodput of first";
    assert_eq!(
        names,
        [
            (share, "limit = 1 bdp"),
            (share, "limit = 3 bdp"),
            ("utilization", "limit = 1 bdp"),
            ("utilization", "limit = 3 bdp")
        ]
    );
    for map in &curves.maps {
        assert_eq!(map.columns, ["reno", "lp"]);
        let rows: Vec<&str> = map.cells.iter().map(|row| row.name.as_str()).collect();
        assert_eq!(rows, ["reno", "lp", "bbr"]);
        assert!(map.cells.iter().all(|row| row.values.len() == 2 && row.values.iter().all(Option::is_some)));
    }
    // LP gives way to Reno, whichever of the two is first.
    for map in &curves.maps[..2] {
        let cell = |row: usize, column: usize| map.cells[row].values[column].unwrap();
        assert!(cell(0, 1) > 60.0 && cell(1, 0) < 40.0, "{map:?}");
        let mean = map.cells[0].mean().unwrap();
        assert!((mean - (cell(0, 0) + cell(0, 1)) / 2.0).abs() < 1e-9);
    }
    // The cell is what the same scenario says when it is run alone.
    let alone = MATRIX.replace("['reno', 'lp', 'bbr']", "['bbr']").replace("['1 bdp', '3 bdp']", "['3 bdp']");
    let other = tempfile::tempdir().unwrap();
    let alone = drawn(&alone, other.path()).unwrap();
    assert_eq!(alone.maps[0].cells[0].values, curves.maps[1].cells[2].values);
}

#[test]
fn a_matrix_that_was_stopped_goes_on_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let first = drawn(MATRIX, folder.path()).unwrap();
    let kept = || std::fs::read_dir(folder.path().join("points/sim")).unwrap();
    assert_eq!(kept().count(), 12);
    let written: Vec<_> =
        kept().map(|entry| entry.unwrap().metadata().unwrap().modified().unwrap()).collect();
    let again = drawn(MATRIX, folder.path()).unwrap();
    let after: Vec<_> = kept().map(|entry| entry.unwrap().metadata().unwrap().modified().unwrap()).collect();
    assert_eq!((written, format!("{first:?}")), (after, format!("{again:?}")));
}

#[test]
fn a_number_that_no_point_knows_is_an_error_and_one_that_some_do_not_leaves_a_cell_empty() {
    let folder = tempfile::tempdir().unwrap();
    let text = MATRIX.replace("'utilization'", "'flows.third.goodput_bps'");
    assert!(drawn(&text, folder.path()).unwrap_err().contains("flows.first.goodput_share"));
    // A flow held at a fifth of the link never has its fair share beside one that is not.
    let text = MATRIX
        .replace("[sweep]", "[record]\nfairness = '500ms'\n[sweep]")
        .replace("'utilization'", "'flows.second.convergence_s'");
    let text = text.replace("start = '100ms'", "start = '100ms'\nsocket_buffer = '4kB'");
    let error = drawn(&text, folder.path()).unwrap_err();
    assert!(error.contains("the summary has no such number"), "{error}");
}

#[test]
fn the_page_has_a_table_for_each_map_with_every_cell_in_it() {
    let folder = tempfile::tempdir().unwrap();
    let document = Document::parse("t.toml", MATRIX).unwrap();
    let (tasks, spec) = (tasks(&document).unwrap(), document.figure().unwrap().unwrap());
    let watched = SharedWatch::by_nobody();
    let runner = Runner { jobs: 2, folder: Some(folder.path()), watched: &watched };
    let (curves, _) = draw(&spec, &tasks, &runner).unwrap();
    assert_eq!(watched.steps(), (12, 12));
    let page = FigurePage {
        title: "t".into(),
        source: None,
        curves,
        headline: String::new(),
        verdicts: Vec::new(),
        scenario_text: String::new(),
        scenario_name: "t.toml".into(),
        command: String::new(),
    };
    let html = page.html();
    assert_eq!(html.matches("data-map=").count(), 4);
    assert_eq!(html.matches("<td data-value=").count(), 24);
    assert_eq!(html.matches("<td class=\"mean\">").count(), 12);
    assert!(html.contains("title=\"bbr against lp\""));
    assert_eq!(html, page.html());
}

//! Keeping results: what is written reads back, whole or not at all.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::{Field, Row};
use scenario::Document;
use std::fs::{self, File};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;
use tightlink_lab::files::{replace, try_replace};
use tightlink_lab::run::engine;
use tightlink_lab::run::record::{Engine, FlowSeries, LinkSeries, Record, Series, Summary};
use tightlink_lab::study::experiment::Experiment;
use tightlink_lab::study::store::{Store, read_series, series};
use tightlink_lab::study::table::{Column, Table};
use tightlink_lab::study::task::{Task, tasks};
use tightlink_lab::study::watch::Unwatched;

const SCENARIO: &str = "title = 't'\nduration = '1s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\n\
                        queue.limit = '1 bdp'\n[[flow]]\nname = 'one'\n[[flow]]\nname = 'two'\nstart = '200ms'\n";

fn task() -> Task {
    let document = Document::parse("x.toml", SCENARIO).unwrap();
    tasks(&document).unwrap().remove(0)
}

fn simulated(task: &Task) -> Record {
    engine::run(Engine::Sim, &task.resolved, engine::UNWATCHED).unwrap()
}

/// The column names and the rows of a Parquet file.
fn table(path: &Path) -> (Vec<String>, Vec<Row>) {
    let reader = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    (names, reader.get_row_iter(None).unwrap().map(Result::unwrap).collect())
}

/// The number in a column of a row; `None` for null.
fn number(row: &Row, column: usize) -> Option<f64> {
    match row.get_column_iter().nth(column).unwrap().1 {
        Field::Double(value) => Some(*value),
        Field::Null => None,
        other => panic!("{other} is no number"),
    }
}

fn name(row: &Row) -> String {
    match row.get_column_iter().nth(1).unwrap().1 {
        Field::Str(text) => text.clone(),
        other => panic!("{other} is no text"),
    }
}

#[test]
fn the_tables_of_series_have_the_columns_and_values_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let scenario = SCENARIO.replace("name = 'two'", "name = 'two'\ncount = 40");
    let document = Document::parse("x.toml", &(scenario + "[record]\nfairness = '200ms'\n")).unwrap();
    let task = tasks(&document).unwrap().remove(0);
    let record = simulated(&task);
    let kept = Store::open(folder.path()).unwrap().keep(&task, "tightlink run", &record).unwrap();
    let tables = series(&record.series);
    let without_words = |(name, mut table): (_, Table)| {
        table.fields.iter_mut().for_each(|field| field.words.clear());
        (name, table)
    };
    let as_read: Vec<(&str, Table)> = tables.iter().cloned().map(without_words).collect();
    assert_eq!(read_series(&kept).unwrap(), as_read);
    let names: Vec<&str> = tables.iter().map(|(name, _)| *name).collect();
    assert_eq!(names, ["flows", "spread", "link", "queue", "fairness"]);
    for (name, data) in tables {
        let (columns, rows) = table(&kept.join(format!("{name}.parquet")));
        assert_eq!(data.fields.iter().map(|field| field.name.clone()).collect::<Vec<_>>(), columns);
        assert_eq!(data.rows(), rows.len(), "{name}");
        for (at, field) in data.fields.iter().enumerate() {
            for (number, row) in rows.iter().enumerate() {
                let in_file = row.get_column_iter().nth(at).unwrap().1;
                let same = match (&field.column, in_file) {
                    (Column::Required(values), Field::Double(value)) => values[number] == *value,
                    (Column::Number(values), Field::Double(value)) => values[number] == Some(*value),
                    (Column::Number(values), Field::Null) => values[number].is_none(),
                    (Column::Whole(values), Field::ULong(value)) => values[number] == Some(*value),
                    (Column::Text(values), Field::Str(value)) => values[number] == *value,
                    _ => false,
                };
                assert!(same, "{name}.{} in row {number}: {in_file}", field.name);
            }
        }
    }
}

#[test]
fn series_read_back_row_by_row() {
    let folder = tempfile::tempdir().unwrap();
    let task = task();
    let record = simulated(&task);
    let kept = Store::open(folder.path()).unwrap().keep(&task, "tightlink run", &record).unwrap();

    let (columns, rows) = table(&kept.join("flows.parquet"));
    assert_eq!(columns[..5], ["t_s", "flow", "rate_bps", "rtt_s", "window_bytes"]);
    let live = ["requested_buffer_bytes", "granted_buffer_bytes", "observed_window_bytes"];
    assert_eq!(
        (&columns[5..8], &columns[8..]),
        (&live.map(str::to_owned)[..], &["data_bytes".to_owned()][..])
    );
    let flows = &record.series.flows;
    assert_eq!(rows.len(), flows.iter().map(|flow| flow.t_s.len()).sum::<usize>());
    let mut rows = rows.iter();
    for flow in flows {
        assert!(flow.t_s.len() > 40, "a sample every 20 ms");
        for sample in 0..flow.t_s.len() {
            let row = rows.next().unwrap();
            assert_eq!((number(row, 0), name(row)), (Some(flow.t_s[sample]), flow.name.clone()));
            assert_eq!(number(row, 2), Some(flow.rate_bps[sample]));
            assert_eq!(number(row, 3), Some(flow.rtt_s[sample]).filter(|rtt| rtt.is_finite()));
            assert_eq!(number(row, 4), Some(flow.window_bytes[sample]));
            assert_eq!([5, 6, 7].map(|column| number(row, column)), [None; 3], "only the kernel knows these");
            assert_eq!(number(row, 8), None, "nobody asked");
        }
    }
    let (columns, rows) = table(&kept.join("link.parquet"));
    assert_eq!(columns, ["t_s", "backlog_bytes", "drops"]);
    let link = &record.series.link;
    assert_eq!(rows.len(), link.t_s.len());
    for (sample, row) in rows.iter().enumerate() {
        let expected = [link.t_s[sample], link.backlog_bytes[sample], link.drops[sample] as f64];
        assert_eq!([0, 1, 2].map(|column| number(row, column)), expected.map(Some));
    }
}

#[test]
fn the_distribution_of_the_queue_reads_back_with_its_complement() {
    let folder = tempfile::tempdir().unwrap();
    let task = task();
    let record = simulated(&task);
    let kept = Store::open(folder.path()).unwrap().keep(&task, "tightlink run", &record).unwrap();
    let (columns, rows) = table(&kept.join("queue.parquet"));
    assert_eq!(columns, ["packets", "time_share", "at_least"]);
    let length = record.summary.queue_length_packets.unwrap();
    assert_eq!(rows.len() as u64, length.max + 1);
    let (mut mean, mut below) = (0.0, 0.0);
    for (packets, row) in rows.iter().enumerate() {
        assert_eq!(number(row, 0), Some(packets as f64));
        let (share, at_least) = (number(row, 1).unwrap(), number(row, 2).unwrap());
        assert!((at_least + below - 1.0).abs() < 1e-9, "{packets}: {at_least} and {below} below");
        (mean, below) = (mean + share * packets as f64, below + share);
    }
    assert!((mean - length.mean).abs() < 1e-9);
    assert!((number(&rows[0], 1).unwrap() - record.summary.queue_empty_fraction.unwrap()).abs() < 1e-9);
}

#[test]
fn what_is_not_known_is_null_never_nan() {
    let folder = tempfile::tempdir().unwrap();
    let task = task();
    let mut record = simulated(&task);
    let second = &record.series.flows[1];
    assert!(second.rtt_s[0].is_nan(), "the second flow has not started");
    let before = second.t_s.iter().filter(|at| **at <= 0.2).count();
    let store = Store::open(folder.path()).unwrap();
    let kept = store.keep(&task, "", &record).unwrap();
    let (_, rows) = table(&kept.join("flows.parquet"));
    let known: Vec<bool> =
        rows.iter().filter(|row| name(row) == "two").map(|row| number(row, 3).is_some()).collect();
    let unknown = known.iter().filter(|known| !**known).count();
    assert!(
        unknown >= before && known[unknown..].iter().all(|known| *known),
        "unknown at first, then never: {known:?}"
    );

    // A column that was not recorded, and a series without samples.
    record.series.flows[0].window_bytes.clear();
    record.series.flows.truncate(1);
    record.series.link = LinkSeries::default();
    let kept = store.keep(&task, "", &record).unwrap();
    let (_, rows) = table(&kept.join("flows.parquet"));
    assert!(rows.iter().all(|row| number(row, 4).is_none() && number(row, 2).is_some()));
    assert!(table(&kept.join("link.parquet")).1.is_empty());
    record.series = Series { flows: vec![FlowSeries::default()], ..Series::default() };
    let kept = store.keep(&task, "", &record).unwrap();
    assert!(table(&kept.join("flows.parquet")).1.is_empty());
}

#[test]
fn the_summary_reads_back() {
    let folder = tempfile::tempdir().unwrap();
    let task = task();
    let record = simulated(&task);
    let kept = Store::open(folder.path()).unwrap().keep(&task, "", &record).unwrap();
    let text = fs::read(kept.join("summary.json")).unwrap();
    assert_eq!(text, serde_json::to_vec_pretty(&record.summary).unwrap());
    let read: Summary = serde_json::from_slice(&text).unwrap();
    assert_eq!((read.engine, read.flows.len()), (Engine::Sim, 2));
    assert_eq!(
        (read.scenario_hash, read.packets_forwarded),
        (task.resolved.hash.clone(), record.summary.packets_forwarded)
    );
}

#[test]
fn the_kept_scenario_is_still_one_whatever_was_set() {
    let folder = tempfile::tempdir().unwrap();
    let mut document = Document::parse("x.toml", SCENARIO).unwrap();
    document.set("title", "two\nlines").unwrap();
    document.set("flow.rtt", "[\n'20ms',\n]").unwrap();
    let task = tasks(&document).unwrap().remove(0);
    let record = simulated(&task);
    let kept = Store::open(folder.path()).unwrap().keep(&task, "", &record).unwrap();
    let text = fs::read_to_string(kept.parent().unwrap().join("scenario.toml")).unwrap();
    assert!(text.starts_with("# run with\n# title = two\n#   lines\n# flow.rtt = [\n"), "{text}");
    let again = Document::parse("scenario.toml", &text).unwrap().scenario().unwrap();
    assert_eq!(again, Document::parse("x.toml", SCENARIO).unwrap().scenario().unwrap());
}

#[test]
fn a_second_record_takes_the_place_of_the_first_and_leaves_nothing_else() {
    let folder = tempfile::tempdir().unwrap();
    let task = task();
    let store = Store::open(folder.path()).unwrap();
    let mut record = simulated(&task);
    store.keep(&task, "", &record).unwrap();
    record.notes.push("the second".into());
    let kept = store.keep(&task, "", &record).unwrap();
    assert_eq!(fs::read_to_string(kept.join("notes.txt")).unwrap(), "the second");
    let mut names: Vec<_> =
        fs::read_dir(kept.parent().unwrap()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["manifest.json", "scenario.toml", "sim"]);
}

#[test]
fn a_record_that_cannot_be_kept_leaves_the_old_one_and_nothing_half_written() {
    let folder = tempfile::tempdir().unwrap();
    let task = task();
    let store = Store::open(folder.path()).unwrap();
    let record = simulated(&task);
    // A file where the record's folder would be.
    fs::write(folder.path().join(&task.resolved.hash), "in the way").unwrap();
    let error = store.keep(&task, "", &record).unwrap_err().to_string();
    assert!(error.contains("cannot keep the results") && error.contains("help: "), "{error}");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_trial_says_beforehand_what_replacing_would_say() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("page.html");
    try_replace(&page).unwrap();
    assert!(!page.exists(), "a trial leaves nothing");
    replace(&page, b"one").unwrap();
    try_replace(&page).unwrap();
    assert_eq!(fs::read(&page).unwrap(), b"one");
    for wrong in [folder.path().join("nowhere/page.html"), folder.path().to_path_buf(), page.join("below")] {
        assert!(try_replace(&wrong).is_err() && replace(&wrong, b"two").is_err(), "{}", wrong.display());
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
}

#[test]
fn a_link_planted_where_a_file_is_made_or_goes_leaves_its_target_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    fs::write(at("victim"), b"precious").unwrap();
    // Names that were used under way.
    let own = std::process::id();
    for link in [&format!(".under-way-page.html-{own}"), "page.under-way", "page.html"] {
        symlink("victim", at(link)).unwrap();
    }
    try_replace(&at("page.html")).unwrap();
    replace(&at("page.html"), b"page").unwrap();
    assert_eq!(fs::read(at("victim")).unwrap(), b"precious");
    assert!(fs::symlink_metadata(at("page.html")).unwrap().is_file(), "the link is replaced");
    assert_eq!(fs::read(at("page.html")).unwrap(), b"page");
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 4, "nothing else is left");
}

#[cfg(feature = "kernel")]
#[test]
fn links_planted_in_a_results_folder_lead_nowhere() {
    let (folder, elsewhere) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let (task, own) = (task(), std::process::id());
    let (results, hash) = (folder.path(), task.resolved.hash.clone());
    let precious = elsewhere.path().join("sim");
    fs::create_dir(&precious).unwrap();
    fs::write(precious.join("summary.json"), "precious").unwrap();
    let untouched = || {
        let names = |path: &Path| {
            fs::read_dir(path)
                .unwrap()
                .map(|entry| entry.unwrap().file_name().into_string().unwrap())
                .collect()
        };
        let (outer, inner): (Vec<String>, Vec<String>) = (names(elsewhere.path()), names(&precious));
        assert_eq!((outer, inner), (vec!["sim".into()], vec!["summary.json".into()]));
        assert_eq!(fs::read(precious.join("summary.json")).unwrap(), b"precious");
    };
    // Names that were used under way.
    symlink(precious.join("summary.json"), results.join(format!(".under-way-trial-{own}"))).unwrap();
    let under_way = results.join(&hash).join(format!(".under-way-sim-{own}"));
    fs::create_dir_all(&under_way).unwrap();
    symlink(precious.join("summary.json"), under_way.join("summary.json")).unwrap();
    let record = simulated(&task);
    let kept = Store::open(results).unwrap().keep(&task, "", &record).unwrap();
    assert!(kept.join("summary.json").is_file());
    untouched();
    // The engine's folder, and what lies beside it.
    fs::remove_dir_all(&kept).unwrap();
    symlink(&precious, &kept).unwrap();
    for name in ["manifest.json", "scenario.toml"] {
        fs::remove_file(results.join(&hash).join(name)).unwrap();
        symlink(precious.join("summary.json"), results.join(&hash).join(name)).unwrap();
    }
    Store::open(results).unwrap().keep(&task, "", &record).unwrap();
    untouched();
    assert!(!fs::symlink_metadata(&kept).unwrap().is_symlink(), "the link is replaced");
    // The scenario's folder.
    fs::remove_dir_all(results.join(&hash)).unwrap();
    symlink(elsewhere.path(), results.join(&hash)).unwrap();
    let refused = Store::open(results).unwrap().keep(&task, "", &record).unwrap_err().to_string();
    assert!(refused.contains("a link is not followed there"), "{refused}");
    untouched();
    // The folders of points.
    let document = Document::parse("x.toml", SCENARIO).unwrap();
    for link in ["points", "points/sim"] {
        let _ = fs::remove_dir_all(results.join("points"));
        let _ = fs::remove_file(results.join("points"));
        fs::create_dir_all(results.join(link).parent().unwrap()).unwrap();
        symlink(elsewhere.path(), results.join(link)).unwrap();
        let experiment = Experiment::new(&document, results).unwrap();
        let refused = experiment.sweep(Engine::Sim, &mut Unwatched).unwrap_err().to_string();
        assert!(refused.contains("a link is not followed there"), "{link}: {refused}");
        untouched();
    }
}

#[test]
fn a_manifest_that_is_none_is_written_anew() {
    let folder = tempfile::tempdir().unwrap();
    let task = task();
    let record = simulated(&task);
    let store = Store::open(folder.path()).unwrap();
    let kept = store.keep(&task, "first", &record).unwrap();
    let manifest = kept.parent().unwrap().join("manifest.json");
    fs::remove_file(&manifest).unwrap();
    // A pipe that nobody writes to.
    assert!(std::process::Command::new("mkfifo").arg(&manifest).status().unwrap().success());
    store.keep(&task, "second", &record).unwrap();
    let text = fs::read_to_string(&manifest).unwrap();
    assert!(text.contains("second") && !text.contains("first"), "{text}");
}

#[test]
fn a_replaced_file_has_the_mode_of_any_new_file() {
    let folder = tempfile::tempdir().unwrap();
    let [page, plain] = ["page", "plain"].map(|name| folder.path().join(name));
    replace(&page, b"page").unwrap();
    fs::write(&plain, b"plain").unwrap();
    let mode = |path| fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode(&page), mode(&plain));
}

#[test]
fn a_file_of_the_longest_name_can_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("ä".repeat(127));
    try_replace(&page).unwrap();
    replace(&page, b"page").unwrap();
    assert_eq!(fs::read(&page).unwrap(), b"page");
}

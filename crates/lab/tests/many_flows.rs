//! Series of many flows: a sample of them whole, percentiles over all.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use scenario::Document;
use std::fs::File;
use std::path::Path;
use tightlink_lab::run::engine;
use tightlink_lab::run::record::{Engine, FlowSeries, Record, Spread};
use tightlink_lab::run::resolve::{ResolvedFlow, resolve_document};
use tightlink_lab::study::store::Store;
use tightlink_lab::study::task::tasks;

/// Forty alike, one that comes late and ends, one that leaves.
fn scenario(record: &str) -> Document {
    let text = format!(
        "title = 't'
duration = '6s'
[link]
rate = '50Mbit/s'
delay = '10ms'
queue.limit = '1 bdp'
[[flow]]
name = 'user'
count = 40
start = {{ uniform = ['0s', '2s'] }}
[[flow]]
name = 'late'
start = '3s'
size = '100kB'
[[flow]]
name = 'leaves'
stop = '4s'
[record]
every = '40ms'
columns = ['rate', 'rtt', 'window', 'backlog', 'drops', 'data']
{record}
"
    );
    Document::parse("t.toml", &text).unwrap()
}

fn simulated(document: &Document) -> Record {
    engine::run(Engine::Sim, &resolve_document(document).unwrap(), engine::UNWATCHED).unwrap()
}

/// A column of a flow.
type ColumnOf = fn(&FlowSeries) -> &Vec<f64>;

/// By nearest rank.
fn percentile(values: &mut [f64], share: f64) -> f64 {
    values.sort_by(f64::total_cmp);
    values[((share * values.len() as f64).ceil() as usize).max(1) - 1]
}

#[test]
fn a_sample_has_the_series_that_it_has_among_all() {
    let (sampled, whole) = (simulated(&scenario("")), simulated(&scenario("flows = 'all'")));
    assert_eq!((sampled.series.flows.len(), whole.series.flows.len()), (32, 42));
    assert!(whole.series.spread.is_empty());
    let names: Vec<&str> = sampled.series.flows.iter().map(|flow| flow.name.as_str()).collect();
    for name in ["user-1", "late", "leaves"] {
        assert!(names.contains(&name), "the first of each table: {names:?}");
    }
    // RTTs of flows that have not begun are NaN, which equals nothing.
    let bits = |values: &[f64]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    for flow in &sampled.series.flows {
        let same = whole.series.flows.iter().find(|of| of.name == flow.name).unwrap();
        let columns = |of: &FlowSeries| {
            [&of.t_s[..], &of.rate_bps, &of.rtt_s, &of.window_bytes, &of.data_bytes].map(bits)
        };
        assert_eq!(columns(flow), columns(same), "{}", flow.name);
    }
    assert_eq!(sampled.series.link, whole.series.link);
    let numbers = |record: &Record| {
        let mut summary = record.summary.clone();
        (summary.wall_s, summary.peak_rss_bytes, summary.scenario_hash) = (0.0, 0, String::new());
        summary
    };
    assert_eq!(numbers(&sampled), numbers(&whole));
    let note =
        "series are of 32 of the 42 flows, with percentiles over all; [record] flows = \"all\" keeps each";
    assert_eq!(sampled.notes.iter().filter(|told| told.text() == note).count(), 1, "{:?}", sampled.notes);
    assert!(!whole.notes.iter().any(|told| told.text() == note));
}

#[test]
fn percentiles_are_those_of_the_flows_that_are_there() {
    let (sampled, whole) = (simulated(&scenario("")), simulated(&scenario("flows = 'all'")));
    let spread = &sampled.series.spread;
    let grid = &whole.series.flows[0].t_s;
    assert_eq!(spread.t_s[..], grid[..], "42 flows at 150 times are few looks");
    let flows = resolve_document(&scenario("")).unwrap().flows;
    let mut ended = 0;
    for (place, at) in grid.iter().enumerate() {
        let before = |flow: &FlowSeries| if place == 0 { 0.0 } else { flow.data_bytes[place - 1] };
        let there = |of: &ResolvedFlow, flow: &FlowSeries| {
            of.start.as_secs_f64() < *at
                && of.stop.is_none_or(|stop| stop.as_secs_f64() > at - 0.04 + 1e-9)
                && of.size.is_none_or(|size| before(flow) < size.get() as f64)
        };
        let flows = flows.iter().zip(&whole.series.flows);
        let present: Vec<&FlowSeries> =
            flows.filter(|(of, flow)| there(of, flow)).map(|(_, flow)| flow).collect();
        assert_eq!(spread.flows[place], present.len() as u64, "{at}");
        ended += u64::from(*at > 5.0 && present.len() == 40);
        let columns: [(ColumnOf, &[Spread]); 3] = [
            (|flow| &flow.rate_bps, &spread.rate_bps),
            (|flow| &flow.window_bytes, &spread.window_bytes),
            (|flow| &flow.data_bytes, &spread.data_bytes),
        ];
        for (of, spreads) in columns {
            let mut values: Vec<f64> = present.iter().map(|flow| of(flow)[place]).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            assert!((spreads[place].mean - mean).abs() <= 1e-9 * mean, "{at}");
            let expected = [0.01, 0.05, 0.5, 0.95, 0.99].map(|share| percentile(&mut values, share));
            assert_eq!(spreads[place].percentiles.values(), expected, "{at}");
        }
    }
    assert!(ended > 10, "{ended} samples after two flows had gone");
}

#[test]
fn percentiles_are_kept() {
    let document = scenario("");
    let task = tasks(&document).unwrap().remove(0);
    let record = simulated(&document);
    let folder = tempfile::tempdir().unwrap();
    let kept = Store::open(folder.path()).unwrap().keep(&task, "", &record).unwrap();
    let file = SerializedFileReader::new(File::open(kept.join("spread.parquet")).unwrap()).unwrap();
    let columns = file.metadata().file_metadata().schema_descr().columns().to_vec();
    let names: Vec<&str> = columns.iter().map(|column| column.name()).collect();
    let expected =
        ["t_s", "flows", "rate_mean_bps", "rate_p1_bps", "rate_p5_bps", "rate_p50_bps", "rate_p95_bps"];
    assert_eq!(names[..7], expected);
    assert_eq!((names.len(), names[8], names[25]), (26, "rtt_mean_s", "data_p99_bytes"));
    let rows: Vec<_> = file.get_row_iter(None).unwrap().map(Result::unwrap).collect();
    let spread = &record.series.spread;
    assert_eq!(rows.len(), spread.t_s.len());
    for (place, row) in rows.iter().enumerate() {
        let cells: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
        assert_eq!(*cells[0], Field::Double(spread.t_s[place]));
        assert_eq!(*cells[1], Field::ULong(spread.flows[place]));
        let median = spread.rate_bps[place].percentiles.p50;
        assert_eq!(*cells[5], if median.is_finite() { Field::Double(median) } else { Field::Null });
    }
}

/// Pages of rows: what is read back is what was there, across their borders and those of flows.
#[test]
fn rows_of_several_pages_read_back() {
    let folder = tempfile::tempdir().unwrap();
    let document = scenario("");
    let task = tasks(&document).unwrap().remove(0);
    let mut record = simulated(&document);
    let flow = |number: usize, samples: usize| FlowSeries {
        name: format!("flow-{number}"),
        t_s: (0..samples).map(|sample| sample as f64).collect(),
        rate_bps: (0..samples).map(|sample| (sample * number) as f64).collect(),
        rtt_s: (0..samples / 2)
            .map(|sample| if sample % 3 == 0 { f64::NAN } else { sample as f64 })
            .collect(),
        ..FlowSeries::default()
    };
    record.series.flows = vec![flow(1, 65_000), flow(2, 0), flow(3, 70_000), flow(4, 536)];
    let kept = Store::open(folder.path()).unwrap().keep(&task, "", &record).unwrap();
    let path: &Path = &kept.join("flows.parquet");
    let file = SerializedFileReader::new(File::open(path).unwrap()).unwrap();
    assert_eq!(file.metadata().num_row_groups(), 1);
    let mut rows = file.get_row_iter(None).unwrap().map(Result::unwrap);
    for flow in &record.series.flows {
        for sample in 0..flow.t_s.len() {
            let row = rows.next().unwrap();
            let cells: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
            let rtt = flow.rtt_s.get(sample).filter(|rtt| rtt.is_finite());
            assert_eq!(*cells[0], Field::Double(sample as f64));
            assert_eq!(*cells[1], Field::Str(flow.name.clone()));
            assert_eq!(*cells[2], Field::Double(flow.rate_bps[sample]));
            assert_eq!(*cells[3], rtt.map_or(Field::Null, |rtt| Field::Double(*rtt)));
            assert_eq!(*cells[4], Field::Null);
        }
    }
    assert!(rows.next().is_none());
}

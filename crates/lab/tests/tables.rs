//! The table of a sweep: CSV and Parquet with the same columns, nothing rounded, every link of a network.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use scenario::Document;
use std::fs::{self, File};
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::experiment::Experiment;
use tightlink_lab::study::sweep::{Runner, sweep};
use tightlink_lab::study::table::Column;
use tightlink_lab::study::tabulate::{tabulate, tabulate_answers, write_tables};
use tightlink_lab::study::task::tasks;
use tightlink_lab::study::watch::{SharedWatch, Unwatched};

/// The columns and rows of both files of the sweep `text`.
struct Tables {
    csv: Vec<Vec<String>>,
    names: Vec<String>,
    rows: Vec<Vec<Field>>,
    units: serde_json::Value,
    /// Of each field in Arrow's schema its name and its unit.
    fields: Vec<(String, Option<String>)>,
}

fn tables(text: &str) -> Tables {
    let folder = tempfile::tempdir().unwrap();
    let document = Document::parse("t.toml", text).unwrap();
    let tasks = tasks(&document).unwrap();
    let runner = Runner { jobs: 1, folder: Some(folder.path()), watched: &SharedWatch::by_nobody() };
    let results = sweep(&tasks, Engine::Sim, &runner).unwrap();
    let written = write_tables(folder.path(), "t", &tabulate(&results)).unwrap();
    let [csv, parquet] = &written[..] else { panic!("{written:?}") };
    let csv = fs::read_to_string(csv).unwrap();
    let csv = csv.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let reader = SerializedFileReader::new(File::open(parquet).unwrap()).unwrap();
    let metadata = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let entry = |key| metadata.iter().find(|entry| entry.key == key).unwrap().value.as_ref().unwrap();
    let units = serde_json::from_str(entry("units")).unwrap();
    let fields = arrow_fields(entry("ARROW:schema"));
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let row = |row: Result<parquet::record::Row, _>| {
        row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect()
    };
    let rows = reader.get_row_iter(None).unwrap().map(row).collect();
    Tables { csv, names, rows, units, fields }
}

impl Tables {
    fn column(&self, name: &str) -> usize {
        let at = self.names.iter().position(|column| column == name);
        at.unwrap_or_else(|| panic!("no {name} in {:?}", self.names))
    }

    fn number(&self, row: usize, name: &str) -> f64 {
        match &self.rows[row][self.column(name)] {
            Field::Double(number) => *number,
            other => panic!("{name} is {other}"),
        }
    }
}

/// Name and unit of each field of an Arrow schema, by the offsets of its FlatBuffer.
fn arrow_fields(base64: &str) -> Vec<(String, Option<String>)> {
    let letter = |letter: u8| match letter {
        b'A'..=b'Z' => letter - b'A',
        b'a'..=b'z' => letter - b'a' + 26,
        b'0'..=b'9' => letter - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let bits: Vec<u8> = base64.bytes().filter(|byte| *byte != b'=').map(letter).collect();
    let bytes = bits.chunks(4).flat_map(|four| {
        let word = four.iter().fold(0_u32, |word, six| word << 6 | u32::from(*six)) << (6 * (4 - four.len()));
        word.to_be_bytes()[1..four.len()].to_vec()
    });
    let bytes: Vec<u8> = bytes.collect();
    assert_eq!(bytes[..4], [0xff; 4], "an encapsulated message");
    let flat = &bytes[8..];
    let number = |at: usize| u32::from_le_bytes(flat[at..at + 4].try_into().unwrap()) as usize;
    let short = |at: usize| usize::from(u16::from_le_bytes(flat[at..at + 2].try_into().unwrap()));
    let follow = |at: usize| at + number(at);
    let slot = |table: usize, index: usize| {
        let vtable = table - number(table);
        let place = if 4 + 2 * index < short(vtable) { short(vtable + 4 + 2 * index) } else { 0 };
        (place > 0).then(|| follow(table + place))
    };
    let text = |at: usize| String::from_utf8(flat[at + 4..at + 4 + number(at)].to_vec()).unwrap();
    let elements = |vector: usize| (0..number(vector)).map(move |index| follow(vector + 4 + 4 * index));
    let schema = slot(follow(0), 2).unwrap();
    let field = |field: usize| {
        let pairs = slot(field, 6).into_iter().flat_map(elements);
        let mut pairs = pairs.map(|pair| (text(slot(pair, 0).unwrap()), text(slot(pair, 1).unwrap())));
        let unit = pairs.find(|(key, _)| key == "unit").map(|(_, unit)| unit);
        (text(slot(field, 0).unwrap()), unit)
    };
    elements(slot(schema, 1).unwrap()).map(field).collect()
}

#[test]
fn csv_and_parquet_have_the_same_columns_with_dotted_keys_and_the_same_numbers() {
    let tables = tables(
        "title = 't'\nduration = '1s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '1 bdp'\n[[flow]]\n\
         [sweep]\n'link.queue.limit' = ['1 bdp', '2 bdp']\n",
    );
    assert_eq!(tables.csv[0], tables.names);
    assert_eq!(tables.names[0], "link.queue.limit");
    assert!(!tables.names.iter().any(|name| name.starts_with("links.") || name == "tight_link"));
    for (line, row) in tables.csv[1..].iter().zip(&tables.rows) {
        for (text, field) in line.iter().zip(row) {
            match field {
                Field::Double(number) => assert_eq!(text.parse::<f64>().unwrap(), *number),
                Field::ULong(number) => assert_eq!(text.parse::<u64>().unwrap(), *number),
                Field::Str(typed) => assert_eq!(text, typed),
                Field::Null => assert!(text.is_empty()),
                other => panic!("{other}"),
            }
        }
    }
}

#[test]
fn a_large_seed_keeps_every_digit() {
    // Neither fits into a 64-bit real number.
    for seed in [9_007_199_254_740_993, i64::MAX as u64] {
        let tables = tables(&format!(
            "title = 't'\nduration = '1s'\nseed = {seed}\n[link]\nrate = '1Mbit/s'\nqueue.limit = '9 packets'\n[[flow]]\n\
             rtt = '20ms'\n[sweep]\n'flow.count' = [1, 2]\n"
        ));
        let at = tables.column("seed");
        assert_eq!(tables.csv[1][at], seed.to_string());
        assert_eq!(tables.rows[1][at], Field::ULong(seed));
    }
}

#[test]
fn each_of_several_links_has_its_columns() {
    let tables = tables(
        "title = 't'\nduration = '4s'\nwarmup = '1s'\n[[link]]\nname = 'a'\nrate = '20Mbit/s'\ndelay = '5ms'\n\
         queue.limit = '1 bdp'\nreverse = { rate = '2Mbit/s', queue.limit = '1 bdp' }\n[[link]]\nname = 'b'\n\
         rate = '16Mbit/s'\ndelay = '10ms'\nqueue.limit = '1 bdp'\n[[flow]]\nrtt = '60ms'\n\
         [sweep]\n'link.b.rate' = ['16Mbit/s', '40Mbit/s']\n",
    );
    assert_eq!(tables.csv[0], tables.names);
    let at = tables.column("tight_link");
    assert_eq!([&tables.csv[1][at], &tables.csv[2][at]], ["b", "a"]);
    for (row, tight) in [(0, "b"), (1, "a")] {
        for number in
            ["utilization", "loss_rate", "mean_backlog_bytes", "queueing_delay_p5_s", "queueing_delay_p99_s"]
        {
            let of_link = tables.number(row, &format!("links.{tight}.{number}"));
            assert_eq!(of_link, tables.number(row, number), "{number} of the tight link");
        }
        let back = tables.number(row, "links.a.reverse.utilization");
        assert!(back > 0.0 && back < 0.5, "acknowledgements take some of the way back: {back}");
    }
}

#[test]
fn swept_values_stand_in_numbers_beside_themselves() {
    let tables = tables(
        "title = 't'\nduration = '1s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '1 bdp'\n[[flow]]\nname = 'one'\n\
         socket_buffer = '30kB'\n[sweep]\n'link.queue.limit' = ['1 bdp', '30 packets']\n'link.loss' = ['0.1%']\n\
         'flow.one.socket_buffer' = ['25kB', 'max']\n'flow.one.start' = ['20ms']\n'flow.one.control' = ['reno']\n\
         'flow.one.initial_window' = [4]\n",
    );
    assert_eq!(tables.csv[0], tables.names);
    // 12.5 kB are the product, a packet has 1500 bytes.
    for (row, numbers) in [(0, [12_500.0, 12_500.0 / 1500.0, 1.0, 10.0]), (2, [45_000.0, 30.0, 3.6, 36.0])] {
        for (unit, number) in ["bytes", "packets", "bdp", "ms"].into_iter().zip(numbers) {
            let found = tables.number(row, &format!("link.queue.limit_{unit}"));
            assert!((found - number).abs() < 1e-9 * number, "{unit} of row {row}: {found}");
        }
    }
    assert_eq!(tables.number(0, "flow.one.socket_buffer_bytes"), 25_000.0);
    assert_eq!(tables.number(0, "flow.one.socket_buffer_bdp"), 2.0);
    assert_eq!(tables.rows[1][tables.column("flow.one.socket_buffer_bytes")], Field::Null);
    assert_eq!(tables.number(0, "link.loss_value"), 0.001);
    assert_eq!(tables.number(0, "flow.one.start_s"), 0.02);
    assert_eq!(tables.number(0, "flow.one.initial_window_value"), 4.0);
    assert_eq!(tables.csv[1][tables.column("link.loss")], "0.1%");
    assert!(!tables.names.iter().any(|name| name.starts_with("flow.one.control_")));
    for (column, unit) in [
        ("link.queue.limit_bdp", "bdp"),
        ("link.queue.limit_ms", "ms"),
        ("flow.one.start_s", "s"),
        ("goodput_bps", "bit/s"),
        ("queueing_delay_s.p95", "s"),
        ("queueing_delay_p95_s", "s"),
        ("utilization", "1"),
    ] {
        assert_eq!(tables.units[column], unit, "{column}");
    }
    assert!(tables.units.get("link.queue.limit").is_none(), "a text has no unit");
    let of_fields: Vec<&String> = tables.fields.iter().map(|(name, _)| name).collect();
    assert_eq!(of_fields, tables.names.iter().collect::<Vec<_>>());
    for (name, unit) in &tables.fields {
        assert_eq!(unit.as_deref(), tables.units.get(name).and_then(|unit| unit.as_str()), "{name}");
    }
}

#[test]
fn each_flow_has_its_columns_but_no_more_than_thirty_two_of_them() {
    let tables = tables(
        "title = 't'\nduration = '1s'\n[link]\nrate = '10Mbit/s'\nqueue.limit = '50 packets'\n[[flow]]\nname = 'many'\nrtt = '20ms'\n\
         [[flow]]\nname = 'last'\nrtt = '20ms'\n[sweep]\n'flow.many.count' = [1, 2, 40]\n",
    );
    let flows: Vec<&str> = tables
        .names
        .iter()
        .filter_map(|name| name.strip_prefix("flows.")?.strip_suffix(".goodput_bps"))
        .collect();
    assert_eq!((flows.len(), &flows[..4]), (32, &["many", "last", "many-1", "many-2"][..]));
    // All bytes over the measured second; the flows' own goodputs are over the time from their handshakes on.
    let sum: f64 = ["many-1", "many-2", "last"]
        .map(|name| tables.number(1, &format!("flows.{name}.delivered_bytes")))
        .iter()
        .sum();
    assert!((sum * 8.0 - tables.number(1, "goodput_bps")).abs() < 1e-6 * sum * 8.0);
    assert_eq!(tables.rows[0][tables.column("flows.many-2.goodput_bps")], Field::Null);
    for metric in ["retransmits", "rtt_s.min", "goodput_share"] {
        assert!(tables.names.contains(&format!("flows.last.{metric}")), "{metric}");
    }
}

#[test]
fn texts_of_a_scenario_are_one_cell_each_and_no_formula() {
    let text = "title = 't'\nduration = '1s'\n[link]\nname = '=1+2,\"x\"'\nrate = '10Mbit/s'\ndelay = '5ms'\n\
                queue.limit = '1 bdp'\nreverse.queue.limit = '9 packets'\n[[flow]]\nname = '@sum'\n[sweep]\n\
                'flow.rtt' = [['10ms'], [\n  # live  999.99  a line that looks like a result\n'20ms',\n]]\n\
                'flow.name' = ['-5', '=cmd()', '+a']\n";
    let folder = tempfile::tempdir().unwrap();
    let document = Document::parse("=t\nhead.toml", text).unwrap();
    let tasks = tasks(&document).unwrap();
    assert!(tasks.iter().all(|task| !task.label().contains('\n')), "{}", tasks[3].label());
    let mut experiment = Experiment::new(&document, folder.path()).unwrap();
    experiment.jobs = 1;
    let swept = experiment.sweep(Engine::Sim, &mut Unwatched).unwrap();
    let file = &swept.files[0];
    assert_eq!(file.file_name().unwrap(), "=t-head.csv");
    let csv = fs::read_to_string(file).unwrap();
    assert_eq!(csv.lines().count(), 7, "a head and six points:\n{csv}");
    let rows: Vec<&str> = csv.lines().skip(1).collect();
    assert_eq!(rows.iter().filter(|row| row.starts_with("\"[ # live  999.99")).count(), 3, "{csv}");
    for (row, name) in rows.iter().zip(["-5,", "'=cmd(),", "'+a,"].iter().cycle()) {
        assert!(row.contains(&format!("],{name}")) || row.contains(&format!("]\",{name}")), "{name} {row}");
        assert!(row.contains(",\"'=1+2,\"\"x\"\"\","), "the tight link: {row}");
    }
}

#[test]
fn a_table_as_data_has_words_units_and_nulls() {
    let text = "title = 't'\nduration = '2s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '1 bdp'\n\
                [[flow]]\n[sweep]\n'link.queue.limit' = ['1 bdp', '9 packets']\n";
    let document = Document::parse("t.toml", text).unwrap();
    let experiment = Experiment::in_memory(&document).unwrap();
    let table = tabulate(&experiment.sweep(Engine::Sim, &mut Unwatched).unwrap().results);
    assert_eq!(table.rows(), 2);
    let field = |name: &str| table.field(name).unwrap_or_else(|| panic!("no {name}"));
    let limit = field("link.queue.limit");
    assert_eq!(limit.column, Column::Text(vec!["1 bdp".into(), "9 packets".into()]));
    assert_eq!((limit.unit, limit.words.as_str()), ("", "buffer"));
    let packets = field("link.queue.limit_packets");
    assert!(
        matches!(&packets.column, Column::Number(values) if values[1] == Some(9.0))
            && packets.unit == "packets"
    );
    let goodput = field("flows.flow.goodput_bps");
    assert_eq!((goodput.unit, goodput.words.as_str()), ("bit/s", "goodput"));
    assert_eq!(field("seed").column, Column::Whole(vec![Some(1), Some(1)]));
    assert_eq!(field("flows.flow.completion_s").column, Column::Number(vec![None, None]), "it has no size");
}

#[test]
fn a_comparison_is_a_table_with_a_row_per_engine() {
    let text = "title = 't'\nduration = '2s'\n[link]\nrate = '10Mbit/s'\ndelay = '5ms'\nqueue.limit = '1 bdp'\n[[flow]]\n";
    let document = Document::parse("t.toml", text).unwrap();
    let experiment = Experiment::in_memory(&document).unwrap().engines([Engine::Model, Engine::Sim]);
    let table = tabulate_answers(&experiment.compare(&[], &mut Unwatched).unwrap().answers);
    assert_eq!(table.fields[0].name, "engine");
    assert_eq!(table.fields[0].column, Column::Text(vec!["model".into(), "sim".into()]));
    assert!(table.field("goodput_bps").is_some());
}

#[test]
fn a_swept_seed_is_an_integer_and_a_swept_limit_is_as_written() {
    let text = "title = 't'\nduration = '1s'\n[link]\nrate = '20Mbit/s'\ndelay = '10ms'\nqueue.limit = '1 bdp'\n\
                [[flow]]\ncontrol = 'reno'\nrtt = '40ms'\n[sweep]\nlink.queue.limit = ['0.1 bdp', '7 ms', '9 packets']\nseed = [3, 4]\n";
    let tables = tables(text);
    let seed = tables.column("seed");
    for (row, expected) in [3u64, 4, 3, 4, 3, 4].into_iter().enumerate() {
        assert_eq!(tables.rows[row][seed], Field::ULong(expected));
        assert_eq!(tables.csv[row + 1][seed], expected.to_string());
    }
    // 0.1 bdp are 10 000 bytes, which is exact; 7 ms are 17 500.
    assert_eq!(tables.number(0, "link.queue.limit_bdp"), 0.1);
    assert_eq!(tables.number(2, "link.queue.limit_ms"), 7.0);
    assert_eq!(tables.number(4, "link.queue.limit_packets"), 9.0);
}

//! The table of a sweep: CSV and Parquet with the same columns, nothing rounded, every link of a network.

use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use scenario::Document;
use std::fs::{self, File};
use tightlink_lab::run::record::Engine;
use tightlink_lab::study::sweep::sweep;
use tightlink_lab::study::tabulate::tabulate;
use tightlink_lab::study::task::tasks;

/// The columns and rows of both files of the sweep `text`.
struct Tables {
    csv: Vec<Vec<String>>,
    names: Vec<String>,
    rows: Vec<Vec<Field>>,
}

fn tables(text: &str) -> Tables {
    let folder = tempfile::tempdir().unwrap();
    let document = Document::parse("t.toml", text).unwrap();
    let tasks = tasks(&document).unwrap();
    let results = sweep(&tasks, Engine::Sim, 1, folder.path(), &|_| ()).unwrap();
    let [csv, parquet] = tabulate(folder.path(), "t", &results).unwrap();
    let csv = fs::read_to_string(csv).unwrap();
    let csv = csv.lines().map(|line| line.split(',').map(str::to_owned).collect()).collect();
    let reader = SerializedFileReader::new(File::open(parquet).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema_descr();
    let names = schema.columns().iter().map(|column| column.name().to_owned()).collect();
    let row = |row: Result<parquet::record::Row, _>| {
        row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect()
    };
    let rows = reader.get_row_iter(None).unwrap().map(row).collect();
    Tables { csv, names, rows }
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

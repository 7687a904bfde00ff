//! `docs/papers/ledger.toml`: where every system of the papers stands, and that what it points at is there.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use toml::{Table, Value};

const STATUSES: [&str; 4] = ["planned", "implemented", "agrees", "disagrees"];
const KEYS: [&str; 6] = ["id", "what", "status", "reason", "code", "tests"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn rows() -> Vec<Table> {
    let text = fs::read_to_string(root().join("docs/papers/ledger.toml")).expect("the ledger is there");
    let ledger: Table = text.parse().unwrap_or_else(|error| panic!("docs/papers/ledger.toml: {error}"));
    let rows = ledger["row"].as_array().expect("[[row]]").iter();
    rows.map(|row| row.as_table().expect("a row is a table").clone()).collect()
}

fn text<'a>(row: &'a Table, key: &str) -> &'a str {
    row.get(key).and_then(Value::as_str).map_or("", str::trim)
}

fn paths(row: &Table, key: &str) -> Vec<String> {
    let list = row
        .get(key)
        .and_then(Value::as_array)
        .unwrap_or_else(|| panic!("{}: no list {key}", text(row, "id")));
    list.iter().map(|path| path.as_str().expect("a path is a text").to_owned()).collect()
}

#[test]
fn every_row_says_what_it_is_and_where_it_stands() {
    for row in rows() {
        let id = text(&row, "id");
        assert!(!id.is_empty(), "a row without an id: {row:?}");
        assert!(!text(&row, "what").is_empty(), "{id}: nothing under `what`");
        let status = text(&row, "status");
        assert!(STATUSES.contains(&status), "{id}: unknown status {status:?}; known are {STATUSES:?}");
        for key in row.keys() {
            assert!(KEYS.contains(&key.as_str()), "{id}: unknown key {key:?}; known are {KEYS:?}");
        }
    }
}

#[test]
fn ids_are_unique() {
    let mut seen = BTreeSet::new();
    for row in rows() {
        let id = text(&row, "id").to_owned();
        assert!(seen.insert(id.clone()), "{id} stands twice");
    }
}

#[test]
fn a_row_that_disagrees_says_how() {
    for row in rows().iter().filter(|row| text(row, "status") == "disagrees") {
        assert!(!text(row, "reason").is_empty(), "{}: disagrees without a reason", text(row, "id"));
    }
}

#[test]
fn what_exists_has_code_and_tests() {
    for row in rows() {
        let id = text(&row, "id");
        let (code, tests) = (paths(&row, "code"), paths(&row, "tests"));
        if text(&row, "status") != "planned" {
            assert!(!code.is_empty(), "{id}: {} without code", text(&row, "status"));
            assert!(!tests.is_empty(), "{id}: {} without tests", text(&row, "status"));
        }
        for path in code.iter().chain(&tests) {
            assert!(root().join(path).is_file(), "{id}: {path} is not a file of the repository");
        }
    }
}

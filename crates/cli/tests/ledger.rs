//! `docs/papers/ledger.toml`: where every system of the papers stands, and that what it points at is there.

use std::collections::BTreeSet;
use std::fs;
use testkit::repository;
use toml::{Table, Value};

const STATUSES: [&str; 7] =
    ["planned", "untested", "implemented", "agrees", "agrees-in-words", "disagrees", "erratum"];
/// What cannot be told by its status alone.
const REASONED: [&str; 4] = ["untested", "agrees-in-words", "disagrees", "erratum"];
const KEYS: [&str; 6] = ["id", "what", "status", "reason", "code", "tests"];

fn rows() -> Vec<Table> {
    let text = fs::read_to_string(repository().join("docs/papers/ledger.toml")).expect("the ledger is there");
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
fn a_status_that_asks_for_a_reason_has_one() {
    for row in rows() {
        let (id, status) = (text(&row, "id"), text(&row, "status"));
        assert!(
            !REASONED.contains(&status) || !text(&row, "reason").is_empty(),
            "{id}: {status} without a reason"
        );
    }
}

#[test]
fn what_exists_has_code_and_what_is_tested_has_tests() {
    for row in rows() {
        let (id, status) = (text(&row, "id"), text(&row, "status"));
        let (code, tests) = (paths(&row, "code"), paths(&row, "tests"));
        assert_eq!(code.is_empty(), status == "planned", "{id}: {status} with {} files of code", code.len());
        let is_tested = !["planned", "untested"].contains(&status);
        assert_eq!(tests.is_empty(), !is_tested, "{id}: {status} with {} tests", tests.len());
        for path in &code {
            assert!(repository().join(path).is_file(), "{id}: {path} is not a file of the repository");
        }
    }
}

#[test]
fn every_test_that_a_row_names_is_a_test_of_that_file() {
    for row in rows() {
        let id = text(&row, "id");
        for entry in paths(&row, "tests") {
            let (path, test) = entry.split_once("::").unwrap_or((&entry, ""));
            let file = fs::read_to_string(repository().join(path))
                .unwrap_or_else(|error| panic!("{id}: {path}: {error}"));
            if path.starts_with("tests/claims/") {
                assert!(has_claims(&file, &row), "{id}: no claim of {path} is about a scenario of its code");
            } else {
                assert!(is_test(&file, test), "{id}: {path} has no test \"{test}\" that is run");
            }
        }
    }
}

/// Whether a claim of `file` is about one of the scenarios in the row's code.
fn has_claims(file: &str, row: &Table) -> bool {
    let claims: Table = file.parse().expect("claims");
    let figures: Vec<&str> = (claims["claim"].as_array().expect("[[claim]]").iter())
        .filter_map(|claim| claim.get("figure").and_then(Value::as_str))
        .collect();
    paths(row, "code").iter().filter(|path| path.starts_with("scenarios/")).any(|path| {
        let scenario: Table =
            fs::read_to_string(repository().join(path)).expect("a scenario").parse().expect("TOML");
        figures.contains(&text(&scenario, "source"))
    })
}

/// Returns true if `file` has a function of this name with `#[test]` above it, and no `#[ignore]`.
fn is_test(file: &str, name: &str) -> bool {
    let lines: Vec<&str> = file.lines().map(str::trim_start).collect();
    let Some(place) = lines.iter().position(|line| line.starts_with(&format!("fn {name}("))) else {
        return false;
    };
    let above =
        lines[..place].iter().rev().take_while(|line| line.starts_with("#[") || line.starts_with("///"));
    let attributes: Vec<&str> = above.copied().collect();
    attributes.contains(&"#[test]") && !attributes.iter().any(|line| line.starts_with("#[ignore"))
}

#[test]
fn a_helper_a_test_that_is_not_run_and_a_name_that_is_not_there_are_no_tests() {
    let file = "fn helper() {}\n/// So.\n#[test]\nfn one() {}\n#[test]\n#[ignore = \"long\"]\nfn two() {}\n";
    assert!(is_test(file, "one"));
    for name in ["helper", "two", "three", "on", ""] {
        assert!(!is_test(file, name), "{name}");
    }
}

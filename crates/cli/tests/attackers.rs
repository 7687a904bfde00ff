//! `docs/concepts/attackers.md` says what an attacker can and cannot do, each sentence with its test: the tests exist.

use std::collections::BTreeSet;
use std::fs;
use testkit::{files, repository};

#[test]
fn every_sentence_about_attackers_has_a_test_that_exists() {
    let page = fs::read_to_string(repository().join("docs/concepts/attackers.md")).unwrap();
    let sources = files(&repository().join("crates"), "rs");
    let code: String = sources.iter().map(|path| fs::read_to_string(path).unwrap()).collect();
    let quoted = page.split('`').skip(1).step_by(2);
    let names: BTreeSet<&str> = quoted
        .filter(|name| {
            name.matches('_').count() >= 3
                && name
                    .bytes()
                    .all(|letter| letter == b'_' || letter.is_ascii_lowercase() || letter.is_ascii_digit())
        })
        .collect();
    assert!(names.len() > 30, "{names:?}");
    let missing: Vec<&&str> = names.iter().filter(|name| !code.contains(&format!("fn {name}("))).collect();
    assert!(missing.is_empty(), "no such tests: {missing:?}");
    for line in page.lines().filter(|line| line.starts_with("| ") && line.contains("cannot")) {
        assert!(line.contains('`'), "no test: {line}");
    }
}

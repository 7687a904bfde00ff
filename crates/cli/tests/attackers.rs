//! `docs/concepts/attackers.md` says what an attacker can and cannot do, each sentence with its test: the tests exist.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The text of all source files below `folder`.
fn sources(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}

#[test]
fn every_sentence_about_attackers_has_a_test_that_exists() {
    let page = fs::read_to_string(root().join("docs/concepts/attackers.md")).unwrap();
    let mut code = String::new();
    sources(&root().join("crates"), &mut code);
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

//! Licences and versions of the libraries in the program, held against `deny.toml`.
//!
//! `cargo deny check` holds the same file and more. This needs cargo alone, without a network.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::process::Command;
use testkit::repository;

use serde_json::Value;
use toml::Table;

fn deny() -> Table {
    fs::read_to_string(repository().join("deny.toml")).expect("deny.toml").parse().expect("TOML")
}

/// The strings at `[table] key`.
fn listed(deny: &Table, table: &str, key: &str) -> Vec<toml::Value> {
    deny[table][key].as_array().expect("a list").clone()
}

/// The packages that are compiled on Linux, tests and build scripts included.
fn packages() -> Vec<Value> {
    let options = ["--format-version", "1", "--offline", "--locked"];
    let target = ["--filter-platform", "x86_64-unknown-linux-gnu"];
    let asked = Command::new(env!("CARGO"))
        .arg("metadata")
        .args(options)
        .args(target)
        .current_dir(repository())
        .output()
        .expect("cargo runs");
    assert!(asked.status.success(), "{}", String::from_utf8_lossy(&asked.stderr));
    let mut metadata: Value = serde_json::from_slice(&asked.stdout).expect("JSON");
    let nodes = metadata["resolve"]["nodes"].as_array().expect("the graph");
    let used: BTreeSet<String> = nodes.iter().map(|node| node["id"].to_string()).collect();
    let all = metadata["packages"].as_array_mut().expect("the packages");
    all.retain(|package| used.contains(&package["id"].to_string()));
    all.clone()
}

/// Whether a licence expression is met by licences that are allowed. `AND` binds before `OR`, as in SPDX.
fn is_met(expression: &str, allowed: &BTreeSet<String>) -> bool {
    let expression = expression.replace('/', " OR ");
    if let Some((inside, rest)) = expression.strip_prefix('(').and_then(|rest| rest.split_once(") AND ")) {
        return is_met(inside, allowed) && is_met(rest, allowed);
    }
    let all = |part: &str| part.split(" AND ").all(|licence| allowed.contains(licence.trim()));
    expression.split(" OR ").any(all)
}

#[test]
fn every_licence_is_one_that_deny_toml_allows() {
    let allowed = listed(&deny(), "licenses", "allow");
    let allowed: BTreeSet<String> =
        allowed.iter().map(|licence| licence.as_str().expect("a string").into()).collect();
    let refused = packages().into_iter().filter_map(|package| {
        let licence = package["license"].as_str().unwrap_or("none");
        (!is_met(licence, &allowed)).then(|| format!("{} {}", package["name"], licence))
    });
    let refused: Vec<String> = refused.collect();
    assert!(refused.is_empty(), "{}", refused.join("\n"));
}

#[test]
fn expressions_of_licences_are_read() {
    let allowed = BTreeSet::from(["MIT".to_owned(), "Unicode-3.0".to_owned()]);
    for met in ["MIT", "GPL-3.0 OR MIT", "Apache-2.0/MIT", "(MIT OR Apache-2.0) AND Unicode-3.0"] {
        assert!(is_met(met, &allowed), "{met}");
    }
    for refused in ["GPL-3.0", "MIT AND GPL-3.0", "(MIT OR Apache-2.0) AND ISC", "none"] {
        assert!(!is_met(refused, &allowed), "{refused}");
    }
}

#[test]
fn a_library_has_one_version_unless_deny_toml_says_why() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        let of = |key: &str| package[key].as_str().expect("a string").to_owned();
        versions.entry(of("name")).or_default().insert(of("version"));
    }
    let mut skipped = BTreeSet::new();
    for skip in listed(&deny(), "bans", "skip") {
        let (name, version) =
            skip["crate"].as_str().expect("name@version").split_once('@').expect("a version");
        assert!(
            versions.get(name).is_some_and(|found| found.len() > 1 && found.contains(version)),
            "deny.toml skips {name} {version}, which is not one of several"
        );
        skipped.insert((name.to_owned(), version.to_owned()));
    }
    for (name, mut found) in versions {
        found.retain(|version| !skipped.contains(&(name.clone(), version.clone())));
        assert!(found.len() <= 1, "{name} has several versions: {found:?}");
    }
}

#[test]
fn every_library_is_from_crates_io_or_from_here() {
    for package in packages() {
        let source = package["source"].as_str().unwrap_or("here");
        let known = source == "here" || source == "registry+https://github.com/rust-lang/crates.io-index";
        assert!(known, "{} is from {source}", package["name"]);
    }
}

#[test]
fn without_the_feature_kernel_nothing_depends_on_a_room_that_needs_linux() {
    let linux = ["emu", "host", "live", "probe", "transfer"].map(|room| format!("tightlink-{room}"));
    for package in ["tightlink-model", "tightlink-sim", "tightlink-lab", "tightlink-report", "tightlink"] {
        let options =
            ["--edges", "normal", "--no-default-features", "--prefix", "none", "--offline", "--locked"];
        let tree = Command::new(env!("CARGO"))
            .args(["tree", "--package", package])
            .args(options)
            .current_dir(repository())
            .output()
            .expect("cargo runs");
        assert!(tree.status.success(), "{}", String::from_utf8_lossy(&tree.stderr));
        let text = String::from_utf8_lossy(&tree.stdout);
        let names: BTreeSet<&str> = text.lines().filter_map(|line| line.split(' ').next()).collect();
        assert!(names.contains("tightlink-units"), "{text}");
        for name in linux.iter().map(String::as_str).chain(["nix", "rustls", "clap"]) {
            assert!(!names.contains(name), "{package} without features depends on {name}");
        }
    }
}

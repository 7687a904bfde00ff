//! The version and the commit, which `--version`, manifests and pages name.

use crate::place::Place;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;
use testkit::repository;

/// Returns the version and the commit that the program prints.
fn said(place: &Place) -> (String, String) {
    let printed = place.run(&["--version"]).well().out;
    let (version, commit) =
        printed.trim().strip_prefix("tightlink ").and_then(|rest| rest.split_once(' ')).expect("two parts");
    let commit = commit.strip_prefix('(').and_then(|rest| rest.strip_suffix(')')).expect("brackets");
    (version.to_owned(), commit.to_owned())
}

/// Runs git in `folder`, whatever the machine's own settings are.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let mut command = Command::new("git");
    command
        .arg("-C")
        .arg(folder)
        .args(["-c", "user.name=a", "-c", "user.email=a@example.org"])
        .args(arguments);
    let ran = command.output().expect("git runs");
    assert!(ran.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text").trim().to_owned()
}

#[test]
fn version_names_the_commit_that_the_build_was_given() {
    assert_eq!(said(&Place::new()), (env!("CARGO_PKG_VERSION").into(), env!("TIGHTLINK_COMMIT").into()));
}

#[test]
fn manifest_and_page_name_version_and_commit_and_the_hash_does_not() {
    let place = Place::small();
    let (version, commit) = said(&place);
    place.run(&["compare", "small.toml", "--engines", "sim", "--report", "page.html"]).well();
    let page = fs::read_to_string(place.path().join("page.html")).unwrap();
    assert_eq!(page.matches(&format!("tightlink {version} ({commit})")).count(), 2, "head and foot");

    let summary = place.run(&["run", "small.toml", "--json"]).well().summaries().remove(0);
    let folder = place.path().join("results").join(summary["scenario_hash"].as_str().unwrap());
    let manifest: Value = serde_json::from_slice(&fs::read(folder.join("manifest.json")).unwrap()).unwrap();
    assert_eq!((&manifest["version"], &manifest["commit"]), (&version.into(), &commit.clone().into()));
    let kept = fs::read_to_string(folder.join("sim/summary.json")).unwrap();
    assert!(!kept.contains(&commit), "a result is the same at each commit");
}

/// Returns the lines that the build script prints, if `TIGHTLINK_COMMIT` has this value.
fn built(script: &Path, commit: Option<&str>) -> String {
    let mut command = Command::new(script);
    match commit {
        Some(commit) => command.env("TIGHTLINK_COMMIT", commit),
        None => command.env_remove("TIGHTLINK_COMMIT"),
    };
    let ran = command.output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    String::from_utf8(ran.stdout).expect("text")
}

#[test]
fn the_build_takes_the_commit_from_the_environment_and_watches_no_file() {
    let place = Place::new();
    let script = place.path().join("script");
    let compiled = Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .args([&script, &repository().join("crates/cli/build.rs")])
        .status();
    assert!(compiled.expect("rustc runs").success());
    for (value, commit) in [
        (Some("0123456789ab-dirty"), "0123456789ab-dirty"),
        (Some("0.3.0~rc1+debian"), "0.3.0~rc1+debian"),
        (Some(""), "unknown"),
        (None, "unknown"),
    ] {
        let lines = built(&script, value);
        assert!(lines.contains(&format!("cargo::rustc-env=TIGHTLINK_COMMIT={commit}\n")), "{lines}");
        assert!(!lines.contains("cargo::error") && !lines.contains("rerun-if-changed"), "{lines}");
    }
    for bad in ["a b", "<b>", "\x1b[2J", "a\ncargo::rustc-flags=-l x", &"a".repeat(61)] {
        let lines = built(&script, Some(bad));
        assert!(lines.contains("cargo::error=TIGHTLINK_COMMIT: not a commit"), "{lines}");
        assert!(!lines.lines().any(|line| line.starts_with("cargo::rustc-flags")), "{lines}");
    }
}

#[test]
fn the_script_finds_the_commit_and_if_sources_differ_from_it() {
    let place = Place::new();
    let root = place.path().join("sources");
    fs::create_dir_all(root.join("crates/cli/src")).unwrap();
    fs::create_dir_all(root.join("scripts")).unwrap();
    fs::copy(repository().join("scripts/commit"), root.join("scripts/commit")).unwrap();
    let found = || {
        let ran = Command::new(root.join("scripts/commit")).output().expect("it runs");
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        String::from_utf8(ran.stdout).expect("text").trim().to_owned()
    };
    fs::write(root.join("crates/cli/src/lib.rs"), "").unwrap();
    fs::write(root.join("README.md"), "").unwrap();
    assert_eq!(found(), "unknown", "without git's folder");
    git(place.path(), &["init", "--quiet"]);
    git(place.path(), &["commit", "--quiet", "--allow-empty", "-m", "a"]);
    assert_eq!(found(), "unknown", "in a repository of something else");

    git(&root, &["init", "--quiet"]);
    assert_eq!(found(), "unknown", "before the first commit");
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "-m", "a"]);
    let head = git(&root, &["rev-parse", "--short=12", "HEAD"]);
    assert_eq!(found(), head);
    fs::write(root.join("README.md"), "other").unwrap();
    assert_eq!(found(), head, "the program does not have it");
    fs::create_dir_all(root.join("crates/cli/src/command")).unwrap();
    fs::write(root.join("crates/cli/src/command/new.rs"), "").unwrap();
    assert_eq!(found(), format!("{head}-dirty"), "a file that git does not know");
    fs::remove_file(root.join("crates/cli/src/command/new.rs")).unwrap();
    fs::write(root.join("crates/cli/src/lib.rs"), "other").unwrap();
    assert_eq!(found(), format!("{head}-dirty"));
    git(&root, &["commit", "--quiet", "-a", "-m", "b"]);
    let next = found();
    assert!(next != head && !next.ends_with("-dirty"), "{next}");
}

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
fn version_names_the_commit_that_is_checked_out() {
    let (version, commit) = said(&Place::new());
    assert_eq!(version, env!("CARGO_PKG_VERSION"));
    if repository().join(".git").exists() {
        let commit = commit.strip_suffix("-dirty").unwrap_or(&commit);
        let head = git(&repository(), &["rev-parse", "HEAD"]);
        assert!(commit.len() >= 12 && head.starts_with(commit), "{commit} is not the beginning of {head}");
    } else {
        assert_eq!(commit, "unknown");
    }
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

/// Returns the commit that the build script finds for a crate in `root`, and the paths that cargo shall watch.
fn found(script: &Path, root: &Path) -> (String, Vec<String>) {
    let ran =
        Command::new(script).env("CARGO_MANIFEST_DIR", root.join("crates/cli")).output().expect("it runs");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let lines = String::from_utf8(ran.stdout).expect("text");
    let all =
        |mark: &str| lines.lines().filter_map(|line| line.strip_prefix(mark).map(str::to_owned)).collect();
    let mut commits: Vec<String> = all("cargo::rustc-env=TIGHTLINK_COMMIT=");
    assert_eq!(commits.len(), 1, "{lines}");
    (commits.remove(0), all("cargo::rerun-if-changed="))
}

#[test]
fn the_build_finds_the_commit_and_if_sources_differ_from_it() {
    let place = Place::new();
    let script = place.path().join("script");
    let compiled = Command::new("rustc")
        .args(["--edition", "2024", "-o"])
        .args([&script, &repository().join("crates/cli/build.rs")])
        .status();
    assert!(compiled.expect("rustc runs").success());
    let root = place.path().join("sources");
    fs::create_dir_all(root.join("crates/cli/src")).unwrap();
    fs::write(root.join("crates/cli/src/lib.rs"), "").unwrap();
    fs::write(root.join("README.md"), "").unwrap();
    assert_eq!(found(&script, &root).0, "unknown", "without git's folder");
    git(place.path(), &["init", "--quiet"]);
    git(place.path(), &["commit", "--quiet", "--allow-empty", "-m", "a"]);
    assert_eq!(found(&script, &root).0, "unknown", "in a repository of something else");

    git(&root, &["init", "--quiet"]);
    assert_eq!(found(&script, &root).0, "unknown", "before the first commit");
    git(&root, &["add", "."]);
    git(&root, &["commit", "--quiet", "-m", "a"]);
    let head = git(&root, &["rev-parse", "--short=12", "HEAD"]);
    let (commit, watched) = found(&script, &root);
    assert_eq!(commit, head);
    // Cargo runs the script at each build if one of the files is missing.
    assert!(watched.iter().all(|path| Path::new(path).exists()), "{watched:?}");
    for name in [".git/HEAD", ".git/logs/HEAD", "crates/cli/src"] {
        assert!(watched.iter().any(|path| path.ends_with(name)), "{name} is not among {watched:?}");
    }
    fs::write(root.join("README.md"), "other").unwrap();
    assert_eq!(found(&script, &root).0, head, "the program does not have it");
    fs::write(root.join("crates/cli/src/new.rs"), "").unwrap();
    assert_eq!(found(&script, &root).0, format!("{head}-dirty"), "a file that git does not know");
    fs::remove_file(root.join("crates/cli/src/new.rs")).unwrap();
    fs::write(root.join("crates/cli/src/lib.rs"), "other").unwrap();
    assert_eq!(found(&script, &root).0, format!("{head}-dirty"));
    git(&root, &["commit", "--quiet", "-a", "-m", "b"]);
    let next = found(&script, &root).0;
    assert!(next != head && !next.ends_with("-dirty"), "{next}");
}

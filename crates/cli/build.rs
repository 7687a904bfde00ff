//! The commit of the sources, which `--version`, manifests and pages name. Only this crate has it, so that a commit
//! leaves the crates below it as they are.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The files and folders that the program and the libraries are compiled from, relative to the repository. `crates`
/// is listed one by one, because a change of a test leaves the program as it is.
const SOURCES: [&str; 4] = ["Cargo.toml", "Cargo.lock", "scenarios", "tests/claims"];
/// The parts of a crate that are compiled.
const PARTS: [&str; 5] = ["src", "assets", "build", "build.rs", "Cargo.toml"];

fn main() -> io::Result<()> {
    // env! would keep the folder in which this script was compiled.
    let folder = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("run by cargo"))?;
    let root = Path::new(&folder).join("../..").canonicalize()?;
    let mut sources: Vec<PathBuf> = SOURCES.iter().map(|source| root.join(source)).collect();
    for krate in root.join("crates").read_dir()? {
        let krate = krate?.path();
        sources.extend(PARTS.iter().map(|part| krate.join(part)));
    }
    // Cargo runs this script each time if one of the paths does not exist.
    sources.retain(|source| source.exists());
    sources.sort();
    // The file of the branch changes with each commit, and so does the log, which a packed branch has, too.
    let branch = git(&root, &["symbolic-ref", "HEAD"]).unwrap_or_default();
    let moved = ["HEAD", "logs/HEAD", &branch].map(|name| git(&root, &["rev-parse", "--git-path", name]));
    let moved = moved.into_iter().flatten().map(|path| root.join(path)).filter(|path| path.is_file());
    for path in sources.iter().cloned().chain(moved) {
        println!("cargo::rerun-if-changed={}", path.display());
    }
    println!(
        "cargo::rustc-env=TIGHTLINK_COMMIT={}",
        commit(&root, &sources).unwrap_or_else(|| "unknown".into())
    );
    Ok(())
}

/// Returns the commit, with `-dirty` behind it if the sources differ from it. Without git's folder, as in an archive
/// of the sources, the commit is not known.
fn commit(root: &Path, sources: &[PathBuf]) -> Option<String> {
    let commit = git(root, &["rev-parse", "--short=12", "HEAD"])?;
    let sources = sources.iter().map(|source| source.to_str()).collect::<Option<Vec<_>>>()?;
    let changed = git(root, &[&["status", "--porcelain", "--"], &sources[..]].concat())?;
    Some(if changed.is_empty() { commit } else { commit + "-dirty" })
}

/// Returns the output of git for the repository at `root` exactly: one above it holds other sources.
fn git(root: &Path, arguments: &[&str]) -> Option<String> {
    let above = root.parent().unwrap_or(root);
    let ran = Command::new("git")
        .arg("-C")
        .arg(root)
        .args(arguments)
        .env("GIT_CEILING_DIRECTORIES", above)
        .env("GIT_OPTIONAL_LOCKS", "0")
        .output()
        .ok()?;
    let output = String::from_utf8(ran.stdout).ok()?;
    ran.status.success().then(|| output.trim().to_owned())
}

//! The commit of the sources, which `--version`, manifests and pages name. It is the value of `TIGHTLINK_COMMIT`, which
//! make sets by `scripts/commit` for programs and results that are handed on. Cargo alone leaves the commit unknown, so
//! that nothing is compiled anew only because of a commit.

use std::env;

/// The variable with the commit, for this script and for the crate.
const NAME: &str = "TIGHTLINK_COMMIT";

fn main() {
    println!("cargo::rerun-if-env-changed={NAME}");
    let commit = env::var(NAME).ok().filter(|commit| !commit.is_empty()).unwrap_or_else(|| "unknown".into());
    // The value goes to pages, to JSON and to the terminal as it is.
    if commit.len() > 60
        || !commit.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-.+~".contains(&byte))
    {
        println!(
            "cargo::error={NAME}: not a commit: {commit:?}; accepted: up to 60 letters, digits, -, ., + and ~; \
             help: take the output of scripts/commit"
        );
    }
    println!("cargo::rustc-env={NAME}={}", commit.replace('\n', ""));
}

//! A hash of the sources that determine a run's numbers: every crate that an engine uses, the folder `run` of this one,
//! and the libraries' versions. A kept run stays valid when claims, figures, reports or commands change, and when a
//! comment is reworded anywhere.
//!
//! The hash is made when the program is compiled, so that a program that loads this crate as a library has it, too.

#[path = "build/tokens.rs"]
mod tokens;

use std::collections::hash_map::DefaultHasher;
use std::env;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

fn main() -> io::Result<()> {
    // env! would keep the folder in which this script was compiled.
    let folder = env::var_os("CARGO_MANIFEST_DIR").ok_or_else(|| io::Error::other("run by cargo"))?;
    let root = Path::new(&folder).join("../..");
    let mut read = vec![root.join("Cargo.lock")];
    for entry in fs::read_dir(root.join("crates"))? {
        let krate = entry?.path();
        // No engine uses these crates.
        if !["cli", "py", "report", "transfer"].iter().any(|name| krate.ends_with(name)) {
            let sources = krate.join(if krate.ends_with("lab") { "src/run" } else { "src" });
            println!("cargo::rerun-if-changed={}", sources.display());
            files(&sources, &mut read)?;
        }
    }
    println!("cargo::rerun-if-changed={}", read[0].display());
    // The program embeds these folders; otherwise new files in them would go unnoticed.
    for carried in ["scenarios", "tests/claims"] {
        println!("cargo::rerun-if-changed={}", root.join(carried).display());
    }
    read.sort();
    let mut hash = DefaultHasher::new();
    for file in &read {
        let content = fs::read(file)?;
        match std::str::from_utf8(&content) {
            Ok(source) if file.extension().is_some_and(|extension| extension == "rs") => {
                tokens::without_comments(source).hash(&mut hash);
            }
            _ => content.hash(&mut hash),
        }
    }
    println!("cargo::rustc-env=TIGHTLINK_BUILD={:016x}", hash.finish());
    Ok(())
}

/// Adds every file below `folder`.
fn files(folder: &Path, into: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() { files(&path, into)? } else { into.push(path) }
    }
    Ok(())
}

//! Runs the commands of a case and judges their output.

use crate::case::{Ask, Case, Expect};
use crate::number::{self, Answer};
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::sync::{PoisonError, RwLock};

/// Seconds after which a command is ended.
const PATIENCE: &str = "600";
/// A busy machine makes events of the kernel late. What is right has to hold in one try.
const TRIES: usize = 3;
/// Held alone by a case that needs the kernel, and together by the others.
static MACHINE: RwLock<()> = RwLock::new(());

/// The result of a case: a line for each value, and true if one was wrong.
#[derive(Debug)]
pub struct Judged {
    pub lines: Vec<String>,
    pub failed: bool,
}

/// Runs all that `case` asks.
pub fn judge(case: &Case, folder: &Path) -> Result<Judged, String> {
    if case.needs.is_empty() {
        let _together = MACHINE.read().unwrap_or_else(PoisonError::into_inner);
        return once(case, folder);
    }
    let _alone = MACHINE.write().unwrap_or_else(PoisonError::into_inner);
    let mut judged = once(case, folder)?;
    for _ in 1..TRIES {
        if !judged.failed {
            break;
        }
        judged = once(case, folder)?;
    }
    Ok(judged)
}

fn once(case: &Case, folder: &Path) -> Result<Judged, String> {
    let place = tempfile::tempdir().map_err(|error| format!("a temporary folder: {error}"))?;
    let place = place.path();
    if let Some(scenario) = &case.scenario {
        fs::write(place.join("case.toml"), scenario).map_err(|error| format!("case.toml: {error}"))?;
    }
    for file in &case.files {
        fs::copy(folder.join("files").join(file), place.join(file))
            .map_err(|error| format!("files/{file}: {error}"))?;
    }
    if let Some(line) = &case.make {
        let made = run(place, line)?;
        if !made.status.success() {
            return Err(format!("{line}: {}", String::from_utf8_lossy(&made.stderr)));
        }
    }
    let mut judged = Judged { lines: Vec::new(), failed: false };
    for ask in &case.ask {
        if ask.each.is_empty() {
            judged.ask(place, ask, &ask.command)?;
        }
        for set in &ask.each {
            judged.ask(place, ask, &format!("{} --set '{set}'", ask.command))?;
        }
    }
    Ok(judged)
}

/// Runs `line` in `place`, with the program of this build first in the path.
fn run(place: &Path, line: &str) -> Result<Output, String> {
    let program = Path::new(env!("CARGO_BIN_EXE_tightlink"));
    let mut path = OsString::from(program.parent().unwrap_or(Path::new("/")));
    path.push(":");
    path.push(std::env::var_os("PATH").unwrap_or_default());
    let mut command = Command::new("timeout");
    command.args(["-k", "5", PATIENCE, "sh", "-c", line]);
    command.current_dir(place).stdin(Stdio::null()).env("PATH", path).env("TIGHTLINK", program);
    // The tests may run under sudo, which must not decide as whom programs run.
    command.env_remove("SUDO_UID").env_remove("SUDO_GID");
    command.output().map_err(|error| format!("{line}: {error}"))
}

impl Judged {
    fn ask(&mut self, place: &Path, ask: &Ask, line: &str) -> Result<(), String> {
        let output = run(place, line)?;
        let out = String::from_utf8_lossy(&output.stdout);
        let all = format!("{out}\n{}", String::from_utf8_lossy(&output.stderr));
        self.lines.push(format!("$ {line}"));
        let code = output.status.code();
        let before = self.failed;
        let ended = code == Some(ask.exit);
        self.failed = false;
        self.line(ended, format_args!("exit code {code:?}, right {}", ask.exit));
        for text in &ask.has {
            self.line(all.contains(text), format_args!("has {text:?}"));
        }
        if !ask.has_one_of.is_empty() {
            let some = ask.has_one_of.iter().any(|text| all.contains(text));
            self.line(some, format_args!("has one of {:?}", ask.has_one_of));
        }
        for text in &ask.lacks {
            self.line(!all.contains(text), format_args!("lacks {text:?}"));
        }
        let answers = number::answers(&out);
        for expect in &ask.expect {
            self.expect(expect, &answers, &out);
        }
        let texts = ask.has.len() + ask.has_one_of.len() + ask.lacks.len() > 0;
        if self.failed && (texts || !ended) {
            self.lines.extend(all.lines().take(30).map(|line| format!("    | {line:.200}")));
        }
        self.failed |= before;
        Ok(())
    }

    fn line(&mut self, holds: bool, words: std::fmt::Arguments<'_>) {
        self.lines.push(format!("  {} {words}", if holds { "ok   " } else { "WRONG" }));
        self.failed |= !holds;
    }

    fn expect(&mut self, expect: &Expect, answers: &[Answer], out: &str) {
        let engine = expect.engine.as_deref();
        let (name, wanted) = (expect.name(), expect.wanted());
        let who = engine.unwrap_or("");
        if let Some(column) = &expect.column {
            let found = number::column(out, column, engine);
            let holds = if found.is_empty() {
                expect.none || expect.or_starred
            } else {
                found.iter().all(|value| expect.holds(*value))
            };
            return self.line(holds, format_args!("{who} {name}: found {found:?}, right {wanted}"));
        }
        let asked: Vec<&Answer> =
            answers.iter().filter(|answer| engine.is_none() || answer.engine.as_deref() == engine).collect();
        if asked.is_empty() {
            return self.line(expect.or_starred, format_args!("{who} {name}: no answer, right {wanted}"));
        }
        for answer in asked {
            if expect.or_starred && answer.starred() {
                self.line(true, format_args!("{who} {name}: starred, right {wanted}"));
                continue;
            }
            let found = answer.numbers(name);
            let holds = if found.is_empty() {
                expect.none || expect.or_starred
            } else {
                found.iter().all(|value| expect.holds(*value))
            };
            self.line(holds, format_args!("{who} {name}: found {found:?}, right {wanted}"));
        }
    }
}

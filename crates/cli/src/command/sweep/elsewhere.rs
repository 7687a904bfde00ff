//! `tightlink sweep --on`: a cluster fills the store of kept points, by the Python package of the same build.
//!
//! Only Python can talk to a Dask cluster. So this program starts `python3 -m tightlink fill`, sends it one line of
//! JSON, and gets one back (`python/tightlink/__main__.py`). The ordinary sweep then finds the points, and makes the
//! table.

use crate::interrupt::Interrupt;
use crate::problem::Problem;
use lab::run::BUILD;
use lab::run::record::Engine;
use scenario::Document;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::path::{self, Path};
use std::process::{Child, Command, Stdio};
use units::Complaint;

/// The variable that names the Python with the package, and the Python without it.
const PYTHON: (&str, &str) = ("TIGHTLINK_PYTHON", "python3");

/// The answer of the package.
#[derive(Deserialize)]
#[serde(untagged)]
enum Answer {
    Filled { failed: Vec<(usize, String)> },
    Ended { error: String, code: u8 },
}

/// Lets the cluster `on` compute the points that the folder `out` lacks. Returns those that failed, by their numbers,
/// each with the reason.
pub(crate) fn fill(
    document: &Document,
    engine: Engine,
    out: &Path,
    on: &str,
) -> Result<BTreeMap<usize, String>, Problem> {
    let python = env::var_os(PYTHON.0).filter(|name| !name.is_empty()).unwrap_or_else(|| PYTHON.1.into());
    same_build(&python)?;
    let broken = |error: io::Error| Problem::environment(Complaint::new(shown(&python), error.to_string()));
    let name = path::absolute(document.name()).map_err(broken)?;
    let asked = json!({
        "text": document.text(),
        "name": name,
        "settings": document.overrides(),
        "engine": engine.to_string(),
        "out": out,
        "on": on,
    });
    let mut child = package(&python, "fill").stdin(Stdio::piped()).spawn().map_err(broken)?;
    // Ctrl-C does not end this program meanwhile. It reaches the package, which then prints the number of points that
    // are kept.
    let interrupt = Interrupt::attend();
    let answer = ask(&mut child, &asked.to_string()).map_err(broken)?;
    let status = child.wait().map_err(broken)?;
    drop(interrupt);
    match serde_json::from_str(&answer) {
        Ok(Answer::Filled { failed }) => Ok(failed.into_iter().collect()),
        Ok(Answer::Ended { error, code }) => Err(Problem { message: error, code }),
        Err(_) => {
            let found = format!("it gave no answer and ended with {status}");
            Err(Problem::environment(Complaint::new(shown(&python), found)))
        }
    }
}

/// Sends the question, and returns the answer. Standard input stays open meanwhile, because the package ends when it
/// closes.
fn ask(child: &mut Child, question: &str) -> io::Result<String> {
    let mut answer = String::new();
    let asking = child.stdin.take();
    if let Some(mut asking) = asking.as_ref() {
        // Writing fails only if the package has ended. It has then written the reason.
        let _ = writeln!(asking, "{question}");
    }
    if let Some(answering) = &mut child.stdout {
        answering.read_to_string(&mut answer)?;
    }
    drop(asking);
    Ok(answer)
}

/// Checks that `python` has the package of this program's build.
fn same_build(python: &OsString) -> Result<(), Problem> {
    let version = env!("CARGO_PKG_VERSION");
    let help = format!(
        "pip install --force-reinstall 'tightlink-{version}-….whl[dask]', the wheel of this program (make wheel), or \
         name a Python that has it: {}=PATH",
        PYTHON.0
    );
    let refused = |found: String| {
        let complaint = Complaint::new(shown(python), found);
        Problem::environment(complaint.accepted(format!("the package tightlink {BUILD}")).help(help.clone()))
    };
    let output = package(python, "--version").stdin(Stdio::null()).stderr(Stdio::piped()).output();
    let output = output.map_err(|error| refused(error.to_string()))?;
    let told = String::from_utf8_lossy(&output.stdout);
    match told.trim().strip_prefix("tightlink ") {
        Some(BUILD) if output.status.success() => Ok(()),
        Some(other) if output.status.success() => Err(refused(format!("another build, tightlink {other}"))),
        _ => {
            let said = String::from_utf8_lossy(&output.stderr);
            let last = said.trim().lines().next_back().unwrap_or("it says nothing").to_owned();
            Err(refused(format!("the package tightlink does not start: {last}")))
        }
    }
}

fn package(python: &OsString, command: &str) -> Command {
    let mut package = Command::new(python);
    package.args(["-m", "tightlink", command]).stdout(Stdio::piped());
    package
}

fn shown(python: &OsString) -> String {
    format!("{} -m tightlink", python.display())
}

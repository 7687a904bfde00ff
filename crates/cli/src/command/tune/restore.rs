//! `tightlink tune --restore` lifts the limits that a killed `tightlink tune` has left.

use crate::args::TuneOptions;
use crate::print;
use crate::problem::{ENVIRONMENT, Problem};
use live::tune::{ReturnedConnection, WindowLimits, restore};
use serde_json::{Value, json};
use std::process::ExitCode;

pub(super) fn run(pid: u32, options: &TuneOptions) -> Result<ExitCode, Problem> {
    let connections = restore(pid, options.port)?;
    for connection in &connections {
        if options.json {
            print::json(&as_json(connection))?;
        } else {
            print::data(connection)?;
            print::data(format_args!("  {}", in_words(connection)))?;
        }
    }
    if connections.is_empty() {
        print::talk("no open connection has a window that tightlink limited");
    }
    let failed = connections.iter().any(|connection| connection.limits().is_err());
    Ok(if failed { ExitCode::from(ENVIRONMENT) } else { ExitCode::SUCCESS })
}

fn in_words(connection: &ReturnedConnection) -> String {
    let (before, now) = match connection.limits() {
        Ok(limits) => limits,
        Err(error) => return format!("could not be given back: {}", error.complaint().head()),
    };
    let mut words = vec![format!("window limit {} lifted", before.clamp)];
    if now.buffer != before.buffer {
        words.push(format!("receive buffer {}, it was {}", now.buffer, before.buffer));
    }
    if now.autotuned == Some(true) {
        let again = if before.autotuned == Some(true) { "was on" } else { "on again" };
        words.push(format!("autotuning {again}"));
    }
    words.extend(connection.left());
    format!("given back to the kernel: {}", words.join("; "))
}

fn as_json(connection: &ReturnedConnection) -> Value {
    let ((local, peer), (pid, program)) = (connection.ends(), connection.process());
    let limits = |limits: WindowLimits| {
        json!({
            "window_clamp_bytes": limits.clamp.get(),
            "buffer_bytes": limits.buffer.get(),
            "autotuned": limits.autotuned,
        })
    };
    let (before, now, left) = match connection.limits() {
        Ok((before, now)) => (limits(before), limits(now), connection.left().into_iter().collect()),
        Err(error) => (Value::Null, Value::Null, vec![error.complaint().head().to_string()]),
    };
    json!({
        "local": local.to_string(),
        "peer": peer.map(|peer| peer.to_string()),
        "pid": pid,
        "program": program,
        "before": before,
        "now": now,
        "given_back": connection.limits().is_ok(),
        "left": left,
    })
}

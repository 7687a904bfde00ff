//! `tightlink emulate`: any program behind an emulated link.

mod link;

use crate::args::EmulateOptions;
use crate::problem::Problem;
use crate::{print, source};
use emu::User;
use emu::shell::{Shell, run as run_shell};
use lab::run::emulated::{Emulated, Way, base_rtt, path};
use lab::run::resolve::resolve;
use scenario::Faults;
use std::process::ExitCode;

pub(crate) fn run(options: EmulateOptions) -> Result<ExitCode, Problem> {
    let document = match &options.file {
        Some(file) => source::document(file, &options.changes)?,
        None => link::document(&options)?,
    };
    let resolved = resolve(&document)?;
    let path = path(&resolved, options.one_way)
        .map_err(|misfit| Faults::from(document.complain(misfit.complaint)))?;
    path.check()?;
    let user = if options.as_root { None } else { User::behind_sudo()? };
    emu::prepare()?;
    if let Some(user) = &user {
        let (name, id) = (user.name(), user.id());
        print::talk(format_args!(
            "note: the command runs as {name} (uid {id}), who called sudo; --as-root runs it as root"
        ));
    }
    let base_rtt = base_rtt(&path);
    let program = options.program.into_iter().map(Into::into).collect();
    let shell = Shell { path, command: program, server: options.server, user };
    let outcome = run_shell(shell, &|note| print::talk(format_args!("note: {note}")))?;
    let emulated = Emulated::of(&outcome.report, outcome.code, base_rtt);
    print::talk(format_args!("to the far end:   {}", line(&emulated.to_far)));
    match &emulated.from_far {
        Some(way) => print::talk(format_args!("from the far end: {}", line(way))),
        None => {
            print::talk(format_args!("from the far end: {} packets, without a limit", emulated.packets_back));
        }
    }
    for note in &emulated.notes {
        print::talk(format_args!("note: {note}"));
    }
    if options.json {
        print::json(&emulated)?;
    }
    Ok(ExitCode::from(outcome.code))
}

/// "19.2 Mbit/s (96.1 % busy), queueing delay 20.1 ms on average, 39.5 ms or less for 95 % of the time, 75 of 4060 packets
/// dropped (1.85 %)".
fn line(way: &Way) -> String {
    let delay = way.queueing_delay_s.map_or_else(String::new, |delay| {
        let (mean, p95) = (delay.mean * 1e3, delay.percentiles.p95.unwrap_or_default() * 1e3);
        format!(", queueing delay mean {mean:.1} ms, p95 {p95:.1} ms")
    });
    format!(
        "{:.2} Mbit/s ({:.1} % busy){delay}, {} of {} packets dropped ({:.2} %)",
        way.rate_bps / 1e6,
        way.utilization * 100.0,
        way.packets_dropped,
        way.packets,
        way.loss_rate * 100.0
    )
}

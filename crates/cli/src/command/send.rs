//! `tightlink send`: paths to the receiver that printed a ticket. `send/ticket.rs` finds the ticket, and `send/test.rs`
//! is `--test`.

mod test;
mod ticket;

use crate::args::SendOptions;
use crate::interrupt::print_when_interrupted;
use crate::print;
use crate::problem::{PARTIAL, Problem};
use crate::transfer_display::{TransferDisplay, bytes};
use crate::transfer_page;
use serde_json::{Value, json};
use std::path::PathBuf;
use std::process::ExitCode;
use transfer::{Clock, EntryKind, ListedEntry, Totals};
use units::{Complaint, Foreign, Rate};

pub(crate) fn run(options: &SendOptions) -> Result<ExitCode, Problem> {
    if options.limit == Some(Rate::ZERO) {
        return Err(Problem::usage(
            Complaint::new("--limit 0", "nothing would pass")
                .accepted("a rate above zero, such as 200Mbit/s"),
        ));
    }
    if let Some(load) = options.test {
        return test::run(options, load);
    }
    if options.dry_run {
        return list(&ticket::paths(options), options.json);
    }
    // Core dumps are turned off, because a dump would hold the ticket.
    let _ = nix::sys::prctl::set_dumpable(false);
    ticket::hide(options);
    let (paths, ticket) = ticket::find(options)?;
    let how = transfer::SendOptions {
        streams: options.streams.unwrap_or(0),
        control: options.control.clone(),
        limit: options.limit,
        retry: options.retry,
    };
    print_when_interrupted(
        "interrupted: data that arrived are kept there, and the same command continues".into(),
    );
    let talk = TransferDisplay::new(options.verbose);
    talk.waiting("connecting");
    let sent = transfer::send(&paths, &ticket, &how, &Clock::start(), &talk)?;
    talk.end();
    if let Some(file) = &options.report {
        transfer_page::write(file, &sent)?;
    }
    if options.json {
        print::json(&sent)?;
    } else {
        print::talk(&sent);
    }
    Ok(ExitCode::SUCCESS)
}

/// Prints what `send` would send, and its amount, for `--dry-run`.
fn list(paths: &[PathBuf], json: bool) -> Result<ExitCode, Problem> {
    let talk = TransferDisplay::new(false);
    // The changing line is removed, so that it does not appear among the lines of the list.
    talk.end();
    let mut written = Ok(());
    let totals = transfer::list(paths, &talk, &mut |listed| {
        written = if json { print::json(&as_json(&listed)) } else { print::data(line(&listed)) };
        written.is_ok()
    })?;
    written?;
    let Totals { entries, bytes: all, disk, failed } = totals;
    if json {
        print::json(
            &json!({ "entries": entries, "bytes": all, "bytes_without_holes": disk, "failed": failed }),
        )?;
    } else {
        let entries = if entries == 1 { "1 entry".into() } else { format!("{entries} entries") };
        let holes = if disk < all { format!(", {} without holes", bytes(disk)) } else { String::new() };
        print::talk(format_args!("would send {entries}, {}{holes}", bytes(all)));
    }
    if failed == 0 {
        return Ok(ExitCode::SUCCESS);
    }
    Err(Problem { message: format!("{failed} files and folders could not be read"), code: PARTIAL })
}

/// Returns the size and the name of an entry; the end of the name shows its kind.
fn line(listed: &ListedEntry<'_>) -> String {
    let name = listed.name;
    match listed.shape {
        EntryKind::File => format!("{:>8}  {name}", bytes(listed.size.get())),
        EntryKind::Folder => format!("{:>8}  {name}/", ""),
        EntryKind::Link(target) => format!("{:>8}  {name} -> {}", "", Foreign::new(target)),
    }
}

fn as_json(listed: &ListedEntry<'_>) -> Value {
    let name = listed.name.path().to_string_lossy();
    match listed.shape {
        EntryKind::File => json!({ "name": name, "kind": "file", "bytes": listed.size.get() }),
        EntryKind::Folder => json!({ "name": name, "kind": "folder" }),
        EntryKind::Link(target) => {
            json!({ "name": name, "kind": "link", "target": String::from_utf8_lossy(target) })
        }
    }
}

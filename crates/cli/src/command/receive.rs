//! `tightlink receive`: a folder, and a ticket for the sender that may write to it. `receive/test.rs` is `--test`.

mod test;

use crate::args::ReceiveOptions;
use crate::interrupt::print_when_interrupted;
use crate::print;
use crate::problem::Problem;
use crate::transfer_display::{TransferDisplay, can_ask};
use crate::transfer_page;
use serde_json::json;
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::process::ExitCode;
use transfer::{Accept, Clock, Receiver, Ticket};
use units::{Complaint, Foreign, Span};

pub(crate) fn run(options: &ReceiveOptions) -> Result<ExitCode, Problem> {
    if options.expire == Span::ZERO || options.wait == Some(Span::ZERO) {
        return Err(Problem::usage(
            Complaint::new("--expire or --wait 0s", "no sender could come in that time")
                .accepted("a time above zero, such as 2h"),
        ));
    }
    let Some(into) = &options.folder else { return test::run(options) };
    // Core dumps are turned off, because a dump would hold the ticket.
    let _ = nix::sys::prctl::set_dumpable(false);
    let how = transfer::ReceiveOptions {
        listen: options.listen,
        addresses: options.address.clone(),
        window: options.window,
        new: options.new,
        existing: options.existing.into(),
        preserve_mode: options.preserve_mode,
        outside_links: options.outside_links,
        accept: Accept { ask: can_ask() && !options.yes, all: options.yes, limit: options.accept },
        expire: options.expire,
        wait: options.wait,
        digests: options.digests.clone(),
        ..transfer::ReceiveOptions::default()
    };
    let receiver = Receiver::open(into, &how, &Clock::start())?;
    give_out(receiver.ticket(), options)?;
    if receiver.renewed() {
        print::talk("continuing an interrupted session: its ticket has expired, so this ticket is new");
    } else if receiver.resumed() {
        print::talk("continuing an interrupted session: its ticket is still valid");
    }
    let folder = Foreign::path(into);
    print_when_interrupted(format!(
        "interrupted: received data are kept in {folder}, and the same commands continue"
    ));
    let talk = TransferDisplay::new(options.verbose);
    talk.waiting("waiting for the sender: tightlink send PATH… TICKET");
    let received = receiver.run(&talk)?;
    talk.end();
    if let Some(file) = &options.report {
        transfer_page::write(file, &received)?;
    }
    if options.json {
        print::json(&received)?;
    } else {
        print::talk(&received);
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes the ticket to standard output, or to the file that the options name.
fn give_out(ticket: &Ticket, options: &ReceiveOptions) -> Result<(), Problem> {
    let Some(file) = &options.ticket_file else {
        let ticket = ticket.to_string();
        return if options.json { print::json(&json!({ "ticket": ticket })) } else { print::data(ticket) };
    };
    keep(file, &format!("{ticket}\n")).map_err(|error| {
        let found = format!("cannot write the ticket: {error}");
        let complaint = Complaint::new(Foreign::path(file).to_string(), found);
        if error.kind() == io::ErrorKind::AlreadyExists {
            Problem::usage(complaint.help("choose another file with --ticket-file, or remove it"))
        } else {
            Problem::environment(complaint)
        }
    })?;
    print::talk(format_args!("ticket: {}", Foreign::path(file)));
    if options.json { print::json(&json!({ "ticket_file": file.to_string_lossy() })) } else { Ok(()) }
}

/// Writes a new file that only this user can read. Accepts an existing file with the same content.
fn keep(file: &Path, content: &str) -> io::Result<()> {
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(file);
    match made {
        Ok(mut made) => made.write_all(content.as_bytes()).and_then(|()| made.sync_all()),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            let plain = fs::symlink_metadata(file)?.is_file();
            if plain && fs::read(file)? == content.as_bytes() { Ok(()) } else { Err(error) }
        }
        Err(error) => Err(error),
    }
}

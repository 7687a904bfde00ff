//! `tightlink send`: paths to whoever gave out a ticket.

use crate::args::SendOptions;
use crate::print;
use crate::problem::Problem;
use crate::report;
use crate::talk::Talk;
use std::io;
use std::process::ExitCode;
use transfer::{Clock, Ticket, TransferError};
use units::Rate;

pub(crate) fn run(options: &SendOptions) -> Result<ExitCode, Problem> {
    if options.limit == Some(Rate::ZERO) {
        return Err(Problem::usage(
            "--limit 0: nothing would pass\n  accepted: a rate above zero, such as 200Mbit/s",
        ));
    }
    let ticket = ticket(&options.ticket)?;
    let how = transfer::SendOptions {
        streams: options.streams,
        control: options.control.clone(),
        limit: options.limit,
        retry: options.retry,
    };
    let talk = Talk::new(false);
    talk.waiting("connecting");
    let sent = transfer::send(&options.paths, &ticket, &how, &Clock::start(), &talk)?;
    talk.end();
    if let Some(file) = &options.report {
        report::write(file, &sent)?;
    }
    if options.json {
        print::data(serde_json::to_value(&sent).expect("a summary is plain data"))?;
    } else {
        print::talk(&sent);
    }
    Ok(ExitCode::SUCCESS)
}

fn ticket(given: &str) -> Result<Ticket, Problem> {
    let mut line = String::new();
    let text = if given == "-" {
        let read = io::stdin().read_line(&mut line);
        read.map_err(|error| Problem::environment(format!("standard input: {error}")))?;
        &line
    } else {
        given
    };
    text.parse().map_err(|error| Problem::from(TransferError::Ticket(error)))
}

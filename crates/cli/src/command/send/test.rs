//! `tightlink send --test`: a test of the path to the receiver that printed a ticket.

use super::ticket;
use crate::args::{SendOptions, TestDirection};
use crate::command::diagnose::page;
use crate::command::path_test::Tested;
use crate::interrupt::print_when_interrupted;
use crate::print;
use crate::problem::Problem;
use crate::transfer_display::TransferDisplay;
use std::process::ExitCode;
use transfer::{Clock, PathTest};
use units::{Complaint, Span};

/// The shortest and the longest load.
const TIMES: [Span; 2] = [Span::from_secs(1), Span::from_secs(300)];

pub(super) fn run(options: &SendOptions, load: Span) -> Result<ExitCode, Problem> {
    if !(TIMES[0]..=TIMES[1]).contains(&load) {
        return Err(Problem::usage(
            Complaint::new(format!("--test {load}"), "the load takes too little or too much time")
                .accepted("a time from 1s to 5min, such as 10s"),
        ));
    }
    page::can_write(options.report.as_deref())?;
    // Core dumps are turned off, because a dump would hold the ticket.
    let _ = nix::sys::prctl::set_dumpable(false);
    ticket::hide(options);
    let ticket = ticket::alone(options)?;
    let test = PathTest {
        load,
        up: options.direction != TestDirection::Down,
        down: options.direction != TestDirection::Up,
        together: options.direction == TestDirection::Both,
        streams: options.streams.unwrap_or(1),
        control: options.control.clone(),
    };
    print_when_interrupted("interrupted: the receiver waits for another test".into());
    let talk = TransferDisplay::new(options.verbose);
    talk.waiting("connecting");
    let report = transfer::test_path(&ticket, &test, &Clock::start(), &talk)?;
    talk.end();
    let tested = Tested::new(&report, true);
    if let Some(file) = &options.report {
        tested.write(file)?;
    }
    if options.json {
        print::json(&tested.json())?;
    } else {
        print::data(tested.text())?;
    }
    Ok(ExitCode::SUCCESS)
}

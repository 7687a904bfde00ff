//! `tightlink receive --test`: the far end of tests of a path.

use super::give_out;
use crate::args::ReceiveOptions;
use crate::command::path_test::Tested;
use crate::interrupt::print_when_interrupted;
use crate::print;
use crate::problem::Problem;
use crate::transfer_display::TransferDisplay;
use std::process::ExitCode;
use std::sync::Mutex;
use transfer::{Clock, PathReport, PathTestOptions, PathTestReceiver};
use units::Bytes;

/// The greatest load of a test in each direction: 10 Gbit/s for five minutes.
const MOST: Bytes = Bytes::new(375_000_000_000);

pub(super) fn run(options: &ReceiveOptions) -> Result<ExitCode, Problem> {
    // Core dumps are turned off, because a dump would hold the ticket.
    let _ = nix::sys::prctl::set_dumpable(false);
    let how = PathTestOptions {
        listen: options.listen,
        addresses: options.address.clone(),
        expire: options.expire,
        wait: options.wait,
        most: options.accept.unwrap_or(MOST),
    };
    let receiver = PathTestReceiver::open(&how, &Clock::start())?;
    give_out(receiver.ticket(), options)?;
    print_when_interrupted("interrupted: the ticket is no longer valid".into());
    let talk = TransferDisplay::new(false);
    talk.waiting("waiting for a test: tightlink send --test 10s TICKET");
    let problem = Mutex::new(Ok(()));
    let take = |report: &PathReport| {
        let tested = Tested::new(report, false);
        let printed = if options.json { print::json(&tested.json()) } else { talk.show(tested.text()) };
        if let Err(error) = printed {
            *problem.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Err(error);
        }
    };
    receiver.run(&talk, &take)?;
    talk.end();
    problem.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?;
    Ok(ExitCode::SUCCESS)
}

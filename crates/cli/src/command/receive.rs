//! `tightlink receive`: a folder, and a ticket for who may put something into it.

use crate::args::ReceiveOptions;
use crate::print;
use crate::problem::Problem;
use crate::report;
use crate::talk::Talk;
use serde_json::json;
use std::process::ExitCode;
use transfer::{Clock, Receiver};

pub(crate) fn run(options: &ReceiveOptions) -> Result<ExitCode, Problem> {
    let how = transfer::ReceiveOptions {
        listen: options.listen,
        addresses: options.address.clone(),
        window: options.window,
        new: options.new,
        ..transfer::ReceiveOptions::default()
    };
    let receiver = Receiver::open(&options.folder, &how, &Clock::start())?;
    let ticket = receiver.ticket().to_string();
    if options.json {
        print::data(json!({ "ticket": ticket }))?;
    } else {
        print::data(&ticket)?;
    }
    if receiver.resumed() {
        print::talk("taking up an interrupted session: its ticket still holds");
    }
    let talk = Talk::new();
    talk.waiting("waiting for the sender: tightlink send PATH… TICKET");
    let received = receiver.run(&talk)?;
    talk.end();
    if let Some(file) = &options.report {
        report::write(file, &received)?;
    }
    if options.json {
        print::data(serde_json::to_value(&received).expect("a summary is plain data"))?;
    } else {
        print::talk(&received);
    }
    Ok(ExitCode::SUCCESS)
}

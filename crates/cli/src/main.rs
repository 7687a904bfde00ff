//! The `tightlink` command: reads arguments, calls the `lab`, prints. No domain logic lives here.
//!
//! stdout gets data, stderr gets talk. `problem.rs` has the exit codes.
//!
//! Reading order:
//! - `args.rs`: the options; `command/`: one file per command; `problem.rs`: errors and exit codes;
//! - `source.rs`: scenario files; `folder.rs`: the folder for results; `interrupt.rs`: Ctrl-C;
//! - `entry.rs`, `user_shell.rs`: the way into a path for other terminals, and a shell that says where it is;
//! - `table.rs`, `progress.rs`, `chart.rs`, `transfer_display.rs` and `print.rs`: the output.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod args;
mod chart;
mod command;
mod entry;
mod folder;
mod interrupt;
mod pictures;
mod print;
mod problem;
mod progress;
mod source;
mod table;
mod transfer_display;
mod transfer_page;
mod user_shell;

use args::Command;
use problem::Problem;
use std::process::ExitCode;

/// Large simulations are faster in large pages.
#[global_allocator]
static ALLOCATOR: host::LargePages = host::LargePages;

fn main() -> ExitCode {
    lab::run::set_commit(tightlink::COMMIT);
    let arguments = args::parse();
    if matches!(arguments.command, Command::Run(_) | Command::Sweep(_)) {
        host::keep_memory();
    }
    let result = match arguments.command {
        Command::Run(options) => command::run::run(&options),
        Command::Compare(options) => command::compare::run(&options),
        Command::Sweep(options) => command::sweep::run(&options),
        Command::Size(options) => command::size::run(&options),
        Command::Figure(options) => command::figure::run(&options),
        Command::Check(options) => command::check::run(&options),
        Command::New(options) => command::new::run(&options),
        Command::List(options) => command::list::run(&options),
        Command::Keys(options) => command::keys::run(&options),
        Command::Diagnose(options) => command::diagnose::run(&options),
        Command::Tune(options) => command::tune::run(&options),
        Command::Emulate(options) => command::emulate::run(options),
        Command::Enter(options) => command::enter::run(&options),
        Command::Receive(options) => command::receive::run(&options),
        Command::Send(options) => command::send::run(&options),
        Command::Verify(options) => command::verify::run(&options),
        Command::Completions(options) => command::completions::run(&options),
        Command::Docs(options) => command::docs::run(&options),
    };
    match result {
        Ok(code) => code,
        Err(Problem { message, code }) => {
            if !message.is_empty() {
                print::error(&message);
            }
            ExitCode::from(code)
        }
    }
}

//! `tightlink completions`: the completions of a shell, from the options.

use crate::args::{CompletionsOptions, described};
use crate::print;
use crate::problem::Problem;
use std::process::ExitCode;

pub(crate) fn run(options: &CompletionsOptions) -> Result<ExitCode, Problem> {
    let mut script = Vec::new();
    clap_complete::generate(options.shell, &mut described(), "tightlink", &mut script);
    print::text(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

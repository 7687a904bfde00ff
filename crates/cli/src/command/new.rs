//! `tightlink new`: a scenario to start from.

use crate::args::NewOptions;
use crate::print;
use crate::problem::Problem;
use lab::study::figures::{figures, presets};
use std::fs::OpenOptions;
use std::io::{ErrorKind, Write};
use std::path::Path;
use std::process::ExitCode;
use units::Complaint;

/// The preset that is written if the user names none.
const FIRST: &str = "first";

pub(crate) fn run(options: &NewOptions) -> Result<ExitCode, Problem> {
    let presets = presets()?;
    let name = options.preset.as_deref().unwrap_or(FIRST);
    if name == "list" {
        let width = presets.iter().map(|preset| preset.id.len()).max().unwrap_or(0);
        for preset in &presets {
            print::data(format_args!("  {:width$}  {}", preset.id, preset.title))?;
        }
        print::talk("or a published figure: tightlink list figures");
        return Ok(ExitCode::SUCCESS);
    }
    let known = figures()?;
    let found = presets.iter().chain(&known).find(|preset| preset.id == name).ok_or_else(|| {
        let names: Vec<&str> = presets.iter().map(|preset| preset.id.as_str()).collect();
        let help = scenario::did_you_mean(name, names.iter().copied());
        let complaint = Complaint::new("", format!("no preset is called \"{name}\""));
        let accepted = format!("list, {}; or a figure of tightlink list figures", names.join(", "));
        Problem::usage(Complaint { help, ..complaint.accepted(accepted) })
    })?;
    let text = found.document.text();
    match &options.file {
        None => print::data(text.trim_end())?,
        Some(file) => {
            write(file, text)?;
            print::talk(format_args!(
                "{}: written; run it with tightlink run {}",
                file.display(),
                file.display()
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Writes a new file; never overwrites one.
fn write(file: &Path, text: &str) -> Result<(), Problem> {
    let written = OpenOptions::new().write(true).create_new(true).open(file);
    written.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|error| {
        let place = file.display().to_string();
        if error.kind() == ErrorKind::AlreadyExists {
            let complaint = Complaint::new(place, "a file of this name exists, and is not overwritten");
            return Problem::usage(complaint.accepted("the name of a new file"));
        }
        Problem::environment(Complaint::new(place, format!("cannot write the scenario: {error}")))
    })
}

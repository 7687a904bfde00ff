//! The reading of scenario files, and the reasons for which one is refused.

use lab::Error;
use scenario::Document;
use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use units::{Complaint, Rate};

/// The largest size of a scenario in bytes: a sweep of 100 000 values fits many times.
const LARGEST: u64 = 16 << 20;

/// Reads a scenario file. Files that it names are relative to its folder.
///
/// # Errors
/// If the file cannot be read, is larger than 16 MB, or is not TOML in UTF-8.
pub fn read(file: &Path) -> Result<Document, Error> {
    let name = file.display().to_string();
    let opened = File::open(file).map_err(|error| unreadable(&name, &error))?;
    Ok(Document::parse(&name, &read_text(&name, opened)?)?)
}

/// Reads the text of the scenario called `name`.
///
/// # Errors
/// If reading fails, or the text is larger than 16 MB or not UTF-8.
pub fn read_text(name: &str, from: impl Read) -> Result<String, Error> {
    let mut bytes = Vec::new();
    from.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|error| unreadable(name, &error))?;
    if bytes.len() as u64 > LARGEST {
        let (most, help) = (LARGEST >> 20, "give the path of a scenario file");
        return Err(Error::from(
            Complaint::new(name, "too large for a scenario").accepted(format!("up to {most} MB")).help(help),
        ));
    }
    String::from_utf8(bytes).map_err(|error| {
        let line = error.as_bytes()[..error.utf8_error().valid_up_to()]
            .iter()
            .filter(|byte| **byte == b'\n')
            .count()
            + 1;
        let help = "give the path of a scenario file, or save it as UTF-8";
        Error::from(
            Complaint::new(format!("{name}:{line}"), "not valid UTF-8").accepted("TOML in UTF-8").help(help),
        )
    })
}

fn unreadable(name: &str, error: &io::Error) -> Error {
    let help = match name.parse::<Rate>() {
        // The user typed a rate in place of the file, so the help names the options for a rate.
        Ok(rate) => format!(
            "`size` and `emulate` take a rate with --rate {rate}, other commands a scenario with --set link.rate={rate}"
        ),
        Err(_) => "give the path of a scenario file; `tightlink figure list` names published ones".to_owned(),
    };
    Error::from(Complaint::new(name, error.to_string()).help(help))
}
